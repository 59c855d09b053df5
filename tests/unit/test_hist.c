/* SPDX-License-Identifier: MIT */
/* common/hist: every value finds its bucket, and the bucket's middle is within 1/64 of it. */
#include <stdlib.h>
#include <string.h>

#include "common/hist.h"
#include "suite.h"

static u64 random_state = 88172645463325252ULL;

static u64 random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* All magnitudes alike. */
static u64 random_magnitude(void)
{
	return random_u64() >> (random_u64() % 64);
}

/* Not by an assertion each: a million of those take a minute. */
static bool value_fits(u64 v)
{
	u32 index = hist_index(v);
	u64 mid = hist_mid(index), error = mid > v ? mid - v : v - mid;

	return index < HIST_BUCKETS && hist_lower(index) <= v &&
	       (v == ~0ULL || hist_lower(index + 1) > v) && error <= v / 64;
}

static void check_value(u64 v)
{
	if (!value_fits(v))
		ck_abort_msg("%llu", (unsigned long long)v);
}

START_TEST(test_every_magnitude)
{
	u64 v;
	int i;

	for (v = 0; v < 100000; v++)
		check_value(v);
	for (i = 0; i < 64; i++) {
		check_value(1ULL << i);
		check_value((1ULL << i) - 1);
		check_value((1ULL << i) + 1);
	}
	check_value(~0ULL);
	for (i = 0; i < 1000000; i++)
		check_value(random_magnitude());
}
END_TEST

START_TEST(test_layout)
{
	ck_assert_uint_eq(hist_index(31), 31);
	ck_assert_uint_eq(hist_index(32), 32);
	ck_assert_uint_eq(hist_index(63), 63);
	ck_assert_uint_eq(hist_index(64), 64);
	ck_assert_uint_eq(hist_index(65), 64);
	ck_assert_uint_eq(hist_index(~0ULL), 59 * 32 + 31);
	ck_assert_uint_eq(hist_lower(60 * 32), ~0ULL);
}
END_TEST

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

enum { SAMPLES = 20000 };

START_TEST(test_quantiles)
{
	static const u32 per_mille[] = { 1, 500, 900, 990, 999, 1000 };
	static u64 values[SAMPLES], storage[WIRE_HIST_OCTAVES][WIRE_HIST_SUB];
	struct hist hist = { .octave = { NULL } };
	u64 exact, got, error;
	u32 i, index;

	memset(storage, 0, sizeof(storage));
	for (i = 0; i < SAMPLES; i++) {
		values[i] = 100 + random_u64() % (1ULL << (10 + random_u64() % 30));
		index = hist_index(values[i]);
		hist.octave[index / 32] = storage[index / 32];
		storage[index / 32][index % 32]++;
	}
	qsort(values, SAMPLES, sizeof(*values), compare_u64);
	ck_assert_uint_eq(hist_total(&hist), SAMPLES);
	for (i = 0; i < ARRAY_SIZE(per_mille); i++) {
		exact = values[(SAMPLES * per_mille[i] + 999) / 1000 - 1];
		got = hist_quantile(&hist, per_mille[i]);
		error = got > exact ? got - exact : exact - got;
		ck_assert_uint_le(error, exact / 64);
	}
}
END_TEST

START_TEST(test_edges)
{
	u64 counts[WIRE_HIST_SUB] = { 0 };
	struct hist hist = { .octave = { NULL } };

	ck_assert_uint_eq(hist_total(&hist), 0);
	ck_assert_uint_eq(hist_quantile(&hist, 500), 0);
	hist.octave[0] = counts;
	ck_assert_uint_eq(hist_quantile(&hist, 500), 0);
	counts[7] = 1;
	ck_assert_uint_eq(hist_quantile(&hist, 0), 7);
	ck_assert_uint_eq(hist_quantile(&hist, 1000), 7);
	/* Counts near the end of u64 do not overflow the rank. */
	counts[3] = 1ULL << 62;
	counts[7] = 1ULL << 62;
	ck_assert_uint_eq(hist_quantile(&hist, 500), 3);
	ck_assert_uint_eq(hist_quantile(&hist, 501), 7);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("hist");

	tcase_add_test(tests, test_every_magnitude);
	tcase_add_test(tests, test_layout);
	tcase_add_test(tests, test_quantiles);
	tcase_add_test(tests, test_edges);
	return suite_run("hist", tests);
}
