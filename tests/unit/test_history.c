/* SPDX-License-Identifier: MIT */
/* cli/analyze/change and history: how often a change is told where there is none, and how surely where there is one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/change.h"
#include "cli/analyze/diff_build.h"
#include "cli/output/history_output.h"
#include "cli/text.h"
#include "suite.h"

enum { RUNS = 40, REGIONS = 8 };

/* ---- scatter --------------------------------------------------------------------------------------- */

static u32 state = 1;

static double uniform(void)
{
	state = state * 1664525u + 1013904223u;
	return ((double)(state >> 8) + 0.5) / (1 << 24);
}

static double bell(void)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += uniform();
	return sum - 6;
}

/* 1 % of all alike from run to run, 1 % by itself, and in 1 of 30 something that comes between. */
static double scattered(double common)
{
	double time = common * (1 + 0.01 * bell());

	return uniform() < 1.0 / 30 ? time * (1 + 0.5 * uniform()) : time;
}

/* ---- one series ------------------------------------------------------------------------------------ */

static struct change_orders orders;

static struct change find(const double *values, size_t n)
{
	struct change change;

	change_find(&change, values, n, &orders);
	return change;
}

START_TEST(p_is_as_often_below_as_it_says)
{
	static const double levels[] = { 0.002, 0.01, 0.05, 0.5 };
	u32 below[ARRAY_SIZE(levels)] = { 0 };
	enum { SERIES = 4000 };

	for (int i = 0; i < SERIES; i++) {
		double values[RUNS], p;

		for (int k = 0; k < RUNS; k++)
			values[k] = scattered(1);
		p = find(values, RUNS).p;
		for (size_t l = 0; l < ARRAY_SIZE(levels); l++)
			below[l] += p <= levels[l];
	}
	/* Three standard deviations on either side. */
	for (size_t l = 0; l < ARRAY_SIZE(levels); l++) {
		double away = below[l] - SERIES * levels[l];

		ck_assert_msg(away * away < 9 * SERIES * levels[l] * (1 - levels[l]) + 9, "%u of %d have p <= %g", below[l], SERIES,
			      levels[l]);
	}
}
END_TEST

START_TEST(p_holds_for_few_distinct_values)
{
	enum { SERIES = 300 };
	u32 below = 0;

	for (int i = 0; i < SERIES; i++) {
		double values[RUNS];

		for (int k = 0; k < RUNS; k++)
			values[k] = (int)(3 * uniform());
		below += find(values, RUNS).p <= 0.05;
	}
	ck_assert_msg(below > 3 && below < 30, "%u of %d", below, SERIES);
}
END_TEST

START_TEST(step_is_found_where_it_is)
{
	u32 right = 0, near = 0;

	for (int i = 0; i < 200; i++) {
		double values[RUNS];
		struct change change;

		for (int k = 0; k < RUNS; k++)
			values[k] = (k < 25 ? 1 : 1.05) * (1 + 0.01 * bell());
		change = find(values, RUNS);
		ck_assert_msg(change.p < 0.0005, "p %g", change.p);
		right += change.at == 25;
		near += change.at >= 24 && change.at <= 26;
	}
	ck_assert_msg(right >= 160 && near >= 190, "%u right, %u near", right, near);
}
END_TEST

START_TEST(too_few_values_tell_nothing)
{
	const double steps[] = { 1, 2, 3, 4, 105, 106, 107, 108, 109 }, equal[RUNS] = { 0 };
	struct change change;

	ck_assert(find(steps, 7).p == 1);
	change = find(steps, 8);
	/* 2 of the 70 ways to choose 4 of 8. */
	ck_assert(change.at == 4 && change.p > 0.026 && change.p < 0.031);
	ck_assert(find(equal, RUNS).p == 1);
	ck_assert(find(steps, 0).p == 1);
}
END_TEST

/* p of k, all greatest of 2 k, at the end. */
static double of_two_levels(size_t k, bool ties)
{
	double values[CHANGE_MOST];

	for (size_t i = 0; i < 2 * k; i++)
		values[i] = (i < k ? 1 : 2) + (ties ? 0 : 1e-6 * bell());
	return find(values, 2 * k).p;
}

/* 50,000 orders tell of no p below 1 / 50,001, too great to be told among thousands of rows. */
START_TEST(p_is_as_small_as_it_is)
{
	double rare[100] = { [96] = 1, 1, 1, 1 };

	/* Of 20 and 20 it is 1.5e-11 at the one place, of 50 and 50 2e-29. */
	ck_assert(of_two_levels(20, false) > 1.4e-11 && of_two_levels(20, false) < 1e-9);
	ck_assert(of_two_levels(50, false) > 2e-29 && of_two_levels(50, false) < 1e-12);
	ck_assert(of_two_levels(50, true) > 2e-29 && of_two_levels(50, true) < 1e-12);
	ck_assert(of_two_levels(500, true) < 1e-100);
	/* 4 of 100 are the last ones, or the first ones, in 2 of 3,921,225 orders. */
	ck_assert(find(rare, 100).p > 5e-7);
}
END_TEST

START_TEST(small_p_is_no_smaller_than_it_is)
{
	enum { N = 12, SERIES = 20000 };
	u32 below[3] = { 0 };

	for (int i = 0; i < SERIES; i++) {
		double values[N], p;

		for (int k = 0; k < N; k++)
			values[k] = uniform();
		p = find(values, N).p;
		below[0] += p <= 0.002;
		below[1] += p <= 0.01;
		below[2] += p <= 0.02;
	}
	ck_assert_msg(below[0] < 40 + 20 && below[1] < 200 + 43 && below[2] < 400 + 60, "%u %u %u", below[0], below[1], below[2]);
}
END_TEST

/* ---- histories ------------------------------------------------------------------------------------- */

static struct histories all;

static void setup(void)
{
	all = (struct histories){ .item = calloc(1, sizeof(*all.item)), .n = 1, .rate = 0.01, .metrics = "wall" };
	ck_assert_int_eq(history_init(&all.item[0], RUNS), 0);
	all.item[0].command = strdup("app");
	for (u32 i = 0; i < RUNS; i++) {
		struct diff_run *run = &all.item[0].runs.sides[0].runs[i];

		for (u32 field = 0; field < DIFF_FIELDS; field++)
			run->field[field] = strdup("as ever");
		run->started_ns = 1000000000ULL * NSEC_PER_SEC + i * 3600 * NSEC_PER_SEC;
		all.item[0].of[i].program = strdup("app\taaaa\n");
	}
	all.item[0].runs.sides[0].nruns = RUNS;
}

static void teardown(void)
{
	histories_free(&all);
}

static void again(void)
{
	teardown();
	setup();
}

static void put_cell(u32 run, const char *name, struct cell cell)
{
	struct diff *diff = &all.item[0].runs;
	u32 root = diff_row(diff, DIFF_REGIONS, DIFF_NONE, "", 0, "");
	u32 row = diff_row(diff, DIFF_REGIONS, root, name, strlen(name), "");
	u32 metric = diff_metric(diff, DIFF_REGIONS, "wall", "ns", METRIC_NS, false);

	ck_assert_int_eq(diff_put(diff, &diff->sides[0].runs[run], DIFF_REGIONS, metric, row, &cell), 0);
}

static void put(u32 run, const char *name, double value)
{
	put_cell(run, name, cell_counted(value));
}

/* Regions a, b ...; the third one is slower by so much from a run on. */
static void measure(u32 from, double times)
{
	for (u32 run = 0; run < RUNS; run++) {
		double common = 1 + 0.01 * bell();

		for (u32 i = 0; i < REGIONS; i++)
			put(run, (const char[]){ (char)('a' + i), '\0' },
			    1e6 * (i + 1) * scattered(common) * (i == 2 && run >= from ? times : 1));
	}
}

static void judge(void)
{
	ck_assert_int_eq(history_judge(&all), 0);
}

static void set(u32 run, u32 field, const char *text)
{
	for (; run < RUNS; run++) {
		char **of = field == HISTORY_PROGRAM ? &all.item[0].of[run].program :
			    &all.item[0].runs.sides[0].runs[run].field[field];

		free(*of);
		*of = strdup(text);
	}
}

static char *print(int (*write)(FILE *, const struct histories *, const struct history_options *), size_t width,
		   bool utf8)
{
	const struct history_options options = { .output = { .width = width, .utf8 = utf8 }, .top = 20 };
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	ck_assert_int_eq(write(file, &all, &options), 0);
	fclose(file);
	return text;
}

static void says(const char *what)
{
	char *text = print(history_table, 0, true);

	ck_assert_msg(strstr(text, what) != NULL, "'%s' is not there:\n%s", what, text);
	free(text);
}

START_TEST(nothing_changed)
{
	u32 marked = 0;

	for (int i = 0; i < 30; i++) {
		measure(RUNS, 1);
		judge();
		marked += all.item[0].nchanges > 0;
		again();
	}
	/* 1 of 200, and in four standard deviations 2 of 30. */
	ck_assert_msg(marked <= 2, "%u of 30", marked);
}
END_TEST

START_TEST(one_region_changed)
{
	u32 found = 0, others = 0;

	for (int i = 0; i < 30; i++) {
		const struct history *h = &all.item[0];

		measure(21, 1.05);
		judge();
		for (u32 c = 0; c < h->nchanges; c++) {
			bool that = !strcmp(history_path(h, &h->series[h->changes[c].series]), "c");

			found += that && h->changes[c].run >= 19 && h->changes[c].run <= 23 && !h->changes[c].outside;
			others += !that;
		}
		again();
	}
	ck_assert_msg(found >= 29 && others <= 2, "found %u, others %u", found, others);
}
END_TEST

START_TEST(build_is_told_with_its_change)
{
	const struct history *h = &all.item[0];

	measure(21, 1.2);
	set(21, HISTORY_PROGRAM, "app\tbbbb\n");
	judge();
	ck_assert_uint_eq(h->nchanges, 1);
	ck_assert(h->changes[0].run == 21 && h->changes[0].former == 20 && !h->changes[0].outside);
	ck_assert(h->changes[0].fields == 1u << HISTORY_PROGRAM);
	ck_assert(h->changes[0].after / h->changes[0].before > 1.17 && h->changes[0].after / h->changes[0].before < 1.23);
	ck_assert(h->nturns == 1 && !h->turns[0].parts && h->nstretches == 1);
	says("with another build of app: aaaa → bbbb");
	says("from run 22, 2001-09-09 22:46: wall of c +");
}
END_TEST

START_TEST(kernel_is_blamed_for_its_step)
{
	const struct history *h = &all.item[0];

	measure(21, 1.2);
	set(21, DIFF_KERNEL, "7.0");
	judge();
	ck_assert_uint_eq(h->nchanges, 1);
	ck_assert(h->changes[0].run == 21 && h->changes[0].outside && h->nstretches == 2);
	says("not comparable    from run 22");
	says("kernel: as ever → 7.0; not compared with the runs before");
}
END_TEST

START_TEST(user_mode_is_blamed_for_its_step)
{
	const struct history *h = &all.item[0];

	for (u32 run = 0; run < RUNS; run++) {
		struct cell cell = cell_counted((run < 20 ? 100 : 60) + bell());

		cell.note = run < 20 ? NULL : CELL_NOTE_USER;
		put_cell(run, "a", cell);
		put(run, "b", 50 + bell());
	}
	judge();
	ck_assert_uint_eq(h->nchanges, 1);
	ck_assert(h->changes[0].run == 20 && h->changes[0].outside && h->changes[0].fields == 1u << HISTORY_WAY);
	ck_assert(fabs(h->changes[0].before - 100) < 2 && fabs(h->changes[0].after - 60) < 2);
	ck_assert(h->series[h->changes[0].series].mixed && h->nstretches == 1);
	says("not comparable    from run 21");
	says("with another way of counting: user mode alone, or an estimate, on one side");
	says("mixed             1 row with values of user mode alone");
}
END_TEST

/* Each of a kind of its own, so that no level is ever judged. */
START_TEST(few_of_a_kind_are_told)
{
	for (u32 run = 0; run < RUNS; run++) {
		char kernel[16];

		put(run, "a", (run < 20 ? 100 : 200) + bell());
		snprintf(kernel, sizeof(kernel), "7.%u", run / 2);
		if (run > 9 && run % 2)
			set(run, DIFF_KERNEL, kernel);
	}
	judge();
	ck_assert_uint_eq(all.item[0].nshort, 29);
	ck_assert_uint_eq(all.item[0].nchanges, 0);
	says("too few           29 of 40 runs have less than 8 of their like, too few to be judged by themselves");
}
END_TEST

/* Two kinds of machines take turns, one of which takes three times as long. */
static void alternate(u32 from, double times)
{
	for (u32 run = 0; run < RUNS; run++) {
		bool slow = run % 2 || run % 5 == 4;

		put(run, "a", (slow ? 300 : 100) * (run >= from ? times : 1) + bell());
		put(run, "b", (slow ? 60 : 20) + bell() / 5);
		set(run, DIFF_CPU, slow ? "Slow CPU" : "Fast CPU");
	}
}

START_TEST(regimes_that_take_turns_are_no_change)
{
	u32 marked = 0;

	for (int i = 0; i < 50; i++) {
		const struct history *h = &all.item[0];

		alternate(RUNS, 1);
		judge();
		ck_assert(h->nregimes == 2 && h->nshort == 0);
		marked += h->nchanges > 0;
		again();
	}
	ck_assert_msg(marked <= 2, "%u of 50", marked);
}
END_TEST

/* In each by its own runs, although the step is less than what is between them. */
START_TEST(change_is_found_within_regimes_that_take_turns)
{
	const struct history *h = &all.item[0];

	alternate(20, 1.1);
	judge();
	ck_assert_uint_eq(h->nchanges, 2);
	for (u32 i = 0; i < 2; i++) {
		const struct history_change *c = &h->changes[i];

		ck_assert_str_eq(history_path(h, &h->series[c->series]), "a");
		ck_assert(!c->outside && c->run >= 20 && c->run <= 22 && c->former < 20 && c->fields == 0);
		ck_assert(h->of[c->run].regime == h->of[c->former].regime);
		ck_assert_double_eq_tol(c->after / c->before, 1.1, 0.02);
		ck_assert_double_eq_tol(c->before, c->run == 20 ? 100 : 300, 3);
	}
	says("from run 21, 2001-09-09 21:46: wall of a +");
	says("among runs of CPU: Fast CPU");
	says("among runs of CPU: Slow CPU");
	says("compared with earlier runs of that kind alone");
}
END_TEST

/* A machine that is away for a while is compared with what it was before. */
START_TEST(regime_that_comes_back_goes_on)
{
	const struct history *h = &all.item[0];

	for (u32 run = 0; run < RUNS; run++) {
		put(run, "a", (run >= 15 && run < 21 ? 250 : run < 15 ? 100 : 120) + bell());
		set(run, DIFF_KERNEL, run >= 15 && run < 21 ? "7.0" : "6.18");
	}
	judge();
	ck_assert(h->nregimes == 2 && h->nstretches == 3 && h->nshort == 6 && h->nchanges == 3);
	/* The steps to the other kernel and back, and one that is none of it. */
	ck_assert(h->changes[0].run == 15 && h->changes[0].outside);
	ck_assert(h->changes[1].run == 21 && h->changes[2].run == 21);
	ck_assert(h->changes[1].outside != h->changes[2].outside);
	for (u32 i = 1; i < 3; i++) {
		const struct history_change *c = &h->changes[i];

		ck_assert_uint_eq(c->former, c->outside ? 20 : 14);
		ck_assert_double_eq_tol(c->before, c->outside ? 250 : 100, 2);
		ck_assert_double_eq_tol(c->after, 120, 2);
	}
}
END_TEST

START_TEST(kernel_without_a_step_is_told)
{
	measure(RUNS, 1);
	set(21, DIFF_KERNEL, "7.0");
	judge();
	ck_assert_uint_eq(all.item[0].nchanges, 0);
	says("provenance        from run 22, 2001-09-09 22:46: kernel: as ever → 7.0");
}
END_TEST

START_TEST(two_changes_have_three_levels)
{
	const struct history *h = &all.item[0];

	for (u32 run = 0; run < RUNS; run++)
		put(run, "a", (run < 12 ? 100 : run < 26 ? 120 : 90) + 0.1 * (run % 7));
	judge();
	ck_assert_uint_eq(h->nchanges, 2);
	ck_assert(h->changes[0].run == 12 && h->changes[1].run == 26);
	/* The second one is found beside the first: its p is its own. */
	ck_assert(h->changes[0].further != h->changes[1].further);
	ck_assert(fabs(h->changes[0].before - 100.3) < 0.2 && fabs(h->changes[0].after - 120.3) < 0.2);
	ck_assert(fabs(h->changes[1].before - 120.3) < 0.2 && fabs(h->changes[1].after - 90.3) < 0.2);
	says("nothing else is known to have changed there");
}
END_TEST

START_TEST(other_ends_are_left_out)
{
	const struct history *h = &all.item[0];

	for (u32 run = 0; run < RUNS; run++)
		put(run, "a", run < 30 ? 100 + run % 7 : 1);
	for (u32 run = 30; run < RUNS; run++)
		all.item[0].of[run].signal = 11;
	set(30, DIFF_CPU, "another");
	judge();
	ck_assert(h->nleft_out == 10 && h->nchanges == 0 && h->nturns == 0 && h->series[0].n == 30);
	says("left out          10 runs that ended in another way than most");
}
END_TEST

START_TEST(gaps_and_zeros_do_no_harm)
{
	for (u32 run = 0; run < RUNS; run += 2)
		put(run, "a", run < 20 ? 0 : 5);
	put(3, "b", 1);
	judge();
	ck_assert(all.item[0].nchanges == 1 && all.item[0].changes[0].run == 20);
	says("more");
}
END_TEST

START_TEST(trend_fits)
{
	char trend[HISTORY_TREND_SIZE];
	u32 series = 0;

	measure(21, 1.2);
	judge();
	while (strcmp(history_path(&all.item[0], &all.item[0].series[series]), "c") != 0)
		series++;
	for (size_t columns = 2; columns <= 100; columns++) {
		history_trend(trend, &all.item[0], series, columns, true);
		ck_assert_uint_le(text_width(trend), columns);
		ck_assert_uint_gt(text_width(trend), 0);
	}
	ck_assert(strstr(trend, "│"));
	history_trend(trend, &all.item[0], series, 100, false);
	ck_assert_uint_eq(strlen(trend), RUNS + 1);
	ck_assert_uint_eq(strspn(trend, "12345678"), 21);
	ck_assert(trend[21] == '|');
}
END_TEST

START_TEST(forty_columns_fit)
{
	static const size_t widths[] = { 40, 60, 80 };

	measure(21, 1.2);
	set(21, HISTORY_PROGRAM, "app\tbbbb\n");
	judge();
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++)
		for (int utf8 = 0; utf8 <= 1; utf8++) {
			char *text = print(history_table, widths[i], utf8), *line, *next = text;

			ck_assert(strstr(text, "trend") && strstr(text, "change") && strstr(text, "newest"));
			while ((line = strsep(&next, "\n")))
				ck_assert_msg(text_width(line) <= widths[i], "%zu: %s", widths[i], line);
			free(text);
		}
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("history");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, p_is_as_often_below_as_it_says);
	tcase_add_test(tests, p_holds_for_few_distinct_values);
	tcase_add_test(tests, step_is_found_where_it_is);
	tcase_add_test(tests, too_few_values_tell_nothing);
	tcase_add_test(tests, p_is_as_small_as_it_is);
	tcase_add_test(tests, small_p_is_no_smaller_than_it_is);
	tcase_add_test(tests, nothing_changed);
	tcase_add_test(tests, one_region_changed);
	tcase_add_test(tests, build_is_told_with_its_change);
	tcase_add_test(tests, kernel_is_blamed_for_its_step);
	tcase_add_test(tests, user_mode_is_blamed_for_its_step);
	tcase_add_test(tests, few_of_a_kind_are_told);
	tcase_add_test(tests, regimes_that_take_turns_are_no_change);
	tcase_add_test(tests, change_is_found_within_regimes_that_take_turns);
	tcase_add_test(tests, regime_that_comes_back_goes_on);
	tcase_add_test(tests, kernel_without_a_step_is_told);
	tcase_add_test(tests, two_changes_have_three_levels);
	tcase_add_test(tests, other_ends_are_left_out);
	tcase_add_test(tests, gaps_and_zeros_do_no_harm);
	tcase_add_test(tests, trend_fits);
	tcase_add_test(tests, forty_columns_fit);
	return suite_run("history", tests);
}
