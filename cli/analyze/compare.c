/* SPDX-License-Identifier: MIT */
/*
 * See compare.h. The estimate is that of Hodges and Lehmann (Estimates of Location Based on Rank Tests, Ann.
 * Math. Stat. 34, 1963) for the logarithm of the ratios: the median of the means of all pairs of rounds, with
 * the interval of Wilcoxon's signed rank test. It assumes only that a round's ratio scatters alike to both
 * sides, which holds for equal commands however they scatter; and since rounds go A B, B A by turns, a drift
 * within a round does so too. Of logarithms nothing is left in the computation: the mean of two is the root of
 * a product.
 *
 * The test of the drift is that of Cox and Stuart (Some Quick Sign Tests for Trend, Biometrika 42, 1955), with
 * signed ranks.
 */
#include "cli/analyze/compare.h"

#include <math.h>

#include "common/base.h"

#define DRIFT_LEAST 0.02             /* that is told of */
#define SEARCH_STEPS 200             /* more than a double has bits, for ratios far apart */

/* Pairs, of a value with itself too, whose product is at most this much. */
static size_t products_within(const double *sorted, size_t n, double product)
{
	size_t count = 0, end = n;

	for (size_t i = 0; i < end; i++) {
		while (end > i && sorted[i] * sorted[end - 1] > product)
			end--;
		count += end - i;
	}
	return count;
}

/* The k-th of all products, by halving: n^2 of them are never held. */
static double product_at(const double *sorted, size_t n, size_t k)
{
	double low = sorted[0] * sorted[0], high = sorted[n - 1] * sorted[n - 1];

	if (products_within(sorted, n, low) >= k)
		return low;
	for (int step = 0; step < SEARCH_STEPS; step++) {
		double half = low + (high - low) / 2;

		if (half <= low || half >= high)
			break;
		if (products_within(sorted, n, half) >= k)
			high = half;
		else
			low = half;
	}
	return high;
}

static double ratio_at(const double *sorted, size_t n, size_t k)
{
	double product = product_at(sorted, n, k);

	/* A count that never differs has a ratio of exactly that. */
	return sorted[0] == sorted[n - 1] ? sorted[0] : spread_root(product);
}

/* Of ratios, which are sorted here. */
static void ratios_judge(struct comparison *c, double *ratios, size_t n, enum spread_level level)
{
	size_t pairs = n * (n + 1) / 2, bound = spread_rank_bound(n, level);

	spread_sort(ratios, n);
	c->known = true;
	c->ratio = ratio_at(ratios, n, (pairs + 1) / 2);
	if (pairs % 2 == 0)
		c->ratio = spread_root(c->ratio * ratio_at(ratios, n, pairs / 2 + 1));
	c->bounded = bound > 0;
	c->low = bound ? ratio_at(ratios, n, bound) : c->ratio;
	c->high = bound ? ratio_at(ratios, n, pairs + 1 - bound) : c->ratio;
	/* By rounding alone an interval must not leave 1 out. */
	if (ratios[0] == ratios[n - 1])
		c->ratio = c->low = c->high = ratios[0];
}

void compare_rounds(struct comparison *c, const double *a, const double *b, size_t n, enum spread_level level,
		    double *scratch)
{
	*c = (struct comparison){ .why = "not measured" };
	for (size_t i = 0; i < n; i++) {
		if (isnan(a[i]) || isnan(b[i]))
			continue;
		if (a[i] <= 0 || b[i] <= 0) {
			c->why = "it was 0 in some runs";
			return;
		}
		scratch[c->rounds++] = b[i] / a[i];
	}
	if (c->rounds)
		ratios_judge(c, scratch, c->rounds, level);
}

bool comparison_differs(const struct comparison *c)
{
	return c->known && c->bounded && (c->low > 1 || c->high < 1);
}

double comparison_precision(const struct comparison *c)
{
	return c->known && c->bounded ? (c->high - c->low) / 2 / c->ratio : -1;
}

/* Values are no farther apart than the greatest one is from the least. */
static double within(double ratio, double most)
{
	return ratio > most ? most : ratio < 1 / most ? 1 / most : ratio;
}

static const char drift_few[] = "it takes 16 runs";

void compare_drift(struct comparison *drift, const double *values, size_t n, double *scratch)
{
	double least = INFINITY, most = 0;
	size_t half = n / 2;

	compare_rounds(drift, values, values + (n - half), half, SPREAD_99, scratch);
	if (!half)
		drift->why = drift_few;
	if (!drift->known)
		return;
	for (size_t i = 0; i < n; i++) {
		least = values[i] > 0 && values[i] < least ? values[i] : least;
		most = values[i] > most ? values[i] : most;
	}
	/* Half the series apart: twice as much from end to end, unless it was a step. */
	drift->ratio = within(drift->ratio * drift->ratio, most / least);
	drift->low = within(drift->low * drift->low, most / least);
	drift->high = within(drift->high * drift->high, most / least);
	if (!drift->bounded)
		drift->why = drift_few;
}

bool comparison_drifts(const struct comparison *drift)
{
	return comparison_differs(drift) && (drift->ratio > 1 + DRIFT_LEAST || drift->ratio < 1 / (1 + DRIFT_LEAST));
}
