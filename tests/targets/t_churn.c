/* SPDX-License-Identifier: MIT */
/*
 * t_churn MAKERS [fork]: so many threads each make one after the other a thread, or a child process, that works for
 * 0.2 ms of CPU time. Until it is killed, or its standard input is at its end. Says "ready" when all makers are there.
 */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target.h"

#define WORK_NS 200000
#define PAUSE_US 300

static bool forks;

static void *work(void *arg)
{
	int64_t end = target_clock(CLOCK_THREAD_CPUTIME_ID) + WORK_NS;

	while (target_clock(CLOCK_THREAD_CPUTIME_ID) < end)
		;
	return arg;
}

static void make_thread(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, work, NULL))
		pthread_join(thread, NULL);
}

static void make_child(void)
{
	pid_t child = fork();

	if (!child) {
		work(NULL);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

static void *maker(void *arg)
{
	(void)arg;
	for (;;) {
		if (forks)
			make_child();
		else
			make_thread();
		usleep(PAUSE_US);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int makers = argc > 1 ? atoi(argv[1]) : 1;
	char byte;

	forks = argc > 2 && !strcmp(argv[2], "fork");
	for (int i = 0; i < makers; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, maker, NULL))
			return 1;
	}
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
