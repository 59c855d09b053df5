/* SPDX-License-Identifier: MIT */
/* cli/analyze: what a segment holds becomes the right rows; torn, open and hostile states included. */
#include <stdio.h>

#include "cli/analyze/report.h"
#include "common/source_table.h"
#include "segment.h"
#include "suite.h"

static struct segment seg;
static struct profile profile;
static struct wire_process *process;
static u32 slot;

enum { PID = 500, SERIAL = 1, NOW = 1000000 };

static void begin(enum profile_group group, u32 sources)
{
	segment_init(&seg, sources, source_cells(sources));
	process = segment_process(&seg, PID);
	slot = segment_slot(&seg, PID, PID);
	profile_init(&profile, group);
}

static void setup(void)
{
	begin(PROFILE_BY_PROCESS, 0);
}

static void teardown(void)
{
	profile_fini(&profile);
	segment_fini(&seg);
}

static void add_slot(u32 ref, u32 serial)
{
	struct wire_view view = segment_view(&seg);
	struct profile_slot add = { .view = &view, .ref = ref, .process = serial, .pid = PID,
				    .live = true, .now = NOW };

	ck_assert_int_eq(profile_add_slot(&profile, &add), 0);
}

static const struct profile_row *row_at(u32 serial, u32 tid, const char *const *path, size_t depth)
{
	u32 row = profile_find_row(&profile, serial, tid, path, depth);

	return row == PROFILE_NONE ? NULL : &profile.rows[row];
}

#define ROW(...) row_at(SERIAL, 0, (const char *const[]){ __VA_ARGS__ }, \
			sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

/* ---- merging --------------------------------------------------------------------------------------- */

START_TEST(test_paths)
{
	u32 a = segment_region(&seg, slot, 0, "a"), b = segment_region(&seg, slot, a, "b");
	u32 bb = segment_region(&seg, slot, b, "b");

	segment_call(&seg, a, 1000, 100);
	segment_call(&seg, b, 300, 0);
	segment_call(&seg, b, 500, -3);
	segment_call(&seg, bb, 40, 0);
	add_slot(slot, SERIAL);
	ck_assert_uint_eq(ROW("a")->calls, 1);
	ck_assert_uint_eq(ROW("a")->wall, 1000);
	ck_assert_uint_eq(ROW("a")->off, 100);
	ck_assert_uint_eq(ROW("a", "b")->calls, 2);
	ck_assert_uint_eq(ROW("a", "b")->wall, 800);
	ck_assert_uint_eq(ROW("a", "b")->min, 300);
	ck_assert_uint_eq(ROW("a", "b")->max, 500);
	ck_assert_int_eq((s64)ROW("a", "b")->off, -3);
	ck_assert_uint_eq(hist_total(&ROW("a", "b")->hist), 2);
	/* A region inside itself is a path of its own. */
	ck_assert_uint_eq(ROW("a", "b", "b")->wall, 40);
	ck_assert_ptr_null(ROW("b"));
	ck_assert_uint_eq(profile.pairs, 4);
}
END_TEST

/* Two threads, two processes: by process, by thread and merged. */
static void two_threads(enum profile_group group)
{
	u32 other;

	teardown();
	begin(group, 0);
	other = segment_slot(&seg, PID, 501);
	segment_call(&seg, segment_region(&seg, slot, 0, "x"), 10, 0);
	segment_call(&seg, segment_region(&seg, other, 0, "x"), 30, 0);
	add_slot(slot, 1);
	add_slot(other, 1);
	add_slot(slot, 2);
}

START_TEST(test_groups)
{
	static const char *const x[] = { "x" };

	two_threads(PROFILE_BY_PROCESS);
	ck_assert_uint_eq(row_at(1, 0, x, 1)->wall, 40);
	ck_assert_uint_eq(row_at(2, 0, x, 1)->wall, 10);
	two_threads(PROFILE_BY_THREAD);
	ck_assert_uint_eq(row_at(1, PID, x, 1)->wall, 10);
	ck_assert_uint_eq(row_at(1, 501, x, 1)->wall, 30);
	ck_assert_ptr_null(row_at(1, 0, x, 1));
	two_threads(PROFILE_BY_REGION);
	ck_assert_uint_eq(row_at(0, 0, x, 1)->wall, 50);
	ck_assert_uint_eq(row_at(0, 0, x, 1)->pid, 0);
}
END_TEST

/* A handler's lane, whose regions hang on a node of lane 0. */
START_TEST(test_lanes)
{
	struct wire_slot *wire = segment_at(&seg, slot);
	u32 a = segment_region(&seg, slot, 0, "a"), h;

	segment_call(&seg, a, 100, 0);
	segment_lane(&seg, slot, 1);
	h = segment_node(&seg, wire->lanes[1], a, 0, segment_name(&seg, "handler"));
	segment_call(&seg, h, 7, 0);
	h = segment_node(&seg, wire->lanes[1], segment_lane_of(&seg, slot, 1)->root, 0,
			 segment_name(&seg, "alone"));
	segment_call(&seg, h, 8, 0);
	add_slot(slot, SERIAL);
	ck_assert_uint_eq(ROW("a", "handler")->wall, 7);
	ck_assert_uint_eq(ROW("alone")->wall, 8);
}
END_TEST

START_TEST(test_many_names)
{
	char name[16];
	u32 i;

	for (i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		segment_call(&seg, segment_region(&seg, slot, 0, name), i, 0);
	}
	add_slot(slot, SERIAL);
	ck_assert_uint_eq(profile.nrows, 10001);
	ck_assert_uint_eq(ROW("n9999")->wall, 9999);
	ck_assert_uint_eq(ROW("n0")->calls, 1);
}
END_TEST

START_TEST(test_bracket)
{
	u32 a = segment_region(&seg, slot, 0, "a");

	process->bracket = 20;
	process->pair = 50;
	segment_call(&seg, a, 1020, 0);
	segment_call(&seg, a, 15, 0);
	add_slot(slot, SERIAL);
	/* Not 995: all calls together are never shorter than the longest. */
	ck_assert_uint_eq(ROW("a")->wall, 1000);
	ck_assert_uint_eq(ROW("a")->min, 0);
	ck_assert_uint_eq(ROW("a")->max, 1000);
	ck_assert_uint_eq(ROW("a")->raw_wall, 1035);
	ck_assert_double_eq(profile.pair_cost, 100);
}
END_TEST

/* ---- open and torn --------------------------------------------------------------------------------- */

START_TEST(test_open)
{
	struct wire_slot *wire = segment_at(&seg, slot);
	u32 a = segment_region(&seg, slot, 0, "a"), b = segment_region(&seg, slot, a, "b");

	wire->start = 1000;
	wire->off = 600;
	segment_call(&seg, b, 10, 0);
	segment_open(&seg, slot, a, NOW - 5000);
	segment_open(&seg, slot, b, NOW - 2000);
	segment_lane_of(&seg, slot, 0)->frames[0].off = 100;
	add_slot(slot, SERIAL);
	ck_assert_uint_eq(ROW("a")->calls, 0);
	ck_assert_uint_eq(ROW("a")->open, 1);
	ck_assert_uint_eq(ROW("a")->wall, 5000);
	ck_assert_uint_eq(ROW("a")->off, 100);
	/* Since the newest marker, the begin of b, nobody has looked at the detector. */
	ck_assert_uint_eq(ROW("a")->unsure, 2000);
	ck_assert_uint_eq(ROW("a", "b")->open, 1);
	ck_assert_uint_eq(ROW("a", "b")->wall, 2010);
	ck_assert_uint_eq(ROW("a", "b")->max, 10);
	ck_assert_uint_eq(hist_total(&ROW("a", "b")->hist), 1);
	ck_assert_uint_eq(profile.nopens, 2);
}
END_TEST

START_TEST(test_open_at_end_of_thread)
{
	struct wire_slot *wire = segment_at(&seg, slot);
	u32 a = segment_region(&seg, slot, 0, "a");

	segment_open(&seg, slot, a, 100);
	wire->end = 400;
	add_slot(slot, SERIAL);
	ck_assert_uint_eq(ROW("a")->wall, 300);
	ck_assert_uint_eq(ROW("a")->unsure, 0);
}
END_TEST

START_TEST(test_frame_in_the_future)
{
	u32 a = segment_region(&seg, slot, 0, "a");

	segment_open(&seg, slot, a, NOW + 5);
	add_slot(slot, SERIAL);
	ck_assert_uint_eq(ROW("a")->wall, 0);
	ck_assert_uint_eq(ROW("a")->open, 1);
}
END_TEST

/* The newest call: in the node, not in the histogram. */
START_TEST(test_pending)
{
	u32 a = segment_region(&seg, slot, 0, "a");
	struct wire_node *node = segment_at(&seg, a);
	struct wire_lane *lane = segment_lane_of(&seg, slot, 0);

	segment_call(&seg, a, 100, 0);
	node->calls++;
	node->wall += 300;
	node->max = 300;
	lane->pending = (struct wire_pending){ .wall = 300, .calls = 2, .node = a };
	add_slot(slot, SERIAL);
	ck_assert_uint_eq(ROW("a")->calls, 2);
	ck_assert_uint_eq(ROW("a")->wall, 400);
	ck_assert_uint_eq(hist_total(&ROW("a")->hist), 2);
	ck_assert_uint_eq(profile.repaired, 0);
	/* Counted already, by a thread that ended before it wrote the next one. */
	segment_call(&seg, a, 300, 0);
	node->calls--;
	add_slot(slot, SERIAL);
	ck_assert_uint_eq(hist_total(&ROW("a")->hist), 4);
}
END_TEST

/* A thread that ended within a marker: a call of 300 ticks is pending; half: its wall is in the node already. */
static void torn(u64 node_calls, u64 pending_calls, bool half)
{
	u32 a = segment_region(&seg, slot, 0, "a");
	struct wire_lane *lane = segment_lane_of(&seg, slot, 0);
	struct wire_node *node = segment_at(&seg, a);

	while (node_calls--)
		segment_call(&seg, a, 100, 10);
	lane->pending = (struct wire_pending){ .wall = 300, .node_wall = node->wall + 300, .calls = pending_calls, .node = a };
	if (half)
		node->wall += 300;
	add_slot(slot, SERIAL);
}

START_TEST(test_torn)
{
	torn(1, 2, _i);
	ck_assert_uint_eq(ROW("a")->calls, 2);
	ck_assert_uint_eq(ROW("a")->wall, 400);
	ck_assert_uint_eq(ROW("a")->min, 100);
	ck_assert_uint_eq(ROW("a")->max, 300);
	ck_assert_uint_eq(hist_total(&ROW("a")->hist), 2);
	ck_assert_uint_eq(profile.repaired, 1);
}
END_TEST

START_TEST(test_torn_first_call)
{
	torn(0, 1, false);
	ck_assert_uint_eq(ROW("a")->calls, 1);
	ck_assert_uint_eq(ROW("a")->min, 300);
	ck_assert_uint_eq(ROW("a")->max, 300);
	ck_assert_uint_eq(profile.repaired, 1);
}
END_TEST

START_TEST(test_pending_makes_no_sense)
{
	torn(1, 77, false);
	ck_assert_uint_eq(ROW("a")->calls, 1);
	ck_assert_uint_eq(ROW("a")->wall, 100);
	ck_assert_uint_eq(hist_total(&ROW("a")->hist), 1);
}
END_TEST

START_TEST(test_left_at_end_of_thread)
{
	u32 a = segment_region(&seg, slot, 0, "a"), b = segment_region(&seg, slot, 0, "b"), name, lane;

	segment_call(&seg, a, 100, 0);
	segment_call(&seg, b, 100, 0);
	segment_call(&seg, segment_region(&seg, slot, a, "b"), 50, 0);
	lane = ((struct wire_slot *)segment_at(&seg, slot))->lanes[0];
	name = wire_node_name(segment_at(&seg, a));
	((struct wire_node *)segment_at(&seg, segment_node(&seg, lane, segment_lane_of(&seg, slot, 0)->root,
		WIRE_NODE_DIAGNOSIS + WIRE_DIAG_THREAD_END, name)))->calls = 1;
	add_slot(slot, SERIAL);
	ck_assert_uint_eq(ROW("a")->left, 1);
	ck_assert_uint_eq(ROW("a")->calls, 1);
	ck_assert_uint_eq(ROW("b")->left, 0);
	ck_assert_uint_eq(profile.ndiags, 1);
}
END_TEST

/* ---- states of cpu --------------------------------------------------------------------------------- */

START_TEST(test_cpu_states)
{
	struct wire_slot *wire = segment_at(&seg, slot);
	u32 a = segment_region(&seg, slot, 0, "a");

	segment_call(&seg, a, 100, 0);
	add_slot(slot, SERIAL);
	ck_assert_int_eq(ROW("a")->cpu_state, CELL_COUNTED);
	process->sealed_cpu = 3;
	add_slot(slot, SERIAL);
	ck_assert_int_eq(ROW("a")->cpu_state, CELL_ESTIMATE);
	ck_assert_ptr_nonnull(ROW("a")->cpu_note);
	wire->missed = 1;
	add_slot(slot, SERIAL);
	ck_assert_int_eq(ROW("a")->cpu_state, CELL_UNAVAILABLE);
	ck_assert_ptr_nonnull(strstr(ROW("a")->cpu_note, "missed"));
	wire->missed = 0;
	wire->detector = WIRE_DETECTOR_NONE;
	add_slot(slot, 2);
	ck_assert_ptr_nonnull(strstr(row_at(2, 0, (const char *const[]){ "a" }, 1)->cpu_note, "detector"));
}
END_TEST

/* ---- sources, units, client metrics ---------------------------------------------------------------- */

START_TEST(test_sources)
{
	u32 a, i;
	struct wire_node *node;

	teardown();
	begin(PROFILE_BY_PROCESS, 1u << SOURCE_rusage);
	process->source_cost[0] = 1;
	process->source_cost[2] = 100;
	a = segment_region(&seg, slot, 0, "a");
	segment_call(&seg, a, 100, 0);
	segment_call(&seg, a, 100, 0);
	node = segment_at(&seg, a);
	for (i = 0; i < 6; i++)
		((u64 *)(node + 1))[i] = 10 + i;
	add_slot(slot, SERIAL);
	ck_assert_uint_eq(profile.sources, 1u << SOURCE_rusage);
	ck_assert_uint_eq(ROW("a")->cells[0], 8);
	ck_assert_uint_eq(ROW("a")->cells[1], 11);
	ck_assert_uint_eq(ROW("a")->cells[2], 0);
	ck_assert_uint_eq(ROW("a")->cells[5], 15);
	/* One node without a cell takes it from the sum, for good, and no other. */
	((u64 *)(node + 1))[1] = WIRE_ABSENT(WIRE_ABSENT_SEALED);
	add_slot(slot, SERIAL);
	((u64 *)(node + 1))[1] = 5;
	add_slot(slot, SERIAL);
	ck_assert_uint_eq(ROW("a")->cells[0], 24);
	ck_assert_uint_eq(ROW("a")->cells[1], WIRE_ABSENT(WIRE_ABSENT_SEALED));
	ck_assert_uint_eq(ROW("a")->cells[5], 45);
	/* Cells and mask disagree: nothing can be told. */
	seg.header->sources = 0;
	add_slot(slot, SERIAL);
	ck_assert(ROW("a")->cells_lost);
}
END_TEST

START_TEST(test_units)
{
	u32 a = segment_region(&seg, slot, 0, "a");
	struct wire_node *node = segment_at(&seg, a);
	struct wire_name *name = segment_at(&seg, wire_node_name(node));

	segment_call(&seg, a, 100, 0);
	node->units = 4096;
	name->unit = segment_name(&seg, "B");
	add_slot(slot, SERIAL);
	ck_assert_uint_eq(ROW("a")->units, 4096);
	ck_assert_str_eq(profile.names[ROW("a")->unit].bytes, "B");
	ck_assert(!ROW("a")->unit_mixed);
	name->unit = segment_name(&seg, "rows");
	add_slot(slot, SERIAL);
	ck_assert(ROW("a")->unit_mixed);
}
END_TEST

START_TEST(test_client_metrics)
{
	u32 a = segment_region(&seg, slot, 0, "a"), other = segment_slot(&seg, PID, 501);
	const struct profile_value *value;

	segment_call(&seg, a, 100, 0);
	segment_metric(&seg, slot, a, "depth", 2, 3.0, 1.0, 2.0, 2.0);
	segment_metric(&seg, other, segment_region(&seg, other, 0, "a"), "depth", 1, -5, -5, -5, -5);
	add_slot(slot, SERIAL);
	add_slot(other, SERIAL);
	ck_assert_uint_eq(profile.nvalues, 1);
	value = &profile.values[ROW("a")->values];
	ck_assert_uint_eq(value->count, 3);
	ck_assert_double_eq(value->sum, -2);
	ck_assert_double_eq(value->min, -5);
	ck_assert_double_eq(value->max, 2);
	ck_assert_double_eq(value->last, -5);
}
END_TEST

/* ---- windows, losses ------------------------------------------------------------------------------- */

START_TEST(test_windows)
{
	struct wire_window *window = segment_window(&seg, PID, "load", 100, 400);
	struct wire_view view;

	window->begin_usage = (struct wire_usage){ .cpu_ns = 5, .valid = 1 };
	window->end_usage = (struct wire_usage){ .cpu_ns = 105, .valid = 1 };
	segment_window(&seg, PID, "load", NOW - 10, 0);
	segment_window(&seg, 7, "load", 1, 2);
	view = segment_view(&seg);
	ck_assert_int_eq(profile_add_windows(&profile, &view, PID, SERIAL, PID, NOW), 0);
	ck_assert_uint_eq(profile.nwindows, 1);
	ck_assert_uint_eq(profile.windows[0].calls, 2);
	ck_assert_uint_eq(profile.windows[0].open, 1);
	ck_assert_uint_eq(profile.windows[0].wall, 310);
	ck_assert_int_eq(profile.windows[0].usage.cpu.state, CELL_UNAVAILABLE);
	ck_assert_str_eq(profile.windows[0].usage.cell[RUSAGE_MINFLT].note, "the window was still open");
}
END_TEST

/* Each cell may be absent alone, at either edge; a sum has what all its parts have. */
START_TEST(test_window_usage)
{
	u32 rchar = source_first_cell(SOURCE_ALL, SOURCE_procio);
	u32 runwait = source_first_cell(SOURCE_ALL, SOURCE_sched) + SCHED_RUNWAIT;
	struct wire_window *window = segment_window(&seg, PID, "load", 100, 400);
	const struct usage *usage;
	struct wire_view view;

	for (u32 i = 0; i < 2; i++) {
		window->begin_usage = (struct wire_usage){ .cpu_ns = 5, .valid = 1 };
		window->end_usage = (struct wire_usage){ .cpu_ns = 105, .valid = 1, .unseen_ns = 20000 * i };
		window->begin_usage.cell[RUSAGE_MINFLT] = 1;
		window->end_usage.cell[RUSAGE_MINFLT] = 4;
		window->end_usage.cell[rchar] = i ? 77 : WIRE_ABSENT(WIRE_ABSENT_DENIED);
		window->begin_usage.cell[rchar + 1] = WIRE_ABSENT(WIRE_ABSENT_FIELD);
		window->end_usage.cell[rchar + 2] = 9;
		window->end_usage.cell[runwait] = 1000;
		if (!i)
			window = segment_window(&seg, PID, "load", 500, 600);
	}
	view = segment_view(&seg);
	ck_assert_int_eq(profile_add_windows(&profile, &view, PID, SERIAL, PID, NOW), 0);
	usage = &profile.windows[0].usage;
	ck_assert_double_eq(usage->cpu.value, 200);
	ck_assert_double_eq(usage->cell[RUSAGE_MINFLT].value, 6);
	ck_assert_int_eq(usage->cell[RUSAGE_MINFLT].state, CELL_COUNTED);
	ck_assert_int_eq(usage->cell[rchar].state, CELL_UNAVAILABLE);
	ck_assert_str_eq(usage->cell[rchar].note, usage_absent_note(WIRE_ABSENT(WIRE_ABSENT_DENIED)));
	ck_assert_str_eq(usage->cell[rchar + 1].note, usage_absent_note(WIRE_ABSENT(WIRE_ABSENT_FIELD)));
	ck_assert_double_eq(usage->cell[rchar + 2].value, 18);
	/* A thread ended within the second. */
	ck_assert_double_eq(usage->cell[runwait].value, 2000);
	ck_assert_int_eq(usage->cell[runwait].state, CELL_ESTIMATE);
	ck_assert_int_eq(usage->cell[runwait - 1].state, CELL_COUNTED);
	/* A number that is no reason of ours is a stranger's. */
	ck_assert_ptr_nonnull(strstr(usage_absent_note(WIRE_ABSENT(WIRE_ABSENT_REASONS)), "damaged"));
}
END_TEST

/* What lies behind the cut is lost, and that is said. */
START_TEST(test_lists_cut_short)
{
	struct wire_slot *wire = segment_at(&seg, slot);
	struct wire_page *page = segment_at(&seg, segment_lane_of(&seg, slot, 0)->node_pages);
	struct wire_view view = segment_view(&seg);
	struct profile_slot add = { .view = &view, .ref = slot, .process = SERIAL, .pid = PID, .now = NOW };

	profile_add_slot(&profile, &add);
	profile_add_losses(&profile, &view);
	ck_assert_uint_eq(profile.losses[PROFILE_LOSS_DAMAGED], 0);
	page->next = (u32)(view.size / WIRE_UNIT);
	profile_add_slot(&profile, &add);
	ck_assert_uint_eq(profile.losses[PROFILE_LOSS_DAMAGED], 1);
	wire->next = slot;
	process->next = ~0u;
	profile_add_losses(&profile, &view);
	ck_assert_uint_eq(profile.losses[PROFILE_LOSS_DAMAGED], 3);
	/* The segment ends before the lists do. */
	view.size = WIRE_PAGE;
	profile_add_losses(&profile, &view);
	ck_assert_uint_eq(profile.losses[PROFILE_LOSS_DAMAGED], 5);
}
END_TEST

START_TEST(test_losses)
{
	struct wire_view view;

	seg.header->losses[WIRE_LOSS_SLOTS] = 7;
	seg.header->losses[WIRE_LOSS_MAX - 1] = 1;
	view = segment_view(&seg);
	profile_add_losses(&profile, &view);
	profile_add_losses(&profile, &view);
	ck_assert_uint_eq(profile.losses[WIRE_LOSS_SLOTS], 14);
	ck_assert_uint_eq(profile.losses[PROFILE_LOSS_DAMAGED], 2);
	ck_assert_str_eq(profile_loss_name(WIRE_LOSS_SLOTS), "threads");
	ck_assert_ptr_null(profile_loss_name(12));
	ck_assert_ptr_null(profile_loss_name(1000));
}
END_TEST

/* ---- hostile --------------------------------------------------------------------------------------- */

START_TEST(test_cycle_of_parents)
{
	u32 a = segment_region(&seg, slot, 0, "a"), b = segment_region(&seg, slot, a, "b");

	((struct wire_node *)segment_at(&seg, a))->parent = b;
	segment_call(&seg, b, 10, 0);
	add_slot(slot, SERIAL);
	ck_assert_uint_eq(ROW("[damaged]")->wall, 10);
	ck_assert_uint_ge(profile.losses[PROFILE_LOSS_DAMAGED], 1);
}
END_TEST

START_TEST(test_deep)
{
	u32 node = 0, i;

	for (i = 0; i < PROFILE_DEPTH_MAX; i++)
		node = segment_region(&seg, slot, node, "r");
	segment_call(&seg, node, 10, 0);
	node = segment_region(&seg, slot, node, "r");
	segment_call(&seg, node, 20, 0);
	add_slot(slot, SERIAL);
	ck_assert_uint_eq(ROW("[damaged]")->wall, 20);
	ck_assert_uint_eq(profile.rows[profile.nrows - 2].depth, PROFILE_DEPTH_MAX);
}
END_TEST

START_TEST(test_bad_refs)
{
	u32 a = segment_region(&seg, slot, 0, "a"), b = segment_region(&seg, slot, 0, "b");
	struct wire_slot *wire = segment_at(&seg, slot);
	struct wire_node *node = segment_at(&seg, a);

	segment_call(&seg, a, 10, 0);
	segment_call(&seg, b, 10, 0);
	node->region = WIRE_NODE_NAME_MASK;
	node->hist = ~0u;
	((struct wire_node *)segment_at(&seg, b))->parent = ~0u;
	segment_open(&seg, slot, ~0u, 5);
	segment_open(&seg, slot, 0, 5);
	wire->lanes[2] = ~0u;
	add_slot(slot, SERIAL);
	ck_assert_uint_eq(ROW("[damaged]")->calls, 2);
	ck_assert_uint_ge(profile.losses[PROFILE_LOSS_DAMAGED], 4);
	add_slot(~0u, SERIAL);
	add_slot(0, SERIAL);
}
END_TEST

START_TEST(test_greatest_values)
{
	u32 a = segment_region(&seg, slot, 0, "a");
	struct wire_node *node = segment_at(&seg, a);

	process->bracket = ~0u;
	segment_call(&seg, a, ~0ULL, INT64_MIN);
	segment_call(&seg, a, 5, INT64_MIN);
	node->calls = ~0ULL;
	node->off = INT64_MAX;
	add_slot(slot, SERIAL);
	add_slot(slot, SERIAL);
	ck_assert_uint_eq(ROW("a")->min, 0);
	segment_metric(&seg, slot, a, "m", ~0ULL, __builtin_nan(""), -1e308, __builtin_inf(), 0);
	add_slot(slot, SERIAL);
}
END_TEST

/* ---- clock ----------------------------------------------------------------------------------------- */

START_TEST(test_clock_map)
{
	struct clock_map map = { .hint = 0.5 };
	u64 i;

	ck_assert_double_eq(clock_map_duration(&map, 10), 5);
	ck_assert_int_eq(clock_map_add(&map, 1000, 500), 0);
	ck_assert_uint_eq(clock_map_ns(&map, 3000), 1500);
	/* 2 ticks a ns, then 4. */
	clock_map_add(&map, 1000 + 2000000, 500 + 1000000);
	clock_map_add(&map, 1000 + 6000000, 500 + 2000000);
	clock_map_add(&map, 900, 100);
	ck_assert_uint_eq(map.count, 3);
	ck_assert_uint_eq(clock_map_ns(&map, 1000 + 1000000), 500 + 500000);
	ck_assert_uint_eq(clock_map_ns(&map, 1000 + 4000000), 500 + 1500000);
	ck_assert_uint_eq(clock_map_ticks(&map, 500 + 1500000), 1000 + 4000000);
	ck_assert_uint_eq(clock_map_ns(&map, 1000 + 6000003), 500 + 2000001);
	ck_assert_uint_eq(clock_map_ns(&map, 0), 167);
	ck_assert_double_eq_tol(clock_map_duration(&map, 3), 1, 1e-9);
	clock_map_fini(&map);
	for (i = 1; i < 100000; i++)
		clock_map_add(&map, i * 3000, i * 1000);
	ck_assert_uint_le(map.count, 8192);
	ck_assert_uint_eq(map.pairs[0].ticks, 3000);
	ck_assert_uint_eq(map.pairs[map.count - 1].ns, 99999000);
	for (i = 1; i < 100000; i += 777)
		ck_assert_uint_eq(clock_map_ns(&map, i * 3000), i * 1000);
	clock_map_fini(&map);
	map.identity = true;
	ck_assert_uint_eq(clock_map_ns(&map, 77), 77);
	ck_assert_double_eq(clock_map_duration(&map, 77), 77);
}
END_TEST

START_TEST(test_cells)
{
	struct cell a = cell_counted(3), b = { 2, CELL_ESTIMATE, "about" };
	struct cell none = cell_absent(CELL_UNAVAILABLE, "why");

	ck_assert_double_eq(cell_add(a, b).value, 5);
	ck_assert_int_eq(cell_add(a, b).state, CELL_ESTIMATE);
	ck_assert_str_eq(cell_add(b, a).note, "about");
	ck_assert_int_eq(cell_add(a, none).state, CELL_UNAVAILABLE);
	ck_assert_str_eq(cell_subtract(none, a).note, "why");
	ck_assert_double_eq(cell_subtract(b, a).value, 0);
	ck_assert_int_eq(cell_divide(a, cell_counted(0), 1).state, CELL_NOT_COUNTED);
	ck_assert_int_eq(cell_counted(__builtin_nan("")).state, CELL_UNAVAILABLE);
	ck_assert_int_eq(cell_add(cell_counted(1e308), cell_counted(1e308)).state, CELL_UNAVAILABLE);
}
END_TEST

START_TEST(test_selection)
{
	struct metric_selection selection = metric_select(NULL);

	ck_assert_uint_eq(selection.sources, 0);
	ck_assert_uint_eq(metric_select("wall,cpu*").sources, 0);
	ck_assert_uint_eq(metric_select("calls, minflt").sources, 1u << SOURCE_rusage);
	ck_assert_uint_eq(metric_select("*csw").sources, 1u << SOURCE_rusage);
	selection = metric_select("wall, no-such, queue*");
	ck_assert_uint_eq(selection.unknown, 2);
	ck_assert_ptr_nonnull(metric_find("wall.p999"));
	ck_assert_ptr_null(metric_find("wal"));
	ck_assert(metric_glob("a, b*", "bc"));
	ck_assert(!metric_glob("a, b*", "c"));
	ck_assert(!metric_glob(NULL, "c"));
	ck_assert(!metric_glob("", "c"));
	ck_assert(metric_glob("[other]", "[other]"));
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("profile");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_set_timeout(tests, 30);
	tcase_add_test(tests, test_paths);
	tcase_add_test(tests, test_groups);
	tcase_add_test(tests, test_lanes);
	tcase_add_test(tests, test_many_names);
	tcase_add_test(tests, test_bracket);
	tcase_add_test(tests, test_open);
	tcase_add_test(tests, test_open_at_end_of_thread);
	tcase_add_test(tests, test_frame_in_the_future);
	tcase_add_test(tests, test_pending);
	tcase_add_loop_test(tests, test_torn, 0, 2);
	tcase_add_test(tests, test_torn_first_call);
	tcase_add_test(tests, test_pending_makes_no_sense);
	tcase_add_test(tests, test_left_at_end_of_thread);
	tcase_add_test(tests, test_cpu_states);
	tcase_add_test(tests, test_sources);
	tcase_add_test(tests, test_units);
	tcase_add_test(tests, test_client_metrics);
	tcase_add_test(tests, test_windows);
	tcase_add_test(tests, test_lists_cut_short);
	tcase_add_test(tests, test_window_usage);
	tcase_add_test(tests, test_losses);
	tcase_add_test(tests, test_cycle_of_parents);
	tcase_add_test(tests, test_deep);
	tcase_add_test(tests, test_bad_refs);
	tcase_add_test(tests, test_greatest_values);
	tcase_add_test(tests, test_clock_map);
	tcase_add_test(tests, test_cells);
	tcase_add_test(tests, test_selection);
	return suite_run("profile", tests);
}
