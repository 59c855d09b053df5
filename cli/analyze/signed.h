/* SPDX-License-Identifier: MIT */
/*
 * Two series of measurements that were taken by turns, round by round: whether one of them lies higher, by what each
 * round says. Pure functions without allocation; the same values always give the same answer. compare.h has the ratio
 * and its interval, rank.h the test for series that have nothing in common.
 */
#ifndef CLI_ANALYZE_SIGNED_H
#define CLI_ANALYZE_SIGNED_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/analyze/spread.h"

/*
 * Whether the values of a round, all above 0, are alike beside those of other rounds: there was a drift, or what came
 * between lasted. It does not matter for that which of the two is whose. sorted has room for 2 n values.
 */
bool signed_alike(const double *a, const double *b, size_t n, double *sorted);

/*
 * The probability of such a difference, or a greater one, if each round's two values could as well be the other way
 * round; two-sided. *higher: b is. scratch has room for n values.
 */
double signed_p(const double *a, const double *b, size_t n, bool *higher, double *scratch);
/* The least that n rounds can have. */
double signed_least(size_t n);

#endif
