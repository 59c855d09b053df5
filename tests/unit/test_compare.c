/* SPDX-License-Identifier: MIT */
/*
 * cli/analyze/spread and compare: bounds against published tables, estimates against the long way, and on
 * made-up measurements with fixed seeds how often an interval misses.
 */
#include <math.h>
#include <string.h>

#include "cli/analyze/compare.h"
#include "common/base.h"
#include "suite.h"

enum { MOST = 2000, COMPARISONS = 200 };

static double a[MOST], b[MOST], scratch[MOST], pairs[MOST * 64];

/* ---- what a machine does to a time, reproducibly */

static u64 state;

static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return ((double)(state >> 11) + 0.5) / (double)(1ULL << 53);
}

static double scatter_even(void)
{
	return 1 + 0.1 * uniform();
}

static double scatter_bell(void)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += uniform();
	return 1 + 0.02 * (sum - 6);
}

/* Mostly near the least, seldom far from it. */
static double scatter_tail(void)
{
	return 1 + 0.01 / uniform();
}

static double scatter_clusters(void)
{
	return (uniform() < 0.3 ? 1.5 : 1) + 0.01 * uniform();
}

/* As a count of faults, with few different values. */
static double scatter_steps(void)
{
	return 100 + (double)(int)(4 * uniform());
}

static double (*const scatters[])(void) = { scatter_even, scatter_bell, scatter_tail, scatter_clusters, scatter_steps };

/* Rounds of A and B, B so many times A, while the machine slows down to so much from the first run to the last. */
static void measure(double (*scatter)(void), size_t n, double ratio, double drift, bool turns)
{
	for (size_t i = 0; i < n; i++) {
		double first = 2.0 * (double)i / (double)(2 * n), second = (2.0 * (double)i + 1) / (double)(2 * n);
		bool a_first = !turns || i % 2 == 0;

		if (!turns) {
			first = (double)i / (double)(2 * n);
			second = first + 0.5;
		}
		a[i] = scatter() * (1 + drift * (a_first ? first : second));
		b[i] = scatter() * ratio * (1 + drift * (a_first ? second : first));
	}
}

/* ---- spread */

static const struct { size_t n, sign, rank; } bounds[] = {
	{ 1, 0, 0 }, { 5, 0, 0 }, { 6, 1, 1 }, { 7, 1, 3 }, { 8, 1, 4 }, { 9, 2, 6 }, { 10, 2, 9 }, { 12, 3, 14 },
	{ 15, 4, 26 }, { 20, 6, 53 }, { 25, 8, 90 },
};

START_TEST(test_bounds)
{
	ck_assert_uint_eq(spread_sign_bound(bounds[_i].n, SPREAD_95), bounds[_i].sign);
	ck_assert_uint_eq(spread_rank_bound(bounds[_i].n, SPREAD_95), bounds[_i].rank);
	ck_assert_uint_le(spread_sign_bound(bounds[_i].n, SPREAD_99), bounds[_i].sign);
	ck_assert_uint_le(spread_rank_bound(bounds[_i].n, SPREAD_99), bounds[_i].rank);
}
END_TEST

/* Where the exact bound gives way to the normal distribution there is no step. */
START_TEST(test_bounds_join)
{
	for (size_t n = 2; n < MOST; n++) {
		ck_assert_uint_ge(spread_sign_bound(n, SPREAD_95) + 1, spread_sign_bound(n - 1, SPREAD_95));
		ck_assert_uint_le(spread_sign_bound(n, SPREAD_95), spread_sign_bound(n - 1, SPREAD_95) + 1);
		ck_assert_uint_ge(spread_rank_bound(n, SPREAD_95), spread_rank_bound(n - 1, SPREAD_95));
		ck_assert_uint_le(spread_rank_bound(n, SPREAD_95), spread_rank_bound(n - 1, SPREAD_95) + n / 2 + 1);
	}
}
END_TEST

START_TEST(test_root)
{
	static const double values[] = { 1e-300, 1e-9, 0.25, 0.5, 1, 2, 3, 1e6, 1e300 };

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		double root = spread_root(values[i]);

		ck_assert_double_eq_tol(root * root / values[i], 1, 1e-15 * 4);
	}
	ck_assert_double_eq(spread_root(0), 0);
	ck_assert_double_eq(spread_root(-1), 0);
}
END_TEST

START_TEST(test_spread)
{
	struct spread s;

	for (size_t n = 1; n < 60; n++) {
		state = n;
		for (size_t i = 0; i < n; i++)
			a[i] = (double)(int)(50 * uniform());
		spread_of(&s, a, n, scratch);
		ck_assert_double_eq(s.median, (scratch[n / 2] + scratch[(n - 1) / 2]) / 2);
		ck_assert_double_eq(s.min, scratch[0]);
		ck_assert_double_eq(s.max, scratch[n - 1]);
		for (size_t i = 0; i < n; i++)
			b[i] = a[i] > s.median ? a[i] - s.median : s.median - a[i];
		spread_sort(b, n);
		ck_assert_double_eq(s.mad, (b[n / 2] + b[(n - 1) / 2]) / 2);
		ck_assert_int_eq(s.bounded, n >= SPREAD_LEAST);
		ck_assert(s.low <= s.median && s.median <= s.high);
	}
}
END_TEST

START_TEST(test_one_value)
{
	struct spread s;

	a[0] = 7;
	spread_of(&s, a, 1, scratch);
	ck_assert_double_eq(s.median, 7);
	ck_assert_double_eq(s.mean, 7);
	ck_assert_double_eq(s.stddev, 0);
	ck_assert_double_eq(s.mad, 0);
	ck_assert_uint_eq(s.outliers, 0);
	ck_assert_double_lt(spread_precision(&s), 0);
}
END_TEST

/* The median of what is measured lies outside its interval in 1 of 20 series at most, but for chance. */
START_TEST(test_interval)
{
	struct spread s;
	double truth;
	int missed = 0;

	state = 99;
	for (size_t i = 0; i < MOST; i++)
		a[i] = scatters[_i]();
	spread_of(&s, a, MOST, scratch);
	truth = s.median;
	for (int k = 0; k < COMPARISONS; k++) {
		for (size_t i = 0; i < 20; i++)
			a[i] = scatters[_i]();
		spread_of(&s, a, 20, scratch);
		missed += truth < s.low || truth > s.high;
	}
	ck_assert_int_le(missed, 20);
}
END_TEST

START_TEST(test_outliers)
{
	struct spread s;

	state = 5;
	for (size_t i = 0; i < 40; i++)
		a[i] = scatter_bell();
	spread_of(&s, a, 40, scratch);
	ck_assert_uint_eq(s.outliers, 0);
	ck_assert(!s.clusters);
	a[7] = 3;
	a[9] = 0.1;
	spread_of(&s, a, 40, scratch);
	ck_assert_uint_eq(s.outliers, 2);
	ck_assert(spread_far(&s, 3) && !spread_far(&s, 1.01));
	ck_assert(!s.clusters);
}
END_TEST

START_TEST(test_clusters)
{
	struct spread s;

	state = 5;
	for (size_t i = 0; i < 20; i++)
		a[i] = (i % 2 ? 700 : 10) + uniform();
	spread_of(&s, a, 20, scratch);
	ck_assert(s.clusters);
	ck_assert(s.below < 12 && s.above >= 700);
	for (int shape = 0; shape < 3; shape++) {
		for (size_t i = 0; i < 200; i++)
			a[i] = scatters[shape]();
		spread_of(&s, a, 200, scratch);
		ck_assert_msg(!s.clusters, "shape %d has clusters", shape);
	}
}
END_TEST

/* ---- compare */

/* The same by all means of two, written down. */
START_TEST(test_long_way)
{
	struct comparison c;

	for (size_t n = 1; n <= 60; n++) {
		size_t m = 0, bound = spread_rank_bound(n, SPREAD_95);

		state = n + 1;
		measure(scatters[n % ARRAY_SIZE(scatters)], n, 1.7, 0, true);
		for (size_t i = 0; i < n; i++)
			for (size_t k = i; k < n; k++)
				pairs[m++] = spread_root(b[i] / a[i] * (b[k] / a[k]));
		spread_sort(pairs, m);
		compare_rounds(&c, a, b, n, SPREAD_95, scratch);
		ck_assert(c.known);
		ck_assert_uint_eq(c.rounds, n);
		ck_assert_double_eq_tol(c.ratio, spread_root(pairs[(m - 1) / 2] * pairs[m / 2]), 1e-12);
		ck_assert_int_eq(c.bounded, n >= SPREAD_LEAST);
		if (!bound)
			continue;
		ck_assert_double_eq_tol(c.low, pairs[bound - 1], 1e-12);
		ck_assert_double_eq_tol(c.high, pairs[m - bound], 1e-12);
	}
}
END_TEST

/* What is not there, and what is 0, and what never differs. */
START_TEST(test_values)
{
	struct comparison c;

	for (size_t i = 0; i < 8; i++) {
		a[i] = 100;
		b[i] = 101;
	}
	compare_rounds(&c, a, b, 8, SPREAD_95, scratch);
	ck_assert_double_eq(c.low, 1.01);
	ck_assert_double_eq(c.high, 1.01);
	ck_assert(comparison_differs(&c));
	ck_assert_double_eq(comparison_precision(&c), 0);
	compare_rounds(&c, a, a, 8, SPREAD_95, scratch);
	ck_assert_double_eq(c.ratio, 1);
	ck_assert(!comparison_differs(&c));
	b[3] = NAN;
	compare_rounds(&c, a, b, 8, SPREAD_95, scratch);
	ck_assert(c.known);
	ck_assert_uint_eq(c.rounds, 7);
	b[4] = 0;
	compare_rounds(&c, a, b, 8, SPREAD_95, scratch);
	ck_assert(!c.known && strstr(c.why, "0"));
	ck_assert(!comparison_differs(&c));
	ck_assert_double_lt(comparison_precision(&c), 0);
	compare_rounds(&c, a, b, 0, SPREAD_95, scratch);
	ck_assert(!c.known && c.why);
}
END_TEST

/* Turned around it says the same. */
START_TEST(test_turned)
{
	struct comparison c, d;

	state = 77;
	measure(scatters[_i], 25, 1.3, 0, true);
	compare_rounds(&c, a, b, 25, SPREAD_95, scratch);
	compare_rounds(&d, b, a, 25, SPREAD_95, scratch);
	ck_assert_double_eq_tol(c.ratio * d.ratio, 1, 1e-12);
	ck_assert_double_eq_tol(c.low * d.high, 1, 1e-12);
	ck_assert_double_eq_tol(c.high * d.low, 1, 1e-12);
}
END_TEST

/* The machine slows down by 20 % meanwhile. Alone, by turns, the ratio is right; one after the other it is not. */
START_TEST(test_drift_alone)
{
	struct comparison c;

	for (size_t n = 6; n <= 200; n++) {
		for (size_t i = 0; i < n; i++) {
			size_t first = 2 * i + i % 2, second = 2 * i + 1 - i % 2;

			a[i] = 1 + 0.2 * (double)first / (double)(2 * n - 1);
			b[i] = 1.3 * (1 + 0.2 * (double)second / (double)(2 * n - 1));
		}
		compare_rounds(&c, a, b, n, SPREAD_95, scratch);
		ck_assert_msg(c.low <= 1.3 && 1.3 <= c.high, "%zu rounds: %g %g", n, c.low, c.high);
		ck_assert_double_eq_tol(c.ratio, 1.3, 1.3 * 0.2 / (double)n);
	}
	measure(scatter_bell, 30, 1.3, 0.2, false);
	compare_rounds(&c, a, b, 30, SPREAD_95, scratch);
	ck_assert_double_gt(c.low, 1.3 * 1.05);
}
END_TEST

static const struct { double ratio, drift; size_t rounds; } rates[] = {
	{ 1, 0, 10 }, { 1, 0, 50 }, { 1, 0.2, 10 }, { 1, 0.2, 50 }, { 1.3, 0, 20 }, { 1.3, 0.2, 20 }, { 1.3, 0.2, 100 },
};

/* Of 200 comparisons the interval misses the ratio in 5 % at most; 20 are what chance makes of that once in 1,000. */
START_TEST(test_false_alarms)
{
	struct comparison c;
	int missed, alarms;

	for (size_t shape = 0; shape < ARRAY_SIZE(scatters); shape++) {
		state = 1000 + (u64)_i;
		missed = alarms = 0;
		for (int k = 0; k < COMPARISONS; k++) {
			measure(scatters[shape], rates[_i].rounds, rates[_i].ratio, rates[_i].drift, true);
			compare_rounds(&c, a, b, rates[_i].rounds, SPREAD_95, scratch);
			missed += c.low > rates[_i].ratio || c.high < rates[_i].ratio;
			alarms += comparison_differs(&c);
		}
		ck_assert_msg(missed <= 20, "shape %zu: %d of %d missed", shape, missed, COMPARISONS);
		if (rates[_i].ratio == 1)
			ck_assert_int_eq(alarms, missed);
	}
}
END_TEST

/* And it is no wider than it must be: a difference of 3 % in a scatter of 2 % is found. */
START_TEST(test_found)
{
	struct comparison c;
	int found = 0;

	state = 3;
	for (int k = 0; k < COMPARISONS; k++) {
		measure(scatter_bell, 20, 1.03, 0.2, true);
		compare_rounds(&c, a, b, 20, SPREAD_95, scratch);
		found += c.low > 1;
	}
	ck_assert_int_ge(found, COMPARISONS * 95 / 100);
}
END_TEST

START_TEST(test_drift_told)
{
	struct comparison d;
	int told = 0;

	state = 11;
	for (int k = 0; k < COMPARISONS; k++) {
		measure(scatter_bell, 40, 1, 0, true);
		compare_drift(&d, a, 40, scratch);
		told += comparison_differs(&d);
	}
	ck_assert_int_le(told, 8); /* at 1 % */
	measure(scatter_bell, 60, 1, 0.2, true);
	compare_drift(&d, a, 60, scratch);
	ck_assert(comparison_differs(&d));
	ck_assert(d.low < 1.2 && d.high > 1.15);
	compare_drift(&d, a, 1, scratch);
	ck_assert(!comparison_differs(&d));
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("compare");

	tcase_add_loop_test(tests, test_bounds, 0, ARRAY_SIZE(bounds));
	tcase_add_test(tests, test_bounds_join);
	tcase_add_test(tests, test_root);
	tcase_add_test(tests, test_spread);
	tcase_add_test(tests, test_one_value);
	tcase_add_loop_test(tests, test_interval, 0, ARRAY_SIZE(scatters));
	tcase_add_test(tests, test_outliers);
	tcase_add_test(tests, test_clusters);
	tcase_add_test(tests, test_long_way);
	tcase_add_test(tests, test_values);
	tcase_add_loop_test(tests, test_turned, 0, ARRAY_SIZE(scatters));
	tcase_add_test(tests, test_drift_alone);
	tcase_add_loop_test(tests, test_false_alarms, 0, ARRAY_SIZE(rates));
	tcase_add_test(tests, test_found);
	tcase_add_test(tests, test_drift_told);
	return suite_run("compare", tests);
}
