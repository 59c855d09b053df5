/* SPDX-License-Identifier: MIT */
/* cli/analyze/diff and its outputs: made-up runs with the scatter of real ones, and what is said of them. */
#include "diffed.h"

#include <jansson.h>

#include "stack.h"

/* ---- scatter --------------------------------------------------------------------------------------- */

static u32 state;

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

/*
 * Times of a region as they scatter on a machine that is in use: 1 % of all regions alike from run to run, 1 % for each
 * by itself, and in 1 of 30 something that comes between.
 */
static double scattered(double common)
{
	double time = common * (1 + 0.01 * bell());

	return uniform() < 1.0 / 30 ? time * (1 + 0.5 * uniform()) : time;
}

enum { REGIONS = 24, SLOW = 7 };

/* "main" with many regions in it, one of which takes so many times as long. */
static void scattered_run(u32 side, double times)
{
	double common = 1 + 0.01 * bell(), sum = 0, ns[REGIONS];
	char name[16];
	u32 outer;

	run_begin();
	for (int i = 0; i < REGIONS; i++) {
		ns[i] = (i + 1) * 0.5 * MS * scattered(common) * (i == SLOW ? times : 1);
		sum += ns[i];
	}
	sum += 0.1 * MS * scattered(common);
	main_process.end_ns = (u64)(sum + 2 * MS * scattered(common));
	outer = region(0, "main", sum);
	for (int i = 0; i < REGIONS; i++) {
		snprintf(name, sizeof(name), "region-%d", i);
		region(outer, name, ns[i]);
	}
	run_end(side);
}

static void scattered_runs(u32 n, double times)
{
	setup_sides(2);
	diff.metrics = "wall.excl";
	for (u32 i = 0; i < n; i++) {
		scattered_run(0, 1);
		scattered_run(1, times);
	}
	judge();
}

/* The same program twice, 200 times: at most 5 in 100 have anything to tell. */
START_TEST(test_equal)
{
	int alarms = 0;

	state = 1;
	for (int k = 0; k < 200; k++) {
		scattered_runs(8, 1);
		alarms += differ() > 0;
	}
	ck_assert_int_le(alarms, 10);
}
END_TEST

/*
 * One region that takes 3 % more is found in at least 95 of 100; of what is told at most 5 % is another one, two
 * standard deviations aside.
 */
START_TEST(test_slower)
{
	char name[32];
	double others = 0;
	int found = 0;

	state = 2;
	snprintf(name, sizeof(name), "main;region-%d", SLOW);
	for (int k = 0; k < 100; k++) {
		bool is;

		scattered_runs(20, 1.03);
		is = verdict(name, "wall.excl") == DIFF_MORE;
		found += is;
		others += differ() ? (double)(differ() - is) / differ() : 0;
	}
	ck_assert_int_ge(found, 95);
	ck_assert_double_le(others, 5 + 4.4);
}
END_TEST

/* ---- rows ------------------------------------------------------------------------------------------ */

START_TEST(test_names)
{
	both(5, named);
	ck_assert_int_eq(verdict("main", "wall"), DIFF_NOISE);
	ck_assert_int_eq(verdict("main;parse", "wall"), DIFF_GONE);
	ck_assert_int_eq(verdict("main;parse;lookup", "wall"), DIFF_GONE);
	ck_assert_int_eq(verdict("main;read", "wall"), DIFF_NEW);
	ck_assert_int_eq(verdict("main;fresh", "wall"), DIFF_NEW);
	ck_assert_int_eq(verdict("main;old", "wall"), DIFF_GONE);
	ck_assert(noted("main;parse is gone and main;read is new"));
	ck_assert(!noted("main;old is gone"));
	says(diff_table, "3 regions are new, 3 regions are gone");
}
END_TEST

/* In the first few of ten runs of the newer side alone, and of the other's. */
static void now_and_then(u32 run, u32 side)
{
	region(0, "parse", 10 * MS + run);
	if (run < (side ? 1u : 9u))
		region(0, "rare", MS);
	if (side && run < 9)
		region(0, "mostly", MS);
	if (!side && run < 8)
		region(0, "left", MS);
}

START_TEST(test_now_and_then)
{
	both(10, now_and_then);
	ck_assert_int_eq(verdict("mostly", "calls"), DIFF_NEW);
	ck_assert_int_eq(verdict("left", "calls"), DIFF_MISSING);
	ck_assert_int_eq(verdict("rare", "calls"), DIFF_EQUAL);
	ck_assert_uint_eq(diff.sides[1].counts[DIFF_REGIONS][DIFF_GONE], 0);
}
END_TEST

START_TEST(test_renamed)
{
	opt_list_add_whole(&renames, "parse=read");
	both(5, named);
	ck_assert_int_eq(verdict("main;read", "wall"), DIFF_MORE);
	ck_assert_double_eq_tol(result(DIFF_REGIONS, "main;read", "wall")->rank.ratio, 2, 1e-6);
	ck_assert_int_eq(verdict("main;read;lookup", "wall"), DIFF_NOISE);
	ck_assert_int_eq(verdict("main;fresh", "wall"), DIFF_NEW);
	ck_assert(!noted("is gone and"));
}
END_TEST

/* Region r, so deep: each depth is a row, and a name in itself is not taken for the one around it. */
static void recursive(u32 run, u32 side)
{
	u32 outer = 0;

	for (u32 depth = 0; depth < 200 + 50 * side; depth++)
		outer = region(outer, "r", (double)(1000 - depth) * 1000 + run);
}

START_TEST(test_recursion)
{
	static char deep[2 * 201] = "r";

	both(5, recursive);
	ck_assert_uint_eq(diff.tables[DIFF_REGIONS].nrows, 251);
	ck_assert_int_eq(verdict("r;r;r", "wall"), DIFF_NOISE);
	ck_assert_double_eq(result(DIFF_REGIONS, "r;r;r", "wall")->side[1].median, 998002);
	for (int i = 0; i < 199; i++)
		strcat(deep, ";r");
	ck_assert_int_eq(verdict(deep, "wall"), DIFF_NOISE);
	strcat(deep, ";r");
	ck_assert_int_eq(verdict(deep, "wall"), DIFF_NEW);
	says(diff_table, "50 regions are new");
}
END_TEST

/* The same path, once by a marker and once by a bracketed call: two rows. */
static void of_kinds(u32 run, u32 side)
{
	struct profile_origin origin = { .kind = WIRE_ORIGIN_CALL, .library = PROFILE_NONE, .caller = PROFILE_NONE };

	region(0, "read", 5 * MS + run);
	origin.name = profile_intern(&profile, "read", 4);
	if (side)
		profile_add_origin(&profile, &origin);
}

START_TEST(test_origins)
{
	both(5, of_kinds);
	ck_assert_uint_eq(diff.tables[DIFF_REGIONS].nrows, 3);
	ck_assert_int_eq(verdict("read", "wall"), DIFF_GONE);
	ck_assert_uint_eq(diff.sides[1].counts[DIFF_REGIONS][DIFF_NEW], 3);
}
END_TEST

/* The same regions in two threads are one row. */
static void threaded(u32 run, u32 side)
{
	u32 other = profile_root(&profile, 1, PID, PID + 1), outer;

	outer = region(0, "main", 50 * MS);
	region(outer, "parse", 10 * MS + run * 1000);
	outer = region(other, "main", 40 * MS);
	region(outer, "parse", (side ? 30 : 10) * MS);
}

START_TEST(test_threads)
{
	both(5, threaded);
	ck_assert_uint_eq(diff.tables[DIFF_REGIONS].nrows, 3);
	ck_assert_int_eq(verdict("main;parse", "wall"), DIFF_MORE);
	ck_assert_double_eq(result(DIFF_REGIONS, "main;parse", "wall")->side[0].median, 20 * MS + 2000);
	ck_assert_double_eq(result(DIFF_REGIONS, "main;parse", "wall")->side[1].median, 40 * MS + 2000);
	ck_assert_double_eq(result(DIFF_REGIONS, "main;parse", "calls")->side[1].median, 2);
}
END_TEST

enum { MANY = 10000 };

static void many(u32 run, u32 side)
{
	char name[24];
	u32 outer = 0;

	for (u32 i = 0; i < MANY; i++) {
		u32 row;

		snprintf(name, sizeof(name), "region %u", i);
		row = region(i % 10 ? outer : 0, name, (100 + i + (side && i == 4567 ? 5000 : 0)) * 1000 + run * (i % 13));
		outer = i % 10 ? outer : row;
	}
}

/* With so few runs one row of so many is nothing that could be told; asked for by itself it is. */
START_TEST(test_many)
{
	char *text;

	diff.metrics = "wall";
	ck_assert_ptr_null(diff_gate_add(&diff, "wall(region 4567)>+1000%"));
	ck_assert_ptr_null(diff_gate_add(&diff, "wall(region 4567)>+20%"));
	ck_assert_ptr_null(diff_gate_add(&diff, "wall(region 4568)>+0%"));
	both(5, many);
	ck_assert_uint_eq(diff.tables[DIFF_REGIONS].nrows, MANY + 1);
	ck_assert_uint_eq(differ(), 0);
	ck_assert(noted("a single difference among"));
	ck_assert_int_eq(diff.gates[0].results[1].end, DIFF_PASSED);
	ck_assert_int_eq(diff.gates[1].results[1].end, DIFF_FAILED);
	ck_assert_int_eq(diff.gates[2].results[1].end, DIFF_PASSED);
	text = print(diff_table, 20);
	ck_assert_ptr_nonnull(strstr(text, "\nand 9981 more; --top 0 shows all\n"));
	free(text);
}
END_TEST

/* ---- few runs -------------------------------------------------------------------------------------- */

START_TEST(test_one_run)
{
	ck_assert_ptr_null(diff_gate_add(&diff, "wall(parse)>+5%"));
	both(1, plain);
	ck_assert_int_eq(verdict("parse", "wall"), DIFF_FEW);
	ck_assert_int_eq(verdict("same", "wall"), DIFF_EQUAL);
	ck_assert_double_eq_tol(result(DIFF_REGIONS, "parse", "wall")->change, 1, 1e-12);
	ck_assert(!result(DIFF_REGIONS, "parse", "wall")->rank.bounded);
	ck_assert(noted("one run in A and one in B: nothing tells a difference from noise; it takes 4 runs on each side"));
	ck_assert_int_eq(diff.gates[0].results[1].end, DIFF_UNDECIDED);
	ck_assert_str_eq(diff.gates[0].results[1].why, "too few runs: 4 on each side are needed");
	ck_assert_uint_eq(differ(), 0);
	says(diff_table, "few runs");
}
END_TEST

START_TEST(test_few_runs)
{
	both(3, plain);
	ck_assert_int_eq(verdict("parse", "wall"), DIFF_FEW);
	ck_assert(noted("3 runs in A and 3 in B: too few"));
	setup_sides(2);
	diff.rate = 0.1;
	diff.metrics = "wall";
	both(3, plain);
	ck_assert_int_eq(verdict("parse", "wall"), DIFF_MORE);
}
END_TEST

START_TEST(test_turns)
{
	both(4, plain);
	ck_assert(noted("take turns"));
	setup_sides(2);
	for (u32 i = 0; i < 4; i++) {
		runs_of(0, 1, plain);
		runs_of(1, 1, plain);
	}
	judge();
	ck_assert(!noted("take turns"));
}
END_TEST

/* ---- functions ------------------------------------------------------------------------------------- */

static struct samples samples;

/* lookup gets slower; "tiny" has too few samples for anything. */
static void sampled_run(u32 run, u32 side, u64 frequency)
{
	run_begin();
	plain(0, side);
	samples_fini(&samples);
	samples_init(&samples);
	samples.event = strdup("task-clock");
	samples.stacks = strdup("fp");
	samples.clock = true;
	samples.frequency = frequency;
	stack_add(&samples, 1, "parse", "/usr/bin/app!main:1 /usr/bin/app!lookup:5", (side ? 300 : 200) + run);
	stack_add(&samples, 1, "parse", "/usr/bin/app!main:1 /lib/libc.so.6!memcpy:5", 100 + run * 3 % 5);
	if (!run && side)
		stack_add(&samples, 1, "parse", "/usr/bin/app!main:1 /usr/bin/app!tiny:5", 1);
	facts.samples = &samples;
	run_end(side);
	facts.samples = NULL;
}

START_TEST(test_functions)
{
	for (u32 i = 0; i < 6; i++) {
		sampled_run(i, 0, 999);
		sampled_run(i, 1, 999);
	}
	judge();
	ck_assert_int_eq(result(DIFF_FUNCTIONS, "lookup", "self")->verdict, DIFF_MORE);
	ck_assert_int_eq(result(DIFF_FUNCTIONS, "main", "total")->verdict, DIFF_MORE);
	ck_assert_int_eq(result(DIFF_FUNCTIONS, "memcpy [libc.so.6]", "self")->verdict, DIFF_NOISE);
	ck_assert_int_eq(result(DIFF_FUNCTIONS, "main", "self")->verdict, DIFF_MISSING);
	ck_assert(noted("1 function with less than 0.1 % of the samples, or less than one a run, left out"));
	says(diff_table, "\nfunction, self");
	samples_fini(&samples);
}
END_TEST

START_TEST(test_functions_alone)
{
	/* One side has no samples, or others. */
	for (u32 i = 0; i < 5; i++) {
		sampled_run(i, 0, 999);
		changed_run(1, NULL);
	}
	judge();
	ck_assert_int_eq(result(DIFF_FUNCTIONS, "lookup", "self")->verdict, DIFF_MISSING);
	setup_sides(2);
	for (u32 i = 0; i < 5; i++) {
		sampled_run(i, 0, 999);
		sampled_run(i, 1, 4000);
	}
	judge();
	ck_assert_str_eq(result(DIFF_FUNCTIONS, "lookup", "self")->why, "samples of another kind or rate");
	samples_fini(&samples);
}
END_TEST

/* Other rates are of no matter where functions are not asked for. */
START_TEST(test_functions_wanted)
{
	diff.metrics = "elapsed";
	for (u32 i = 0; i < 4; i++) {
		sampled_run(i, 0, 999);
		sampled_run(i, 1, 4000);
	}
	judge();
	ck_assert_uint_eq(diff.tables[DIFF_FUNCTIONS].nrows, 0);
	ck_assert(!diff.sides[1].partly);
	ck_assert(noted("samples: task-clock at 999 Hz"));
	setup_sides(2);
	diff.metrics = "elapsed";
	ck_assert_ptr_null(diff_gate_add(&diff, "self(lookup)>+5%"));
	for (u32 i = 0; i < 4; i++) {
		sampled_run(i, 0, 999);
		sampled_run(i, 1, 999);
	}
	judge();
	ck_assert_uint_eq(diff.tables[DIFF_FUNCTIONS].nmetrics, 1);
	ck_assert(noted("1 function with less than 0.1 % of the samples"));
	samples_fini(&samples);
}
END_TEST

/* Of one side, too; a run without any is none of another kind. */
START_TEST(test_functions_mixed)
{
	changed_run(0, NULL);
	for (u32 i = 0; i < 5; i++) {
		sampled_run(i, 0, 999);
		sampled_run(i, 1, 999);
	}
	judge();
	ck_assert_int_eq(result(DIFF_FUNCTIONS, "lookup", "self")->verdict, DIFF_MORE);
	setup_sides(2);
	for (u32 i = 0; i < 5; i++) {
		sampled_run(i, 0, 999);
		sampled_run(i, 1, i == 3 ? 4000 : 999);
	}
	judge();
	ck_assert_str_eq(result(DIFF_FUNCTIONS, "lookup", "self")->why, "samples of another kind or rate");
	samples_fini(&samples);
}
END_TEST

static void metered(u32 run, u32 side)
{
	u32 row = region(0, "parse", 10 * MS + run);
	struct profile_value *value;

	if (!side)
		return;
	value = profile_value(&profile, row, profile_intern(&profile, "lo\033ad", 5));
	value->count = 1;
	value->sum = value->min = value->max = value->last = 5;
}

/* What one side alone has read is in no region that only this side has. */
START_TEST(test_metric_alone)
{
	diff.metrics = "wall,lo*";
	both(5, metered);
	ck_assert_int_eq(result(DIFF_REGIONS, "parse", "lo\033ad")->verdict, DIFF_MISSING);
	ck_assert_int_eq(result(DIFF_REGIONS, "parse", "wall")->verdict, DIFF_NOISE);
	ck_assert_str_eq(diff.tables[DIFF_REGIONS].metrics[1].text, "lo\\x1Bad");
	says(diff_csv, ",lo\\x1Bad,");
}
END_TEST

/* ---- outputs --------------------------------------------------------------------------------------- */

static void odd(u32 run, u32 side)
{
	region(0, "a|b`\033\xff\"", (side ? 20 : 10) * MS + run);
}

START_TEST(test_json)
{
	json_t *root, *row;
	json_error_t mistake;
	char *text;

	setup_sides(3);
	ck_assert_ptr_null(diff_gate_add(&diff, "wall>+5%"));
	for (u32 side = 0; side < 3; side++)
		runs_of(side, 5, odd);
	judge();
	text = print(diff_json, 20);
	root = json_loads(text, JSON_REJECT_DUPLICATES, &mistake);
	ck_assert_msg(root != NULL, "%s", mistake.text);
	ck_assert_str_eq(json_string_value(json_object_get(root, "schema")), "spark-diff/1");
	ck_assert_uint_eq(json_array_size(json_object_get(root, "sides")), 3);
	ck_assert_uint_eq(json_array_size(json_object_get(root, "comparisons")), 2);
	/* Three totals and one made of them, and of the root and the region what each has. */
	ck_assert_uint_eq(json_array_size(json_object_get(root, "rows")), 2 * (4 + 3 + 3));
	row = json_array_get(json_object_get(root, "rows"), 8);
	ck_assert_str_eq(json_string_value(json_object_get(row, "kind")), "region");
	ck_assert_str_eq(json_string_value(json_array_get(json_object_get(row, "path"), 0)), "a|b`\033\\xFF\"");
	ck_assert_str_eq(json_string_value(json_object_get(row, "metric")), "wall");
	ck_assert_str_eq(json_string_value(json_object_get(row, "verdict")), "more");
	ck_assert_str_eq(json_string_value(json_object_get(row, "origin")), "marker");
	ck_assert_double_eq_tol(json_real_value(json_object_get(row, "ratio")), 2, 1e-5);
	ck_assert_uint_eq(json_integer_value(json_object_get(json_object_get(row, "a"), "runs")), 5);
	json_decref(root);
	free(text);
	says(diff_csv, "B,region,\"a|b`\\x1B\\xFF\"\"\",marker,wall,ns,5,10000002,1,counted,5,20000002,1,counted,");
	says(diff_csv, "C,region,");
	says(diff_markdown, "| `a\\|b'\\x1B\\xFF\"` | `wall` | 10.0 ms | 20.0 ms | +100.0 % |");
	says(diff_markdown, "| `wall>+5%` | **failed** | wall of a\\|b\\`\\\\x1B\\\\xFF\" +100.0 %");
	says(diff_table, "C                 new \"x\".spark to new \"x\".spark, 5 runs");
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("diff");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, test_equal);
	tcase_add_test(tests, test_slower);
	tcase_add_test(tests, test_names);
	tcase_add_test(tests, test_now_and_then);
	tcase_add_test(tests, test_renamed);
	tcase_add_test(tests, test_recursion);
	tcase_add_test(tests, test_origins);
	tcase_add_test(tests, test_threads);
	tcase_add_test(tests, test_many);
	tcase_add_test(tests, test_one_run);
	tcase_add_test(tests, test_few_runs);
	tcase_add_test(tests, test_turns);
	tcase_add_test(tests, test_functions);
	tcase_add_test(tests, test_functions_alone);
	tcase_add_test(tests, test_functions_wanted);
	tcase_add_test(tests, test_functions_mixed);
	tcase_add_test(tests, test_metric_alone);
	tcase_add_test(tests, test_json);
	return suite_run("diff", tests);
}
