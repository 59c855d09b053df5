/* SPDX-License-Identifier: MIT */
/* What spark/bench.h itself takes of each iteration. */
#include <spark/bench.h>

static void empty(struct spark_bench *bench)
{
	unsigned long left;

	SPARK_BENCH_LOOP(bench, left) {
	}
}

static const struct spark_bench_case cases[] = { { "empty", empty, NULL } };

int main(int argc, char **argv)
{
	return spark_bench_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
