/* SPDX-License-Identifier: MIT */
/*
 * t_work [PAIRS] [SLEEP_MS] [PAIRS]: pairs of region work, a sleep, and pairs of region later.
 */
#include "target.h"

static void pairs(const char *name, int64_t n)
{
	int64_t i;

	for (i = 0; i < n; i++) {
		spark_region_begin(name);
		spark_region_end(name);
	}
	if (n)
		target_region(name, n);
}

int main(int argc, char **argv)
{
	pairs("work", target_arg(argc, argv, 1, 100));
	target_sleep(target_arg(argc, argv, 2, 0) * 1000000);
	pairs("later", target_arg(argc, argv, 3, 0));
	return 0;
}
