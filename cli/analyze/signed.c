/* SPDX-License-Identifier: MIT */
/*
 * See signed.h. The test is that of Wilcoxon (Individual Comparisons by Ranking Methods, Biometrics Bull. 1, 1945), of
 * the ratios of rounds; equal values of a round are left out. p is that of all ways to turn rounds around, ties or not,
 * and beyond SIGNED_EXACT rounds that of the normal distribution with the corrections for ties and continuity.
 *
 * Rounds are alike if the ranks of all values are correlated within them by more than ALIKE.
 */
#include "cli/analyze/signed.h"

#include <stdlib.h>

#include "cli/analyze/rank.h"
#include "common/base.h"

#define SIGNED_EXACT 64
#define ALIKE 0.5

/* Values of a sorted series below this one, and twice: those equal to it count as one of a half. */
static size_t twice_rank(const double *sorted, size_t n, double value)
{
	size_t under = 0, within, end = n;

	while (under < end) {
		size_t half = under + (end - under) / 2;

		if (sorted[half] < value)
			under = half + 1;
		else
			end = half;
	}
	for (within = under; within < n && sorted[within] == value;)
		within++;
	return under + within + 1;
}

bool signed_alike(const double *a, const double *b, size_t n, double *sorted)
{
	double both = 0, all = 0, mean = (double)(2 * n + 1);

	for (size_t i = 0; i < n; i++) {
		sorted[2 * i] = a[i];
		sorted[2 * i + 1] = b[i];
	}
	spread_sort(sorted, 2 * n);
	for (size_t i = 0; i < n; i++) {
		double x = (double)twice_rank(sorted, 2 * n, a[i]) - mean, y = (double)twice_rank(sorted, 2 * n, b[i]) - mean;

		both += x * y;
		all += x * x + y * y;
	}
	return 2 * both > ALIKE * all;
}

static double size_of(double ratio)
{
	return ratio < 0 ? -ratio : ratio;
}

static int size_order(const void *a, const void *b)
{
	double x = size_of(*(const double *)a), y = size_of(*(const double *)b);

	return (x > y) - (x < y);
}

/* The greater value by the lesser one, negative where that is b; without rounds of equal values. In order of size. */
static size_t ratios_make(double *ratios, const double *a, const double *b, size_t n)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		if (a[i] != b[i])
			ratios[m++] = b[i] > a[i] ? b[i] / a[i] : -(a[i] / b[i]);
	qsort(ratios, m, sizeof(*ratios), size_order);
	return m;
}

/* A group of t equal sizes from there on. */
static size_t group_of(const double *ratios, size_t n, size_t at)
{
	size_t t = 1;

	while (at + t < n && size_of(ratios[at + t]) == size_of(ratios[at]))
		t++;
	return t;
}

/* Of sums of twice the ranks, each of which is in it or not. */
static double exact_p(const double *ratios, size_t n, size_t sum)
{
	double ways[SIGNED_EXACT * (SIGNED_EXACT + 1) + 1] = { 1 }, below = 0, above = 0;
	size_t most = 0, t;

	for (size_t at = 0; at < n; at += t) {
		size_t rank;

		t = group_of(ratios, n, at);
		rank = 2 * at + t + 1;
		for (size_t i = 0; i < t; i++) {
			most += rank;
			for (size_t s = most + 1; s-- > 0;)
				ways[s] = (ways[s] + (s >= rank ? ways[s - rank] : 0)) / 2;
		}
	}
	for (size_t s = 0; s <= most; s++) {
		below += s <= sum ? ways[s] : 0;
		above += s >= sum ? ways[s] : 0;
	}
	return MIN(2 * MIN(below, above), 1.0);
}

double signed_p(const double *a, const double *b, size_t n, bool *higher, double *scratch)
{
	size_t m = ratios_make(scratch, a, b, n), sum = 0, t;
	double variance = 0, away;

	for (size_t at = 0; at < m; at += t) {
		double rank;

		t = group_of(scratch, m, at);
		rank = (double)(2 * at + t + 1);
		for (size_t i = 0; i < t; i++)
			sum += scratch[at + i] > 0 ? 2 * at + t + 1 : 0;
		variance += (double)t * rank * rank / 4;
	}
	away = (double)sum - (double)(m * (m + 1)) / 2;
	*higher = away > 0;
	if (m <= SIGNED_EXACT)
		return m ? exact_p(scratch, m, sum) : 1;
	away = (away < 0 ? -away : away) - 1;
	return away > 0 ? 2 * rank_normal_above(away / spread_root(variance)) : 1;
}

double signed_least(size_t n)
{
	double p = 2;

	while (n--)
		p /= 2;
	return MIN(p, 1.0);
}
