/* SPDX-License-Identifier: MIT */
/* The probe "psi": the sums of stalled time can be read, for each of the three resources. */
#include "cli/caps/caps.h"

#include <stdio.h>
#include <string.h>

#include "common/base.h"

struct outcome pressure_probe(struct caps_context *context)
{
	static const char *const names[] = { "cpu", "memory", "io" };
	char path[64], text[512], *total;
	unsigned long long us;
	size_t i;
	long got;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "/proc/pressure/%s", names[i]);
		got = facts_read(context, path, text, sizeof(text));
		if (got < 0)
			return advice_pressure(context, (int)-got, names[i]);
		total = !strncmp(text, "some ", 5) ? strstr(text, "total=") : NULL;
		if (!total || sscanf(total, "total=%llu", &us) != 1)
			return outcome_no("", "%s has no line \"some\" with a total", path);
	}
	return outcome_yes("totals of cpu, memory and io in /proc/pressure");
}
