/* SPDX-License-Identifier: MIT */
/* cli/output/json: strict JSON of the schema spark-report/1, for every report. */
#include <jansson.h>
#include <locale.h>

#include "common/source_table.h"
#include "profiled.h"
#include "sample.h"
#include "suite.h"

static struct sample sample;

static void setup(void)
{
	sample_init(&sample, PROFILE_BY_PROCESS);
}

static void teardown(void)
{
	sample_fini(&sample);
}

/* The report, parsed; it must be one document and one newline. */
static json_t *load(void)
{
	char *text = sample_print(&sample, "json");
	size_t len = strlen(text);
	json_error_t err;
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &err);

	if (!root)
		ck_abort_msg("line %d: %s\n%s", err.line, err.text, text);
	ck_assert_str_eq(text + len - 3, "\n}\n");
	free(text);
	return root;
}

static json_t *cell_of(json_t *row, const char *name)
{
	return json_object_get(json_object_get(row, "cells"), name);
}

static const char *state_of(json_t *row, const char *name)
{
	return json_string_value(json_object_get(cell_of(row, name), "state"));
}

static json_int_t value_of(json_t *row, const char *name)
{
	json_t *value = json_object_get(cell_of(row, name), "value");

	ck_assert(json_is_integer(value));
	return json_integer_value(value);
}

/* The row whose path ends in a name. */
static json_t *region(json_t *root, const char *name)
{
	json_t *regions = json_object_get(root, "regions"), *path;
	size_t i, n;

	for (i = 0; i < json_array_size(regions); i++) {
		path = json_object_get(json_array_get(regions, i), "path");
		n = json_array_size(path);
		if (n ? !strcmp(json_string_value(json_array_get(path, n - 1)), name) : !*name)
			return json_array_get(regions, i);
	}
	return NULL;
}

START_TEST(test_document)
{
	static const char *const keys[] = { "schema", "command", "exit", "host", "capabilities",
		"columns", "totals", "processes", "regions", "windows", "window_list", "losses", "diagnostics", "samples",
		"profile" };
	json_t *root, *process, *row;
	size_t i;

	sample_regions(&sample);
	sample_extras(&sample);
	sample_report(&sample);
	root = load();
	ck_assert_uint_eq(json_object_size(root), ARRAY_SIZE(keys));
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		ck_assert_ptr_nonnull(json_object_get(root, keys[i]));
	ck_assert_str_eq(json_string_value(json_object_get(root, "schema")), "spark-report/1");
	ck_assert_uint_eq(json_array_size(json_object_get(root, "command")), 3);
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(root, "exit"), "status")), 0);
	ck_assert(json_is_null(json_object_get(json_object_get(root, "exit"), "signal")));
	process = json_array_get(json_object_get(root, "processes"), 0);
	ck_assert_int_eq(json_integer_value(json_object_get(process, "id")), 1);
	ck_assert(json_is_null(json_object_get(process, "parent")));
	ck_assert_int_eq(json_integer_value(json_object_get(process, "end_ns")), 2430000000);
	row = region(root, "insert");
	ck_assert_uint_eq(json_array_size(json_object_get(row, "path")), 2);
	ck_assert_int_eq(json_integer_value(json_object_get(row, "process")), SAMPLE_PID);
	ck_assert(json_is_null(json_object_get(row, "thread")));
	ck_assert_int_eq(json_integer_value(json_object_get(row, "calls")), 1000);
	ck_assert_int_eq(value_of(row, "calls"), 1000);
	ck_assert_int_eq(value_of(row, "wall"), 911000000);
	ck_assert_int_eq(value_of(row, "wall.min"), 911000);
	ck_assert_int_eq(value_of(row, "wall.p50"), 911000);
	row = region(root, "load");
	ck_assert_int_eq(value_of(row, "wall.excl"), 289000000);
	ck_assert_int_eq(value_of(row, "cpu"), 864000000);
	ck_assert_int_eq(value_of(row, "offcpu"), 336000000);
	ck_assert_str_eq(state_of(row, "minflt"), "unavailable");
	ck_assert(json_is_null(json_object_get(cell_of(row, "minflt"), "value")));
	row = region(root, "");
	ck_assert_int_eq(value_of(row, "wall"), 2430000000);
	ck_assert_int_eq(value_of(row, "cpu"), 2100000000);
	ck_assert_int_eq(value_of(row, "minflt"), 12300);
	ck_assert_str_eq(state_of(row, "wall.p50"), "not_counted");
	row = region(root, "shutdown");
	ck_assert_int_eq(json_integer_value(json_object_get(row, "open")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(row, "calls")), 1);
	ck_assert_str_eq(state_of(row, "wall.max"), "not_counted");
	ck_assert_int_eq(value_of(row, "wall"), 7000000);
	ck_assert(json_is_null(json_object_get(root, "samples")));
	ck_assert(json_is_null(json_object_get(root, "profile")));
	row = json_array_get(json_object_get(root, "windows"), 0);
	ck_assert_int_eq(value_of(row, "wall"), 1000000000);
	ck_assert_int_eq(value_of(row, "cpu"), 900000000);
	ck_assert_int_eq(value_of(row, "nvcsw"), 17);
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(root, "losses"), "threads")), 12);
	json_decref(root);
}
END_TEST

static struct samples samples;

static json_t *profiled(void)
{
	sample_regions(&sample);
	profiled_samples(&samples);
	sample.facts.samples = &samples;
	sample_report(&sample);
	return load();
}

static json_int_t number(json_t *object, const char *key)
{
	ck_assert_msg(json_is_integer(json_object_get(object, key)), "%s is no number", key);
	return json_integer_value(json_object_get(object, key));
}

START_TEST(test_samples)
{
	json_t *root = profiled(), *all = json_object_get(root, "samples"), *unresolved = json_object_get(all, "unresolved");

	ck_assert_int_eq(number(all, "count"), PROFILED_SAMPLES);
	ck_assert_int_eq(number(all, "lost"), PROFILED_LOST);
	ck_assert_int_eq(number(all, "throttled"), 2);
	ck_assert_int_eq(number(all, "unattributed"), 1);
	ck_assert_int_eq(number(all, "truncated"), 9);
	ck_assert_int_eq(number(all, "no_place"), 0);
	ck_assert_int_eq(number(all, "frequency"), 999);
	ck_assert_int_eq(number(unresolved, "stripped"), 11);
	ck_assert_int_eq(number(unresolved, "hidden"), 30);
	ck_assert_uint_eq(json_object_size(unresolved), 2);
	ck_assert_double_eq(json_real_value(json_object_get(all, "effective")), 987.4);
	ck_assert_str_eq(json_string_value(json_object_get(all, "event")), "task-clock");
	ck_assert_str_eq(json_string_value(json_object_get(all, "unit")), "ns");
	ck_assert_str_eq(json_string_value(json_object_get(all, "stacks")), "dwarf");
	json_decref(root);
	samples_fini(&samples);
}
END_TEST

/* What each region misses; regions that are not known come last, and all together are all. */
START_TEST(test_samples_regions)
{
	json_t *root = profiled(), *all = json_object_get(root, "samples"), *regions = json_object_get(all, "regions"), *row;
	json_int_t count = 0, lost = 0, throttled = 0;
	size_t i;

	json_array_foreach(regions, i, row) {
		bool query = !strcmp(json_string_value(json_array_get(json_object_get(row, "region"), 0)) ?: "", "query");

		ck_assert_int_eq(number(row, "throttled"), query ? 2 : 0);
		count += number(row, "count");
		lost += number(row, "lost");
		throttled += number(row, "throttled");
	}
	ck_assert_int_eq(count, number(all, "count"));
	ck_assert_int_eq(lost, number(all, "lost"));
	ck_assert_int_eq(throttled, number(all, "throttled"));
	row = json_array_get(regions, json_array_size(regions) - 1);
	ck_assert(json_is_null(json_object_get(row, "region")));
	ck_assert_int_eq(number(row, "lost"), 2);
	ck_assert_int_eq(number(row, "count"), number(all, "unattributed"));
	json_decref(root);
	samples_fini(&samples);
}
END_TEST

START_TEST(test_profile)
{
	json_t *root = profiled(), *profile = json_object_get(root, "profile"), *entry, *inlined;
	json_int_t self = 0;
	size_t i;

	json_array_foreach(profile, i, entry)
		self += number(entry, "self");
	ck_assert_int_eq(self, PROFILED_SAMPLES);
	entry = json_array_get(profile, 1);
	ck_assert_str_eq(json_string_value(json_array_get(json_object_get(entry, "region"), 0)), "query");
	ck_assert_int_eq(number(entry, "process"), 1001);
	ck_assert_str_eq(json_string_value(json_object_get(entry, "symbol")), "sqlite3BtreeMovetoUnpacked");
	ck_assert_str_eq(json_string_value(json_object_get(entry, "object")), "/lib/libsqlite3.so.0");
	ck_assert_str_eq(json_string_value(json_object_get(entry, "file")), "/src/x.c");
	ck_assert_int_eq(number(entry, "line"), 5731);
	ck_assert_int_eq(number(entry, "self"), 22);
	ck_assert_int_eq(number(entry, "total"), 22);
	ck_assert_int_eq(number(entry, "self_weight"), 22000000);
	inlined = json_object_get(entry, "inlined");
	ck_assert_uint_eq(json_array_size(inlined), 1);
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(inlined, 0), "symbol")), "sqlite3VdbeExec");
	ck_assert_int_eq(number(json_array_get(inlined, 0), "line"), 2200);
	entry = json_array_get(profile, 2);
	ck_assert(json_is_null(json_object_get(entry, "symbol")));
	ck_assert(json_is_null(json_object_get(entry, "file")));
	ck_assert(json_is_null(json_object_get(entry, "line")));
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(profile, 3), "symbol")), "a\033[31m\\xFF(int)");
	entry = json_array_get(profile, json_array_size(profile) - 1);
	ck_assert(json_is_null(json_object_get(entry, "region")));
	json_decref(root);
	samples_fini(&samples);
}
END_TEST

/* Only bytes that are no UTF-8 are rewritten. */
START_TEST(test_names)
{
	static const char *const names[][2] = {
		{ "plain", "plain" }, { "a\033[31m\xff\"\n\\", "a\033[31m\\xFF\"\n\\" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" }, { "\xed\xa0\x80", "\\xED\\xA0\\x80" },
		{ "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" }, { "\xc3", "\\xC3" }, { " ", " " },
	};
	json_t *root;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		sample_region(&sample, 0, names[i][0], 1, 10 + i, 0);
	segment_metric(&sample.seg, sample.slot, segment_lane_of(&sample.seg, sample.slot, 0)->root,
		       "\xfe\"", 1, 1, 1, 1, 1);
	sample_report(&sample);
	root = load();
	for (i = 0; i < ARRAY_SIZE(names); i++)
		ck_assert_int_eq(value_of(region(root, names[i][1]), "wall"), 10 + i);
	ck_assert_int_eq(value_of(region(root, ""), "\\xFE\""), 1);
	json_decref(root);
}
END_TEST

START_TEST(test_every_byte)
{
	char name[256];
	json_t *root;
	u32 i;

	for (i = 0; i < 256; i++)
		name[i] = (char)i;
	segment_call(&sample.seg, segment_node(&sample.seg,
		((struct wire_slot *)segment_at(&sample.seg, sample.slot))->lanes[0],
		segment_lane_of(&sample.seg, sample.slot, 0)->root, 0,
		segment_name_bytes(&sample.seg, name, 256)), 5, 0);
	sample_report(&sample);
	root = load();
	ck_assert_uint_eq(json_array_size(json_object_get(root, "regions")), 2);
	json_decref(root);
}
END_TEST

START_TEST(test_nothing_at_all)
{
	json_t *root;

	sample.facts = (struct session_facts){ .clock_map = &sample.clock };
	sample_report(&sample);
	root = load();
	ck_assert_uint_eq(json_array_size(json_object_get(root, "regions")), 0);
	ck_assert_uint_eq(json_array_size(json_object_get(root, "command")), 0);
	json_decref(root);
}
END_TEST

START_TEST(test_not_finite)
{
	static const double odd[] = { __builtin_nan(""), __builtin_inf(), -__builtin_inf(), 1e308 };
	static const char *const names[] = { "nan", "inf", "-inf", "huge" };
	u32 a = sample_region(&sample, 0, "a", 1, 0, 0), i;
	json_t *root, *row;

	for (i = 0; i < ARRAY_SIZE(odd); i++)
		segment_metric(&sample.seg, sample.slot, a, names[i], 1, odd[i], odd[i], odd[i], odd[i]);
	sample_report(&sample);
	root = load();
	row = region(root, "a");
	ck_assert_str_eq(state_of(row, "nan"), "unavailable");
	ck_assert_str_eq(state_of(row, "inf.max"), "unavailable");
	ck_assert_str_eq(state_of(row, "-inf"), "unavailable");
	ck_assert_double_eq(json_real_value(json_object_get(cell_of(row, "huge"), "value")), 1e308);
	ck_assert_int_eq(value_of(row, "wall"), 0);
	json_decref(root);
}
END_TEST

/* The program's metric "wall" does not hide ours. */
START_TEST(test_metric_names_collide)
{
	u32 a = sample_region(&sample, 0, "a", 1, 70, 0);
	json_t *root, *row;

	segment_metric(&sample.seg, sample.slot, a, "wall", 1, 3, 3, 3, 3);
	segment_metric(&sample.seg, sample.slot, a, "x", 1, 4, 4, 4, 4);
	segment_metric(&sample.seg, sample.slot, a, "x.min", 1, 5, 5, 5, 5);
	sample_report(&sample);
	root = load();
	row = region(root, "a");
	ck_assert_int_eq(value_of(row, "wall"), 70);
	ck_assert_int_eq(value_of(row, "client.wall"), 3);
	ck_assert_int_eq(value_of(row, "x"), 4);
	json_decref(root);
}
END_TEST

START_TEST(test_source)
{
	u32 a;
	json_t *root, *column = NULL;
	size_t i;

	sample_fini(&sample);
	sample_init(&sample, PROFILE_BY_PROCESS);
	segment_fini(&sample.seg);
	sample_segment(&sample, 1u << SOURCE_rusage, source_cells(1u << SOURCE_rusage));
	a = sample_region(&sample, 0, "a", 1, 70, 0);
	((u64 *)segment_at(&sample.seg, a + 1))[0] = 42;
	sample.options.metrics = "minflt,wall";
	sample_report(&sample);
	root = load();
	ck_assert_int_eq(value_of(region(root, "a"), "minflt"), 42);
	ck_assert_uint_eq(json_object_size(json_object_get(region(root, "a"), "cells")), 2);
	for (i = 0; i < json_array_size(json_object_get(root, "columns")); i++) {
		column = json_array_get(json_object_get(root, "columns"), i);
		if (!strcmp(json_string_value(json_object_get(column, "name")), "minflt"))
			break;
	}
	ck_assert(json_is_true(json_object_get(column, "available")));
	ck_assert(json_is_false(json_object_get(column, "default")));
	ck_assert_str_eq(json_string_value(json_object_get(column, "source")), "rusage");
	ck_assert_str_eq(json_string_value(json_object_get(column, "class")), "quantitative");
	json_decref(root);
}
END_TEST

START_TEST(test_groups)
{
	json_t *root, *row;

	sample_fini(&sample);
	sample_init(&sample, PROFILE_BY_THREAD);
	sample_regions(&sample);
	sample_report(&sample);
	root = load();
	row = region(root, "insert");
	ck_assert_int_eq(json_integer_value(json_object_get(row, "thread")), SAMPLE_PID);
	ck_assert(json_is_null(json_object_get(json_array_get(json_object_get(root, "regions"), 0), "thread")));
	ck_assert_uint_eq(json_array_size(json_object_get(json_array_get(json_object_get(root, "regions"),
								  1), "path")), 0);
	json_decref(root);
	sample_fini(&sample);
	sample_init(&sample, PROFILE_BY_REGION);
	sample_regions(&sample);
	sample_report(&sample);
	root = load();
	ck_assert(json_is_null(json_object_get(region(root, "insert"), "process")));
	ck_assert(json_is_null(json_object_get(region(root, ""), "process")));
	json_decref(root);
}
END_TEST

START_TEST(test_signal_and_survivor)
{
	json_t *root, *end;

	sample.facts.signal = 11;
	sample.processes[1] = sample.processes[0];
	sample.processes[1].id = 2;
	sample.processes[1].parent = 1;
	sample.processes[1].ended = PROCESS_ALIVE;
	sample.processes[0].ended = PROCESS_SIGNAL;
	sample.processes[0].signal = 11;
	sample.facts.nprocesses = 2;
	sample_report(&sample);
	root = load();
	end = json_object_get(root, "exit");
	ck_assert(json_is_null(json_object_get(end, "status")));
	ck_assert_int_eq(json_integer_value(json_object_get(end, "signal")), 11);
	end = json_object_get(json_array_get(json_object_get(root, "processes"), 0), "exit");
	ck_assert_int_eq(json_integer_value(json_object_get(end, "signal")), 11);
	end = json_array_get(json_object_get(root, "processes"), 1);
	ck_assert(json_is_null(json_object_get(end, "exit")));
	ck_assert(json_is_null(json_object_get(end, "end_ns")));
	ck_assert_int_eq(json_integer_value(json_object_get(end, "parent")), 1);
	json_decref(root);
}
END_TEST

/* Where the locale is not there, this is the test above once more. */
START_TEST(test_locale)
{
	setlocale(LC_ALL, "de_DE.UTF-8");
	sample_regions(&sample);
	sample_extras(&sample);
	sample_report(&sample);
	json_decref(load());
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("json");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_set_timeout(tests, 30);
	tcase_add_test(tests, test_document);
	tcase_add_test(tests, test_samples);
	tcase_add_test(tests, test_samples_regions);
	tcase_add_test(tests, test_profile);
	tcase_add_test(tests, test_names);
	tcase_add_test(tests, test_every_byte);
	tcase_add_test(tests, test_nothing_at_all);
	tcase_add_test(tests, test_not_finite);
	tcase_add_test(tests, test_metric_names_collide);
	tcase_add_test(tests, test_source);
	tcase_add_test(tests, test_groups);
	tcase_add_test(tests, test_signal_and_survivor);
	tcase_add_test(tests, test_locale);
	return suite_run("json", tests);
}
