/* SPDX-License-Identifier: MIT */
/*
 * Two series of measurements that were taken by turns, round by round: the ratio between them with its
 * interval. What slowly changes with time is in both values of a round, and is gone in their ratio.
 */
#ifndef CLI_ANALYZE_COMPARE_H
#define CLI_ANALYZE_COMPARE_H

#include "cli/analyze/spread.h"

struct comparison {
	size_t rounds;               /* that have both values */
	bool known;                  /* there is a ratio; else why tells */
	const char *why;             /* of a drift also if it is not bounded */
	double ratio;                /* of b to a */
	bool bounded;                /* enough rounds for the interval */
	double low, high;
};

/*
 * b to a over n rounds; a value that is not there is NAN. scratch has room for n values. The level is
 * that of the interval.
 */
void compare_rounds(struct comparison *comparison, const double *a, const double *b, size_t n,
		    enum spread_level level, double *scratch);
/* The interval leaves 1 out: more than noise, but for the stated rate of false alarms. */
bool comparison_differs(const struct comparison *comparison);
/* Half the interval as a part of the ratio; negative: there is none. */
double comparison_precision(const struct comparison *comparison);

/*
 * What n values in the order of time have changed by from the first to the last, as a ratio: by values
 * half the series apart, so that level must be met over all of it. It is no more than the greatest value is of the least.
 */
void compare_drift(struct comparison *drift, const double *values, size_t n, double *scratch);

/* That is more than noise, and more than 2 %. */
bool comparison_drifts(const struct comparison *drift);

#endif
