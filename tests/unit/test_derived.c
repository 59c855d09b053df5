/* SPDX-License-Identifier: MIT */
/* Metrics computed from others in a report: of columns and of totals, built in and defined, and what is shown. */
#include "sample.h"
#include "suite.h"

static struct sample sample;
static struct definitions definitions;
static struct total_fact totals[24];

static void add_total(const char *name, double value, const char *note, const char *source)
{
	bool clock = !strcmp(name, "elapsed") || !strcmp(name, "task-clock");
	struct cell cell = cell_counted(value);

	cell.note = note;
	totals[sample.facts.ntotals++] = (struct total_fact){
		.name = name, .unit = clock ? "ns" : "count", .cell = cell, .source = source,
	};
}

static void setup(void)
{
	sample_init(&sample, PROFILE_BY_PROCESS);
	sample.facts.totals = totals;
	sample.facts.ntotals = 0;
	sample.options.definitions = &definitions;
	add_total("elapsed", 2000, NULL, "clock");
	add_total("task-clock", 1500, NULL, "perf");
}

static void teardown(void)
{
	sample_fini(&sample);
	definitions_free(&definitions);
}

static void define(const char *text)
{
	struct formula_error mistake;
	struct formula formula;

	ck_assert_int_eq(formula_parse(&formula, text, &mistake), 0);
	ck_assert_msg(definitions_add(&definitions, &formula, false, &mistake) == 0, "%s", mistake.why);
}

static void build(void)
{
	sample_regions(&sample);
	sample_extras(&sample);
	ck_assert_ptr_nonnull(sample_report(&sample));
}

/* The place of a total; the number of all if there is none. */
static size_t find_total(const char *name)
{
	size_t i = 0;

	while (i < sample.report->ntotals && strcmp(sample.report->totals[i].name, name) != 0)
		i++;
	return i;
}

static const struct cell *total(const char *name)
{
	size_t i = find_total(name);

	ck_assert_msg(i < sample.report->ntotals, "no total %s", name);
	return &sample.report->totals[i].cell;
}

static bool shown(const char *name)
{
	return find_total(name) < sample.report->nshown;
}

static const struct report_column *column(const char *name)
{
	for (size_t c = 0; c < sample.report->ncolumns; c++)
		if (!strcmp(sample.report->columns[c].metric->name, name))
			return &sample.report->columns[c];
	ck_abort_msg("no column %s", name);
}

static const struct cell *cell(const char *region, const char *name)
{
	size_t c = (size_t)(column(name) - sample.report->columns);

	for (size_t i = 0; i < sample.report->nrows; i++)
		if (!strcmp(sample.report->rows[i].name, region))
			return &sample.report->rows[i].cells[c];
	ck_abort_msg("no region %s", region);
}

#define ck_value(CELL, VALUE) ck_assert_double_eq_tol((CELL)->value, VALUE, 1e-9)

START_TEST(test_totals)
{
	sample.options.totals_only = true;
	add_total("cycles", 3000, NULL, "perf");
	add_total("instructions", 6000, NULL, "perf");
	add_total("branches", 500, NULL, "perf");
	add_total("branch-misses", 20, NULL, "perf");
	add_total("LLC-loads", 40, NULL, "perf");
	add_total("LLC-load-misses", 30, NULL, "perf");
	add_total("L1-dcache-loads", 1000, NULL, "perf");
	add_total("L1-dcache-load-misses", 60, NULL, "perf");
	add_total("dTLB-load-misses", 12, NULL, "perf");
	add_total("stalled-cycles-frontend", 300, NULL, "perf");
	add_total("idle-cycles-backend", 600, NULL, "perf");
	build();
	ck_value(total("cpu-utilization"), 75);
	ck_value(total("ipc"), 2);
	ck_value(total("cpi"), 0.5);
	ck_value(total("branch-miss-rate"), 4);
	ck_value(total("branch-mpki"), 20 / 6.0);
	ck_value(total("llc-miss-rate"), 75);
	ck_value(total("llc-mpki"), 5);
	ck_value(total("l1d-miss-rate"), 6);
	ck_value(total("l1d-mpki"), 10);
	ck_value(total("dtlb-mpki"), 2);
	ck_value(total("stalled-frontend"), 10);
	/* By its other name. */
	ck_value(total("stalled-backend"), 20);
	/* What a ratio says already stands in no table. */
	ck_assert(!shown("ipc") && !shown("cpi") && !shown("branch-miss-rate") && !shown("cpu-utilization"));
	ck_assert(shown("branch-mpki") && shown("llc-miss-rate"));
	ck_assert_uint_eq(find_total("cycles-per-unit"), sample.report->ntotals);
}
END_TEST

/* Where the last level's own events are not there, the generic ones are. */
START_TEST(test_other_way)
{
	sample.options.totals_only = true;
	add_total("cache-references", 40, NULL, "perf");
	add_total("cache-misses", 10, NULL, "perf");
	build();
	ck_value(total("llc-miss-rate"), 25);
	ck_assert_uint_eq(find_total("llc-mpki"), sample.report->ntotals);
	ck_assert_uint_eq(find_total("ipc"), sample.report->ntotals);
}
END_TEST

START_TEST(test_asked)
{
	sample.options.totals_only = true;
	sample.options.metrics = "ipc,elapsed,cpi";
	add_total("cycles", 3000, NULL, "perf");
	build();
	ck_assert_uint_eq(sample.report->nshown, 3);
	ck_assert_int_eq(total("ipc")->state, CELL_UNAVAILABLE);
	ck_assert_str_eq(total("ipc")->note, "needs instructions: no total is called so; run and stat -e add events");
	ck_assert_uint_eq(sample.report->nunknown, 0);
}
END_TEST

/* Counts of user mode with others; what was asked for as such may be. */
START_TEST(test_sides)
{
	sample.options.totals_only = true;
	add_total("cycles:u", 1000, NULL, "perf");
	add_total("instructions", 500, CELL_NOTE_USER, "perf");
	add_total("branches", 100, NULL, "perf");
	add_total("branch-misses", 10, CELL_NOTE_USER_SHARED, "perf");
	add_total("page-faults", 5, NULL, "perf");
	define("ghz = instructions / task-clock");
	define("per-ns = instructions / elapsed");
	define("share = cycles:u / page-faults");
	define("more = 2 * per-ns / branches");
	build();
	ck_value(total("ipc"), 0.5);
	ck_assert_str_eq(total("ipc")->note, CELL_NOTE_USER);
	ck_assert_int_eq(total("branch-miss-rate")->state, CELL_UNAVAILABLE);
	ck_assert_str_eq(total("branch-miss-rate")->note,
			 "branch-misses is of user mode only and branches is not: they cannot be put together");
	ck_value(total("ghz"), 500. / 1500);
	ck_assert_str_eq(total("ghz")->note, CELL_NOTE_USER);
	ck_value(total("per-ns"), 0.25);
	ck_assert_str_eq(total("per-ns")->note, CELL_NOTE_USER);
	ck_value(total("share"), 200);
	ck_assert_int_eq(total("more")->state, CELL_UNAVAILABLE);
}
END_TEST

START_TEST(test_regions)
{
	add_total("page-faults", 30, NULL, "perf");
	define("per-call [ns] = wall / calls");
	define("ten = 10 * per-call");
	define("depth = queue-depth * 4");
	define("per-unit = wall / units");
	define("faults = page-faults / task-clock");
	define("share = task-clock / elapsed");
	define("nothing = no-such / 2");
	define("none = calls / (wall - wall)");
	build();
	ck_value(cell("insert", "per-call"), 911000);
	ck_value(cell("insert", "ten"), 9110000);
	ck_value(cell("a\033[31m\xff\"\n", "depth"), 10);
	ck_value(cell("a\033[31m\xff\"\n", "per-unit"), 0.2);
	ck_assert_ptr_null(cell("a\033[31m\xff\"\n", "per-unit")->note);
	/* No work was told of there: that makes no sense, and has no reason. */
	ck_assert_int_eq(cell("insert", "per-unit")->state, CELL_NOT_COUNTED);
	ck_assert_ptr_null(cell("insert", "per-unit")->note);
	ck_assert_int_eq(cell("insert", "none")->state, CELL_NOT_COUNTED);
	ck_assert_str_eq(cell("insert", "none")->note, "division by zero: the divisor is 0");
	ck_assert_str_eq(cell("insert", "faults")->note, "needs page-faults: no column is called so; run -e adds events");
	ck_value(cell("query", "cpu-utilization"), cell("query", "cpu")->value / cell("query", "wall")->value * 100);
	ck_value(total("faults"), 0.02);
	/* Of a region, and of the run. */
	ck_value(cell("query", "share"), cell("query", "cpu")->value / cell("query", "wall")->value);
	ck_value(total("share"), 0.75);
	/* Each is told of once: where it can be computed, else among the totals. */
	ck_assert(column("per-call")->shown && !shown("per-call"));
	ck_assert(!column("faults")->shown && shown("faults"));
	ck_assert(!column("nothing")->shown && shown("nothing"));
	ck_assert(!column("cpu-utilization")->shown && column("cpu-utilization")->selected);
	ck_assert(!column("ipc")->shown && !column("ipc")->selected);
	ck_assert_str_eq(column("per-call")->metric->source, "derived");
	ck_assert_str_eq(column("per-call")->metric->class_name, "quantitative");
}
END_TEST

START_TEST(test_chosen)
{
	sample.options.metrics = "wall,ipc,cpu-*";
	sample.options.sort_by = "per-call";
	define("per-call = wall / calls");
	build();
	ck_assert(column("ipc")->shown && column("cpu-utilization")->shown && column("per-call")->shown);
	ck_assert(!column("cpi")->shown && !column("cpi")->selected);
	ck_assert_str_eq(cell("insert", "ipc")->note,
			 "needs instructions, cycles: no column is called so; run -e adds events");
	ck_assert_uint_eq(sample.report->nunknown, 0);
	/* Sorted by it: the single long calls come before query, which has many. */
	ck_assert_str_eq(sample.report->rows[1].name, "load");
	ck_assert_str_eq(sample.report->rows[3].name, "index");
}
END_TEST

/* A built-in one may be defined anew by a group; a name that the program has stays the program's. */
START_TEST(test_same_names)
{
	define("cpu-utilization [%] = 200 * cpu / wall");
	define("queue-depth = 3");
	build();
	ck_value(cell("query", "cpu-utilization"), cell("query", "cpu")->value / cell("query", "wall")->value * 200);
	ck_value(cell("a\033[31m\xff\"\n", "queue-depth"), 2.5);
	ck_assert_uint_eq(sample.report->nunknown, 1);
}
END_TEST

START_TEST(test_order_of_definitions)
{
	struct formula_error mistake;
	struct formula formula;

	define("a = 1");
	define("b = a + 1");
	ck_assert_int_eq(formula_parse(&formula, "a = b", &mistake), 0);
	ck_assert_int_eq(definitions_add(&definitions, &formula, false, &mistake), -1);
	ck_assert_int_eq(formula_parse(&formula, "c = c", &mistake), 0);
	ck_assert_int_eq(definitions_add(&definitions, &formula, false, &mistake), -1);
	define("a = 7");
	ck_assert_uint_eq(definitions.n, 2);
	build();
	ck_value(total("b"), 8);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("derived");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, test_totals);
	tcase_add_test(tests, test_other_way);
	tcase_add_test(tests, test_asked);
	tcase_add_test(tests, test_sides);
	tcase_add_test(tests, test_regions);
	tcase_add_test(tests, test_chosen);
	tcase_add_test(tests, test_same_names);
	tcase_add_test(tests, test_order_of_definitions);
	return suite_run("derived", tests);
}
