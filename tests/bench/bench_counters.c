/* SPDX-License-Identifier: MIT */
/*
 * What counting events costs where it is asked for: a pair of markers in a loop, and threads, one
 * after the other, that mark one region each.
 *
 *	bench_counters		values pair and thread, ns, minima of some rounds
 *
 * The driver runs it with and without events and prints differences.
 */
#include "bench.h"

#include <pthread.h>
#include <spark/spark.h>

#define ROUNDS 15
#define PAIRS 2000
#define THREADS 40

static struct spark_region pair = SPARK_REGION("pair"), in_thread = SPARK_REGION("thread");

static void *thread(void *arg)
{
	spark_begin(&in_thread);
	spark_end(&in_thread);
	return arg;
}

static double pairs(void)
{
	uint64_t begin = bench_ns();

	for (int i = 0; i < PAIRS; i++) {
		spark_begin(&pair);
		spark_end(&pair);
	}
	return (double)(bench_ns() - begin) / PAIRS;
}

static double threads(void)
{
	uint64_t begin = bench_ns();
	pthread_t t;

	for (int i = 0; i < THREADS; i++) {
		errno = pthread_create(&t, NULL, thread, NULL);
		if (errno)
			bench_die("pthread_create");
		pthread_join(t, NULL);
	}
	return (double)(bench_ns() - begin) / THREADS;
}

int main(void)
{
	double pair_ns = 1e18, thread_ns = 1e18, now;

	for (int i = 0; i < ROUNDS; i++) {
		now = pairs();
		pair_ns = now < pair_ns ? now : pair_ns;
		now = threads();
		thread_ns = now < thread_ns ? now : thread_ns;
	}
	bench_value("pair", pair_ns);
	bench_value("thread", thread_ns);
	bench_done("pair", (uint64_t)ROUNDS * PAIRS);
	return 0;
}
