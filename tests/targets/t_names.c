/* SPDX-License-Identifier: MIT */
/*
 * t_names [N]: N distinct dynamic names in one buffer, name i called 1 + i % 3 times.
 */
#include "target.h"

int main(int argc, char **argv)
{
	int64_t n = target_arg(argc, argv, 1, 10000);
	char name[32];
	int64_t i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < n; i++) {
			if (i % 3 < round)
				continue;
			snprintf(name, sizeof(name), "name-%05lld", (long long)i);
			spark_region_begin(name);
			spark_region_end(name);
		}
	}
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "name-%05lld", (long long)i);
		target_region(name, 1 + i % 3);
	}
	return 0;
}
