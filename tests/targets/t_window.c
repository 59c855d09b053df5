/* SPDX-License-Identifier: MIT */
/*
 * t_window DIR FILE...
 *
 * Copies each FILE to DIR/POINT.N (N from 0) at four points: before and behind the begin of window "work", before
 * and behind its end. So what the window says of a file lies between the differences of the inner and the outer
 * two. In it two threads of one CPU spin for 200 ms, and 8 MiB are written to DIR/data and synced. Then window
 * "idle" twice, 20 ms of sleep each, and window "open", which does not end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <spark/spark.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void keep(const char *dir, const char *point, char **files, int n)
{
	static char text[1 << 16];
	char path[4096];

	for (int i = 0; i < n; i++) {
		int from = open(files[i], O_RDONLY | O_CLOEXEC), to;
		ssize_t size = from < 0 ? 0 : read(from, text, sizeof(text));

		snprintf(path, sizeof(path), "%s/%s.%d", dir, point, i);
		to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (to < 0 || (size > 0 && write(to, text, (size_t)size) != size))
			die(path);
		close(to);
		if (from >= 0)
			close(from);
	}
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *spin(void *unused)
{
	uint64_t end = now() + 200000000u;

	while (now() < end)
		;
	return unused;
}

static void work(const char *dir)
{
	static char bytes[1 << 20];
	pthread_t thread[2];
	cpu_set_t one, all;
	char path[4096];
	int fd;

	if (sched_getaffinity(0, sizeof(all), &all))
		die("sched_getaffinity");
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (int i = 0; i < 2; i++)
		if ((errno = pthread_create(&thread[i], NULL, spin, NULL)))
			die("pthread_create");
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	sched_setaffinity(0, sizeof(all), &all);
	snprintf(path, sizeof(path), "%s/data", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	for (int i = 0; i < 8; i++)
		if (fd < 0 || write(fd, bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes))
			die(path);
	fsync(fd);
	close(fd);
}

int main(int argc, char **argv)
{
	struct timespec nap = { 0, 20000000 };

	if (argc < 2)
		return 2;
	keep(argv[1], "a", argv + 2, argc - 2);
	spark_window_begin("work");
	keep(argv[1], "b", argv + 2, argc - 2);
	work(argv[1]);
	keep(argv[1], "c", argv + 2, argc - 2);
	spark_window_end("work");
	keep(argv[1], "d", argv + 2, argc - 2);
	for (int i = 0; i < 2; i++) {
		spark_window_begin("idle");
		nanosleep(&nap, NULL);
		spark_window_end("idle");
	}
	spark_window_begin("open");
	return 0;
}
