/* SPDX-License-Identifier: MIT */
/*
 * t_trace all | tight N: what a trace is to show. All of it is less than the ring of a thread holds, so that nothing
 * can be lost: nested regions in two threads, of which one is interrupted in its markers by a handler with regions,
 * overlapping regions, windows, a forked child, and a region that stays open. tight: N pairs, as fast as they come.
 */
#include "target.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define LOOPS 6000
#define SIGNALS 200

static volatile int handled, ended;

static void nest(void)
{
	spark_region_begin("outer");
	spark_region_begin("inner");
	spark_region_end("inner");
	spark_region_begin("other");
	spark_region_end("other");
	spark_region_end("outer");
}

static void handle(int signal_number)
{
	(void)signal_number;
	spark_region_begin("handler");
	spark_region_begin("in handler");
	spark_region_end("in handler");
	spark_region_end("handler");
	handled++;
}

static void *interrupt(void *arg)
{
	int i;

	for (i = 0; i < LOOPS; i++)
		nest();
	for (i = 0; i < SIGNALS && !ended; i++) {
		int before = handled;

		pthread_kill(*(pthread_t *)arg, SIGUSR1);
		while (handled == before && !ended)
			sched_yield();
	}
	return NULL;
}

static void overlap(void)
{
	spark_window_begin("first");
	spark_window_begin("second");
	spark_region_begin("whole");
	spark_region_begin("late");
	spark_region_end("whole");
	spark_region_end("late");
	spark_window_end("first");
	spark_window_end("second");
}

static void all(void)
{
	pthread_t self = pthread_self(), other;
	int i, status;

	signal(SIGUSR1, handle);
	if (pthread_create(&other, NULL, interrupt, &self))
		target_die("pthread_create");
	/* As many as there is room for; signals come while it goes on, or in a wait. */
	for (i = 0; i < LOOPS; i++) {
		nest();
		if (i % 32 == 0)
			sched_yield();
	}
	while (handled < SIGNALS)
		sched_yield();
	ended = 1;
	pthread_join(other, NULL);
	overlap();
	if (fork() == 0) {
		for (i = 0; i < 10; i++)
			nest();
		_exit(0);
	}
	wait(&status);
	target_value("handled", handled);
	spark_window_begin("open");
	spark_region_begin("open");
}

int main(int argc, char **argv)
{
	static struct spark_region tight = SPARK_REGION("tight");

	if (argc > 1 && !strcmp(argv[1], "all"))
		all();
	else
		for (long i = argc > 2 ? atol(argv[2]) : 0; i > 0; i--) {
			spark_begin(&tight);
			spark_end(&tight);
		}
	puts("done");
	return 7;
}
