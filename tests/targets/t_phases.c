/* SPDX-License-Identifier: MIT */
/*
 * t_phases PATH:CALLS:SLEEP_US[:SPIN]...: so many calls of a region, names with ; between around them, that sleep so long
 * each, and take SPIN turns of a loop in a function, phase_spin(), before that.
 */
#include "target.h"

__attribute__((noinline)) static void phase_spin(int64_t turns)
{
	while (turns-- > 0)
		__asm__ volatile("" : : : "memory");
}

/* The names of a path, one in the other. */
static void phase(char *path, int64_t sleep_us, int64_t spin)
{
	char *rest = strchr(path, ';');
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)(rest ? rest - path : (long)strlen(path)), path);
	spark_region_begin(name);
	if (rest) {
		phase(rest + 1, sleep_us, spin);
	} else {
		phase_spin(spin);
		target_sleep(sleep_us * 1000);
	}
	spark_region_end(name);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		long long calls = 0, sleep_us = 0, spin = 0;
		char *colon = strchr(argv[i], ':');

		if (!colon || sscanf(colon, ":%lld:%lld:%lld", &calls, &sleep_us, &spin) < 2)
			target_die(argv[i]);
		*colon = '\0';
		while (calls-- > 0)
			phase(argv[i], sleep_us, spin);
	}
	return 0;
}
