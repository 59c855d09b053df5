/* SPDX-License-Identifier: MIT */
/*
 * Two series of measurements that have nothing in common but what was measured: whether one of them lies higher, and
 * by how much. Nothing is assumed about the form of their scatter, but that it is alike where they are. Pure functions
 * without allocation; the same values always give the same answer. For series in rounds see compare.h.
 */
#ifndef CLI_ANALYZE_RANK_H
#define CLI_ANALYZE_RANK_H

#include "cli/analyze/spread.h"

#define RANK_EXACT 49                /* values in a series, up to which the distribution is that of all orders */

/* What is worked out once for all series of these lengths. Zero-initialized. */
struct rank_lengths {
	size_t n, m;
	size_t bound;                /* as of spread_rank_bound(), among the n m ratios; 0: there is no interval */
	double below[RANK_EXACT * RANK_EXACT / 2 + 1]; /* the probability of a statistic of at most its number */
};

struct rank {
	double p;                    /* of such a difference, or a greater one, by chance alone; two-sided */
	bool equal;                  /* all values are the same */
	bool higher;                 /* b is, by ranks */
	bool known;                  /* there is a ratio: all values are above 0 */
	double ratio;                /* of b to a */
	bool bounded;                /* enough values for the 95 % interval */
	double low, high;
};

/* b to a, n and m values, none of them 0; both are sorted. */
void rank_compare(struct rank *rank, const double *a, size_t n, const double *b, size_t m, struct rank_lengths *lengths);
/* The least p that series of these lengths can have. */
double rank_least(size_t n, size_t m);

/*
 * How likely U of so many values without ties, RANK_EXACT at most, is so far from its mean, or farther. What is worked
 * out is in lengths.
 */
double rank_beyond(size_t n, size_t m, double away, struct rank_lengths *lengths);
/* The part of the normal distribution above z >= 0. */
double rank_normal_above(double z);
/* e^-x of x >= 0. */
double rank_exp_minus(double x);

#endif
