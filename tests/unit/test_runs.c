/* SPDX-License-Identifier: MIT */
/* cli/analyze/runs and its outputs: made-up runs, what is said of them, and exact text. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/runs_output.h"
#include "common/base.h"
#include "suite.h"

static struct runs runs;

static void teardown(void)
{
	runs_free(&runs);
}

static void setup_commands(size_t n)
{
	static const char *const texts[] = { "./old 'a|b'", "./new \"x\"", "c", "d", "e" };

	runs_free(&runs);
	ck_assert_int_eq(runs_init(&runs, n), 0);
	for (size_t i = 0; i < n; i++)
		runs.command[i].text = strdup(texts[i]);
}

static void add(size_t command, double ms, struct cell faults, int status)
{
	const struct total_fact totals[] = {
		{ "elapsed", "ns", cell_counted(ms * 1e6), "clock", { .event = false } },
		{ "user", "ns", { ms * 5e5, CELL_ESTIMATE, "sampled" }, "wait4", { .event = false } },
		{ "minor-faults", "count", faults, "perf", { .event = false } },
		{ "cycles", "count", cell_absent(CELL_UNAVAILABLE, "no PMU"), "perf", { .event = false } },
	};

	ck_assert_int_eq(runs_add(&runs.command[command], totals, ARRAY_SIZE(totals), status), 0);
}

/* A takes 10 ms and a little, B so many times that. */
static void two(size_t n, double times)
{
	setup_commands(2);
	for (size_t i = 0; i < n; i++) {
		double little = (double)(i * 7 % 5) / 10;

		add(0, 10 + little, cell_counted(100 + (double)(i % 2)), 0);
		add(1, (10 + little) * times, cell_counted(200 + (double)(i % 2)), 0);
	}
}

static void judge(void)
{
	runs_show(&runs, NULL);
	ck_assert_int_eq(runs_judge(&runs), 0);
}

static bool noted(const char *what)
{
	for (size_t i = 0; i < runs.nnotes; i++)
		if (strstr(runs.notes[i], what))
			return true;
	return false;
}

static char *print(int (*write)(FILE *, const struct runs *, const struct output_options *), int verbose)
{
	const struct output_options options = { .width = 100, .utf8 = true, .verbose = verbose };
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	ck_assert_int_eq(write(file, &runs, &options), 0);
	fclose(file);
	return text;
}

START_TEST(test_labels)
{
	ck_assert_int_eq(runs_init(&runs, 60), 0);
	ck_assert_str_eq(runs.command[0].label, "A");
	ck_assert_str_eq(runs.command[25].label, "Z");
	ck_assert_str_eq(runs.command[26].label, "A1");
	ck_assert_str_eq(runs.command[59].label, "H2");
}
END_TEST

START_TEST(test_values)
{
	two(8, 2);
	judge();
	ck_assert_uint_eq(runs.command[0].n, 8);
	ck_assert_double_eq(runs_elapsed(&runs.command[1])->comparison.ratio, 2);
	ck_assert_ptr_null(runs_find(&runs.command[0], "none"));
	ck_assert(!runs_find(&runs.command[0], "cycles")->known);
	ck_assert_str_eq(runs_find(&runs.command[0], "cycles")->note, "no PMU");
	ck_assert(!runs_find(&runs.command[0], "cycles")->shown);
	ck_assert_int_eq(runs_find(&runs.command[0], "user")->state, CELL_ESTIMATE);
	ck_assert_uint_eq(runs.nnotes, 0);
	runs_show(&runs, "el*,cycles");
	ck_assert(runs_find(&runs.command[0], "cycles")->shown && runs_elapsed(&runs.command[1])->shown);
	ck_assert(!runs_find(&runs.command[0], "minor-faults")->shown);
}
END_TEST

/* One run of many has no value: the figure is not that of the others, and the reason stays. */
START_TEST(test_missing)
{
	setup_commands(1);
	for (size_t i = 0; i < 7; i++)
		add(0, 10, i == 3 ? cell_absent(CELL_NOT_COUNTED, "never ran") : cell_counted(5), 0);
	judge();
	ck_assert(!runs_find(&runs.command[0], "minor-faults")->known);
	ck_assert_int_eq(runs_find(&runs.command[0], "minor-faults")->state, CELL_NOT_COUNTED);
	ck_assert_str_eq(runs_find(&runs.command[0], "minor-faults")->note, "never ran");
	ck_assert(runs_elapsed(&runs.command[0])->known);
}
END_TEST

START_TEST(test_precision)
{
	setup_commands(1);
	for (size_t i = 0; i < 5; i++)
		add(0, 10, cell_counted(1), 0);
	ck_assert_double_lt(runs_precision(&runs), 0);
	add(0, 10, cell_counted(1), 0);
	ck_assert_double_eq(runs_precision(&runs), 0);
	add(0, 11, cell_counted(1), 0);
	ck_assert_double_eq_tol(runs_precision(&runs), 0.05, 1e-9);
	two(8, 2);
	ck_assert_double_eq(runs_precision(&runs), 0);
	runs.reference = 1;
	ck_assert_double_eq(runs_precision(&runs), 0);
}
END_TEST

START_TEST(test_notes)
{
	setup_commands(1);
	add(0, 10, cell_counted(1), 0);
	judge();
	ck_assert(noted("no intervals: they need 6 runs"));

	setup_commands(1);
	for (size_t i = 0; i < 20; i++)
		add(0, i == 0 ? 50 : 10 + (double)(i * 7 % 5) / 10, cell_counted(1), i == 4);
	judge();
	ck_assert(noted("the first run took 50 ms, the others 10.2: -w 1"));
	ck_assert(noted("1 of 20 runs failed"));
	ck_assert(!noted("outliers"));
	runs.warmups = 1;
	judge();
	ck_assert(noted("more warm-up"));

	setup_commands(1);
	for (size_t i = 0; i < 20; i++)
		add(0, i % 9 == 3 ? 50 : 10 + (double)(i * 7 % 5) / 10, cell_counted(1), 0);
	judge();
	ck_assert(noted("outliers: 2 of 20 runs, up to 50 ms"));

	/* Of three, the scatter is not known. */
	setup_commands(1);
	for (size_t i = 0; i < 3; i++)
		add(0, i == 2 ? 50 : 10 + (double)i / 10, cell_counted(1), 0);
	judge();
	ck_assert(!noted("outliers"));

	setup_commands(1);
	for (size_t i = 0; i < 20; i++)
		add(0, i % 2 ? 700 : 10, cell_counted(1), 0);
	judge();
	ck_assert(noted("two clusters"));

	two(20, 1.1);
	runs.floor = cell_counted(5e6);
	judge();
	ck_assert(noted("too short: a program that does nothing takes 5 ms here; most of the time of all of these"));
	ck_assert_uint_eq(runs.nnotes, 1);
	runs.floor = cell_counted(2.1e6);
	judge();
	ck_assert(noted("some of these"));
}
END_TEST

START_TEST(test_drift)
{
	setup_commands(2);
	for (size_t i = 0; i < 40; i++) {
		add(0, 10 + (double)i / 20 + (double)(i * 7 % 5) / 10, cell_counted(1), 0);
		add(1, 10 + (double)i / 20 + (double)(i * 3 % 5) / 10, cell_counted(1), 0);
	}
	judge();
	ck_assert(noted("A: drift of +1"));
	ck_assert(noted("the ratios are free of it"));
	ck_assert(!comparison_differs(&runs_elapsed(&runs.command[1])->comparison));
}
END_TEST

START_TEST(test_table)
{
	char *text;

	two(8, 2);
	judge();
	text = print(runs_table, 1);
	ck_assert_str_eq(text,
		"A                 ./old 'a|b'\n"
		"B                 ./new \"x\"\n"
		"runs              8 of each, by turns\n"
		"\n"
		"counter              A     MAD         B     MAD  B / A           95 %\n"
		"elapsed        10.2 ms  1.47 %   20.4 ms  1.47 %  2.000  2.000 – 2.000\n"
		"user          ≈5.10 ms  1.47 %  ≈10.2 ms  1.47 %  2.000  2.000 – 2.000\n"
		"minor-faults       101  0.50 %       201  0.25 %  1.995  1.990 – 2.000\n"
		"\n"
		"result            A is 2.00 ± 0.00 times faster than B\n"
		"user              A has 2.00 ± 0.00 times less than B\n"
		"minor-faults      A has 1.995 ± 0.005 times less than B\n"
		"note              user: sampled\n"
		"not available     cycles: no PMU\n");
	free(text);
	setup_commands(5);
	for (size_t i = 0; i < 6; i++)
		for (size_t k = 0; k < 5; k++)
			add(k, 10.0 + (double)((k + 2) % 5), cell_counted(1), 0);
	judge();
	text = print(runs_table, 0);
	ck_assert_str_eq(text,
		"runs              6 of each, by turns\n"
		"\n"
		"elapsed          median     MAD   to A           95 %\n"
		"A  ./old 'a|b'  12.0 ms  0.00 %\n"
		"B  ./new \"x\"    13.0 ms  0.00 %  1.083  1.083 – 1.083\n"
		"C  c            14.0 ms  0.00 %  1.167  1.167 – 1.167\n"
		"D  d            10.0 ms  0.00 %  0.833  0.833 – 0.833\n"
		"E  e            11.0 ms  0.00 %  0.917  0.917 – 0.917\n"
		"\n"
		"result            D is 1.20 ± 0.00 times faster than A\n"
		"least median      D\n"
		"not available     cycles: no PMU\n");
	free(text);
}
END_TEST

START_TEST(test_texts)
{
	char *text;

	two(2, 2);
	judge();
	text = print(runs_markdown, 0);
	ck_assert_str_eq(text,
		"| | Command | Median [ms] | MAD [ms] | Min [ms] | Max [ms] | Relative to A |\n"
		"|:---|:---|---:|---:|---:|---:|---:|\n"
		"| A | `./old 'a\\|b'` | 10.1 | 0.1 | 10 | 10.2 | 1 |\n"
		"| B | `./new \"x\"` | 20.2 | 0.2 | 20 | 20.4 | 2.00 ± 0.00 |\n");
	free(text);
	text = print(runs_csv, 0);
	ck_assert_ptr_nonnull(strstr(text, "command,mean,stddev,median,user,system,min,max,label,runs,failed,elapsed.median,"));
	ck_assert_ptr_nonnull(strstr(text, "\r\n\"./new \"\"x\"\"\",0.0202,0.000282842712475,0.0202,0.0101,,0.02,0.0204,B,2,0,20200000,"));
	ck_assert_ptr_nonnull(strstr(text, ",,,unavailable,,,\r\n"));
	free(text);
}
END_TEST

/* Commas of names are part of one field, wherever they stand in it. */
START_TEST(test_csv_names)
{
	const struct total_fact totals[] = {
		{ "elapsed", "ns", cell_counted(1e6), "clock", { .event = false } },
		{ "cpu/event=1,umask=2/", "count", cell_counted(7), "perf", { .event = true } },
	};
	char *text;

	setup_commands(1);
	runs.command[0].parameters = calloc(1, sizeof(*runs.command[0].parameters));
	runs.command[0].nparameters = 1;
	runs.command[0].parameters[0] = (struct runs_parameter){ strdup("x,y"), strdup("1,2") };
	ck_assert_int_eq(runs_add(&runs.command[0], totals, ARRAY_SIZE(totals), 0), 0);
	judge();
	text = print(runs_csv, 0);
	ck_assert_ptr_nonnull(strstr(text, ",max,\"parameter_x,y\",label,"));
	ck_assert_ptr_nonnull(strstr(text, ",\"cpu/event=1,umask=2/.median\",\"cpu/event=1,umask=2/.mad\","));
	free(text);
}
END_TEST

/* The end may come within a round, and before the other one had a run. */
START_TEST(test_uneven)
{
	char *text;

	two(2, 2);
	add(0, 10, cell_counted(1), 0);
	judge();
	text = print(runs_table, 0);
	ck_assert_ptr_nonnull(strstr(text, "2 to 3 of each, by turns"));
	free(text);
	setup_commands(2);
	runs.reference = 1;
	add(0, 10, cell_counted(1), 0);
	judge();
	ck_assert_str_eq(runs.command[0].series[0].comparison.why, "there is no run of the other command");
}
END_TEST

/* What the newest run of a command found of two files of 100 pages each, so many of them in memory. */
static void found(size_t command, enum cache_regime regime, const char *because, s64 start)
{
	const struct cache_file files[] = {
		{ .path = "a", .pages = 100, .start = start, .end = 100 }, { .path = "b", .pages = 100, .start = 0, .end = -1 },
	};
	const struct cache_fact fact = { .asked = CACHE_ASKED_COLD, .regime = regime, .because = because, .files = files, .nfiles = 2 };

	ck_assert_int_eq(runs_add_cache(&runs.command[command], &fact), 0);
}

START_TEST(test_cache)
{
	json_t *root, *cache;
	char *text;

	setup_commands(2);
	runs.cached = true;
	runs.cache_asked = CACHE_ASKED_COLD;
	for (size_t i = 0; i < 40; i++) {
		add(0, 10, cell_counted(1), 0);
		found(0, CACHE_COLD, NULL, 0);
		add(1, 10, cell_counted(1), 0);
		found(1, CACHE_COLD, NULL, 0);
	}
	judge();
	ck_assert_int_eq(runs_regime(&runs.command[0]), CACHE_COLD);
	ck_assert(!noted("page cache"));
	text = print(runs_table, 0);
	ck_assert_ptr_nonnull(strstr(text, "\ncache             cold, as asked, before each run\n"));
	free(text);
	/* One run of the other command does not find it so, and two more for another reason. */
	add(1, 10, cell_counted(1), 0);
	found(1, CACHE_PARTLY_COLD, "a: mapped", 7);
	add(1, 10, cell_counted(1), 0);
	found(1, CACHE_PARTLY_COLD, "a: locked", -1);
	judge();
	ck_assert_int_eq(runs_regime(&runs.command[1]), CACHE_MIXED);
	ck_assert(noted("B: not all runs found the same page cache"));
	ck_assert(noted("A and B found different page caches, cold and mixed: they are not alike to compare"));
	text = print(runs_table, 0);
	ck_assert_ptr_nonnull(strstr(text, "\ncache             B: mixed, not cold as asked, in 2 of 42 runs: a: mapped\n"));
	free(text);
	text = print(runs_csv, 0);
	ck_assert_ptr_nonnull(strstr(text, ",label,runs,failed,cache,cache.because,elapsed.median,"));
	ck_assert_ptr_nonnull(strstr(text, ",A,40,0,cold,,"));
	ck_assert_ptr_nonnull(strstr(text, ",B,42,0,mixed,\"a: mapped\","));
	free(text);
	text = print(runs_json, 0);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	cache = json_object_get(json_array_get(json_object_get(root, "results"), 1), "cache");
	ck_assert_str_eq(json_string_value(json_object_get(cache, "regime")), "mixed");
	ck_assert_int_eq(json_integer_value(json_object_get(cache, "missed")), 2);
	cache = json_object_get(cache, "runs");
	ck_assert_uint_eq(json_array_size(cache), 42);
	ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(cache, 40), "start")), 7);
	ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(cache, 40), "pages")), 200);
	ck_assert(json_is_null(json_object_get(json_array_get(cache, 41), "start")));
	ck_assert(json_is_null(json_object_get(json_array_get(cache, 40), "end")));
	json_decref(root);
	free(text);
}
END_TEST

/* Of no run, one and several: strict JSON, null where there is nothing. */
START_TEST(test_json)
{
	for (size_t n = 0; n < 8; n += n ? 6 : 1) {
		json_t *root, *result;
		char *text;

		two(n, 2);
		judge();
		text = print(runs_json, 0);
		root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
		ck_assert_msg(root, "%s", text);
		result = json_array_get(json_object_get(root, "results"), 1);
		ck_assert_uint_eq(json_array_size(json_object_get(result, "times")), n);
		ck_assert_int_eq(json_is_null(json_object_get(result, "median")), n == 0);
		ck_assert_int_eq(json_is_null(json_object_get(result, "stddev")), n < 2);
		ck_assert(json_is_null(json_object_get(result, "system")));
		if (n == 7) {
			json_t *elapsed = json_object_get(json_object_get(result, "metrics"), "elapsed");
			json_t *ratio = json_object_get(elapsed, "ratio");

			ck_assert_double_eq(json_real_value(json_object_get(ratio, "value")), 2);
			ck_assert(json_is_true(json_object_get(ratio, "differs")));
			ck_assert_double_eq_tol(json_real_value(json_object_get(result, "median")), 0.0204, 1e-12);
		}
		json_decref(root);
		free(text);
	}
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("runs");

	tcase_add_checked_fixture(tests, NULL, teardown);
	tcase_add_test(tests, test_labels);
	tcase_add_test(tests, test_values);
	tcase_add_test(tests, test_missing);
	tcase_add_test(tests, test_precision);
	tcase_add_test(tests, test_notes);
	tcase_add_test(tests, test_drift);
	tcase_add_test(tests, test_table);
	tcase_add_test(tests, test_texts);
	tcase_add_test(tests, test_csv_names);
	tcase_add_test(tests, test_uneven);
	tcase_add_test(tests, test_cache);
	tcase_add_test(tests, test_json);
	return suite_run("runs", tests);
}
