/* SPDX-License-Identifier: MIT */
/*
 * t_threads [THREADS] [PAIRS]: named threads at once, each with PAIRS of work{ step{} } and one
 * region of its own name. Claims the sums and, for each thread, "thread TID PATH CALLS".
 */
#include <pthread.h>
#include <sys/syscall.h>

#include "target.h"

static pthread_barrier_t start;
static int64_t pairs;

static void *work(void *arg)
{
	static struct spark_region step = SPARK_REGION("step");
	char name[16];
	int64_t i;

	snprintf(name, sizeof(name), "thr-%d", (int)(intptr_t)arg);
	pthread_setname_np(pthread_self(), name);
	pthread_barrier_wait(&start);
	spark_region_begin(name);
	spark_region_end(name);
	for (i = 0; i < pairs; i++) {
		spark_region_begin("work");
		spark_begin(&step);
		spark_end(&step);
		spark_region_end("work");
	}
	dprintf(target_open(), "thread %ld work %lld\n", syscall(SYS_gettid), (long long)pairs);
	target_region(name, 1);
	return NULL;
}

int main(int argc, char **argv)
{
	int64_t i, n = target_arg(argc, argv, 1, 16);
	pthread_t *id = calloc(n, sizeof(*id));

	pairs = target_arg(argc, argv, 2, 100000);
	target_open();
	pthread_barrier_init(&start, NULL, n);
	spark_region_begin("main");
	spark_region_end("main");
	for (i = 0; i < n; i++)
		if (pthread_create(&id[i], NULL, work, (void *)(intptr_t)i))
			target_die("pthread_create");
	for (i = 0; i < n; i++)
		pthread_join(id[i], NULL);
	free(id);
	target_region("main", 1);
	target_region("work", n * pairs);
	target_region("work;step", n * pairs);
	return 0;
}
