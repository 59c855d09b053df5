/* SPDX-License-Identifier: MIT */
/*
 * t_wait THREADS MS [bare]: threads that spin for MS each, all on one CPU, in a region "spin"; bare:
 * without one. Claims for how long they were off the CPU within it, added up, as "off", and that of
 * the one that was off the least as "least".
 */
#include <pthread.h>
#include <sched.h>

#include "target.h"

#define MOST 16

static int64_t off[MOST], length;
static int marked = 1;
static pthread_barrier_t barrier;

static void *spin(void *arg)
{
	int64_t *mine = arg, begin, cpu;

	pthread_barrier_wait(&barrier);
	if (marked)
		spark_region_begin("spin");
	begin = target_clock(CLOCK_MONOTONIC);
	cpu = target_clock(CLOCK_THREAD_CPUTIME_ID);
	while (target_clock(CLOCK_MONOTONIC) < begin + length)
		;
	*mine = target_clock(CLOCK_MONOTONIC) - begin - (target_clock(CLOCK_THREAD_CPUTIME_ID) - cpu);
	if (marked)
		spark_region_end("spin");
	return NULL;
}

int main(int argc, char **argv)
{
	int64_t n = target_arg(argc, argv, 1, 2), i, sum = 0, least;
	pthread_t threads[MOST];
	cpu_set_t set;

	if (n < 1 || n > MOST)
		return 2;
	length = target_arg(argc, argv, 2, 100) * 1000000;
	marked = argc < 4;
	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		target_die("sched_setaffinity");
	pthread_barrier_init(&barrier, NULL, (unsigned int)n);
	spark_window_begin("window");
	for (i = 1; i < n; i++)
		if (pthread_create(&threads[i], NULL, spin, &off[i]))
			target_die("pthread_create");
	spin(&off[0]);
	for (i = 1; i < n; i++)
		pthread_join(threads[i], NULL);
	/* On a single processor, a thread that was joined may still be there. */
	if (!marked)
		target_sleep(20000000);
	spark_window_end("window");
	for (i = 0, least = off[0]; i < n; i++) {
		sum += off[i];
		least = off[i] < least ? off[i] : least;
	}
	target_value("off", sum);
	target_value("least", least);
	return 0;
}
