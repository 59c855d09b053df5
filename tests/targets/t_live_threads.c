/* SPDX-License-Identifier: MIT */
/*
 * t_live_threads [THREADS] [PAIRS]: all threads are alive, each inside a region, when the main
 * thread notes the resident memory; then all of them end.
 */
#include <limits.h>
#include <pthread.h>

#include "target.h"

static pthread_barrier_t inside, leave;
static int64_t pairs;

static void *work(void *arg)
{
	int64_t i;

	(void)arg;
	spark_region_begin("live");
	for (i = 0; i < pairs; i++) {
		spark_region_begin("pair");
		spark_region_end("pair");
	}
	pthread_barrier_wait(&inside);
	pthread_barrier_wait(&leave);
	spark_region_end("live");
	return NULL;
}

int main(int argc, char **argv)
{
	int64_t i, n = target_arg(argc, argv, 1, 1000);
	pthread_t *id = calloc(n, sizeof(*id));
	pthread_attr_t attr;

	pairs = target_arg(argc, argv, 2, 10);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 * 1024);
	pthread_barrier_init(&inside, NULL, n + 1);
	pthread_barrier_init(&leave, NULL, n + 1);
	for (i = 0; i < n; i++)
		if (pthread_create(&id[i], &attr, work, NULL))
			target_die("pthread_create");
	pthread_barrier_wait(&inside);
	target_value("rss_kib", target_status("VmRSS:"));
	target_value("threads", target_status("Threads:"));
	pthread_barrier_wait(&leave);
	for (i = 0; i < n; i++)
		pthread_join(id[i], NULL);
	free(id);
	target_region("live", n);
	target_region("live;pair", n * pairs);
	return 0;
}
