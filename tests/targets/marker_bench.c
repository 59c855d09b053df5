/* SPDX-License-Identifier: MIT */
/*
 * A program of two benchmarks, for all standards of C and C++: with MARKER_SECOND only the function of the second one.
 */
#include <spark/bench.h>

void second(struct spark_bench *bench);

#ifdef MARKER_SECOND

static void touch(void *data)
{
	volatile char *byte = SPARK_BENCH_CAST_(volatile char *, data);

	*byte = 1;
}

void second(struct spark_bench *bench)
{
	unsigned long left, size = spark_bench_number(bench, "size");
	char byte = 0;

	spark_bench_between(bench, touch, &byte);
	SPARK_BENCH_LOOP(bench, left) {
		if (left % 2)
			continue;
		spark_bench_hide(size);
	}
	spark_bench_keep(byte);
}

#else

static void first(struct spark_bench *bench)
{
	unsigned long left, odd = 0;

	SPARK_BENCH_LOOP(bench, left)
		if (left % 2)
			spark_bench_keep(odd);
		else
			odd++;
}

static const struct spark_bench_case cases[] = { { "first", first, SPARK_NULL_ }, { "second", second, "size=1,2K" } };

int main(int argc, char **argv)
{
	return spark_bench_main(argc, argv, cases, 2);
}

#endif
