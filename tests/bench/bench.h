/* SPDX-License-Identifier: MIT */
/*
 * What the benchmarks share: clocks, pinning, order statistics, and the lines of the standard
 * output that tests/bench/run reads:
 *
 *	figure NAME RATIO ABSOLUTE UNIT	a ratio to a floor of the same run, and what was measured
 *	done REGION CALLS		what the report must have counted
 *	value NAME NUMBER		anything else that the report is compared with
 */
#ifndef BENCH_H
#define BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define BENCH_ROUNDS_MAX 4096

static inline void bench_die(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(99);
}

static inline void bench_figure(const char *name, double ratio, double absolute, const char *unit)
{
	printf("figure %s %.4f %.3f %s\n", name, ratio, absolute, unit);
}

static inline void bench_done(const char *region, uint64_t calls)
{
	printf("done %s %llu\n", region, (unsigned long long)calls);
}

static inline void bench_value(const char *name, double value)
{
	printf("value %s %.3f\n", name, value);
}

static inline uint64_t bench_clock(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts))
		bench_die("clock_gettime");
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t bench_ns(void)
{
	return bench_clock(CLOCK_MONOTONIC_RAW);
}

/* The counter that markers read, as bare as it can be had. */
static inline uint64_t bench_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t t;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
#endif
}

/* The n-th processor that this process may use, counted from 0; -1: there are fewer. */
static inline int bench_cpu(int n)
{
	cpu_set_t set;

	if (sched_getaffinity(getpid(), sizeof(set), &set))
		bench_die("sched_getaffinity");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && n-- == 0)
			return cpu;
	return -1;
}

/* Pins the calling thread. */
static inline void bench_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		bench_die("sched_setaffinity");
}

static inline int bench_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts v. */
static inline double bench_median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), bench_order);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static inline double bench_min(const double *v, int n)
{
	double least = v[0];

	for (int i = 1; i < n; i++)
		if (v[i] < least)
			least = v[i];
	return least;
}

/* Argument i as a number, or what the program does without it. */
static inline int bench_arg(int argc, char **argv, int i, int otherwise)
{
	return argc > i ? atoi(argv[i]) : otherwise;
}

#endif
