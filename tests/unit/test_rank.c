/* SPDX-License-Identifier: MIT */
/* cli/analyze/rank: the test of two series and the interval of their ratio, by published figures and by all choices. */
#include "cli/analyze/rank.h"

#include <math.h>
#include <string.h>

#include "common/base.h"
#include "suite.h"

#define MOST 200

static struct rank_lengths lengths;
static double a[MOST], b[MOST];

static struct rank compare(size_t n, size_t m)
{
	struct rank rank;

	spread_sort(a, n);
	spread_sort(b, m);
	rank_compare(&rank, a, n, b, m, &lengths);
	return rank;
}

static void near(double is, double want)
{
	ck_assert_msg(fabs(is - want) <= 1e-9 * fabs(want), "%.17g, not %.17g", is, want);
}

/*
 * The probability of U <= u. Small ones: the table of Mann and Whitney (1947), where they are .050, .100, .029 and .100.
 * The others: u is the greatest with at most .025, as tables of critical values have it (Zar, Biostatistical Analysis,
 * table B.11: 13 for 8 and 8, 127 for 20 and 20, 317 for 30 and 30, 8 for 10 and 5); the quotients are counts of all
 * choices by the recurrence in the paper, over the binomial coefficient.
 */
static const struct { size_t n, m, u; double below; } exact[] = {
	{ 3, 3, 0, 1.0 / 20 }, { 3, 3, 1, 2.0 / 20 }, { 4, 4, 1, 2.0 / 70 }, { 4, 4, 3, 7.0 / 70 },
	{ 8, 8, 13, 321.0 / 12870 }, { 8, 8, 14, 418.0 / 12870 }, { 10, 5, 8, 60.0 / 3003 },
	{ 20, 20, 127, 3383465463.0 / 137846528820.0 }, { 30, 30, 317, 0.024809999982328048 },
	{ 30, 30, 318, 0.025700725022208729 }, { 49, 49, 900, 0.016308863525874261 },
};

START_TEST(test_exact)
{
	size_t n = exact[_i].n, m = exact[_i].m, left = exact[_i].u;

	for (size_t i = 0; i < n; i++)
		a[i] = (double)(2 * i + 2);
	/* Each of b stands above as many of a as are left, so that U is what it is to be. */
	for (size_t k = 0; k < m; k++) {
		size_t under = MIN(left, n);

		b[k] = (double)(2 * under) + 1 + (double)k / 100;
		left -= under;
	}
	near(compare(n, m).p, 2 * exact[_i].below);
	ck_assert(!compare(n, m).higher);
	near(lengths.below[exact[_i].u], exact[_i].below);
}
END_TEST

/* The bound of the interval is the first U beyond those whose probability is at most .025. */
START_TEST(test_bounds)
{
	static const struct { size_t n, m, bound; } bounds[] = { { 3, 3, 0 }, { 4, 4, 1 }, { 8, 8, 14 }, { 10, 5, 9 }, { 20, 20, 128 },
								  { 30, 30, 318 } };

	for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
		for (size_t k = 0; k < bounds[i].n; k++)
			a[k] = (double)k + 1;
		for (size_t k = 0; k < bounds[i].m; k++)
			b[k] = (double)k + 1.5;
		compare(bounds[i].n, bounds[i].m);
		ck_assert_uint_eq(lengths.bound, bounds[i].bound);
	}
}
END_TEST

/*
 * Permeability of membranes: Hollander and Wolfe, Nonparametric Statistical Methods (1973), page 69, the example of R's
 * wilcox.test(): one-sided p = 0.1272, here both sides of it (382 and more of the 3003 choices); the estimate of the
 * shift is 0.305 with the interval -0.15 to 0.76. The values here are e^x of those, so that the ratio is e^-0.305, from
 * e^-0.76 to e^0.15.
 */
START_TEST(test_hollander_wolfe)
{
	static const double at_term[] = { 2.0750806076741224, 2.2255409284924679, 2.2933187402641826, 2.8292170143515598,
					  3.9749016274947477, 4.2631145151688168, 4.3059595283452063, 5.1551695122346803,
					  6.6193686810430767, 6.7530887985312864 };
	static const double later[] = { 2.0959355144943643, 2.4108997064172097, 2.4596031111569499, 3.1581929096897672,
					3.3534846525490236 };
	struct rank rank;

	memcpy(a, at_term, sizeof(at_term));
	memcpy(b, later, sizeof(later));
	rank = compare(10, 5);
	near(rank.p, 2 * 382.0 / 3003);
	ck_assert(!rank.higher && rank.known && rank.bounded && !rank.equal);
	ck_assert_double_eq_tol(rank.ratio, 0.73712337439162778, 1e-12);
	ck_assert_double_eq_tol(rank.low, 0.46766642700990924, 1e-12);
	ck_assert_double_eq_tol(rank.high, 1.1618342427282831, 1e-12);
}
END_TEST

/*
 * Ozone in New York, May and August 1973: R's data set airquality and the example of its wilcox.test(), with ties:
 * W = 127.5, p = 0.0001208.
 */
START_TEST(test_ties)
{
	static const double may[] = { 41, 36, 12, 18, 28, 23, 19, 8, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11, 1, 11, 4, 32, 23, 45, 115, 37 };
	static const double august[] = { 39, 9, 16, 78, 35, 66, 122, 89, 110, 44, 28, 65, 22, 59, 23, 31, 44, 21, 9, 45, 168, 73, 76,
					 118, 84, 85 };
	struct rank rank;

	memcpy(a, may, sizeof(may));
	memcpy(b, august, sizeof(august));
	rank = compare(26, 26);
	ck_assert(rank.higher);
	near(rank.p, 0.00012080783076877465);
}
END_TEST

/* Few values with ties: of the 1716 choices of 6 of 13 ranks 86 have a sum as great or greater, counted one by one. */
START_TEST(test_few_ties)
{
	static const double x[] = { 1, 2, 2, 3, 3, 3, 4 }, y[] = { 2, 3, 4, 4, 5, 5 };

	memcpy(a, x, sizeof(x));
	memcpy(b, y, sizeof(y));
	near(compare(7, 6).p, 2 * 86.0 / 1716);
	/* What never differs but between the two: one of all choices, and its opposite. */
	for (size_t i = 0; i < 5; i++)
		a[i] = 7, b[i] = 8;
	near(compare(5, 5).p, 2.0 / 252);
	ck_assert_double_eq(compare(5, 5).ratio, 8.0 / 7);
	ck_assert_double_eq(compare(5, 5).low, 8.0 / 7);
	ck_assert_double_eq(compare(5, 5).high, 8.0 / 7);
}
END_TEST

/* Long series: by the normal distribution. */
/* Something rare, four times on one side: of 487635 choices 27405 have all four there, and as many all on the other. */
START_TEST(test_rare)
{
	memset(a, 0, sizeof(a));
	memset(b, 0, sizeof(b));
	for (size_t i = 0; i < 4; i++)
		b[i] = 1;
	ck_assert_double_ge(compare(30, 30).p, 2 * 27405.0 / 487635.0);
	ck_assert_double_le(compare(30, 30).p, 0.13);
}
END_TEST

START_TEST(test_long)
{
	struct rank rank;

	for (size_t i = 0; i < 60; i++) {
		a[i] = (double)(2 * i + 2);
		b[i] = (double)(2 * i + 2) + 26.5;
	}
	rank = compare(60, 60);
	ck_assert(rank.higher);
	/* U is 2519 of 3600: z = 718.5 / sqrt(60 x 60 x 121 / 12) = 3.7711 */
	ck_assert_double_eq_tol(rank.p, 0.000162, 2e-6);
	ck_assert(rank.bounded && rank.low > 1);
}
END_TEST

START_TEST(test_least)
{
	near(rank_least(4, 4), 2.0 / 70);
	near(rank_least(3, 3), 2.0 / 20);
	near(rank_least(1, 1), 1);
	near(rank_least(10, 5), 2.0 / 3003);
	ck_assert_double_lt(rank_least(49, 49), 1e-28);
	/* Beyond that as it is worked out: 0.0936, and not 2 in 61. */
	ck_assert_double_gt(rank_least(1, 60), 0.05);
}
END_TEST

START_TEST(test_odd_values)
{
	struct rank rank;

	a[0] = 0, a[1] = 1, b[0] = 2, b[1] = 3;
	rank = compare(2, 2);
	ck_assert(!rank.known && rank.higher);
	near(rank.p, 2.0 / 6);
	a[0] = a[1] = b[0] = b[1] = 5;
	rank = compare(2, 2);
	ck_assert(rank.equal && rank.known && !rank.bounded && !rank.higher);
	ck_assert_double_eq(rank.p, 1);
	ck_assert_double_eq(rank.ratio, 1);
	a[0] = 4, b[0] = 6;
	rank = compare(1, 1);
	ck_assert_double_eq(rank.p, 1);
	ck_assert_double_eq(rank.ratio, 1.5);
	a[0] = 1e-300, a[1] = 1e-299, b[0] = 1e300, b[1] = 2e300;
	rank = compare(2, 2);
	ck_assert(rank.higher && rank.known && !isnan(rank.ratio));
}
END_TEST

/* ---- what it says of scatter ----------------------------------------------------------------------- */

static u32 state;

static double uniform(void)
{
	state = state * 1664525u + 1013904223u;
	return ((double)(state >> 8) + 0.5) / (1 << 24);
}

static double scatter_bell(void)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += uniform();
	return 1 + (sum - 6) * 0.02;
}

static double scatter_tail(void)
{
	return 1 + 0.02 / (uniform() + 0.02);
}

static double scatter_clusters(void)
{
	return (uniform() < 0.3 ? 1.2 : 1) * scatter_bell();
}

static double (*const scatters[])(void) = { scatter_bell, scatter_tail, scatter_clusters };
static const struct { size_t n, m; } series[] = { { 4, 4 }, { 5, 12 }, { 20, 20 }, { 60, 55 } };

enum { COMPARISONS = 2000 };

static struct rank measured(size_t n, size_t m, double times, double (*scatter)(void))
{
	for (size_t i = 0; i < n; i++)
		a[i] = scatter();
	for (size_t i = 0; i < m; i++)
		b[i] = scatter() * times;
	return compare(n, m);
}

/* At most 5 in 100 are told apart, and the interval has the ratio in at least 95 of 100: 3 standard deviations aside. */
START_TEST(test_rates)
{
	size_t n = series[_i / 3].n, m = series[_i / 3].m;
	int told = 0, missed = 0;

	state = (u32)_i + 1;
	for (int k = 0; k < COMPARISONS; k++) {
		struct rank rank = measured(n, m, 1, scatters[_i % 3]);

		told += rank.p <= 0.05;
		missed += rank.low > 1 || rank.high < 1;
	}
	ck_assert_int_le(told, COMPARISONS / 20 + 30);
	ck_assert_int_le(missed, COMPARISONS / 20 + 30);
	ck_assert_int_ge(told, COMPARISONS / 100);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("rank");

	tcase_add_loop_test(tests, test_exact, 0, ARRAY_SIZE(exact));
	tcase_add_test(tests, test_bounds);
	tcase_add_test(tests, test_hollander_wolfe);
	tcase_add_test(tests, test_ties);
	tcase_add_test(tests, test_few_ties);
	tcase_add_test(tests, test_rare);
	tcase_add_test(tests, test_long);
	tcase_add_test(tests, test_least);
	tcase_add_test(tests, test_odd_values);
	tcase_add_loop_test(tests, test_rates, 0, ARRAY_SIZE(series) * ARRAY_SIZE(scatters));
	return suite_run("rank", tests);
}
