/* SPDX-License-Identifier: MIT */
/*
 * t_recursive DEPTH N [SLEEP_MS]: N times region r, DEPTH deep, with a sleep at the innermost.
 * Claims the total, and the lines of the single nodes up to a depth of 255.
 */
#include "target.h"

#define PATH_DEPTH 255

static int64_t sleep_ns;

static void descend(int64_t depth)
{
	spark_region_begin("r");
	if (depth > 1)
		descend(depth - 1);
	else if (sleep_ns)
		target_sleep(sleep_ns);
	spark_region_end("r");
}

int main(int argc, char **argv)
{
	int64_t depth = target_arg(argc, argv, 1, 10);
	int64_t n = target_arg(argc, argv, 2, 100);
	char path[2 * PATH_DEPTH + 1] = "";
	int64_t i;

	sleep_ns = target_arg(argc, argv, 3, 0) * 1000000;
	for (i = 0; i < n; i++)
		descend(depth);
	for (i = 1; i <= depth && i <= PATH_DEPTH; i++) {
		strcat(path, i > 1 ? ";r" : "r");
		/* What lies deeper is counted into the last node. */
		target_region(path, i < PATH_DEPTH ? n : n * (depth - PATH_DEPTH + 1));
	}
	target_value("total", n * depth);
	return 0;
}
