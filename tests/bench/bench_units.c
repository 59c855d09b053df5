/* SPDX-License-Identifier: MIT */
/*
 * Works for some seconds of CPU time in units that are linked to it (bench_unit.cc). BENCH_UNITS is their list,
 * UNIT(bench_unit_1) and so on.
 *
 *	bench_units SECONDS [UNITS]	UNITS: how many of them work
 */
#include "bench.h"

#define UNIT(name) long name(unsigned int seed);
BENCH_UNITS
#undef UNIT

static long (*const units[])(unsigned int) = {
#define UNIT(name) name,
	BENCH_UNITS
};

int main(int argc, char **argv)
{
	uint64_t end = (uint64_t)bench_arg(argc, argv, 1, 1) * 1000000000u;
	int n = bench_arg(argc, argv, 2, 1);
	volatile long sum = 0;

	for (unsigned int seed = 0; bench_clock(CLOCK_PROCESS_CPUTIME_ID) < end; seed++)
		for (int i = 0; i < n && i < (int)(sizeof(units) / sizeof(*units)); i++)
			sum += units[i](seed);
	bench_value("cpu", (double)bench_clock(CLOCK_PROCESS_CPUTIME_ID));
	bench_value("end", (double)bench_ns());
	return 0;
}
