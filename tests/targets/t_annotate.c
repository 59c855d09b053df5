/* SPDX-License-Identifier: MIT */
/* t_annotate [MS]: CPU time for so long, most of it in one line of a function that is inlined. */
#include "target.h"

static inline __attribute__((always_inline)) unsigned int hot_leaf(unsigned int x)
{
	unsigned int i;

	for (i = 0; i < 50; i++)
		x = x * 1664525u + (x >> 5) + (x & i) + (x >> 7) + (x >> 9); /* the hottest line */
	return x;
}

static __attribute__((noinline)) unsigned int hot_outer(unsigned int n)
{
	unsigned int i, x = n;

	for (i = 0; i < n; i++)
		x = hot_leaf(x);
	return x;
}

static __attribute__((noinline)) unsigned int hot_other(unsigned int n)
{
	unsigned int i, x = n;

	for (i = 0; i < n; i++)
		x ^= x << 7 ^ x >> 3;
	return x;
}

int main(int argc, char **argv)
{
	int64_t end = target_clock(CLOCK_MONOTONIC) + target_arg(argc, argv, 1, 300) * 1000000;
	volatile unsigned int sum = 0;
	unsigned int i;

	for (i = 0; target_clock(CLOCK_MONOTONIC) < end; i++) {
		sum += hot_outer(1000 + i % 2);
		sum += hot_other(20000 + i % 2);
	}
	return 0;
}
