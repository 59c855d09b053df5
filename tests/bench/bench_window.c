/* SPDX-License-Identifier: MIT */
/* What an edge of a window takes, with all that is read there: the median over pairs of edges. */
#include "bench.h"

#include <spark/spark.h>

#define PAIRS 10000

int main(void)
{
	static double took[PAIRS];

	for (int i = 0; i < PAIRS; i++) {
		uint64_t begin = bench_ns();

		spark_window_begin("bench");
		spark_window_end("bench");
		took[i] = (double)(bench_ns() - begin) / 2000;
	}
	bench_figure("window-edge", 0, bench_median(took, PAIRS), "us");
	return 0;
}
