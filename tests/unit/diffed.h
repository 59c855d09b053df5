/* SPDX-License-Identifier: MIT */
/* Made-up runs for tests of a diff, and questions to it. */
#ifndef TESTS_UNIT_DIFFED_H
#define TESTS_UNIT_DIFFED_H

#include <stdlib.h>
#include <string.h>

#include "cli/analyze/diff.h"
#include "cli/analyze/profile_build.h"
#include "cli/opt.h"
#include "cli/output/diff_output.h"
#include "suite.h"

enum { PID = 100, MS = 1000000 };

static struct diff diff;
static struct opt_list renames;

/* ---- a run ----------------------------------------------------------------------------------------- */

static struct profile profile;
static struct clock_map map;
static struct process_facts main_process;
static struct provenance provenance;
static struct session_facts facts;
static struct total_fact totals[4];
static const char *arguments[] = { "./app", "-n", "5", NULL };

/* A new one, to which regions can be added. */
static inline void run_begin(void)
{
	profile_fini(&profile);
	profile_init(&profile, PROFILE_BY_THREAD);
	map = (struct clock_map){ .identity = true };
	main_process = (struct process_facts){ .id = 1, .pid = PID, .command = "app", .image = "/usr/bin/app",
					       .end_ns = 5000ULL * MS, .ended = PROCESS_EXIT, .threads = 1 };
	provenance = (struct provenance){ .version = "1", .started_ns = provenance.started_ns + 1000, .environment = "e" };
	totals[0] = (struct total_fact){ .name = "elapsed", .unit = "ns", .cell = cell_counted(5e9), .source = "clock" };
	totals[1] = (struct total_fact){ .name = "task-clock", .unit = "ns", .cell = cell_counted(4e9), .source = "perf" };
	totals[2] = (struct total_fact){ .name = "cycles", .unit = "count", .cell = cell_counted(1e9), .source = "perf" };
	facts = (struct session_facts){ .argv = arguments, .host = "box", .kernel = "Linux 6.18", .cpu = "Some CPU", .clock = "tsc",
					.duration_ns = 5000ULL * MS, .clock_map = &map, .processes = &main_process, .nprocesses = 1,
					.totals = totals, .ntotals = 3, .provenance = &provenance };
	profile_root(&profile, 1, PID, PID);
}

/* A region below a row, or the root (0), of one call in so many ns. */
static inline u32 region(u32 parent, const char *name, double ns)
{
	u32 child = profile_child(&profile, parent, profile_intern(&profile, name, strlen(name)));
	struct profile_row *row = &profile.rows[child];

	row->calls = 1;
	row->wall = row->raw_wall = row->min = row->max = (u64)ns;
	return child;
}

static inline void run_end(u32 side)
{
	ck_assert_int_eq(diff_add(&diff, side, side ? "new \"x\".spark" : "old.spark", &profile, &facts), 0);
}

static inline void setup_sides(u32 n)
{
	diff_free(&diff);
	ck_assert_int_eq(diff_init(&diff, n), 0);
	diff.renames = &renames;
}

static inline void setup(void)
{
	facts = (struct session_facts){ .host = NULL };
	provenance.started_ns = 1000;
	setup_sides(2);
}

static inline void teardown(void)
{
	diff_free(&diff);
	opt_list_free(&renames);
	renames = (struct opt_list){ .n = 0 };
	profile_fini(&profile);
	profile_init(&profile, PROFILE_BY_THREAD);
}

static inline void judge(void)
{
	ck_assert_int_eq(diff_judge(&diff), 0);
}

/* ---- what came of it ------------------------------------------------------------------------------- */

static inline const struct diff_result *result(enum diff_kind kind, const char *path, const char *metric)
{
	const struct diff_table *table = &diff.tables[kind];

	for (u32 row = 0; row < table->nrows; row++)
		for (u32 m = 0; m < table->nmetrics; m++)
			if (!strcmp(table->rows[row].text, path) && !strcmp(table->metrics[m].name, metric))
				return diff_result(&diff, 1, kind, m, row);
	ck_abort_msg("there is no %s of %s", metric, path);
	return NULL;
}

static inline enum diff_verdict verdict(const char *path, const char *metric)
{
	return result(DIFF_REGIONS, path, metric)->verdict;
}

static inline u32 differ(void)
{
	u32 n = 0;

	for (u32 kind = 0; kind < DIFF_KINDS; kind++)
		n += diff.sides[1].counts[kind][DIFF_MORE] + diff.sides[1].counts[kind][DIFF_LESS];
	return n;
}

static inline bool noted(const char *what)
{
	for (u32 i = 0; i < diff.nnotes; i++)
		if (strstr(diff.notes[i], what))
			return true;
	return false;
}

static inline char *print(int (*write)(FILE *, const struct diff *, const struct diff_options *), unsigned long top)
{
	const struct diff_options options = { .output = { .width = 120, .utf8 = true }, .top = top };
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	ck_assert_int_eq(write(file, &diff, &options), 0);
	fclose(file);
	return text;
}

static inline void says(int (*write)(FILE *, const struct diff *, const struct diff_options *), const char *what)
{
	char *text = print(write, 20);

	ck_assert_msg(strstr(text, what) != NULL, "'%s' is not there:\n%s", what, text);
	free(text);
}

/* ---- runs of both sides ----------------------------------------------------------------------------- */

static inline void runs_of(u32 side, u32 n, void (*regions)(u32 run, u32 side))
{
	for (u32 i = 0; i < n; i++) {
		run_begin();
		regions(i, side);
		run_end(side);
	}
}

static inline void both(u32 n, void (*regions)(u32 run, u32 side))
{
	runs_of(0, n, regions);
	runs_of(1, n, regions);
	judge();
}

/* "parse" becomes "read", "old" goes, "fresh" comes; "lookup" is below both. */
static inline void named(u32 run, u32 side)
{
	u32 outer = region(0, "main", 100 * MS + run), parse = region(outer, side ? "read" : "parse", (side ? 20 : 10) * MS + run);

	region(parse, "lookup", 2 * MS + run * 7);
	if (side)
		region(outer, "fresh", 5 * MS), profile.rows[profile.nrows - 1].calls = 3;
	else
		region(outer, "old", 4 * MS), profile.rows[profile.nrows - 1].calls = 2;
}

static inline void plain(u32 run, u32 side)
{
	region(0, "parse", (side ? 20 : 10) * MS + run * 1000);
	region(0, "same", 3 * MS);
}

static inline void changed_run(u32 side, void (*change)(void))
{
	run_begin();
	plain(0, side);
	if (change)
		change();
	run_end(side);
}

#endif
