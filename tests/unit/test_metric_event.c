/* SPDX-License-Identifier: MIT */
/* Columns of events: what the counts and the times of a row's group mean, and counts of another run. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/metric.h"
#include "cli/analyze/profile_build.h"
#include "tests/unit/suite.h"

enum { EXACT, SHARED, LEFT_OUT, EVENTS };

static struct profile_event events[EVENTS];
static struct profile profile;
static struct profile_row row;
static struct metric column;

/* Two events of two groups, and one that was left out. */
static void setup(void)
{
	const struct profile_event all[EVENTS] = {
		{ .name = "instructions", .unit = "count", .scale = 1, .place = 0, .group = 0 },
		{ .name = "energy", .unit = "J", .scale = 0.5, .place = 1, .group = 1, .shared = true },
		{ .name = "cycles", .unit = "count", .scale = 1, .place = PROFILE_NONE, .note = "no counter", .deferred = true },
	};

	memcpy(events, all, sizeof(events));
	profile_init(&profile, PROFILE_BY_PROCESS);
	profile.events = events;
	profile.nevents = EVENTS;
	profile.plan_events = 2;
	profile.plan_groups = 2;
	row = (struct profile_row){ .calls = 1, .cells = calloc(profile_cells(&profile), sizeof(u64)) };
}

static void teardown(void)
{
	metric_event_fini(&column);
	free(row.cells);
	profile_fini(&profile);
}

/* The cell of an event, with this count and these times of its group. */
static struct cell value(u32 event, u64 count, u64 enabled, u64 running)
{
	const struct metric_input in = { .scope = METRIC_REGION, .profile = &profile, .row = &row };
	u64 *plan = row.cells + source_cells(SOURCE_ALL);

	if (events[event].place != PROFILE_NONE) {
		plan[events[event].place] = count;
		plan[profile.plan_events + 2 * events[event].group] = enabled;
		plan[profile.plan_events + 2 * events[event].group + 1] = running;
	}
	/* Notes are the column's. */
	metric_event_fini(&column);
	ck_assert_int_eq(metric_event_init(&column, &profile, event), 0);
	return column.value(&column, &in);
}

static void expect(struct cell cell, enum cell_state state, double number, const char *words)
{
	ck_assert_str_eq(cell_state_name(cell.state), cell_state_name(state));
	if (cell_has_value(&cell))
		ck_assert_double_eq_tol(cell.value, number, 1e-6);
	if (words)
		ck_assert_msg(cell.note && strstr(cell.note, words), "'%s' lacks '%s'", cell.note ? cell.note : "", words);
	else
		ck_assert_ptr_null(cell.note);
}

START_TEST(test_exact)
{
	expect(value(EXACT, 1000, 500, 500), CELL_COUNTED, 1000, NULL);
	/* Read by pages a bracket without a switch has no times at all. */
	expect(value(EXACT, 1000, 0, 0), CELL_COUNTED, 1000, NULL);
	expect(value(EXACT, 0, 0, 0), CELL_COUNTED, 0, NULL);
	events[EXACT].note = CELL_NOTE_USER;
	expect(value(EXACT, 7, 1, 1), CELL_COUNTED, 7, CELL_NOTE_USER);
}
END_TEST

START_TEST(test_not_exact)
{
	expect(value(EXACT, 1000, 500, 499), CELL_UNAVAILABLE, 0, "--scaled");
	expect(value(EXACT, 0, 500, 0), CELL_NOT_COUNTED, 0, "all the time");
	expect(value(EXACT, WIRE_ABSENT(WIRE_ABSENT_TAKEN), 0, 0), CELL_UNAVAILABLE, 0, "closed its descriptor");
	expect(value(EXACT, 5, WIRE_ABSENT(WIRE_ABSENT_SEALED), 0), CELL_UNAVAILABLE, 0, "seccomp");
	expect(value(LEFT_OUT, 0, 0, 0), CELL_UNAVAILABLE, 0, "no counter");
}
END_TEST

/* Two kinds of cores in turn: both shares are whole, unless something is missing from both. */
START_TEST(test_cores)
{
	u64 *times = row.cells + source_cells(SOURCE_ALL) + profile.plan_events;

	for (int i = 0; i < 2; i++) {
		events[i] = (struct profile_event){ .name = i ? "cpu_atom/cycles/" : "cpu_core/cycles/", .unit = "count", .scale = 1,
			.place = (u32)i, .group = (u32)i, .cores = i ? "cpu_atom" : "cpu_core", .shared = i };
		times[2 * i] = 1000;
	}
	times[1] = 600;
	expect(value(1, 100, 1000, 400), CELL_COUNTED, 100, "on cores of cpu_atom, for a part of the time; not scaled");
	expect(value(1, 100, 1000, 200), CELL_ESTIMATE, 100, "on cores of cpu_atom");
	expect(value(1, 0, 1000, 0), CELL_NOT_COUNTED, 0, "cores of another kind");
	expect(value(0, 100, 1000, 1000), CELL_COUNTED, 100, NULL);
	events[1].note = CELL_NOTE_USER;
	expect(value(1, 100, 1000, 400), CELL_COUNTED, 100, CELL_NOTE_USER ", on cores of cpu_atom");
}
END_TEST

START_TEST(test_scaled)
{
	expect(value(SHARED, 1000, 40000000, 10000000), CELL_SCALED, 2000, "enabled / running");
	expect(value(SHARED, 1000, 4000000, 999999), CELL_SCALED, 1000 * 0.5 * 4000000 / 999999, "rough");
	expect(value(SHARED, 1000, 77, 77), CELL_COUNTED, 500, NULL);
	expect(value(SHARED, 0, 4000000, 0), CELL_NOT_COUNTED, 0, "all the time");
}
END_TEST

START_TEST(test_rows)
{
	row.open = 1;
	expect(value(EXACT, 10, 5, 5), CELL_ESTIMATE, 10, "still open");
	row.calls = 0;
	expect(value(EXACT, 10, 5, 5), CELL_NOT_COUNTED, 0, NULL);
	row.calls = 1;
	row.cells_lost = true;
	expect(value(EXACT, 10, 5, 5), CELL_LOST, 0, "damaged");
}
END_TEST

START_TEST(test_columns)
{
	ck_assert_int_eq(metric_event_init(&column, &profile, EXACT), 0);
	ck_assert_str_eq(column.name, "instructions");
	ck_assert_str_eq(column.title, "instructions");
	metric_event_fini(&column);
	events[EXACT].name = "wall";
	events[EXACT].note = CELL_NOTE_USER;
	ck_assert_int_eq(metric_event_init(&column, &profile, EXACT), 0);
	ck_assert_str_eq(column.name, "event.wall");
	ck_assert_str_eq(column.title, "event.wall:u");
	metric_event_fini(&column);
}
END_TEST

/* A row of a profile by process with one child. */
static u32 child_of(struct profile *p, const char *name, u32 process)
{
	u32 root = profile_root(p, process, 10 + process, 0);

	return profile_child(p, root, profile_intern(p, name, strlen(name)));
}

START_TEST(test_pass)
{
	static const struct pass_notes notes = { "counted in run 2", CELL_NOTE_USER ", counted in run 2" };
	struct profile_event counted = { .name = "cycles", .unit = "count", .scale = 1, .place = 0, .note = CELL_NOTE_USER };
	struct profile other;
	u32 both = child_of(&profile, "both", 1), here = child_of(&profile, "here", 1), i;

	profile.rows[both].calls = profile.rows[here].calls = 1;
	profile.rows[both].cells = calloc(profile_cells(&profile), sizeof(u64));
	profile.rows[both].cells[source_cells(SOURCE_ALL)] = 42;
	profile_init(&other, PROFILE_BY_PROCESS);
	other.events = &counted;
	other.nevents = other.plan_events = other.plan_groups = 1;
	child_of(&other, "there", 1);
	i = child_of(&other, "both", 1);
	other.rows[i].cells = calloc(profile_cells(&other), sizeof(u64));
	other.rows[i].cells[source_cells(SOURCE_ALL)] = 77;
	ck_assert_int_eq(profile_add_pass(&profile, events, &other, &notes), 0);
	ck_assert_uint_eq(profile.plan_events, 3);
	ck_assert_uint_eq(profile.plan_groups, 3);
	ck_assert(!events[LEFT_OUT].deferred);
	free(row.cells);
	row = profile.rows[both];
	row.cells = malloc(profile_cells(&profile) * sizeof(u64));
	memcpy(row.cells, profile.rows[both].cells, profile_cells(&profile) * sizeof(u64));
	expect(value(EXACT, 42, 0, 0), CELL_COUNTED, 42, NULL);
	expect(value(LEFT_OUT, 77, 0, 0), CELL_COUNTED, 77, "user mode only, counted in run 2");
	ck_assert_uint_eq(profile.rows[both].cells[source_cells(SOURCE_ALL)], 42);
	ck_assert_uint_eq(profile.rows[both].cells[source_cells(SOURCE_ALL) + 2], 77);
	ck_assert_uint_eq(profile.rows[here].cells[source_cells(SOURCE_ALL) + 2], WIRE_ABSENT(WIRE_ABSENT_PASS));
	profile_fini(&other);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("events");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, test_exact);
	tcase_add_test(tests, test_not_exact);
	tcase_add_test(tests, test_cores);
	tcase_add_test(tests, test_scaled);
	tcase_add_test(tests, test_rows);
	tcase_add_test(tests, test_columns);
	tcase_add_test(tests, test_pass);
	return suite_run("metric_event", tests);
}
