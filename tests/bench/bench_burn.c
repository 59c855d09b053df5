/* SPDX-License-Identifier: MIT */
/*
 * Work for samplers, 20 calls deep, with frame pointers and some KiB of stack:
 *
 *	bench_burn work ROUNDS		the same work each time
 *	bench_burn time SECONDS [THREADS]	of CPU time for each thread
 *
 * Says at its end how much CPU time it took, and when that was.
 */
#include "bench.h"

#include <pthread.h>

#define DEPTH 20
#define STEPS 2000
#define THREADS 64

static uint64_t limit_ns;
static volatile uint64_t sink;

__attribute__((noinline, optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")))
static uint64_t burn(int depth)
{
	volatile char room[300];
	uint64_t sum = (uint64_t)depth;

	room[depth] = (char)depth;
	if (depth)
		return burn(depth - 1) + (uint64_t)room[depth];
	for (int i = 0; i < STEPS; i++)
		sum = sum * 6364136223846793005u + 1442695040888963407u;
	return sum;
}

static void *burn_time(void *unused)
{
	(void)unused;
	while (bench_clock(CLOCK_THREAD_CPUTIME_ID) < limit_ns)
		sink += burn(DEPTH);
	return NULL;
}

static void burn_threads(int n)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < n; i++) {
		errno = pthread_create(&threads[i], NULL, burn_time, NULL);
		if (errno)
			bench_die("pthread_create");
	}
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	int amount = bench_arg(argc, argv, 2, 1), threads = bench_arg(argc, argv, 3, 1);

	if (argc < 3 || threads < 1 || threads > THREADS) {
		fprintf(stderr, "usage: bench_burn work ROUNDS | time SECONDS [THREADS]\n");
		return 2;
	}
	limit_ns = (uint64_t)amount * 1000000000u;
	if (!strcmp(argv[1], "time"))
		burn_threads(threads);
	else
		for (int i = 0; i < amount; i++)
			sink += burn(DEPTH);
	bench_value("cpu", (double)bench_clock(CLOCK_PROCESS_CPUTIME_ID));
	bench_value("end", (double)bench_ns());
	return 0;
}
