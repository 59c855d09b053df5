/* SPDX-License-Identifier: MIT */
/*
 * See rank.h. The test is that of Mann and Whitney (On a Test of Whether one of Two Random Variables is
 * Stochastically Larger than the Other, Ann. Math. Stat. 18, 1947): U is the number of pairs in which b is greater,
 * half for equal ones. The estimate is that of Hodges and Lehmann (Ann. Math. Stat. 34, 1963) for the logarithm of
 * the ratio: the median of the ratios of all pairs, with the interval of the same test. As in R's wilcox.test()
 * p is exact for less than 50 values without ties, else that of the normal distribution with the corrections for
 * ties and continuity; other than there, it is exact with ties, too, where there are few values.
 *
 * A ratio is found by halving over products, so that the n m of them are never held, as in compare.c.
 */
#include "cli/analyze/rank.h"

#include <string.h>

#include "common/base.h"

#define TIES_EXACT 20                /* values in both series: the sums of all choices of ranks are counted */
#define HALVINGS 64
#define PRECISE 1e-13

/* ---- the normal distribution: libm is another library to load */

/* By a series where it is near 1, and squares of that. */
double rank_exp_minus(double x)
{
	double term = 1, sum = 1, part = x / 1024;

	for (int i = 1; i < 16; i++) {
		term *= -part / i;
		sum += term;
	}
	for (int i = 0; i < 10; i++)
		sum *= sum;
	return x < 740 ? sum : 0;
}

/* What lies above z >= 0: Marsaglia, Evaluating the Normal Distribution (J. Stat. Softw. 11, 2004); Laplace's fraction. */
double rank_normal_above(double z)
{
	static const double root_two_pi = 2.5066282746310002;
	double density = rank_exp_minus(z * z / 2) / root_two_pi, sum = z, term = z, fraction = z;

	if (z < 3) {
		for (int i = 3; i < 100; i += 2) {
			term *= z * z / i;
			sum += term;
		}
		return 0.5 - density * sum;
	}
	for (int i = 80; i > 0; i--)
		fraction = z + i / fraction;
	return density / fraction;
}

/* ---- the distribution of U */

/*
 * Of n and m values without ties: the coefficients of Gauss's binomial, which is a product of (1 - x^(m + i)) /
 * (1 - x^i), up to its middle, where they only grow.
 */
static void lengths_fill(struct rank_lengths *l)
{
	size_t half = l->n * l->m / 2;
	double all = 1, sum = 0;

	memset(l->below, 0, (half + 1) * sizeof(*l->below));
	l->below[0] = 1;
	for (size_t i = 1; i <= l->n; i++) {
		for (size_t u = half; u + 1 > l->m + i; u--)
			l->below[u] -= l->below[u - l->m - i];
		for (size_t u = i; u <= half; u++)
			l->below[u] += l->below[u - i];
		all *= (double)(l->m + i) / (double)i;
	}
	for (size_t u = 0; u <= half; u++)
		l->below[u] = sum += l->below[u] / all;
}

static void lengths_make(struct rank_lengths *l, size_t n, size_t m)
{
	double pairs = (double)n * (double)m;

	if (l->n == n && l->m == m)
		return;
	l->n = n;
	l->m = m;
	l->bound = 0;
	if (n > RANK_EXACT || m > RANK_EXACT) {
		l->bound = spread_normal_bound(pairs / 2, pairs * (double)(n + m + 1) / 12, SPREAD_95);
		return;
	}
	lengths_fill(l);
	while (l->bound <= n * m / 2 && l->below[l->bound] <= 0.025)
		l->bound++;
}

double rank_beyond(size_t n, size_t m, double away, struct rank_lengths *lengths)
{
	double at = (double)n * (double)m / 2 - away + 1e-6;

	lengths_make(lengths, n, m);
	return at < 0 ? 0 : MIN(2 * lengths->below[(size_t)at], 1.0);
}

/* ---- ranks */

struct ranks {
	size_t n, m;
	u64 twice_u;                 /* pairs in which b is greater, twice, and those that are equal */
	bool ties;
	double cubes;                /* sum of t^3 - t over groups of t equal values */
	u64 last, step;              /* twice the rank of the last group; what those between groups are multiples of */
	u32 twice_rank[TIES_EXACT];  /* of few values: those of the groups, each as often as it has values */
};

static u64 divisor(u64 a, u64 b)
{
	while (b) {
		u64 rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static void ranks_group(struct ranks *r, size_t at, size_t t)
{
	u64 twice = 2 * at + t + 1;

	r->step = at ? divisor(twice - r->last, r->step) : 0;
	r->last = twice;
	r->ties = r->ties || t > 1;
	r->cubes += (double)t * ((double)t * (double)t - 1);
	for (size_t i = at; i < at + t && r->n + r->m <= TIES_EXACT; i++)
		r->twice_rank[i] = (u32)twice;
}

/* Goes through both series at once, a group of equal values at a time. */
static void ranks_make(struct ranks *r, const double *a, const double *b)
{
	size_t i = 0, k = 0;

	while (i < r->n || k < r->m) {
		double value = i < r->n && (k >= r->m || a[i] <= b[k]) ? a[i] : b[k];
		size_t from_a = i, from_b = k;

		while (i < r->n && a[i] <= value)
			i++;
		while (k < r->m && b[k] <= value)
			k++;
		r->twice_u += (u64)(k - from_b) * (2 * from_a + (i - from_a));
		ranks_group(r, from_a + from_b, i - from_a + (k - from_b));
	}
}

/* Both tails of the distribution that sums of ranks have if any choice of so many of them is as likely. */
static double tied_p(const struct ranks *r)
{
	double ways[TIES_EXACT + 1][TIES_EXACT * (TIES_EXACT + 1) + 1] = { { 0 } }, all = 0, below = 0, above = 0;
	size_t most = 0, sum = r->twice_u + r->m * (r->m + 1);

	ways[0][0] = 1;
	for (size_t i = 0; i < r->n + r->m; i++) {
		u32 rank = r->twice_rank[i];

		most += rank;
		for (size_t k = MIN(i + 1, r->m); k > 0; k--)
			for (size_t s = most; s >= rank; s--)
				ways[k][s] += ways[k - 1][s - rank];
	}
	for (size_t s = 0; s <= most; s++) {
		all += ways[r->m][s];
		below += s <= sum ? ways[r->m][s] : 0;
		above += s >= sum ? ways[r->m][s] : 0;
	}
	return 2 * MIN(below, above) / all;
}

static double normal_p(const struct ranks *r)
{
	double n = (double)r->n, m = (double)r->m, all = n + m;
	double away = (double)r->twice_u / 2 - n * m / 2, variance = n * m / 12 * (all + 1 - r->cubes / (all * (all - 1)));

	/* Half a step of U, which is more than 1 where few values differ from the others. */
	away = (away < 0 ? -away : away) - MAX(0.5, (double)r->step / 4);
	return away > 0 && variance > 0 ? 2 * rank_normal_above(away / spread_root(variance)) : 1;
}

double rank_least(size_t n, size_t m)
{
	double p = 2;

	if (n > RANK_EXACT || m > RANK_EXACT)
		return normal_p(&(struct ranks){ .n = n, .m = m, .twice_u = 2 * (u64)n * m });
	for (size_t i = 1; i <= n; i++)
		p *= (double)i / (double)(m + i);
	return p < 1 ? p : 1;
}

static double ranks_p(const struct ranks *r, const struct rank_lengths *l)
{
	size_t pairs = r->n * r->m, u = r->twice_u / 2;
	double p;

	if (r->ties)
		p = r->n + r->m <= TIES_EXACT ? tied_p(r) : normal_p(r);
	else if (r->n > RANK_EXACT || r->m > RANK_EXACT)
		p = normal_p(r);
	else
		p = 2 * l->below[MIN(u, pairs - u)];
	return p < 1 ? p : 1;
}

/* ---- ratios */

struct ratios {
	const double *a, *b;
	size_t n, m;
};

static size_t ratios_within(const struct ratios *r, double ratio)
{
	size_t count = 0, k = 0;

	for (size_t i = 0; i < r->n; i++) {
		while (k < r->m && r->b[k] <= ratio * r->a[i])
			k++;
		count += k;
	}
	return count;
}

/* The greatest that is within. */
static double ratios_last(const struct ratios *r, double ratio)
{
	double last = 0;

	for (size_t i = 0, k = 0; i < r->n; i++) {
		while (k < r->m && r->b[k] <= ratio * r->a[i])
			k++;
		if (k && r->b[k - 1] / r->a[i] > last)
			last = r->b[k - 1] / r->a[i];
	}
	return last;
}

/* The k-th, of which the first is 1. */
static double ratio_at(const struct ratios *r, size_t k)
{
	double low = r->b[0] / r->a[r->n - 1], high = r->b[r->m - 1] / r->a[0] * (1 + PRECISE);
	size_t under = ratios_within(r, low), within = r->n * r->m;

	if (under >= k)
		return low;
	for (int step = 0; step < HALVINGS && within - under > 1 && high - low > PRECISE * high; step++) {
		double half = low + (high - low) / 2;
		size_t count = ratios_within(r, half);

		if (count >= k) {
			high = half;
			within = count;
		} else {
			low = half;
			under = count;
		}
	}
	return ratios_last(r, high);
}

static void ratio_judge(struct rank *rank, const struct ratios *r, size_t bound)
{
	size_t pairs = r->n * r->m;

	rank->known = true;
	rank->ratio = ratio_at(r, (pairs + 1) / 2);
	if (pairs % 2 == 0) {
		double next = ratio_at(r, pairs / 2 + 1);

		/* The root of what does not differ may. */
		rank->ratio = next > rank->ratio ? spread_root(rank->ratio * next) : rank->ratio;
	}
	rank->bounded = bound > 0;
	rank->low = bound ? ratio_at(r, bound) : rank->ratio;
	rank->high = bound ? ratio_at(r, pairs + 1 - bound) : rank->ratio;
}

void rank_compare(struct rank *rank, const double *a, size_t n, const double *b, size_t m, struct rank_lengths *lengths)
{
	struct ranks ranks = { .n = n, .m = m };

	lengths_make(lengths, n, m);
	ranks_make(&ranks, a, b);
	*rank = (struct rank){ .p = 1, .equal = MIN(a[0], b[0]) == MAX(a[n - 1], b[m - 1]),
			       .higher = ranks.twice_u > n * m };
	if (!rank->equal)
		rank->p = ranks_p(&ranks, lengths);
	if (a[0] > 0 && b[0] > 0)
		ratio_judge(rank, &(struct ratios){ a, b, n, m }, lengths->bound);
}
