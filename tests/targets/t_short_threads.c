/* SPDX-License-Identifier: MIT */
/*
 * t_short_threads [THREADS] [PAIRS]: threads in sequence, each ended before the next begins; the
 * last marker of a thread comes from a destructor of thread-specific data. Claims how much the
 * resident memory grew after the first 100 threads.
 */
#include <pthread.h>

#include "target.h"

static int64_t pairs;
static pthread_key_t key;

static void last(void *arg)
{
	(void)arg;
	spark_region_begin("last");
	spark_region_end("last");
}

static void *work(void *arg)
{
	int64_t i;

	pthread_setspecific(key, arg);
	for (i = 0; i < pairs; i++) {
		spark_region_begin("short");
		spark_region_end("short");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int64_t n = target_arg(argc, argv, 1, 1000);
	int64_t i, before = 0;
	pthread_t id;

	pairs = target_arg(argc, argv, 2, 14);
	pthread_key_create(&key, last);
	for (i = 0; i < n; i++) {
		if (i == 100)
			before = target_status("VmRSS:");
		if (pthread_create(&id, NULL, work, &key))
			target_die("pthread_create");
		pthread_join(id, NULL);
	}
	target_value("rss_growth_kib", target_status("VmRSS:") - before);
	target_region("short", n * pairs);
	target_region("last", n);
	return 0;
}
