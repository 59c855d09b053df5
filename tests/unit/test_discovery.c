/* SPDX-License-Identifier: MIT */
/* cli/analyze/discovery: the example of the paper, and what tests of nothing come to. */
#include "cli/analyze/discovery.h"

#include <math.h>

#include "common/base.h"
#include "suite.h"

#define MOST 1000

static const double *order[MOST];

static void near(double is, double want)
{
	ck_assert_msg(fabs(is - want) <= 1e-12, "%.17g, not %.17g", is, want);
}

/*
 * The 15 values of p in section 3.2 of Benjamini and Hochberg (1995), here in another order: at 0.05 four are findings,
 * the greatest of them 0.0095. The adjusted values are those of R's p.adjust(p, "BH").
 */
START_TEST(test_paper)
{
	static const double adjusted[] = { 0.0015, 0.003, 0.0095, 0.035625, 0.0603, 0.4470 / 7, 0.4470 / 7, 0.0645, 0.0765, 0.486,
					   6.393 / 11, 0.714875, 9.792 / 13, 11.385 / 14, 1 };
	double p[] = { 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
		       0.7590, 1.0 };
	double turned[ARRAY_SIZE(p)];
	int found = 0;

	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		turned[i] = p[i * 7 % ARRAY_SIZE(p)];
	discovery_adjust(turned, ARRAY_SIZE(p), order);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		near(turned[i], adjusted[i * 7 % ARRAY_SIZE(p)]);
		found += turned[i] <= 0.05;
	}
	ck_assert_int_eq(found, 4);
}
END_TEST

START_TEST(test_few)
{
	double one[] = { 0.03 }, same[] = { 0.04, 0.04, 0.04 };

	discovery_adjust(one, 0, order);
	near(one[0], 0.03);
	discovery_adjust(one, 1, order);
	near(one[0], 0.03);
	discovery_adjust(same, 3, order);
	for (size_t i = 0; i < 3; i++)
		near(same[i], 0.04);
}
END_TEST

/* Where there is nothing to be found, something is in at most 5 of 100; of findings beside others at most 5 in 100 are false. */
START_TEST(test_rate)
{
	static double p[MOST];
	u32 state = 7;
	int any = 0, wrong = 0, all = 0;

	for (int k = 0; k < 1000; k++) {
		bool found = false;

		for (int i = 0; i < 100; i++) {
			state = state * 1664525u + 1013904223u;
			p[i] = ((double)(state >> 8) + 0.5) / (1 << 24);
			/* Half of the time 30 of them tell of something. */
			p[i] *= k % 2 && i < 30 ? 1e-3 : 1;
		}
		discovery_adjust(p, 100, order);
		for (int i = 0; i < 100; i++) {
			found = found || p[i] <= 0.05;
			all += k % 2 && p[i] <= 0.05;
			wrong += k % 2 && i >= 30 && p[i] <= 0.05;
		}
		any += !(k % 2) && found;
	}
	ck_assert_int_le(any, 500 / 20 + 15);
	ck_assert_int_ge(all, 500 * 25);
	ck_assert_int_le(wrong * 20, all);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("discovery");

	tcase_add_test(tests, test_paper);
	tcase_add_test(tests, test_few);
	tcase_add_test(tests, test_rate);
	return suite_run("discovery", tests);
}
