/* SPDX-License-Identifier: MIT */
/*
 * agent/instrumented: the hooks called as compiled code calls them, with addresses of functions that
 * need not be any: all that is asked of them is to be readable.
 */
#include "agent/instrumented.h"
#include "agent_harness.h"
#include "common/wire_calls.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char code[1 << 20];

#define ENTER(at) __cyg_profile_func_enter(code + (at), NULL)
#define EXIT(at) __cyg_profile_func_exit(code + (at), NULL)

static u32 origins_before;

/* How many origins the test has added; all are of this program, or of memory that is in no object. */
static u32 origins(void)
{
	struct wire_view view = harness_view();
	struct wire_walk walk = wire_walk_origins(&view);
	const struct wire_origin *o;
	u32 n = 0;

	while ((o = wire_next_origin(&view, &walk))) {
		const char *bytes;
		size_t length;

		ck_assert_uint_eq(o->kind, WIRE_ORIGIN_INSTRUMENTED);
		ck_assert_uint_eq(o->caller, 0);
		if (o->library) {
			ck_assert_ptr_nonnull(wire_view_name(&view, o->library, &bytes, &length));
			ck_assert_int_eq(bytes[0], '/');
		}
		ck_assert_ptr_nonnull(wire_view_name(&view, o->name, &bytes, &length));
		ck_assert_int_eq(bytes[0], WIRE_FUNCTION_MARK);
		n++;
	}
	return n - origins_before;
}

static void setup(void)
{
	harness_setup();
	instrumented.depth = 0;
	instrumented.quick = 1;
	instrumented.chosen = NULL;
	origins_before = 0;
	origins_before = origins();
}

START_TEST(test_nesting)
{
	for (u32 i = 0; i < 10; i++) {
		ENTER(64);
		for (u32 k = 0; k < 3; k++) {
			ENTER(128);
			EXIT(128);
		}
		EXIT(64);
	}
	ck_assert_uint_eq(origins(), 2);
	ck_assert_uint_eq(harness_named(NULL).calls, 40);
	ck_assert_uint_eq(thread_self->lane.w->depth, 0);
}
END_TEST

START_TEST(test_recursion)
{
	for (u32 i = 0; i < 300; i++)
		ENTER(64);
	for (u32 i = 0; i < 300; i++)
		EXIT(64);
	ck_assert_uint_eq(harness_named(NULL).calls, 300);
	ck_assert_uint_eq(thread_self->lane.w->depth, 0);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_UNMATCHED, NULL), 0);
}
END_TEST

static void child(void *unused)
{
	(void)unused;
	EXIT(128);
	EXIT(64);
	ENTER(64);
	EXIT(128);
	EXIT(64);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_UNMATCHED, NULL), 0);
	ck_assert_uint_eq(harness_named(NULL).calls, 1);
}

/* A forked child returns from what its parent began: no marker of it is missing. */
START_TEST(test_unbegun_ends)
{
	EXIT(64);
	ENTER(64);
	ENTER(128);
	ck_assert_int_eq(harness_fork(child, NULL), 0);
	EXIT(128);
	EXIT(64);
	EXIT(64);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_UNMATCHED, NULL), 0);
	ck_assert_uint_eq(harness_named(NULL).calls, 2);
}
END_TEST

/* Other code at the address is another function, whose object is asked for anew. */
START_TEST(test_reused_address)
{
	ENTER(64);
	EXIT(64);
	ENTER(64);
	EXIT(64);
	ck_assert_uint_eq(origins(), 1);
	memset(code + 64, 0x90, 300);
	ENTER(64);
	EXIT(64);
	ck_assert_uint_eq(origins(), 2);
	memset(code + 64, 0, 300);
}
END_TEST

/* More than the first table holds: all are found again. */
START_TEST(test_many)
{
	const u32 n = 20000;

	for (u32 round = 0; round < 2; round++)
		for (u32 i = 0; i < n; i++) {
			ENTER(16 * i);
			EXIT(16 * i);
		}
	ck_assert_uint_eq(origins(), n);
	ck_assert_uint_eq(harness_named(NULL).calls, 2 * n);
}
END_TEST

/* The last function of what is mapped: nothing behind it is read. */
START_TEST(test_last_page)
{
	char *page = segment_private(2 * WIRE_PAGE, PRIVATE_INHERITED);

	segment_private_drop(page + WIRE_PAGE, WIRE_PAGE);
	for (u32 i = 4; i < 300; i++) {
		__cyg_profile_func_enter(page + WIRE_PAGE - i, NULL);
		__cyg_profile_func_exit(page + WIRE_PAGE - i, NULL);
	}
	ck_assert_uint_eq(harness_named(NULL).calls, 296);
}
END_TEST

START_TEST(test_depth)
{
	instrumented.depth = 2;
	instrumented.quick = 0;
	for (u32 i = 0; i < 3; i++)
		ENTER(64);
	ENTER(128);
	ENTER(192);
	EXIT(192);
	EXIT(128);
	for (u32 i = 0; i < 3; i++)
		EXIT(64);
	ck_assert_uint_eq(harness_named(NULL).calls, 2);
	ck_assert_uint_eq(thread_self->deep, 0);
	ck_assert_uint_eq(thread_self->lane.w->depth, 0);
}
END_TEST

/* Frames that are left by longjmp(3) send no ends; the next event below them tells. */
START_TEST(test_depth_left)
{
	struct thread *t;

	instrumented.depth = 1;
	instrumented.quick = 0;
	ENTER(64);
	t = thread_self;
	ck_assert(instrumented_begins_deep(t, 1, 100, 5000));
	ck_assert(instrumented_begins_deep(t, 2, 200, 4000));
	ck_assert(instrumented_begins_deep(t, 3, 300, 3000));
	ck_assert(instrumented_ends_deep(t, 3, 300, 3500)); /* by a jump: its frame is gone */
	ck_assert(!instrumented_ends_deep(t, 9, 900, 6000));
	ck_assert_uint_eq(t->deep, 0);
	ck_assert(instrumented_begins_deep(t, 1, 100, 5000));
	ck_assert(instrumented_ends_deep(t, 1, 100, 5200)); /* the outermost itself, by a jump */
	ck_assert_uint_eq(t->deep, 0);
	EXIT(64);
}
END_TEST

START_TEST(test_chosen)
{
	static u64 room[6];
	struct wire_functions *w = (struct wire_functions *)room;

	w->n = 3;
	w->function[0] = (u64)(uintptr_t)code + 4096;
	w->function[1] = (u64)(uintptr_t)code + 8192;
	w->function[2] = (u64)(uintptr_t)code + 16384;
	instrumented.chosen = w;
	for (u32 at = 0; at <= 20480; at += 4096) {
		ENTER(at);
		EXIT(at);
	}
	ck_assert_uint_eq(harness_named(NULL).calls, 3);
	ck_assert_uint_eq(origins(), 3);
}
END_TEST

START_TEST(test_off)
{
	instrumented.state = INSTRUMENTED_OFF;
	instrumented.quick = 0;
	ENTER(64);
	EXIT(64);
	ck_assert_uint_eq(harness_slots(), 0);
}
END_TEST

static void thread(u32 index)
{
	for (u32 i = 0; i < 2000; i++) {
		u32 at = 16 * ((i * 7 + index) % 1500);

		ENTER(at);
		EXIT(at);
	}
	harness_thread_ends();
}

START_TEST(test_threads)
{
	ENTER(64);
	EXIT(64);
	harness_threads(8, thread);
	ck_assert_uint_eq(harness_named(NULL).calls, 16001);
	ck_assert_uint_ge(origins(), 1500);
}
END_TEST

int main(int argc, char **argv)
{
	TCase *t = tcase_create("instrumented");

	(void)argc;
	harness_start(argv, 0, 0);
	tcase_add_checked_fixture(t, setup, NULL);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_nesting);
	tcase_add_test(t, test_recursion);
	tcase_add_test(t, test_unbegun_ends);
	tcase_add_test(t, test_reused_address);
	tcase_add_test(t, test_many);
	tcase_add_test(t, test_last_page);
	tcase_add_test(t, test_depth);
	tcase_add_test(t, test_depth_left);
	tcase_add_test(t, test_chosen);
	tcase_add_test(t, test_off);
	tcase_add_test(t, test_threads);
	return suite_run("agent instrumented", t);
}
