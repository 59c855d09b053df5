/* SPDX-License-Identifier: MIT */
/*
 * t_end HOW COUNTERS PAIRS THREADS [PROGRAM...]: PAIRS of done inside a region that stays open,
 * while THREADS more loop over region worker; then the process ends as HOW says. Completed pairs
 * are counted in the shared file COUNTERS (word 0 the main thread, word i thread i) right after
 * each: the report must say as much, or one more for a thread that was between pair and count.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

#include "target.h"

static struct target_counters *counters;

static void *work(void *arg)
{
	volatile uint64_t *count = arg;

	for (;;) {
		spark_region_begin("worker");
		spark_region_end("worker");
		++*count;
	}
	return NULL;
}

static void fault(void)
{
	volatile char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*page = 1;
}

/* Ends the process, except for "return", which takes main's way out. */
static void end(const char *how, char **program)
{
	if (strcmp(how, "exit") == 0)
		exit(3);
	if (strcmp(how, "_exit") == 0)
		_exit(4);
	if (strcmp(how, "exit_group") == 0)
		syscall(SYS_exit_group, 5);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(6);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "segv") == 0)
		fault();
	if (strcmp(how, "term") == 0)
		kill(getpid(), SIGTERM);
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "exec") == 0) {
		execv(program[0], program);
		target_die(program[0]);
	}
}

static void *end_thread(void *arg)
{
	(void)arg;
	exit(3);
}

int main(int argc, char **argv)
{
	int64_t i, pairs, threads;
	pthread_t id;

	if (argc < 5)
		return 2;
	counters = target_counters_map(argv[2]);
	pairs = target_arg(argc, argv, 3, 0);
	threads = target_arg(argc, argv, 4, 0);
	for (i = 1; i <= threads && i < TARGET_COUNTERS; i++)
		if (pthread_create(&id, NULL, work, (void *)(uintptr_t)&counters->n[i]))
			target_die("pthread_create");
	for (i = 1; i <= threads; i++)
		while (counters->n[i] < 1000)
			sched_yield();
	spark_region_begin("open");
	for (i = 0; i < pairs; i++) {
		spark_region_begin("done");
		spark_region_end("done");
		counters->n[0]++;
	}
	target_region("open;done", pairs);
	target_region_open("open", 0, 1);
	if (strcmp(argv[1], "thread") == 0) {
		pthread_create(&id, NULL, end_thread, NULL);
		pthread_join(id, NULL);
	}
	end(argv[1], argv + 5);
	return 0;
}
