/* SPDX-License-Identifier: MIT */
/*
 * See change.h. For each place that has CHANGE_LEAST values on either side the sum of the ranks in front of it is
 * compared with what it is on average, in units of its standard deviation: the statistic of Mann and Whitney. The place
 * where that is greatest is the change (Pettitt, A Non-Parametric Approach to the Change-Point Problem, Appl. Stat. 28,
 * 1979, with each place weighed by its own scatter, so that changes near the end count as much as those in the middle).
 * As the place was chosen among many, p is that of the greatest: the share of orders of the same ranks, drawn at
 * random, that have as great a one. Without equal values it depends on the length alone and is kept.
 *
 * Beyond what orders can tell p is bounded: at each place the sum's moments are no greater than those of the normal
 * distribution of the same standard deviation, since the cumulants of U come from log(sinh x / x) <= x^2 / 6, which
 * x^2 / 6 leaves ever farther behind; so 2 exp(-z^2 / 2) bounds its tails, and so many times that what any place has.
 * Equal values make the sum the mean of those of all ways to tell them apart, which has no greater moments.
 */
#include "cli/analyze/change.h"

#include <stdlib.h>
#include <string.h>

#include "cli/analyze/rank.h"
#include "cli/analyze/spread.h"
#include "common/base.h"

enum { ORDERS = 50000, ENOUGH = 200, FEW_ORDERS = 2000, LENGTHS_KEPT = 64 };
#define WORTHWHILE 0.05

struct change_length {
	size_t n;
	double greatest[ORDERS];     /* of each order, in rising order */
};

/* Always the same sequence (Marsaglia, Xorshift RNGs, J. Stat. Softw. 8, 2003). */
static u64 draw(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

struct series {
	size_t n;
	double rank[CHANGE_MOST];
	double weight[CHANGE_MOST];  /* 1 / standard deviation of the sum of so many ranks, but for a factor */
	bool ties;
};

static int pair_order(const void *a, const void *b)
{
	const double *x = *(const double *const *)a, *y = *(const double *const *)b;

	return (*x > *y) - (*x < *y);
}

/* Ranks less their mean; equal values share theirs. */
static void series_rank(struct series *s, const double *values)
{
	const double *order[CHANGE_MOST];
	size_t end;

	for (size_t i = 0; i < s->n; i++)
		order[i] = &values[i];
	qsort(order, s->n, sizeof(*order), pair_order);
	for (size_t i = 0; i < s->n; i = end) {
		for (end = i + 1; end < s->n && *order[end] == *order[i];)
			end++;
		s->ties = s->ties || end > i + 1;
		for (size_t k = i; k < end; k++)
			s->rank[order[k] - values] = ((double)(i + end - 1) - (double)(s->n - 1)) / 2;
	}
	for (size_t k = CHANGE_LEAST; k + CHANGE_LEAST <= s->n; k++)
		s->weight[k] = 1 / spread_root((double)k * (double)(s->n - k));
}

static double greatest_of(const struct series *s, const double *rank, size_t *at)
{
	double sum = 0, greatest = -1;

	for (size_t k = 1; k + CHANGE_LEAST <= s->n; k++) {
		double away;

		sum += rank[k - 1];
		if (k < CHANGE_LEAST)
			continue;
		away = (sum < 0 ? -sum : sum) * s->weight[k];
		if (away > greatest) {
			greatest = away;
			*at = k;
		}
	}
	return greatest;
}

/* The greatest of an order drawn at random; ranks are left in that order. */
static double greatest_drawn(const struct series *s, double *rank, u64 *state)
{
	size_t at;

	for (size_t i = 0; i + 1 < s->n; i++) {
		size_t other = i + (size_t)(((draw(state) >> 32) * (u64)(s->n - i)) >> 32);
		double kept = rank[i];

		rank[i] = rank[other];
		rank[other] = kept;
	}
	return greatest_of(s, rank, &at);
}

/* Sums of halves are exact; what is divided by a root may differ in its last digits. */
static double a_little_less(double value)
{
	return value - 1e-9 * value;
}

/* Of so great a one at any place; weights lack the factor sqrt(12 / (n + 1)). */
static double bounded_p(const struct series *s, double greatest)
{
	double places = (double)(s->n - 2 * CHANGE_LEAST + 1), z2 = greatest * greatest * 12 / (double)(s->n + 1);

	return MIN(2 * places * rank_exp_minus(z2 / 2), 1.0);
}

/* The same of few values without ties: the sum of what each place has. */
static double places_p(const struct series *s, double greatest)
{
	struct rank_lengths lengths = { .n = 0 };
	double p = 0;

	for (size_t k = CHANGE_LEAST; k + CHANGE_LEAST <= s->n; k++)
		p += rank_beyond(k, s->n - k, greatest / s->weight[k], &lengths);
	return p;
}

/* Until p is known well enough. */
static double drawn_p(const struct series *s, double greatest, double bound)
{
	double rank[CHANGE_MOST];
	u64 state = 0x9e3779b97f4a7c15ULL;
	size_t as_great = 0, orders = 0;

	memcpy(rank, s->rank, s->n * sizeof(*rank));
	while (orders < ORDERS && as_great < ENOUGH) {
		/* More of them would tell no more than the bound does. */
		if (orders == FEW_ORDERS && !as_great && bound < 1.0 / (2 * FEW_ORDERS))
			return bound;
		as_great += greatest_drawn(s, rank, &state) >= a_little_less(greatest);
		orders++;
	}
	return MIN((double)(as_great + 1) / (double)(orders + 1), bound);
}

/* NULL: there is no room for more of them. */
static struct change_length *length_of(struct change_orders *orders, const struct series *s)
{
	struct change_length *lengths, *length;
	double rank[CHANGE_MOST];
	u64 state = 0x9e3779b97f4a7c15ULL;

	for (size_t i = 0; i < orders->n; i++)
		if (orders->lengths[i].n == s->n)
			return &orders->lengths[i];
	if (orders->n == LENGTHS_KEPT)
		return NULL;
	lengths = realloc(orders->lengths, (orders->n + 1) * sizeof(*lengths));
	if (!lengths)
		return NULL;
	orders->lengths = lengths;
	length = &lengths[orders->n++];
	length->n = s->n;
	memcpy(rank, s->rank, s->n * sizeof(*rank));
	for (size_t i = 0; i < ORDERS; i++)
		length->greatest[i] = greatest_drawn(s, rank, &state);
	spread_sort(length->greatest, ORDERS);
	return length;
}

static double known_p(const struct change_length *length, double greatest)
{
	size_t below = 0, end = ORDERS;

	while (below < end) {
		size_t half = below + (end - below) / 2;

		if (length->greatest[half] >= a_little_less(greatest))
			end = half;
		else
			below = half + 1;
	}
	return (double)(ORDERS - below + 1) / (ORDERS + 1);
}

void change_find(struct change *change, const double *values, size_t n, struct change_orders *orders)
{
	struct series s = { .n = n };
	const struct change_length *length;
	double greatest, bound;

	*change = (struct change){ .p = 1 };
	if (n < 2 * CHANGE_LEAST || n > CHANGE_MOST)
		return;
	series_rank(&s, values);
	greatest = greatest_of(&s, s.rank, &change->at);
	if (greatest <= 0)
		return;
	bound = bounded_p(&s, greatest);
	if (bound > 1.0 / ORDERS && bound < WORTHWHILE && !s.ties && n <= RANK_EXACT + CHANGE_LEAST)
		bound = MIN(bound, places_p(&s, greatest));
	if (bound <= 1.0 / ORDERS) {
		change->p = bound;
		return;
	}
	length = s.ties ? NULL : length_of(orders, &s);
	change->p = length ? MIN(known_p(length, greatest), bound) : drawn_p(&s, greatest, bound);
}

void change_orders_free(struct change_orders *orders)
{
	free(orders->lengths);
	*orders = (struct change_orders){ .n = 0 };
}
