/* SPDX-License-Identifier: MIT */
/*
 * t_window_regions [N]
 *
 * Windows and the regions in them, spun by CPU time. "before" 10 ms is in no window. Window "outer" has "work" twice, 20 ms
 * each with "work;part" 10 ms, then window "inner" with "around;part" 20 ms while "around" is open at both its edges,
 * then three threads that end in it with "threaded" 10 times, 1 ms each, and one with "stays" 10 ms that ends behind it.
 * A child that is forked in "outer" has window "child" with "childs" 10 ms, and ends in it. With N: N regions, each of a
 * name of its own, before the window "many" with "step" and one of them.
 */
#include <pthread.h>
#include <sys/wait.h>

#include "target.h"

enum { MS = 1000000, THREADS = 3 };

static pthread_barrier_t stayed, leave;

static void spin_in(const char *name, int64_t ns)
{
	spark_region_begin(name);
	target_spin(ns);
	spark_region_end(name);
}

static void *threaded(void *unused)
{
	for (int i = 0; i < 10; i++)
		spin_in("threaded", MS);
	return unused;
}

static void *stays(void *unused)
{
	spin_in("stays", 10 * MS);
	pthread_barrier_wait(&stayed);
	pthread_barrier_wait(&leave);
	return unused;
}

static void child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		spark_window_begin("child");
		spin_in("childs", 10 * MS);
		spark_window_end("child");
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		target_die("fork");
}

static void outer(void)
{
	pthread_t thread[THREADS], stayer;

	spark_window_begin("outer");
	for (int i = 0; i < 2; i++) {
		spark_region_begin("work");
		target_spin(20 * MS);
		spin_in("part", 10 * MS);
		spark_region_end("work");
	}
	spark_region_begin("around");
	spark_window_begin("inner");
	spin_in("part", 20 * MS);
	spark_window_end("inner");
	spark_region_end("around");
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, threaded, NULL))
			target_die("pthread_create");
	if (pthread_create(&stayer, NULL, stays, NULL))
		target_die("pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_wait(&stayed);
	child();
	spark_window_end("outer");
	pthread_barrier_wait(&leave);
	pthread_join(stayer, NULL);
}

static void many(int64_t n)
{
	char name[32];

	for (int64_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "region %lld", (long long)i);
		spark_region_begin(name);
		spark_region_end(name);
	}
	spark_window_begin("many");
	spin_in(name, MS);
	spin_in("step", MS);
	spark_window_end("many");
}

int main(int argc, char **argv)
{
	if (argc == 2) {
		many(target_arg(argc, argv, 1, 0));
		return 0;
	}
	pthread_barrier_init(&stayed, NULL, 2);
	pthread_barrier_init(&leave, NULL, 2);
	spin_in("before", 10 * MS);
	outer();
	return 0;
}
