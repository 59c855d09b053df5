/* SPDX-License-Identifier: MIT */
/*
 * agent/region: brackets that nest, and every way in which they do not.  Markers called by one
 * test function look like those of one function of a program: their frame addresses are equal.
 */
#include "agent_harness.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN(name) region_name_begin(name)
#define END(name) region_name_end(name)

static const struct lane *lane(void)
{
	return &thread_self->lane;
}

static void assert_calls(const char *path, u64 calls, u64 hist)
{
	struct harness_totals t = harness_region(path);

	ck_assert_msg(t.calls == calls, "%s: %lu calls, not %lu", path, t.calls, calls);
	ck_assert_msg(t.hist == hist, "%s: %lu durations, not %lu", path, t.hist, hist);
	ck_assert_uint_le(t.nodes, 1);
	if (hist) {
		ck_assert_uint_le(t.min, t.max);
		ck_assert_uint_le(t.max, t.wall);
	}
}

/* Exactly these, of each kind: unmatched, unended, skipped, overlap, deep, late. */
static void assert_diagnoses(u64 unmatched, u64 unended, u64 skipped, u64 overlap, u64 deep,
			     u64 late)
{
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_UNMATCHED, NULL), unmatched);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_UNENDED, NULL), unended);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_SKIPPED, NULL), skipped);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_OVERLAP, NULL), overlap);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_DEEP, NULL), deep);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_LATE, NULL), late);
	ck_assert_uint_le(lane()->gate, GATE_MOST);
}

START_TEST(test_nesting)
{
	for (u32 i = 0; i < 3; i++) {
		BEGIN("a");
		BEGIN("b");
		BEGIN("c");
		END("c");
		BEGIN("c");
		END("c");
		END("b");
		END("a");
	}
	BEGIN("b");
	END("b");
	assert_calls("a", 3, 3);
	assert_calls("a;b", 3, 3);
	assert_calls("a;b;c", 6, 6);
	assert_calls("b", 1, 1);
	assert_diagnoses(0, 0, 0, 0, 0, 0);
	ck_assert_uint_ge(harness_region("a").wall, harness_region("a;b").wall);
	ck_assert_uint_ge(harness_region("a;b").wall, harness_region("a;b;c").wall);
	ck_assert_uint_eq(lane()->w->depth, 0);
	ck_assert_uint_eq(lane()->special, 0);
}
END_TEST

START_TEST(test_recursion)
{
	BEGIN("r");
	BEGIN("r");
	BEGIN("r");
	ck_assert_uint_eq(lane()->w->depth, 3);
	END("r");
	END("r");
	END("r");
	assert_calls("r", 1, 1);
	assert_calls("r;r", 1, 1);
	assert_calls("r;r;r", 1, 1);
	assert_diagnoses(0, 0, 0, 0, 0, 0);
}
END_TEST

/* All forms of a marker mean the same region. */
START_TEST(test_forms)
{
	static struct spark_region handle = SPARK_REGION("form");
	unsigned long begin = 0, end = 0;

	for (u32 i = 0; i < 10; i++) {
		region_begin(&handle);
		region_end(&handle);
		region_site_begin(&begin, "form");
		region_site_end(&end, "form");
		BEGIN("form");
		END("form");
		region_begin(&handle);
		region_site_end(&end, "form");
		region_site_begin(&begin, "form");
		END("form");
		BEGIN("form");
		region_end(&handle);
	}
	assert_calls("form", 60, 60);
	assert_diagnoses(0, 0, 0, 0, 0, 0);
}
END_TEST

START_TEST(test_unmatched)
{
	END("nothing open");
	BEGIN("a");
	END("x");
	END("x");
	BEGIN("b");
	END("b");
	END("a");
	END("a");
	assert_calls("a", 1, 1);
	assert_calls("a;b", 1, 1);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_UNMATCHED, "x"), 2);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_UNMATCHED, "a"), 1);
	assert_diagnoses(4, 0, 0, 0, 0, 0);
}
END_TEST

static void begin_two(void *unused)
{
	(void)unused;
	BEGIN("left");
	BEGIN("left too");
}

/* A function returned without its ends: the end around it closes them. */
START_TEST(test_unended)
{
	BEGIN("a");
	harness_deeper(begin_two, NULL);
	ck_assert_uint_eq(lane()->w->depth, 3);
	END("a");
	ck_assert_uint_eq(lane()->w->depth, 0);
	assert_calls("a", 1, 1);
	assert_calls("a;left", 1, 0);
	assert_calls("a;left;left too", 1, 0);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_UNENDED, "left"), 1);
	assert_diagnoses(0, 2, 0, 0, 0, 0);
	ck_assert_uint_le(harness_region("a;left").wall, harness_region("a").wall);
	END("left");
	assert_diagnoses(1, 2, 0, 0, 0, 0);
}
END_TEST

START_TEST(test_overlap)
{
	BEGIN("a");
	BEGIN("b");
	END("a");
	ck_assert_uint_eq(lane()->orphans, 1);
	BEGIN("c");
	END("c");
	END("b");
	ck_assert_uint_eq(lane()->orphans, 0);
	ck_assert_uint_eq(lane()->special, 0);
	assert_calls("a", 1, 1);
	assert_calls("a;b", 1, 1);
	/* An orphan is nobody's parent. */
	assert_calls("c", 1, 1);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_OVERLAP, "b"), 1);
	assert_diagnoses(0, 0, 0, 1, 0, 0);
}
END_TEST

START_TEST(test_overlap_of_three)
{
	BEGIN("o");
	BEGIN("a");
	BEGIN("b");
	BEGIN("c");
	END("a");
	ck_assert_uint_eq(lane()->orphans, 2);
	BEGIN("d");
	END("b");
	END("d");
	END("c");
	END("o");
	assert_calls("o", 1, 1);
	assert_calls("o;a", 1, 1);
	assert_calls("o;a;b", 1, 1);
	assert_calls("o;a;b;c", 1, 1);
	assert_calls("o;d", 1, 1);
	assert_diagnoses(0, 0, 0, 2, 0, 0);
}
END_TEST

/* Its begin comes again from the same place: its end had been forgotten. */
START_TEST(test_orphan_again)
{
	for (u32 i = 0; i < 5; i++) {
		BEGIN("a");
		BEGIN("b");
		END("a");
	}
	ck_assert_uint_eq(lane()->w->depth, 1);
	BEGIN("b");
	END("b");
	ck_assert_uint_eq(lane()->w->depth, 0);
	assert_calls("a", 5, 5);
	assert_calls("a;b", 5, 0);
	assert_calls("b", 1, 1);
	assert_diagnoses(0, 5, 0, 0, 0, 0);
}
END_TEST

/* An orphan below a region that ends is closed with it. */
START_TEST(test_orphan_inside)
{
	BEGIN("o");
	BEGIN("a");
	BEGIN("b");
	END("a");
	END("o");
	ck_assert_uint_eq(lane()->w->depth, 0);
	assert_calls("o;a;b", 1, 0);
	assert_diagnoses(0, 1, 0, 0, 0, 0);
	ck_assert_uint_le(harness_region("o;a;b").wall, harness_region("o").wall);
}
END_TEST

static void recurse(void *left)
{
	u32 n = (u32)(uintptr_t)left;

	BEGIN("r");
	if (n > 1)
		harness_deeper(recurse, (void *)(uintptr_t)(n - 1));
	END("r");
}

START_TEST(test_deep)
{
	recurse((void *)(uintptr_t)WIRE_DEPTH);
	assert_diagnoses(0, 0, 0, 0, 0, 0);
	recurse((void *)(uintptr_t)(WIRE_DEPTH + 45));
	ck_assert_uint_eq(lane()->w->depth, 0);
	ck_assert_uint_eq(lane()->deep, 0);
	ck_assert_uint_eq(lane()->special, 0);
	ck_assert_uint_eq(harness_named("r").calls, 2 * WIRE_DEPTH + 45);
	ck_assert_uint_eq(harness_named("r").hist, 2 * WIRE_DEPTH);
	ck_assert_uint_eq(harness_named("r").nodes, WIRE_DEPTH);
	assert_calls("r", 2, 2);
	assert_diagnoses(0, 0, 0, 0, 45, 0);
}
END_TEST

/* A loop left by longjmp again and again: its frames are dropped when the stack is full. */
START_TEST(test_prune_loop)
{
	BEGIN("o");
	for (u32 i = 0; i < 300; i++)
		BEGIN("l");
	/* 254 fill the stack; 253 of them go; 46 more. */
	ck_assert_uint_eq(lane()->w->depth, 1 + 1 + 46);
	assert_diagnoses(0, 0, 253, 0, 0, 0);
	for (u32 i = 0; i < 300; i++)
		END("l");
	END("o");
	ck_assert_uint_eq(lane()->w->depth, 0);
	ck_assert_uint_eq(harness_named("l").calls, 300);
	ck_assert_uint_eq(harness_named("l").hist, 47);
	assert_calls("o", 1, 1);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_SKIPPED, "l"), 253);
	assert_diagnoses(0, 0, 253, 0, 0, 253);
}
END_TEST

static void fill(void *name)
{
	for (u32 i = 0; i < WIRE_DEPTH - 1; i++)
		BEGIN(i & 1 ? "odd" : name);
}

/* Frames of functions that have returned go first. */
START_TEST(test_prune_gone)
{
	BEGIN("o");
	harness_deeper(fill, (char[]){ "even" });
	ck_assert_uint_eq(lane()->w->depth, WIRE_DEPTH);
	BEGIN("next");
	ck_assert_uint_eq(lane()->w->depth, 2);
	END("next");
	END("o");
	assert_calls("o", 1, 1);
	assert_calls("o;next", 1, 1);
	ck_assert_uint_eq(harness_named("odd").calls, (WIRE_DEPTH - 1) / 2);
	ck_assert_uint_eq(harness_named("even").hist, 0);
	assert_diagnoses(0, 0, WIRE_DEPTH - 1, 0, 0, 0);
	/* No more than were dropped are late. */
	for (u32 i = 0; i < WIRE_DEPTH + 9; i++)
		END("odd");
	assert_diagnoses(10, 0, WIRE_DEPTH - 1, 0, 0, WIRE_DEPTH - 1);
}
END_TEST

static const char *level_name(u32 i)
{
	static char name[32];

	sprintf(name, "level-%u", i);
	return name;
}

/* Nothing to prune: live frames of different regions. */
START_TEST(test_no_prune)
{
	for (u32 i = 0; i < WIRE_DEPTH; i++)
		BEGIN(level_name(i));
	for (u32 i = 0; i < 10; i++)
		BEGIN("beyond");
	ck_assert_uint_eq(lane()->deep, 10);
	ck_assert_uint_eq(lane()->w->depth, WIRE_DEPTH);
	for (u32 i = 0; i < 10; i++)
		END("beyond");
	for (u32 i = WIRE_DEPTH; i-- > 0;)
		END(level_name(i));
	ck_assert_uint_eq(lane()->w->depth, 0);
	assert_diagnoses(0, 0, 0, 0, 10, 0);
	ck_assert_uint_eq(harness_named(level_name(WIRE_DEPTH - 1)).calls, 11);
	ck_assert_uint_eq(harness_named(NULL).hist, WIRE_DEPTH);
}
END_TEST

/* ---- pending and histogram */

/*
 * Random but sound brackets: at every moment each finished one is in a histogram, or the pending
 * one.
 */
START_TEST(test_consistent)
{
	static const char *const names[] = { "p", "q", "r", "s", "t" };
	u32 stack[40], depth = 0;
	u64 ended = 0;

	srand(1);
	for (u32 i = 0; i < 20000; i++) {
		u32 n = (u32)rand() % (u32)ARRAY_SIZE(names);

		if (depth < 4 && (!depth || rand() & 1)) {
			BEGIN(names[n]);
			stack[depth++] = n;
		} else {
			END(names[stack[--depth]]);
			ended++;
		}
		if (i % 997 == 0) {
			struct harness_totals t = harness_named(NULL);

			ck_assert_uint_eq(t.calls, ended);
			ck_assert_uint_eq(t.hist, ended);
			ck_assert_uint_eq(lane()->w->depth, depth);
		}
	}
	assert_diagnoses(0, 0, 0, 0, 0, 0);
}
END_TEST

/* What sparkctl repairs a torn node from. */
START_TEST(test_pending)
{
	const struct wire_pending *p;
	const struct wire_node *n;

	for (u32 i = 1; i < 5; i++) {
		BEGIN("a");
		END("a");
		p = &lane()->w->pending;
		n = segment_ptr(p->node);
		ck_assert_uint_eq(p->calls, i);
		ck_assert_uint_eq(n->calls, i);
		ck_assert_uint_eq(n->wall, p->node_wall);
		ck_assert_uint_ge(n->max, p->wall);
	}
}
END_TEST

/* ---- lanes of handlers */

static void handler(void *name)
{
	BEGIN(name);
	BEGIN("inner");
	END("inner");
	END(name);
}

/* A marker interrupted by a handler's markers: they belong to the region below. */
START_TEST(test_upper_lane)
{
	struct thread *t;
	struct lane *l;

	BEGIN("a");
	l = region_enter(&t);
	ck_assert_ptr_eq(l, lane());
	harness_deeper(handler, (char[]){ "h" });
	region_leave(l);
	harness_deeper(handler, (char[]){ "h" });
	END("a");
	ck_assert_uint_eq(harness_slots(), 1);
	/* Once in the handlers' lane and once in the thread's own. */
	ck_assert_uint_eq(harness_region("a;h").nodes, 2);
	ck_assert_uint_eq(harness_region("a;h").calls, 2);
	ck_assert_uint_eq(harness_region("a;h;inner").calls, 2);
	assert_calls("a", 1, 1);
	assert_diagnoses(0, 0, 0, 0, 0, 0);
}
END_TEST

/* A handler within a handler within ...; each interrupts a marker. */
static void interrupt(void *left)
{
	u32 n = (u32)(uintptr_t)left;
	struct thread *t;
	struct lane *l;

	BEGIN("level");
	l = region_enter(&t);
	if (n > 1)
		harness_deeper(interrupt, (void *)(uintptr_t)(n - 1));
	if (l)
		region_leave(l);
	END("level");
}

START_TEST(test_lanes_full)
{
	u64 lost = harness_loss(WIRE_LOSS_LANES);

	interrupt((void *)(uintptr_t)WIRE_LANES);
	ck_assert_uint_eq(harness_named("level").calls, WIRE_LANES);
	assert_calls("level;level;level;level", 1, 1);
	ck_assert_uint_eq(harness_loss(WIRE_LOSS_LANES), lost);
	/* One more: its three markers find no lane. */
	interrupt((void *)(uintptr_t)(WIRE_LANES + 1));
	ck_assert_uint_eq(harness_loss(WIRE_LOSS_LANES), lost + 3);
	ck_assert_uint_eq(harness_named("level").calls, 2 * WIRE_LANES);
	ck_assert_uint_eq(harness_slots(), 1);
	assert_diagnoses(0, 0, 0, 0, 0, 0);
}
END_TEST

/*
 * A handler that was left by siglongjmp: the marker that it interrupted is gone, the lane is free
 * again.
 */
static void abandon(void *unused)
{
	struct thread *t;

	(void)unused;
	ck_assert_ptr_nonnull(region_enter(&t));
}

START_TEST(test_abandoned_marker)
{
	BEGIN("a");
	harness_deeper(abandon, NULL);
	ck_assert_uint_gt(lane()->gate, GATE_MOST);
	BEGIN("b");
	END("b");
	END("a");
	assert_calls("a;b", 1, 1);
	assert_calls("a", 1, 1);
	assert_diagnoses(0, 0, 0, 0, 0, 0);
	ck_assert_ptr_null(thread_self->upper[0]);
}
END_TEST

int main(int argc, char **argv)
{
	TCase *t = tcase_create("region");

	(void)argc;
	harness_start(argv, 0, 0);
	tcase_add_checked_fixture(t, harness_setup, NULL);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_nesting);
	tcase_add_test(t, test_recursion);
	tcase_add_test(t, test_forms);
	tcase_add_test(t, test_unmatched);
	tcase_add_test(t, test_unended);
	tcase_add_test(t, test_overlap);
	tcase_add_test(t, test_overlap_of_three);
	tcase_add_test(t, test_orphan_again);
	tcase_add_test(t, test_orphan_inside);
	tcase_add_test(t, test_deep);
	tcase_add_test(t, test_prune_loop);
	tcase_add_test(t, test_prune_gone);
	tcase_add_test(t, test_no_prune);
	tcase_add_test(t, test_consistent);
	tcase_add_test(t, test_pending);
	tcase_add_test(t, test_upper_lane);
	tcase_add_test(t, test_lanes_full);
	tcase_add_test(t, test_abandoned_marker);
	return suite_run("agent region", t);
}
