/* SPDX-License-Identifier: MIT */
/*
 * What a bracketed call costs above the same call without, against two bare readings of the
 * counter. Run with --wrap callee_bracketed,callee_other,callee_wide.
 *
 *	bench_call [ROUNDS]
 */
#include "bench.h"

#define CALLS 20000

void callee_bare(void);
void callee_bracketed(void);
void callee_other(void);
uint64_t callee_wide(double a, double b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h, uint64_t i);

static volatile uint64_t sink;

static void run_floor(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < CALLS; i++) {
		uint64_t begin = bench_ticks();

		sum += bench_ticks() - begin;
	}
	sink = sum;
}

static void run_bare(void)
{
	for (int i = 0; i < CALLS; i++)
		callee_bare();
}

static void run_same(void)
{
	for (int i = 0; i < CALLS; i++)
		callee_bracketed();
}

static void run_turns(void)
{
	for (int i = 0; i < CALLS / 2; i++) {
		callee_bracketed();
		callee_other();
	}
}

static void run_wide(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < CALLS; i++)
		sum += callee_wide(1, 2, 3, 4, 5, 6, 7, 8, 9);
	sink = sum;
}

static const struct form {
	const char *name;
	void (*run)(void);
} forms[] = {
	{ "call-same", run_same },
	{ "call-turns", run_turns },
	{ "call-wide", run_wide },
};

#define FORMS (int)(sizeof(forms) / sizeof(forms[0]))

static double round_of(void (*run)(void))
{
	uint64_t begin = bench_ns();

	run();
	return (double)(bench_ns() - begin) / CALLS;
}

static double ratios[FORMS][BENCH_ROUNDS_MAX], costs[FORMS][BENCH_ROUNDS_MAX];

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 200;

	if (rounds < 1 || rounds > BENCH_ROUNDS_MAX)
		rounds = 200;
	for (int k = 0; k < FORMS; k++)
		forms[k].run();
	for (int i = 0; i < rounds; i++)
		for (int k = 0; k < FORMS; k++) {
			double floor = round_of(run_floor), bare = round_of(run_bare);

			costs[k][i] = round_of(forms[k].run) - bare;
			ratios[k][i] = costs[k][i] / floor;
		}
	for (int k = 0; k < FORMS; k++)
		bench_figure(forms[k].name, bench_median(ratios[k], rounds), bench_median(costs[k], rounds), "ns");
	bench_done("callee_other", (uint64_t)CALLS / 2 * ((uint64_t)rounds + 1));
	return 0;
}
