/* SPDX-License-Identifier: MIT */
/* Counting what runs already: where control groups are, lists of CPUs, intervals that add up, perf's lines. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/interval.h"
#include "cli/output/counts.h"
#include "cli/session/count_internal.h"
#include "tests/unit/suite.h"

#define V1_CPU "30 25 0:26 / /sys/fs/cgroup/cpu rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n"
#define V1_PERF "31 25 0:27 / /sys/fs/cgroup/perf\\040events rw shared:9 - cgroup none rw,perf_event\n"
#define V1_OTHER "32 25 0:28 / /mnt rw - cgroup cgroup rw,name=perf_event_not\n"
#define V2 "33 25 0:29 / /sys/fs/cgroup/unified rw,nosuid shared:10 master:2 - cgroup2 cgroup2 rw,nsdelegate\n"

static const struct {
	const char *mounts;
	int version;
	const char *want;            /* NULL: none */
} roots[] = {
	{ V1_CPU V1_PERF V2, 1, "/sys/fs/cgroup/perf events" },
	{ V1_CPU V1_PERF V2, 2, "/sys/fs/cgroup/unified" },
	{ V1_CPU V1_OTHER V2, 1, NULL },
	{ V1_CPU V1_PERF, 2, NULL },
	{ "", 1, NULL },
	{ "a b - cgroup", 1, NULL },
	{ "1 2 - cgroup2 x y", 2, NULL },
	{ " - ", 2, NULL },
};

START_TEST(test_root)
{
	char text[1024], path[64];
	bool found;

	snprintf(text, sizeof(text), "%s", roots[_i].mounts);
	found = cgroup_parse_root(text, roots[_i].version, path, sizeof(path));
	ck_assert_int_eq(found, roots[_i].want != NULL);
	if (roots[_i].want)
		ck_assert_str_eq(path, roots[_i].want);
}
END_TEST

START_TEST(test_root_too_long)
{
	char text[] = V2, path[8];

	ck_assert(!cgroup_parse_root(text, 2, path, sizeof(path)));
}
END_TEST

static const struct {
	const char *list;
	int ret;
	int first, last, n;
} cpus[] = {
	{ "0", 0, 0, 0, 1 },
	{ "0-3", 0, 0, 3, 4 },
	{ "1,3-4,9\n", 0, 1, 9, 4 },
	{ "", -EINVAL, 0, 0, 0 },
	{ "x", -EINVAL, 0, 0, 0 },
	{ "1,", -EINVAL, 0, 0, 0 },
	{ "1-", -EINVAL, 0, 0, 0 },
	{ "1 2", -EINVAL, 0, 0, 0 },
	{ "3-1", -ERANGE, 0, 0, 0 },
	{ "99999", -ERANGE, 0, 0, 0 },
	{ "0-99999999999999999999", -ERANGE, 0, 0, 0 },
};

/* Times of a control group's event that was counted for 100 ms. */
static const struct {
	u32 type;
	u64 enabled_ms, running_ms, want_enabled_ms, want_running_ms;
	bool right;
} times[] = {
	{ PERF_TYPE_HARDWARE, 100, 100, 100, 100, true },
	{ PERF_TYPE_HARDWARE, 40, 20, 40, 20, true },
	{ PERF_TYPE_HARDWARE, 5000, 5000, 101, 101, true },
	{ PERF_TYPE_HARDWARE, 5000, 4950, 101, 101, false },
	{ PERF_TYPE_RAW, 5000, 50, 101, 50, false },
	{ PERF_TYPE_SOFTWARE, 5000, 2500, 101, 101, true },
	{ PERF_TYPE_SOFTWARE, 60, 59, 60, 60, true },
	{ PERF_TYPE_TRACEPOINT, 5000, 0, 101, 101, true },
};

START_TEST(test_times)
{
	struct event event = { .attr = { .type = times[_i].type } };
	struct perf_value v = { 7, times[_i].enabled_ms * 1000000, times[_i].running_ms * 1000000 };

	ck_assert_int_eq(count_mend_times(&event, 100000000, &v), times[_i].right);
	ck_assert_uint_eq(v.count, 7);
	ck_assert_uint_eq(v.enabled_ns, times[_i].want_enabled_ms * 1000000);
	ck_assert_uint_eq(v.running_ns, times[_i].want_running_ms * 1000000);
}
END_TEST

START_TEST(test_cpus)
{
	cpu_set_t set;

	ck_assert_int_eq(cpus_parse(cpus[_i].list, &set), cpus[_i].ret);
	if (cpus[_i].ret)
		return;
	ck_assert_int_eq(CPU_COUNT(&set), cpus[_i].n);
	ck_assert(CPU_ISSET((size_t)cpus[_i].first, &set) && CPU_ISSET((size_t)cpus[_i].last, &set));
}
END_TEST

/* ---- intervals ------------------------------------------------------------------------------------- */

static struct total_fact event(const char *name, double count, u64 enabled, u64 running)
{
	return (struct total_fact){
		.name = name, .unit = "count", .cell = cell_counted(count), .source = "perf",
		.raw = { true, false, count, enabled, running },
	};
}

static struct total_fact elapsed(double ns)
{
	return (struct total_fact){ .name = "elapsed", .unit = "ns", .cell = cell_counted(ns), .source = "clock" };
}

START_TEST(test_interval)
{
	struct interval interval = { .last = NULL };
	struct total_fact totals[3];
	struct session_facts facts = { .totals = totals, .ntotals = 3 };
	const struct session_facts *got;

	totals[0] = elapsed(100);
	totals[1] = event("cycles", 1000, 100, 100);
	totals[2] = event("absent", 0, 0, 0);
	totals[2].cell = cell_absent(CELL_UNAVAILABLE, "not here");
	got = interval_next(&interval, &facts);
	ck_assert_uint_eq(got->ntotals, 3);
	ck_assert(got->totals[1].cell.value == 1000 && got->totals[1].cell.state == CELL_COUNTED);
	ck_assert_int_eq(got->totals[2].cell.state, CELL_UNAVAILABLE);

	/* Half of the time on a counter: the difference alone is scaled. */
	totals[0] = elapsed(300);
	totals[1] = event("cycles", 1100, 300, 200);
	got = interval_next(&interval, &facts);
	ck_assert(got->totals[0].cell.value == 200);
	ck_assert(got->totals[1].cell.value == 200 && got->totals[1].cell.state == CELL_SCALED);
	ck_assert(got->totals[1].raw.count == 100);

	/* It did not run. */
	got = interval_next(&interval, &facts);
	ck_assert_int_eq(got->totals[1].cell.state, CELL_NOT_COUNTED);
	interval_free(&interval);
}
END_TEST

/* Counters that were in the former edge and are not in this one: a part of a difference is none. */
START_TEST(test_interval_ended)
{
	struct interval interval = { .last = NULL };
	struct total_fact totals[2] = { elapsed(100), event("x", 1000, 100, 100) };
	struct session_facts facts = { .totals = totals, .ntotals = 2 };
	const struct session_facts *got;

	interval_next(&interval, &facts);
	totals[1] = event("x", 700, 150, 150);
	got = interval_next(&interval, &facts);
	ck_assert_int_eq(got->totals[1].cell.state, CELL_UNAVAILABLE);
	ck_assert_str_eq(got->totals[1].cell.note, "some of its counters ended");
	/* From there on both edges have the same. */
	totals[1] = event("x", 705, 160, 160);
	got = interval_next(&interval, &facts);
	ck_assert(got->totals[1].cell.value == 5 && got->totals[1].cell.state == CELL_COUNTED);
	interval_free(&interval);
}
END_TEST

/* What another source stands in for is known at the end alone; what is no event is left out. */
START_TEST(test_interval_wait4)
{
	struct interval interval = { .last = NULL };
	struct total_fact totals[3] = { elapsed(100), event("minor-faults", 7, 0, 0), elapsed(5) };
	struct session_facts facts = { .totals = totals, .ntotals = 3 };
	const struct session_facts *got;

	totals[1].source = "wait4";
	totals[2].name = "maxrss";
	got = interval_next(&interval, &facts);
	ck_assert_uint_eq(got->ntotals, 2);
	ck_assert_int_eq(got->totals[1].cell.state, CELL_UNAVAILABLE);
	interval_free(&interval);
}
END_TEST

START_TEST(test_interval_parts)
{
	struct interval interval = { .last = NULL };
	struct total_fact totals[1] = { elapsed(100) };
	struct total_fact a[2] = { event("x", 1, 10, 10), event("y", 2, 10, 10) };
	struct total_fact b[2] = { event("x", 10, 10, 10), event("y", 20, 10, 10) };
	struct part_fact parts[2] = { { "a", 1, a, 2 }, { "b", 2, b, 2 } };
	struct session_facts facts = { .totals = totals, .ntotals = 1, .parts = parts, .nparts = 2 };
	const struct session_facts *got;

	interval_next(&interval, &facts);
	a[1] = event("y", 5, 20, 20);
	b[0] = event("x", 11, 20, 20);
	got = interval_next(&interval, &facts);
	ck_assert_uint_eq(got->nparts, 2);
	ck_assert(got->parts[0].totals[1].cell.value == 3);
	ck_assert(got->parts[1].totals[0].cell.value == 1);
	ck_assert_int_eq(got->parts[1].totals[1].cell.state, CELL_NOT_COUNTED);
	interval_free(&interval);
}
END_TEST

/* ---- lines ----------------------------------------------------------------------------------------- */

static char *written(struct counts_style *style, const struct session_facts *facts, u64 interval_ns)
{
	struct report_options options = { .totals_only = true };
	struct profile profile;
	struct report *report;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	profile_init(&profile, PROFILE_BY_PROCESS);
	report = report_build(&profile, facts, &options);
	ck_assert(report != NULL);
	counts_write(file, style, report, interval_ns);
	fclose(file);
	report_free(report);
	profile_fini(&profile);
	return text;
}

/* As perf 6.1 prints them. */
START_TEST(test_lines)
{
	struct total_fact totals[5] = { elapsed(2e9), event("task-clock", 1e9, 1000000000, 1000000000),
					event("page-faults", 48, 1000000000, 500000000), event("cycles", 0, 0, 0),
					event("idle", 0, 0, 0) };
	struct session_facts facts = { .totals = totals, .ntotals = 5 };
	struct counts_style csv = { .form = COUNTS_CSV, .separator = "," }, json = { .form = COUNTS_JSON };
	char *text;

	totals[1].unit = "ns";
	totals[3].cell = cell_absent(CELL_UNAVAILABLE, "no PMU");
	totals[4].cell = cell_absent(CELL_NOT_COUNTED, "never ran");
	text = written(&csv, &facts, 0);
	ck_assert_str_eq(text, "1000.00,msec,task-clock,1000000000,100.00,0.500,CPUs utilized\n"
			       "48,,page-faults,500000000,50.00,,\n"
			       "<not supported>,,cycles,0,100.00,,\n"
			       "<not counted>,,idle,0,100.00,,\n");
	free(text);
	text = written(&csv, &facts, 1500000000);
	ck_assert(!strncmp(text, "     1.500000000,1000.00,msec,task-clock,", 40));
	free(text);
	text = written(&json, &facts, 0);
	ck_assert(!strncmp(text, "{\"counter-value\" : \"1000.000000\", \"unit\" : \"msec\", \"event\" : \"task-clock\", "
				 "\"event-runtime\" : 1000000000, \"pcnt-running\" : 100.00, \"metric-value\" : 0.500000, "
				 "\"metric-unit\" : \"CPUs utilized\"}\n", 180));
	free(text);
}
END_TEST

/* Of all calls of the system those that were made, the most frequent first, and how often they failed. */
START_TEST(test_calls)
{
	struct total_fact totals[] = {
		event("syscalls", 30, 1, 1), event("syscalls.read", 10, 1, 1), event("syscalls.write", 0, 1, 1),
		event("syscalls.openat", 20, 1, 1), event("syscalls.read.errors", 0, 1, 1),
		event("syscalls.write.errors", 0, 1, 1), event("syscalls.openat.errors", 7, 1, 1),
	};
	struct session_facts facts = { .totals = totals, .ntotals = ARRAY_SIZE(totals) };
	struct report_options options = { .totals_only = true, .all_calls = true };
	struct profile profile;
	struct report *report;

	profile_init(&profile, PROFILE_BY_PROCESS);
	report = report_build(&profile, &facts, &options);
	ck_assert_uint_eq(report->ncalls, 2);
	ck_assert_str_eq(report->calls[0].name, "openat");
	ck_assert(report->calls[0].errors.value == 7 && report->calls[1].errors.value == 0);
	ck_assert(report->calls[1].share.value > 33 && report->calls[1].share.value < 34);
	ck_assert_uint_eq(report->ntotals, 5);
	report_free(report);

	/* None can be had: one total says so. */
	totals[1] = event("syscalls.*", 0, 0, 0);
	totals[2] = event("syscalls.*.errors", 0, 0, 0);
	totals[1].cell = totals[2].cell = cell_absent(CELL_UNAVAILABLE, "closed");
	facts.ntotals = 3;
	report = report_build(&profile, &facts, &options);
	ck_assert_uint_eq(report->ncalls, 0);
	ck_assert_uint_eq(report->ntotals, 2);
	ck_assert_str_eq(report->totals[1].name, "syscalls.*");
	report_free(report);
	profile_fini(&profile);
}
END_TEST

/* Names of strangers: no line is broken, and no field. */
START_TEST(test_lines_names)
{
	struct total_fact totals[1] = { elapsed(1e9) }, own[1] = { event("cs", 3, 10, 10) };
	struct part_fact parts[2] = { { "a,\"b\n", 7, own, 1 }, { "g,h", 0, own, 1 } };
	struct session_facts facts = { .totals = totals, .ntotals = 1, .parts = parts, .nparts = 2 };
	struct counts_style csv = { .form = COUNTS_CSV, .separator = "," }, json = { .form = COUNTS_JSON };
	char *text = written(&csv, &facts, 0);

	ck_assert_str_eq(text, "\"a,\"\"b\\n-7\",3,,cs,10,100.00,,\n3,,cs,\"g,h\",10,100.00,,\n");
	free(text);
	text = written(&json, &facts, 0);
	ck_assert(strstr(text, "{\"thread\" : \"a,\\\"b\\n-7\", ") && strstr(text, "\"cgroup\" : \"g,h\", "));
	free(text);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("count");

	tcase_add_loop_test(tests, test_root, 0, ARRAY_SIZE(roots));
	tcase_add_test(tests, test_root_too_long);
	tcase_add_loop_test(tests, test_times, 0, ARRAY_SIZE(times));
	tcase_add_loop_test(tests, test_cpus, 0, ARRAY_SIZE(cpus));
	tcase_add_test(tests, test_interval);
	tcase_add_test(tests, test_interval_ended);
	tcase_add_test(tests, test_interval_wait4);
	tcase_add_test(tests, test_interval_parts);
	tcase_add_test(tests, test_lines);
	tcase_add_test(tests, test_lines_names);
	tcase_add_test(tests, test_calls);
	return suite_run("count", tests);
}
