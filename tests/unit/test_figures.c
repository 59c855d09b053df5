/* SPDX-License-Identifier: MIT */
/* cli/analyze/figures and steady: made-up runs in passes, from which each figure is, and what is written of them. */
#include <jansson.h>
#include <math.h>

#include "cli/analyze/figures.h"
#include "cli/output/figures_output.h"
#include "diffed.h"

static struct figures figures;

static void figures_teardown(void)
{
	figures_free(&figures);
	teardown();
}

static void begin(const enum run_pass *passes, u32 n)
{
	figures_free(&figures);
	ck_assert_int_eq(figures_init(&figures, passes, n), 0);
	figures.argv = arguments;
}

/* A run with a region parse of so many ms. */
static void add(u32 side, double ms, const char *source, double clock_ns)
{
	u32 main_row;

	run_begin();
	main_row = region(0, "main", ms * 2 * MS);
	region(main_row, "parse", ms * MS);
	facts.duration_ns = (u64)(ms * 3 * MS);
	totals[0].cell = cell_counted(ms * 3 * MS);
	totals[1].cell = cell_counted(clock_ns);
	totals[1].source = source;
	totals[2].cell = cell_absent(CELL_UNAVAILABLE, "no PMU");
	ck_assert_int_eq(figures_add(&figures, side, "", &profile, &facts, 0), 0);
}

static const struct figure *figure_of(enum diff_kind kind, const char *path, const char *metric)
{
	const struct diff_table *table = &figures.diff.tables[kind];

	for (u32 row = 0; row < table->nrows; row++)
		for (u32 m = 0; m < table->nmetrics; m++)
			if (!strcmp(table->rows[row].text, path) && !strcmp(table->metrics[m].name, metric))
				return figures_at(&figures, kind, m, row);
	ck_abort_msg("there is no %s of %s", metric, path);
	return NULL;
}

static bool figures_noted(const char *what)
{
	for (u32 i = 0; i < figures.diff.nnotes; i++)
		if (strstr(figures.diff.notes[i], what))
			return true;
	return false;
}

static char *written(int (*write)(FILE *file, const struct figures *figures, const struct output_options *options))
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	ck_assert_int_eq(write(f, &figures, &(struct output_options){ .utf8 = true }), 0);
	fclose(f);
	return text;
}

START_TEST(spread)
{
	static const double ms[] = { 10, 11, 12, 13, 14, 15, 90 };
	const struct figure *wall;

	begin(NULL, 0);
	for (size_t i = 0; i < ARRAY_SIZE(ms); i++)
		add(0, ms[i], "perf", 1e6);
	ck_assert_int_eq(figures_judge(&figures), 0);
	wall = figure_of(DIFF_REGIONS, "main;parse", "wall");
	ck_assert_uint_eq(wall->value.n, 7);
	ck_assert_double_eq(wall->spread.median, 13.0 * MS);
	ck_assert_double_eq(wall->spread.mad, 2.0 * MS);
	ck_assert_double_eq(wall->spread.min, 10.0 * MS);
	ck_assert_double_eq(wall->spread.max, 90.0 * MS);
	ck_assert(wall->spread.bounded);
	ck_assert_uint_eq(wall->spread.outliers, 1);
	ck_assert_double_eq(figure_of(DIFF_REGIONS, "main;parse", "calls")->spread.mad, 0);
	ck_assert_double_eq(figure_of(DIFF_TOTALS, "elapsed", "value")->spread.median, 39.0 * MS);
	ck_assert_uint_eq(figures.nmissing, 1);
	ck_assert_str_eq(figures.missing[0].why, "no PMU");
}
END_TEST

/* Times are of the timing pass, also where the counting pass is given first; what is counted is of the other. */
START_TEST(passes)
{
	static const enum run_pass order[] = { PASS_COUNTING, PASS_TIMING };

	begin(order, 2);
	for (size_t i = 0; i < 3; i++) {
		add(0, 20, "perf", 5e6);
		add(1, 10, "wait4", 7e6);
	}
	ck_assert_int_eq(figures_judge(&figures), 0);
	ck_assert_str_eq(figures_pass(&figures, figure_of(DIFF_REGIONS, "main;parse", "wall")), "timing");
	ck_assert_double_eq(figure_of(DIFF_REGIONS, "main;parse", "wall")->spread.median, 10.0 * MS);
	ck_assert_str_eq(figures_pass(&figures, figure_of(DIFF_TOTALS, "elapsed", "value")), "timing");
	ck_assert_str_eq(figures_pass(&figures, figure_of(DIFF_TOTALS, "task-clock", "value")), "counting");
	ck_assert_double_eq(figure_of(DIFF_TOTALS, "task-clock", "value")->spread.median, 5e6);
	/* Both say why it is not there, once. */
	ck_assert_uint_eq(figures.nmissing, 1);
}
END_TEST

START_TEST(failed_runs)
{
	begin(NULL, 0);
	run_begin();
	facts.status = 3;
	ck_assert_int_eq(figures_add(&figures, 0, "", &profile, &facts, 3 << 8), 0);
	ck_assert_int_eq(figures_judge(&figures), 0);
	ck_assert(figures_noted("1 of 1 runs failed"));
	ck_assert(figures_noted("no intervals"));
	ck_assert(!figures.steady.known);
}
END_TEST

/* The first figure of parse in JSON that has this metric. */
static json_t *row_of(json_t *root, const char *metric)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(root, "rows"), i, row)
		if (!strcmp(json_string_value(json_object_get(row, "metric")), metric) &&
		    json_array_size(json_object_get(row, "path")) == 2)
			return row;
	ck_abort_msg("there is no %s", metric);
	return NULL;
}

/* A step from about nothing is no more than a step, and few runs tell of no drift at all. */
START_TEST(drift_is_bounded)
{
	static const size_t runs[] = { 2, 15, 16 };

	for (size_t k = 0; k < ARRAY_SIZE(runs); k++) {
		const char *because;
		json_t *root, *row;
		char *text;

		begin(NULL, 0);
		for (size_t i = 0; i < runs[k]; i++)
			add(0, i < runs[k] / 2 ? 0.000002 + 0.0000001 * (double)(i % 3) : 1000 + (double)i, "perf", 1e6);
		ck_assert_int_eq(figures_judge(&figures), 0);
		text = written(figures_json);
		root = json_loads(text, 0, NULL);
		ck_assert_ptr_nonnull(root);
		row = row_of(root, "wall");
		because = json_string_value(json_object_get(row, "drift_because"));
		ck_assert_int_eq(json_is_null(json_object_get(row, "drift")), runs[k] < 16);
		ck_assert_int_eq(json_is_null(json_object_get(row, "drift_interval")), runs[k] < 16);
		if (runs[k] < 16)
			ck_assert_str_eq(because, "it takes 16 runs");
		else
			ck_assert_double_le(json_real_value(json_object_get(row, "drift")) + 1,
					    figure_of(DIFF_REGIONS, "main;parse", "wall")->spread.max /
					    figure_of(DIFF_REGIONS, "main;parse", "wall")->spread.min);
		json_decref(root);
		free(text);
	}
}
END_TEST

/* The CPUs slow down, whatever the runs take; or less and less of the cycles are in user mode, or counted. */
START_TEST(clock_drift)
{
	static const char *const notes[] = { NULL, NULL, CELL_NOTE_USER, NULL };

	for (int drifts = 0; drifts < 4; drifts++) {
		begin(NULL, 0);
		for (size_t i = 0; i < 20; i++) {
			run_begin();
			totals[1].cell = cell_counted(1e6 * (double)(1 + i % 3));
			totals[2].cell = cell_counted(3e6 * (double)(1 + i % 3) * (1 - 0.01 * (double)i * (drifts > 0)));
			totals[2].cell.note = notes[drifts];
			totals[2].cell.state = drifts == 3 ? CELL_SCALED : CELL_COUNTED;
			ck_assert_int_eq(figures_add(&figures, 0, "", &profile, &facts, 0), 0);
		}
		ck_assert_int_eq(figures_judge(&figures), 0);
		ck_assert_int_eq(figures_noted("the clock rate of the CPUs"), drifts == 1);
	}
}
END_TEST

/* Runs of a cold and a warm page cache are told apart. */
START_TEST(cache_states)
{
	static const struct cache_fact cold = { .regime = CACHE_COLD }, warm = { .regime = CACHE_WARM };

	for (int mixed = 0; mixed < 2; mixed++) {
		begin(NULL, 0);
		for (int i = 0; i < 2; i++) {
			run_begin();
			facts.cache = mixed && i ? &warm : &cold;
			ck_assert_int_eq(figures_add(&figures, 0, "", &profile, &facts, 0), 0);
		}
		ck_assert_int_eq(figures_judge(&figures), 0);
		ck_assert_int_eq(figures_noted("cold in all runs"), !mixed);
		ck_assert_int_eq(figures_noted("cold in some runs, warm in others"), mixed);
	}
}
END_TEST

/* ---- when times are steady -------------------------------------------------------------------------- */

static struct steady steady_of(const double *values, size_t n)
{
	double sorted[64];
	struct steady steady;

	steady_find(&steady, values, n, sorted);
	return steady;
}

/* So many after those in front. */
static size_t calm(double *values, size_t front, size_t n)
{
	static const double ms[] = { 10.1, 10, 10.2, 9.9, 10, 10.1, 10.3, 9.8 };

	for (size_t i = 0; i < n; i++)
		values[front + i] = ms[i % ARRAY_SIZE(ms)];
	return front + n;
}

START_TEST(steady_first)
{
	double values[64];
	size_t n = calm(values, 0, 16);

	ck_assert(steady_of(values, n).is);
	ck_assert_uint_eq(steady_of(values, n).after, 0);
	/* So few have no drift that could be found. */
	ck_assert(!steady_of(values, 15).known && !steady_of(values, 15).is);
	ck_assert(!steady_of(values, 5).known);
}
END_TEST

START_TEST(steady_later)
{
	double cold[64] = { 50 }, warming[64] = { 50, 40, 30, 20 };
	size_t n = calm(cold, 1, 16);

	ck_assert(steady_of(cold, n).is);
	ck_assert_uint_eq(steady_of(cold, n).after, 1);
	ck_assert(!steady_of(cold, 6).known);
	ck_assert_uint_eq(steady_of(cold, 6).cold, 1);
	n = calm(warming, 4, 16);
	ck_assert(steady_of(warming, n).is);
	ck_assert_uint_eq(steady_of(warming, n).after, 4);
	ck_assert(!steady_of(warming, 13).known);
	ck_assert_uint_eq(steady_of(warming, 13).cold, 4);
}
END_TEST

/* With few runs no test finds the drift, nor in what is left of more runs. */
START_TEST(steady_drifts)
{
	double values[64];

	for (size_t n = 1; n <= 40; n++) {
		for (size_t i = 0; i < n; i++)
			values[i] = 40 * (double)(i + 1);
		ck_assert_msg(!steady_of(values, n).is, "steady with %zu values", n);
		ck_assert_int_eq(steady_of(values, n).known, n >= 16);
	}
	/* Each 3 of 4 a little more: the test of the last 16 alone is not sure. */
	for (size_t i = 0; i < 20; i++)
		values[i] = 100 + (double)i - (i % 4 == 3 ? 7 : 0) - (i == 12 ? 9 : 0);
	ck_assert(!steady_of(values, 20).is);
}
END_TEST

/* Each run takes a little longer, to the end. */
START_TEST(steady_never)
{
	double values[40];

	for (size_t i = 0; i < 40; i++)
		values[i] = 10 + (double)i + (double)(i * 7 % 5) / 10;
	ck_assert(steady_of(values, 40).known && !steady_of(values, 40).is);
	begin(NULL, 0);
	for (size_t i = 0; i < 40; i++)
		add(0, values[i], "perf", 1e6);
	ck_assert_int_eq(figures_judge(&figures), 0);
	ck_assert(figures_noted("not become steady within 20 of 40 runs"));
	ck_assert(comparison_drifts(&figure_of(DIFF_REGIONS, "main;parse", "wall")->drift));
}
END_TEST

/* Warm-ups that are too few, and enough. */
START_TEST(steady_noted)
{
	double ms[64] = { 50, 40 };
	size_t n = calm(ms, 2, 16);

	for (unsigned long warm = 1; warm <= 2; warm++) {
		begin(NULL, 0);
		figures.warmups = warm;
		for (size_t i = 0; i < n; i++) {
			if (i < warm)
				ck_assert_int_eq(figures_time(&figures, ms[i] * 3 * MS), 0);
			else
				add(0, ms[i], "perf", 1e6);
		}
		ck_assert_int_eq(figures_judge(&figures), 0);
		ck_assert_uint_eq(figures.steady.after, 2);
		ck_assert_int_eq(figures_noted("-w 2 leaves them out"), warm == 1);
		/* Cold runs are outliers, but not told twice. */
		ck_assert(!figures_noted("outliers"));
	}
}
END_TEST

/* Whether the others are steady is not known: nobody says so. */
START_TEST(cold_noted)
{
	double ms[64] = { 50, 40 };
	char *text;

	begin(NULL, 0);
	for (size_t i = 0, n = calm(ms, 2, 8); i < n; i++)
		add(0, ms[i], "perf", 1e6);
	ck_assert_int_eq(figures_judge(&figures), 0);
	ck_assert(figures_noted("the first 2 runs took another time than what follows: -w 2 leaves them out"));
	ck_assert(!figures_noted("outliers"));
	text = written(figures_table);
	ck_assert_ptr_null(strstr(text, "steady"));
	free(text);
	text = written(figures_json);
	ck_assert_ptr_nonnull(strstr(text, "\"steady\":null"));
	free(text);
}
END_TEST

/* ---- what is written ------------------------------------------------------------------------------- */

START_TEST(outputs)
{
	static const enum run_pass order[] = { PASS_TIMING, PASS_COUNTING };
	char *text;
	json_t *json;

	begin(order, 2);
	for (size_t i = 0; i < 6; i++) {
		add(0, 10 + (double)i, "wait4", 1e6);
		add(1, 20, "perf", 2e6);
	}
	ck_assert_int_eq(figures_judge(&figures), 0);
	text = written(figures_json);
	json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	ck_assert_ptr_nonnull(json);
	ck_assert_str_eq(json_string_value(json_object_get(json, "schema")), "spark-runs/1");
	json_decref(json);
	free(text);
	text = written(figures_csv);
	ck_assert_ptr_nonnull(strstr(text, "region,main;parse,marker,wall,ns,timing,counted,6,12500000,1500000,"
				     "10000000,15000000,10000000,15000000,0,\r\n"));
	ck_assert_ptr_nonnull(strstr(text, "total,,,task-clock,ns,counting,counted,6,2000000,0,2000000,2000000,"));
	free(text);
	text = written(figures_table);
	ck_assert_ptr_nonnull(strstr(text, "6 timing, 6 counting"));
	ck_assert_ptr_nonnull(strstr(text, "main;parse    12.5 ms  12.0 %  10.0 ms  15.0 ms  10.0 ms – 15.0 ms"));
	ck_assert_ptr_nonnull(strstr(text, "not available     cycles: no PMU"));
	free(text);
}
END_TEST

static void print_has(const char *what)
{
	char *text = written(figures_table);

	ck_assert_msg(strstr(text, what) != NULL, "'%s' is not there:\n%s", what, text);
	free(text);
}

/* Rows that only one of the passes has have its columns, not those of the other. */
START_TEST(passes_of_rows)
{
	static const enum run_pass order[] = { PASS_TIMING, PASS_COUNTING };

	begin(order, 2);
	for (size_t i = 0; i < 6; i++) {
		add(0, 10, "wait4", 1e6);
		run_begin();
		region(region(0, "main", 20.0 * MS), "late", 7.0 * MS);
		ck_assert_int_eq(figures_add(&figures, 1, "", &profile, &facts, 0), 0);
	}
	ck_assert_int_eq(figures_judge(&figures), 0);
	ck_assert_str_eq(figures_pass(&figures, figure_of(DIFF_REGIONS, "main;late", "calls")), "counting");
	print_has("region, medians  calls (timing)  calls (counting)");
	print_has("main;parse                    1                  ");
	print_has("main;late                                       1");
}
END_TEST

/* A region that some runs alone have is not shown as one of all. */
START_TEST(some_runs)
{
	char *text;

	for (int all = 1; all >= 0; all--) {
		begin(NULL, 0);
		for (size_t i = 0; i < 8; i++) {
			run_begin();
			region(0, "main", 20.0 * MS);
			if (all || !i)
				region(0, "rare", 10.0 * MS);
			ck_assert_int_eq(figures_add(&figures, 0, "", &profile, &facts, 0), 0);
		}
		ck_assert_int_eq(figures_judge(&figures), 0);
		text = written(figures_table);
		ck_assert_int_eq(strstr(text, "1/8") != NULL, !all);
		ck_assert_int_eq(strstr(text, "drift  runs\n") != NULL, !all);
		ck_assert_ptr_null(strstr(text, "8/8"));
		free(text);
	}
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("figures");

	tcase_add_checked_fixture(tests, setup, figures_teardown);
	tcase_add_test(tests, spread);
	tcase_add_test(tests, passes);
	tcase_add_test(tests, failed_runs);
	tcase_add_test(tests, drift_is_bounded);
	tcase_add_test(tests, clock_drift);
	tcase_add_test(tests, cache_states);
	tcase_add_test(tests, steady_first);
	tcase_add_test(tests, steady_later);
	tcase_add_test(tests, steady_drifts);
	tcase_add_test(tests, steady_never);
	tcase_add_test(tests, steady_noted);
	tcase_add_test(tests, cold_noted);
	tcase_add_test(tests, outputs);
	tcase_add_test(tests, passes_of_rows);
	tcase_add_test(tests, some_runs);
	return suite_run("figures", tests);
}
