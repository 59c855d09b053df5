/* SPDX-License-Identifier: MIT */
/*
 * After how many runs a series of times is steady: what a program takes longer for at first, until caches are warm and
 * files are in memory, is behind it. A pure function without allocation.
 */
#ifndef CLI_ANALYZE_STEADY_H
#define CLI_ANALYZE_STEADY_H

#include <stdbool.h>
#include <stddef.h>

struct steady {
	bool known;                  /* it can be told: they become so, or do drift */
	bool is;                     /* they become so while at least half of them are left */
	size_t after;                /* of is: values before the others, about, if they are many */
	size_t tried;                /* else: behind so many, and before, they are not */
	size_t cold;                 /* so many of the first are far from what follows, whatever that does */
};

/* Of n values in the order of time; sorted has room for as many. */
void steady_find(struct steady *steady, const double *values, size_t n, double *sorted);

#endif
