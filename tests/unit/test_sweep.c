/* SPDX-License-Identifier: MIT */
/* Runs under different limits of memory: which limit is enough, and what is written of that. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/output/sweep.h"
#include "tests/unit/suite.h"

#define MIB (1ull << 20)

static const char *const argv[] = { "app", "-x", NULL };

/* -1: it was killed for want of memory; -2: not known. */
static struct sweep_row row_of(u64 mib, double refaults)
{
	struct sweep_row row = { .limit = mib * MIB, .signal = refaults == -1 ? 9 : 0 };

	for (size_t i = 0; i < SWEEP_CELLS; i++)
		row.cells[i] = cell_counted(0);
	row.cells[SWEEP_WALL] = cell_counted(1e9 * 256 / (double)mib);
	row.cells[SWEEP_REFAULTS] = refaults >= 0 ? cell_counted(refaults) : cell_counted(0);
	row.cells[SWEEP_KILLS] = cell_counted(refaults == -1);
	if (refaults == -2)
		row.cells[SWEEP_REFAULTS] = cell_absent(CELL_UNAVAILABLE, "this run did not count it");
	return row;
}

static const struct {
	double refaults[4];          /* at 128, 32, 64 and 256 MiB, in this order */
	u64 knee;                    /* MiB; 0: none */
	const char *why;
} knees[] = {
	{ { 10, 50000, 30000, 0 }, 128, NULL },
	{ { 4900, 50000, 30000, 0 }, 128, NULL },
	{ { 5100, 50000, 30000, 0 }, 256, NULL },
	/* One that is short above another that is not. */
	{ { 9000, 50000, 0, 0 }, 256, NULL },
	{ { 0, -1, 0, 0 }, 64, NULL },
	{ { 0, -1, 5000, 0 }, 128, NULL },
	{ { 0, 0, 0, 0 }, 0, "all of them were enough" },
	{ { 60, 63, 1, 0 }, 0, "all of them were enough" },
	{ { 40000, 50000, 30000, 20000 }, 0, "none of them was enough" },
	{ { -1, -1, -1, -1 }, 0, "none of them was enough" },
	{ { 0, -2, 0, 0 }, 0, "refaults are not known" },
};

static void sweep_fill(struct sweep *sweep, struct sweep_row *rows, const double *refaults)
{
	static const u64 sizes[] = { 128, 32, 64, 256 };

	for (size_t i = 0; i < 4; i++)
		rows[i] = row_of(sizes[i], refaults[i]);
	*sweep = (struct sweep){ .argv = argv, .rows = rows, .nrows = 4 };
	sweep_judge(sweep);
}

START_TEST(test_knee)
{
	struct sweep_row rows[4];
	struct sweep sweep;

	sweep_fill(&sweep, rows, knees[_i].refaults);
	ck_assert_uint_eq(sweep.knee ? sweep.knee->limit / MIB : 0, knees[_i].knee);
	if (knees[_i].why)
		ck_assert_str_eq(sweep.why, knees[_i].why);
	else
		ck_assert_ptr_null(sweep.why);
}
END_TEST

START_TEST(test_take)
{
	const struct total_fact totals[] = {
		{ .name = "elapsed", .cell = cell_counted(7) },
		{ .name = "cgroup.refault_file", .cell = cell_counted(3) },
		{ .name = "cgroup.refault_anon", .cell = cell_counted(2) },
		{ .name = "cgroup.memory_peak", .cell = cell_absent(CELL_UNAVAILABLE, "too old") },
	};
	const struct session_facts facts = { .totals = totals, .ntotals = ARRAY_SIZE(totals), .status = 3 };
	struct sweep_row row = { .limit = 1 };

	sweep_take(&row, &facts);
	ck_assert_double_eq(row.cells[SWEEP_WALL].value, 7);
	ck_assert_double_eq(row.cells[SWEEP_REFAULTS].value, 5);
	ck_assert_int_eq(row.cells[SWEEP_PEAK].state, CELL_UNAVAILABLE);
	ck_assert_str_eq(row.cells[SWEEP_PEAK].note, "too old");
	ck_assert_int_eq(row.cells[SWEEP_KILLS].state, CELL_UNAVAILABLE);
	ck_assert(!sweep_killed(&row));
	ck_assert_int_eq(row.status, 3);
}
END_TEST

START_TEST(test_size)
{
	char text[24];

	sweep_size(text, sizeof(text), 32 * MIB);
	ck_assert_str_eq(text, "32M");
	sweep_size(text, sizeof(text), 4097);
	ck_assert_str_eq(text, "4097");
	sweep_size(text, sizeof(text), 1ull << 41);
	ck_assert_str_eq(text, "2T");
	sweep_size(text, sizeof(text), 1536 * MIB);
	ck_assert_str_eq(text, "1536M");
}
END_TEST

/* All lines of a narrow terminal. */
START_TEST(test_table)
{
	const struct output_options options = { .width = 40 };
	struct sweep_row rows[4];
	struct sweep sweep;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	sweep_fill(&sweep, rows, (const double[]){ 10, -1, 30000, 0 });
	ck_assert_int_eq(sweep_table(file, &sweep, &options), 0);
	fclose(file);
	ck_assert_ptr_nonnull(strstr(text, "\n   32M |################## killed\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n  128M |##### 2.00 s  <- knee\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nknee: 128M;"));
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1)
		ck_assert_int_le((int)(end - line), 40);
	free(text);
}
END_TEST

START_TEST(test_json)
{
	struct sweep_row rows[4];
	struct sweep sweep;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	json_t *json, *run;

	sweep_fill(&sweep, rows, (const double[]){ 10, -1, 30000, 0 });
	ck_assert_int_eq(sweep_json(file, &sweep), 0);
	fclose(file);
	json = json_loads(text, 0, NULL);
	ck_assert_ptr_nonnull(json);
	ck_assert_int_eq(json_integer_value(json_object_get(json, "knee")), 128 << 20);
	run = json_array_get(json_object_get(json, "runs"), 1);
	ck_assert(json_is_true(json_object_get(run, "out_of_memory")));
	ck_assert_int_eq(json_integer_value(json_object_get(run, "signal")), 9);
	ck_assert_int_eq((int)json_array_size(json_object_get(json, "runs")), 4);
	json_decref(json);
	free(text);
}
END_TEST

START_TEST(test_csv)
{
	struct sweep_row rows[4];
	struct sweep sweep;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	sweep_fill(&sweep, rows, (const double[]){ 10, -1, 30000, 0 });
	ck_assert_int_eq(sweep_csv(file, &sweep), 0);
	fclose(file);
	ck_assert_ptr_nonnull(strstr(text, "memory_max,out_of_memory,timeout,status,signal,knee,"));
	ck_assert_ptr_nonnull(strstr(text, "\r\n33554432,1,0,,9,0,"));
	ck_assert_ptr_nonnull(strstr(text, "\r\n134217728,0,0,0,,1,"));
	free(text);
}
END_TEST

START_TEST(test_html)
{
	static const char *const hostile[] = { "<script>", "a&b\x1b[31m", NULL };
	struct sweep_row rows[4];
	struct sweep sweep;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	sweep_fill(&sweep, rows, (const double[]){ 10, -1, 30000, 0 });
	sweep.argv = hostile;
	ck_assert_int_eq(sweep_html(file, &sweep), 0);
	fclose(file);
	ck_assert_ptr_nonnull(strstr(text, "<code>&lt;script> a&amp;b\\x1B[31m</code>"));
	ck_assert_ptr_nonnull(strstr(text, "<td class=\"name\">128M</td><td>2.00 s</td>"));
	ck_assert_ptr_nonnull(strstr(text, "knee</td>"));
	ck_assert_ptr_null(strstr(text, "<script>"));
	free(text);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("sweep");

	tcase_add_loop_test(t, test_knee, 0, ARRAY_SIZE(knees));
	tcase_add_test(t, test_take);
	tcase_add_test(t, test_size);
	tcase_add_test(t, test_table);
	tcase_add_test(t, test_json);
	tcase_add_test(t, test_csv);
	tcase_add_test(t, test_html);
	return suite_run("sweep", t);
}
