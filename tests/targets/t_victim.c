/* SPDX-License-Identifier: MIT */
/*
 * t_victim COUNTERS [US]: loops over outer{ done{} } until it is killed, and counts completed
 * pairs in the shared file (word 0 done, word 1 outer). With US, a thread of its own sends
 * SIGKILL so many microseconds after the first pair.
 */
#include <pthread.h>
#include <signal.h>

#include "target.h"

static void *kill_later(void *arg)
{
	usleep((useconds_t)*(int64_t *)arg);
	kill(getpid(), SIGKILL);
	return NULL;
}

int main(int argc, char **argv)
{
	struct target_counters *counters;
	int64_t after_us = target_arg(argc, argv, 2, -1);
	pthread_t id;

	if (argc < 2)
		return 2;
	counters = target_counters_map(argv[1]);
	for (;;) {
		spark_region_begin("outer");
		spark_region_begin("done");
		spark_region_end("done");
		counters->n[0]++;
		spark_region_end("outer");
		if (counters->n[1]++ == 0 && after_us >= 0)
			pthread_create(&id, NULL, kill_later, &after_us);
	}
}
