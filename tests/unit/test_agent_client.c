/* SPDX-License-Identifier: MIT */
/* agent/client and agent/window: what the program itself reports. */
#include "agent_harness.h"
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BEGIN(name) region_name_begin(name)
#define END(name) region_name_end(name)

static double double_of(u64 bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static void assert_metric(const char *path, u64 count, double sum, double min, double max,
			  double last)
{
	struct harness_totals t = harness_metric(path);

	ck_assert_uint_eq(t.nodes, 1);
	ck_assert_uint_eq(t.calls, count);
	ck_assert_double_eq(double_of(t.wall), sum);
	ck_assert_double_eq(double_of(t.min), min);
	ck_assert_double_eq(double_of(t.max), max);
	ck_assert_double_eq(double_of((u64)t.off), last);
}

START_TEST(test_metric)
{
	BEGIN("a");
	client_metric("depth", 4);
	client_metric("depth", -1.5);
	client_metric("depth", 2);
	BEGIN("b");
	client_metric("depth", 7);
	END("b");
	END("a");
	client_metric("depth", -0.25);
	assert_metric("a;depth", 3, 4.5, -1.5, 4, 2);
	assert_metric("a;b;depth", 1, 7, 7, 7, 7);
	assert_metric("depth", 1, -0.25, -0.25, -0.25, -0.25);
	/* No region of that name came into being. */
	ck_assert_uint_eq(harness_named("depth").nodes, 0);
}
END_TEST

START_TEST(test_metric_extremes)
{
	client_metric("m", NAN);
	ck_assert_uint_eq(harness_metric("m").nodes, 0);
	client_metric("m", 1e300);
	client_metric("m", NAN);
	client_metric("m", -INFINITY);
	assert_metric("m", 2, -INFINITY, -INFINITY, 1e300, -INFINITY);
	client_metric("zero", 0);
	assert_metric("zero", 1, 0, 0, 0, 0);
}
END_TEST

START_TEST(test_units)
{
	BEGIN("a");
	client_units("a", 10, "B");
	BEGIN("b");
	client_units("a", 5, "B");
	client_units("b", 3, "rows");
	END("b");
	client_units("b", 4, "rows");
	END("a");
	client_units("a", 100, NULL);
	ck_assert_uint_eq(harness_region("a").units, 115);
	ck_assert_uint_eq(harness_region("a;b").units, 7);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_UNIT, NULL), 0);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_NO_REGION, NULL), 0);
}
END_TEST

START_TEST(test_units_recursive)
{
	BEGIN("r");
	BEGIN("r");
	client_units("r", 1, "B");
	END("r");
	client_units("r", 16, "B");
	END("r");
	ck_assert_uint_eq(harness_region("r;r").units, 1);
	ck_assert_uint_eq(harness_region("r").units, 16);
}
END_TEST

START_TEST(test_units_refused)
{
	client_units("nowhere", 1, "B");
	BEGIN("a");
	BEGIN("b");
	END("b");
	END("a");
	client_units("b", 1, "B");
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_NO_REGION, "nowhere"), 1);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_NO_REGION, "b"), 1);
	client_units("a", 1, "B");
	client_units("a", 2, "rows");
	client_units("a", 4, "B");
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_UNIT, "a"), 1);
	ck_assert_uint_eq(harness_region("a").units, 5);
	ck_assert_uint_eq(harness_named("nowhere").nodes, 0);
}
END_TEST

static u64 agreed;

static void give_unit(u32 index)
{
	char unit[16];

	sprintf(unit, "unit-%u", index % 2);
	BEGIN("shared");
	client_units("shared", 1, unit);
	END("shared");
	fetch_add(&agreed, 1);
}

/*
 * Two units from many threads at once: one of them stays, and each call is either added or
 * diagnosed.
 */
START_TEST(test_unit_threads)
{
	u64 refused;

	/* A forked child is entered by one thread. */
	BEGIN("before");
	END("before");
	harness_threads(16, give_unit);
	refused = harness_diagnosed(WIRE_DIAG_UNIT, "shared");
	ck_assert_uint_eq(agreed, 16);
	ck_assert_uint_eq(refused, 8);
	ck_assert_uint_eq(harness_region("shared").units, 8);
	ck_assert_uint_eq(harness_region("shared").calls, 16);
}
END_TEST

START_TEST(test_frame)
{
	for (u32 i = 0; i < 10; i++)
		client_frame("loop");
	ck_assert_uint_eq(harness_region("loop").calls, 9);
	ck_assert_uint_eq(thread_self->lane.w->depth, 1);
	BEGIN("inner");
	END("inner");
	ck_assert_uint_eq(harness_region("loop;inner").calls, 1);
	END("loop");
	ck_assert_uint_eq(harness_region("loop").calls, 10);
	ck_assert_uint_eq(harness_region("loop").hist, 10);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_UNMATCHED, NULL), 0);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_UNENDED, NULL), 0);
}
END_TEST

/* ---- windows */

static u32 windows(const char *name, u32 state, const struct wire_window **newest)
{
	struct wire_view view = harness_view();
	struct wire_walk walk = wire_walk_windows(&view);
	const struct wire_window *w;
	u32 n = 0;

	while ((w = wire_next_window(&view, &walk)))
		if (w->pid == (u32)getpid() && w->state == state &&
		    harness_name_is(w->name, name, strlen(name)) && n++ == 0 && newest)
			*newest = w;
	return n;
}

START_TEST(test_window)
{
	const struct wire_window *w = NULL;
	volatile u32 work = 0;

	window_begin("load");
	ck_assert_uint_eq(windows("load", WIRE_WINDOW_OPEN, NULL), 1);
	while (work < 1000000)
		work = work + 1;
	window_end("load");
	ck_assert_uint_eq(windows("load", WIRE_WINDOW_ENDED, &w), 1);
	ck_assert_uint_eq(windows("load", WIRE_WINDOW_OPEN, NULL), 0);
	ck_assert_uint_gt(w->end, w->start);
	ck_assert_uint_eq(w->begin_usage.valid & w->end_usage.valid, 1);
	ck_assert_uint_gt(w->end_usage.cpu_ns, w->begin_usage.cpu_ns);
	/* Windows need no slot. */
	ck_assert_uint_eq(harness_slots(), 0);
}
END_TEST

static const struct wire_marks *marks_at(u32 ref)
{
	const struct wire_snapshot *s = segment_ptr(ref);

	ck_assert_uint_ne(ref, 0);
	ck_assert_uint_eq(s->file, WIRE_MARKS_FILE);
	return (const void *)s->bytes;
}

/* Paths that were there before the window have their sums at its begin; one that is open has its time until the edge. */
START_TEST(test_window_marks)
{
	const struct wire_marks *begin, *end;
	const struct wire_window *w = NULL;

	region_name_begin("outer");
	region_name_begin("inner");
	region_name_end("inner");
	window_begin("load");
	region_name_begin("inner");
	region_name_end("inner");
	region_name_end("outer");
	window_end("load");
	ck_assert_uint_eq(windows("load", WIRE_WINDOW_ENDED, &w), 1);
	begin = marks_at(w->snapshots[0]);
	end = marks_at(w->snapshots[1]);
	ck_assert_uint_eq(begin->n, 2);
	ck_assert_uint_eq(end->n, 2);
	for (u32 i = 0; i < 2; i++) {
		const struct wire_mark *b = &begin->mark[i], *e = &end->mark[i];

		ck_assert_uint_le(b->parent, i);
		ck_assert_uint_eq(b->calls, b->parent ? 1 : 0);
		ck_assert_uint_eq(b->open, b->parent ? 0 : 1);
		ck_assert_uint_gt(b->ticks, 0);
		ck_assert_uint_eq(e->calls, e->parent ? 2 : 1);
		ck_assert_uint_eq(e->open, 0);
		ck_assert_uint_ge(e->ticks, end->mark[e->parent ? i : 1].ticks);
	}
	ck_assert_uint_gt(end->ticks, begin->ticks);
}
END_TEST

/* Ends meet the newest window of their name, from whatever thread. */
START_TEST(test_window_overlap)
{
	window_begin("a");
	window_begin("b");
	window_begin("a");
	window_end("a");
	ck_assert_uint_eq(windows("a", WIRE_WINDOW_OPEN, NULL), 1);
	window_end("b");
	window_end("a");
	ck_assert_uint_eq(windows("a", WIRE_WINDOW_ENDED, NULL), 2);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_WINDOW, NULL), 0);
	window_end("a");
	window_end("never");
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_WINDOW, "a"), 1);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_WINDOW, "never"), 1);
}
END_TEST

static void end_parents(void *unused)
{
	(void)unused;
	window_end("parent's");
	_exit(windows("parent's", WIRE_WINDOW_ENDED, NULL) == 0 &&
	      harness_diagnosed(WIRE_DIAG_WINDOW, "parent's") == 1 ? 0 : 1);
}

START_TEST(test_window_fork)
{
	window_begin("parent's");
	ck_assert_int_eq(harness_fork(end_parents, NULL), 0);
	ck_assert_uint_eq(windows("parent's", WIRE_WINDOW_OPEN, NULL), 1);
	window_end("parent's");
	ck_assert_uint_eq(windows("parent's", WIRE_WINDOW_ENDED, NULL), 1);
}
END_TEST

/* Usage is of the measured part, from whatever thread parts are marked; each once, and in their order. */
START_TEST(test_window_parts)
{
	const struct wire_window *w = NULL;

	window_begin("load");
	window_part("load", WIRE_WINDOW_WARMUP);
	ck_assert_uint_eq(windows("load", WIRE_WINDOW_OPEN, &w), 1);
	ck_assert_uint_eq(w->begin_usage.valid, 0);
	ck_assert_uint_eq(w->from, WIRE_NEVER);
	window_part("load", WIRE_WINDOW_MEASURED);
	windows("load", WIRE_WINDOW_OPEN, &w);
	ck_assert_uint_eq(w->begin_usage.valid, 1);
	ck_assert_uint_gt(w->from, w->start);
	ck_assert_uint_eq(w->to, 0);
	window_part("load", WIRE_WINDOW_COOLDOWN);
	window_end("load");
	ck_assert_uint_eq(windows("load", WIRE_WINDOW_ENDED, &w), 1);
	ck_assert_uint_gt(w->to, w->from);
	ck_assert_uint_gt(w->end, w->to);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_PART, NULL), 0);
	window_begin("wrong");
	window_part("wrong", WIRE_WINDOW_MEASURED);
	window_part("wrong", WIRE_WINDOW_MEASURED);
	window_part("wrong", WIRE_WINDOW_WARMUP);
	window_part("wrong", WIRE_WINDOW_WHOLE);
	window_part("wrong", WIRE_WINDOW_COOLDOWN + 1);
	window_part("never", WIRE_WINDOW_MEASURED);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_PART, "wrong"), 4);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_PART, "never"), 1);
}
END_TEST

static void many_windows(u32 index)
{
	char name[16];

	sprintf(name, "w-%u", index);
	for (u32 i = 0; i < 50; i++) {
		window_begin(name);
		window_end(name);
	}
}

START_TEST(test_window_threads)
{
	char name[16];

	window_begin("before");
	harness_threads(8, many_windows);
	for (u32 i = 0; i < 8; i++) {
		sprintf(name, "w-%u", i);
		ck_assert_uint_eq(windows(name, WIRE_WINDOW_ENDED, NULL), 50);
	}
}
END_TEST

START_TEST(test_windows_full)
{
	u64 lost = harness_loss(WIRE_LOSS_WINDOWS);
	u32 before = agent.header->window_count;

	for (u32 i = 0; i < WIRE_WINDOWS + 100; i++)
		window_begin("many");
	ck_assert_uint_eq(windows("many", WIRE_WINDOW_OPEN, NULL), WIRE_WINDOWS - before);
	ck_assert_uint_eq(harness_loss(WIRE_LOSS_WINDOWS) - lost, 100 + before);
}
END_TEST

START_TEST(test_null)
{
	u64 lost = harness_loss(WIRE_LOSS_NULL_NAMES);

	client_metric(NULL, 1);
	client_units(NULL, 1, "B");
	client_frame(NULL);
	window_begin(NULL);
	window_end(NULL);
	window_part(NULL, WIRE_WINDOW_WARMUP);
	ck_assert_uint_eq(harness_loss(WIRE_LOSS_NULL_NAMES) - lost, 6);
	ck_assert_uint_eq(harness_slots(), 0);
}
END_TEST

int main(int argc, char **argv)
{
	TCase *t = tcase_create("client");

	(void)argc;
	harness_start(argv, 0, 0);
	tcase_add_checked_fixture(t, harness_setup, NULL);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_metric);
	tcase_add_test(t, test_metric_extremes);
	tcase_add_test(t, test_units);
	tcase_add_test(t, test_units_recursive);
	tcase_add_test(t, test_units_refused);
	tcase_add_test(t, test_unit_threads);
	tcase_add_test(t, test_frame);
	tcase_add_test(t, test_window);
	tcase_add_test(t, test_window_marks);
	tcase_add_test(t, test_window_overlap);
	tcase_add_test(t, test_window_parts);
	tcase_add_test(t, test_window_fork);
	tcase_add_test(t, test_window_threads);
	tcase_add_test(t, test_null);
	tcase_add_test(t, test_windows_full);
	return suite_run("agent client", t);
}
