/* SPDX-License-Identifier: MIT */
/*
 * t_pingpong [N [CYCLES]]: two threads on one CPU wake each other N times, so that each call of "switch" is a switch to
 * the other one and back. The loop is timed by CLOCK_MONOTONIC_RAW as well, from within "outer", around "loop". CYCLES
 * are told as a metric of that name of the first call, in the place of those that a CPU would count.
 */
#include "target.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

static uint32_t turn;                /* 0: main's, 1: the other thread's */
static int64_t rounds;

static void wait_for(uint32_t mine)
{
	while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != mine)
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !mine, NULL, NULL, 0);
}

static void give(uint32_t other)
{
	__atomic_store_n(&turn, other, __ATOMIC_RELEASE);
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *other_thread(void *unused)
{
	(void)unused;
	for (int64_t i = 0; i < rounds; i++) {
		wait_for(1);
		give(0);
	}
	return NULL;
}

static void one_cpu(void)
{
	cpu_set_t all, one;

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(all), &all))
		target_die("sched_getaffinity");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all)) {
			CPU_SET(cpu, &one);
			break;
		}
	if (sched_setaffinity(0, sizeof(one), &one))
		target_die("sched_setaffinity");
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int64_t begin;

	rounds = target_arg(argc, argv, 1, 1000);
	one_cpu();
	if (pthread_create(&thread, NULL, other_thread, NULL))
		target_die("pthread_create");
	spark_region_begin("outer");
	begin = target_clock(CLOCK_MONOTONIC_RAW);
	spark_region_begin("loop");
	for (int64_t i = 0; i < rounds; i++) {
		spark_region_begin("switch");
		give(1);
		wait_for(0);
		if (!i && argc > 2)
			spark_metric("cycles", atof(argv[2]));
		spark_region_end("switch");
	}
	spark_region_end("loop");
	target_value("loop_ns", target_clock(CLOCK_MONOTONIC_RAW) - begin);
	spark_region_end("outer");
	pthread_join(thread, NULL);
	target_region("outer", 1);
	target_region("outer;loop", 1);
	target_region("outer;loop;switch", rounds);
	return 0;
}
