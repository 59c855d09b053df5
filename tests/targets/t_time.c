/* SPDX-License-Identifier: MIT */
/*
 * t_time sleep|spin MS [N]: N regions that sleep, or use MS of processor time. Claims the sums of
 * two measurements of its own on CLOCK_MONOTONIC_RAW and the thread's processor clock: one taken
 * inside the region, which the report may not fall below, and one around it, which it may not
 * exceed; and the sum of the context switches.
 */
#include "target.h"

struct stamp {
	int64_t wall, cpu;
};

static struct stamp stamp_now(void)
{
	struct stamp s;

	s.wall = target_clock(CLOCK_MONOTONIC_RAW);
	s.cpu = target_clock(CLOCK_THREAD_CPUTIME_ID);
	return s;
}

static void stamp_add(struct stamp *sum, struct stamp from, struct stamp to)
{
	sum->wall += to.wall - from.wall;
	sum->cpu += to.cpu - from.cpu;
}

int main(int argc, char **argv)
{
	static struct spark_region region;
	int64_t i, ns = target_arg(argc, argv, 2, 100) * 1000000;
	int64_t n = target_arg(argc, argv, 3, 1);
	struct stamp inner = { 0, 0 }, outer = { 0, 0 };
	struct stamp before, begin, end;
	struct rusage from, to;

	if (argc < 2)
		return 2;
	region.name = argv[1];
	getrusage(RUSAGE_THREAD, &from);
	for (i = 0; i < n; i++) {
		before = stamp_now();
		spark_begin(&region);
		begin = stamp_now();
		if (strcmp(argv[1], "sleep") == 0)
			target_sleep(ns);
		else
			target_spin(ns);
		end = stamp_now();
		spark_end(&region);
		stamp_add(&inner, begin, end);
		stamp_add(&outer, before, stamp_now());
	}
	getrusage(RUSAGE_THREAD, &to);
	target_value("inner_wall", inner.wall);
	target_value("outer_wall", outer.wall);
	target_value("inner_cpu", inner.cpu);
	target_value("outer_cpu", outer.cpu);
	target_value("switches", to.ru_nvcsw + to.ru_nivcsw - from.ru_nvcsw - from.ru_nivcsw);
	target_region(region.name, n);
	return 0;
}
