/* SPDX-License-Identifier: MIT */
/*
 * Repeated measurements of one quantity: where they lie and how they scatter. Nothing is assumed about the
 * form of the scatter. Pure functions without allocation; the same values always give the same answer.
 */
#ifndef CLI_ANALYZE_SPREAD_H
#define CLI_ANALYZE_SPREAD_H

#include <stdbool.h>
#include <stddef.h>

/* Fewer cannot make an interval of 95 %: the extremes of 5 values miss their median in 1 of 16 cases. */
#define SPREAD_LEAST 6

enum spread_level { SPREAD_95, SPREAD_99 };

struct spread {
	size_t n;
	double median, mad;          /* mad: the median distance from the median */
	double mean, stddev;
	double min, max;
	bool bounded;                /* there are enough values for the 95 % interval of the median */
	double low, high;
	size_t outliers;             /* values far from the median, see spread_far() */
	bool clusters;               /* two groups of values with nothing between */
	double below, above;         /* their edges */
};

/* Of n values, n > 0; sorted has room for as many and holds them in order afterwards. */
void spread_of(struct spread *spread, const double *values, size_t n, double *sorted);
/* A value that is no part of the scatter of the others: 5 standard deviations away, as the MAD tells them. */
bool spread_far(const struct spread *spread, double value);
/* Half the interval, as a part of the median; negative: there is none. */
double spread_precision(const struct spread *spread);

void spread_sort(double *values, size_t n);
double spread_root(double value);

/*
 * The number of a value, counted from 1 at both ends of n sorted ones, that bounds the interval of the
 * median; 0: there are too few.
 */
size_t spread_sign_bound(size_t n, enum spread_level level);
/* The same for the n (n + 1) / 2 means of all pairs of n values, by Wilcoxon's signed ranks. */
size_t spread_rank_bound(size_t n, enum spread_level level);
/* The same where the number of a value is about normal, with this mean and variance. */
size_t spread_normal_bound(double mean, double variance, enum spread_level level);

#endif
