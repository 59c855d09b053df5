/* SPDX-License-Identifier: MIT */
/*
 * h_user: known work for the kernel's counters: 20 sleeps, 20 moves between two CPUs, 1,000 fresh
 * pages, 50 ms of processor time. Claims them, and the CPUs it may use.
 */
#include <sched.h>

#include "target.h"

#define PAGES 1000
#define TIMES 20

static int move_around(void)
{
	cpu_set_t all, one;
	int cpu, i, cpus[2], n = 0;

	sched_getaffinity(0, sizeof(all), &all);
	for (cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
		if (CPU_ISSET(cpu, &all))
			cpus[n++] = cpu;
	for (i = 0; n == 2 && i < TIMES; i++) {
		CPU_ZERO(&one);
		CPU_SET(cpus[i % 2], &one);
		if (sched_setaffinity(0, sizeof(one), &one))
			return 1;
	}
	sched_setaffinity(0, sizeof(all), &all);
	return n;
}

int main(void)
{
	char *fresh = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	madvise(fresh, PAGES * 4096, MADV_NOHUGEPAGE);
	spark_region_begin("work");
	for (i = 0; i < TIMES; i++)
		target_sleep(1000000);
	for (i = 0; i < PAGES; i++)
		fresh[i * 4096] = 1;
	target_spin(50000000);
	target_value("cpus", move_around());
	spark_region_end("work");
	target_region("work", 1);
	return 0;
}
