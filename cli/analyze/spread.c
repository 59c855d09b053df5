/* SPDX-License-Identifier: MIT */
/*
 * See spread.h. The interval of the median is that of the sign test, exact for any distribution; both kinds of
 * bounds are in Hollander, Wolfe, Chicken: Nonparametric Statistical Methods, 3rd edition, chapter 3. The rule
 * for outliers follows Iglewicz, Hoaglin: How to Detect and Handle Outliers (1993), which has 3.5 for normal
 * values; times of programs have a longer tail.
 */
#include "cli/analyze/spread.h"

#include <math.h>
#include <stdlib.h>

#include "common/base.h"

#define MAD_TO_SIGMA 1.4826          /* of normal values */
#define FAR_SIGMAS 5.0
#define SIGNS_EXACT 1000             /* 2^-n is a number that far */
#define RANKS_EXACT 64
#define CLUSTER_PART 5               /* each has at least 1 / 5 of the values */

static const struct { double tail, z; } levels[] = {
	[SPREAD_95] = { 0.025, 1.959964 },
	[SPREAD_99] = { 0.005, 2.575829 },
};

/* Newton's method: sqrt(3) would need another library. */
double spread_root(double value)
{
	double root = value > 1 ? value : 1;

	if (!(value > 0) || !isfinite(value))
		return 0;
	for (double next = (root + value / root) / 2; next < root; next = (root + value / root) / 2)
		root = next;
	return root;
}

static int spread_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void spread_sort(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), spread_order);
}

size_t spread_normal_bound(double mean, double variance, enum spread_level level)
{
	double bound = mean - levels[level].z * spread_root(variance) + 0.5;

	return bound < 1 ? 0 : (size_t)bound;
}

size_t spread_sign_bound(size_t n, enum spread_level level)
{
	double part = 1, sum = 0;
	size_t k = 0;

	if (n > SIGNS_EXACT)
		return spread_normal_bound((double)n / 2, (double)n / 4, level);
	for (size_t i = 0; i < n; i++)
		part /= 2;
	while (k < n && (sum += part) <= levels[level].tail) {
		part *= (double)(n - k) / (double)(k + 1);
		k++;
	}
	return k;
}

size_t spread_rank_bound(size_t n, enum spread_level level)
{
	double ways[RANKS_EXACT * (RANKS_EXACT + 1) / 2 + 1] = { 1 }, sum = 0;
	size_t most = 0, k = 0;

	if (n > RANKS_EXACT) {
		double m = (double)n;

		return spread_normal_bound(m * (m + 1) / 4, m * (m + 1) * (2 * m + 1) / 24, level);
	}
	/* The probability of each sum of ranks, one rank more at a time. */
	for (size_t rank = 1; rank <= n; rank++) {
		most += rank;
		for (size_t s = most + 1; s-- > 0;)
			ways[s] = (ways[s] + (s >= rank ? ways[s - rank] : 0)) / 2;
	}
	while (k < most && (sum += ways[k]) <= levels[level].tail)
		k++;
	return k;
}

static double middle(const double *sorted, size_t n)
{
	return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/*
 * The median distance from the median, of sorted values: the nearest n / 2 are a run of them, which is
 * found from both ends of what is left.
 */
static double mad_of(const double *sorted, size_t n, double median)
{
	size_t low = 0, high = n;
	double last = 0, before = 0;

	for (size_t left = n; left > n / 2 - (n % 2 ? 0 : 1); left--) {
		double down = median - sorted[low], up = sorted[high - 1] - median;

		before = last;
		last = down > up ? down : up;
		if (down > up)
			low++;
		else
			high--;
	}
	return n % 2 ? last : (last + before) / 2;
}

/* The widest gap between values that leaves enough on both sides. */
static void clusters_find(struct spread *s, const double *sorted)
{
	size_t most = MAX(s->n / CLUSTER_PART, 3), at = 0, n = s->n;
	double gap = 0, under, over;

	for (size_t i = most; i + most <= n; i++)
		if (sorted[i] - sorted[i - 1] > gap) {
			gap = sorted[i] - sorted[i - 1];
			at = i;
		}
	if (!at)
		return;
	under = mad_of(sorted, at, middle(sorted, at));
	over = mad_of(sorted + at, n - at, middle(sorted + at, n - at));
	s->clusters = gap > 2 * FAR_SIGMAS * MAD_TO_SIGMA * MAX(under, over) && gap > s->median / 10;
	s->below = sorted[at - 1];
	s->above = sorted[at];
}

bool spread_far(const struct spread *s, double value)
{
	double distance = value > s->median ? value - s->median : s->median - value;

	/* Counts that hardly ever differ have no scatter to compare with. */
	return distance > FAR_SIGMAS * MAD_TO_SIGMA * s->mad && distance > s->median / 1000 && s->mad > 0;
}

void spread_of(struct spread *s, const double *values, size_t n, double *sorted)
{
	double sum = 0, squares = 0;
	size_t bound;

	*s = (struct spread){ .n = n };
	for (size_t i = 0; i < n; i++) {
		sorted[i] = values[i];
		sum += values[i];
	}
	spread_sort(sorted, n);
	s->mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - s->mean) * (values[i] - s->mean);
	s->stddev = n > 1 ? spread_root(squares / (double)(n - 1)) : 0;
	s->median = middle(sorted, n);
	s->mad = mad_of(sorted, n, s->median);
	s->min = sorted[0];
	s->max = sorted[n - 1];
	bound = spread_sign_bound(n, SPREAD_95);
	s->bounded = bound > 0;
	s->low = sorted[bound ? bound - 1 : 0];
	s->high = sorted[bound ? n - bound : n - 1];
	for (size_t i = 0; i < n; i++)
		s->outliers += spread_far(s, values[i]);
	clusters_find(s, sorted);
}

double spread_precision(const struct spread *s)
{
	double half = (s->high - s->low) / 2;

	if (!s->bounded)
		return -1;
	return half > 0 ? s->median > 0 ? half / s->median : -1 : 0;
}
