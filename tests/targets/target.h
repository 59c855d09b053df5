/* SPDX-License-Identifier: MIT */
/*
 * What the target programs share. Each program does a known amount of work and claims what it did
 * in lines that a test compares with the report:
 *
 *	region PID PATH FINISHED OPEN	PATH is the names from the outermost in, joined by ';'
 *	value NAME NUMBER
 *
 * Claims go to the file named by TARGET_OUT (appended by one write a line, so that forked
 * processes may share it), else to the standard output. No stdio buffer is used: nothing can be
 * written twice after a fork or get lost in _exit.
 */
#ifndef TARGET_H
#define TARGET_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <spark/spark.h>

#define TARGET_COUNTERS 64

/* Words of a shared file: what they say survives any end of the process. */
struct target_counters {
	volatile uint64_t n[TARGET_COUNTERS];
};

static int target_fd = -1;

static inline void target_die(const char *what)
{
	dprintf(2, "target: %s: %s\n", what, strerror(errno));
	_exit(99);
}

/* Opens the file of the claims. Call it first where the process may lose the right to open it. */
static inline int target_open(void)
{
	const char *path = getenv("TARGET_OUT");

	if (target_fd >= 0)
		return target_fd;
	if (!path)
		return target_fd = 1;
	target_fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (target_fd < 0)
		target_die(path);
	return target_fd;
}

static inline void target_region_open(const char *path, uint64_t calls, unsigned int open)
{
	dprintf(target_open(), "region %d %s %llu %u\n", (int)getpid(), path,
		(unsigned long long)calls, open);
}

static inline void target_region(const char *path, uint64_t calls)
{
	target_region_open(path, calls, 0);
}

static inline void target_value(const char *name, int64_t value)
{
	dprintf(target_open(), "value %s %lld\n", name, (long long)value);
}

static inline int64_t target_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

/* Sleeps the whole time, signals or not. */
static inline void target_sleep(int64_t ns)
{
	struct timespec left;

	left.tv_sec = ns / 1000000000;
	left.tv_nsec = ns % 1000000000;
	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

/* Spins until this thread has used ns of processor time more. */
static inline void target_spin(int64_t ns)
{
	int64_t end = target_clock(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (target_clock(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static inline int64_t target_rusage_ns(const struct rusage *u)
{
	return (u->ru_utime.tv_sec + u->ru_stime.tv_sec) * INT64_C(1000000000) +
	       (u->ru_utime.tv_usec + u->ru_stime.tv_usec) * INT64_C(1000);
}

/* One field of /proc/self/status, such as "VmRSS:"; -1 where it is absent. */
static inline int64_t target_status(const char *field)
{
	char buf[4096], *at;
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n < 0)
		return -1;
	buf[n] = '\0';
	at = strstr(buf, field);
	return at ? strtoll(at + strlen(field), NULL, 10) : -1;
}

/* Maps the counters in the file, which is made where it is missing. */
static inline struct target_counters *target_counters_map(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	void *map;

	if (fd < 0 || ftruncate(fd, sizeof(struct target_counters)) < 0)
		target_die(path);
	map = mmap(NULL, sizeof(struct target_counters), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		target_die("mmap");
	close(fd);
	return (struct target_counters *)map;
}

/* Argument i as a number, or what the program does without it. */
static inline int64_t target_arg(int argc, char **argv, int i, int64_t otherwise)
{
	return argc > i ? strtoll(argv[i], NULL, 0) : otherwise;
}

#endif
