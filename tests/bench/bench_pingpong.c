/* SPDX-License-Identifier: MIT */
/*
 * bench_pingpong [ROUNDS]: two threads pass a byte to and fro by pipes on one processor, and each blocks each time.
 * Says how much CPU time a switch took, in ns, the program's own calls included.
 */
#include "bench.h"

#include <pthread.h>

static int there[2], back[2];
static long rounds;

static void pass(int from, int to)
{
	char byte;

	if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
		bench_die("pipe");
}

static void *answer(void *arg)
{
	for (long i = 0; i < rounds; i++)
		pass(there[0], back[1]);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	uint64_t begin;
	cpu_set_t one;

	rounds = argc > 1 ? atol(argv[1]) : 100000;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(there) || pipe(back) || write(back[1], "", 1) != 1 ||
	    pthread_create(&thread, NULL, answer, NULL))
		bench_die("ping-pong");
	begin = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
	for (long i = 0; i < rounds; i++)
		pass(back[0], there[1]);
	printf("value switch %.3f\n", (double)(bench_clock(CLOCK_PROCESS_CPUTIME_ID) - begin) / (2.0 * (double)rounds));
	pthread_join(thread, NULL);
	return 0;
}
