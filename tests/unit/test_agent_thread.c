/* SPDX-License-Identifier: MIT */
/* agent/thread: threads that come and go, and the slots that they leave. */
#include "agent_harness.h"
#include "suite.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define BEGIN(name) region_name_begin(name)
#define END(name) region_name_end(name)
#define AT_ONCE 16u
#define CHURN 2000u

static void bracket(const char *name)
{
	BEGIN(name);
	END(name);
}

/* One thread enters a forked child; see test_agent_process.c for what others meet meanwhile. */
static void enter(void)
{
	bracket("enter");
}

static void many_brackets(u32 index)
{
	char name[16];

	sprintf(name, "own-%u", index);
	for (u32 i = 0; i < 1000; i++) {
		BEGIN("shared");
		bracket(name);
		END("shared");
	}
}

START_TEST(test_threads)
{
	enter();
	harness_threads(AT_ONCE, many_brackets);
	ck_assert_uint_eq(harness_region("shared").calls, 1000 * AT_ONCE);
	ck_assert_uint_eq(harness_region("shared").hist, 1000 * AT_ONCE);
	for (u32 i = 0; i < AT_ONCE; i++) {
		char path[32];

		sprintf(path, "shared;own-%u", i);
		ck_assert_uint_eq(harness_region(path).calls, 1000);
	}
	ck_assert_uint_le(harness_slots(), AT_ONCE + 1);
}
END_TEST

static void *short_thread(void *unused)
{
	BEGIN("short");
	bracket("inner");
	END("short");
	harness_thread_ends();
	return unused;
}

static void churn(u32 n)
{
	for (u32 i = 0; i < n; i++) {
		pthread_t thread;

		ck_assert_int_eq(pthread_create(&thread, NULL, short_thread, NULL), 0);
		pthread_join(thread, NULL);
	}
}

/* One after the other: they all have one slot. */
START_TEST(test_churn)
{
	enter();
	churn(CHURN);
	ck_assert_uint_eq(harness_region("short").calls, CHURN);
	ck_assert_uint_eq(harness_region("short;inner").hist, CHURN);
	ck_assert_uint_eq(harness_slots(), 2);
}
END_TEST

static void churn_share(u32 index)
{
	(void)index;
	churn(CHURN / AT_ONCE);
}

/* Sixteen at a time: never more slots than threads that lived at once. */
START_TEST(test_churn_at_once)
{
	enter();
	harness_threads(AT_ONCE, churn_share);
	ck_assert_uint_eq(harness_region("short").calls, CHURN);
	ck_assert_uint_eq(harness_region("short").hist, CHURN);
	ck_assert_uint_le(harness_slots(), AT_ONCE + 1);
}
END_TEST

/* ---- endings */

static void *leave_open(void *unused)
{
	BEGIN("a");
	BEGIN("b");
	harness_thread_ends();
	return unused;
}

static void run(void *(*function)(void *))
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, function, NULL), 0);
	pthread_join(thread, NULL);
}

START_TEST(test_left_open)
{
	run(leave_open);
	ck_assert_uint_eq(harness_region("a").calls, 1);
	ck_assert_uint_eq(harness_region("a;b").calls, 1);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_THREAD_END, NULL), 2);
	run(short_thread);
	ck_assert_uint_eq(harness_region("short").calls, 1);
	ck_assert_uint_eq(harness_slots(), 1);
}
END_TEST

static void *drop_frames(void *unused)
{
	for (u32 i = 0; i < 300; i++)
		BEGIN("l");
	harness_thread_ends();
	return unused;
}

static void *end_once(void *unused)
{
	END("l");
	harness_thread_ends();
	return unused;
}

/* What one thread's stack lost is no excuse for the next thread's ends. */
START_TEST(test_dropped_is_forgotten)
{
	run(drop_frames);
	ck_assert_uint_gt(harness_diagnosed(WIRE_DIAG_SKIPPED, NULL), 0);
	run(end_once);
	ck_assert_uint_eq(harness_slots(), 1);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_LATE, NULL), 0);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_UNMATCHED, "l"), 1);
}
END_TEST

static pthread_key_t late_key;
static void (*late_marker)(void);

static void late_destructor(void *rounds)
{
	late_marker();
	if ((uintptr_t)rounds < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(late_key, (void *)((uintptr_t)rounds + 1));
}

static void *late_thread(void *unused)
{
	pthread_setspecific(late_key, (void *)1);
	bracket("early");
	return unused;
}

static void late_bracket(void)
{
	bracket("late");
}

static void late_metric(void)
{
	client_metric("late metric", 1);
}

static void late_end(void)
{
	END("never begun");
}

/* Markers in every round of destructors, the last one too, after the agent's own. */
static void late(void (*marker)(void))
{
	late_marker = marker;
	ck_assert_int_eq(pthread_key_create(&late_key, late_destructor), 0);
	for (u32 i = 0; i < 100; i++)
		run(late_thread);
	ck_assert_uint_eq(harness_region("early").calls, 100);
}

START_TEST(test_late_region)
{
	late(late_bracket);
	ck_assert_uint_eq(harness_region("late").calls, 100 * PTHREAD_DESTRUCTOR_ITERATIONS);
	ck_assert_uint_le(harness_slots(), 2);
}
END_TEST

START_TEST(test_late_end)
{
	late(late_end);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_UNMATCHED, NULL),
			  100 * PTHREAD_DESTRUCTOR_ITERATIONS);
	ck_assert_uint_le(harness_slots(), 2);
}
END_TEST

START_TEST(test_late_metric)
{
	late(late_metric);
	ck_assert_uint_eq(harness_metric("late metric").nodes != 0, 1);
	ck_assert_uint_le(harness_slots(), 2);
}
END_TEST

/* ---- slots that sparkctl reaps */

/* Empties a dead slot as sparkctl does. */
static void reap_pages(u32 ref)
{
	while (ref) {
		struct wire_page *p = segment_ptr(ref), empty = { .next = p->next, .kind = p->kind };

		memset(p, 0, WIRE_PAGE);
		*p = empty;
		ref = p->next;
	}
}

static u32 reap_dead(void)
{
	struct wire_view view = harness_view();
	struct wire_walk walk = wire_walk_slots(&view);
	const struct wire_slot *slot;
	u32 n = 0;

	while ((slot = wire_next_slot(&view, &walk))) {
		struct wire_slot *s = segment_ptr(walk.ref), empty = { .next = s->next };

		if (s->state != WIRE_SLOT_DEAD)
			continue;
		for (u32 i = 0; i < WIRE_LANES; i++)
			if (s->lanes[i]) {
				reap_pages(((struct wire_lane *)segment_ptr(s->lanes[i]))->node_pages);
				reap_pages(((struct wire_lane *)segment_ptr(s->lanes[i]))->hist_pages);
			}
		memcpy(empty.lanes, s->lanes, sizeof(empty.lanes));
		empty.next_free = (u32)agent.header->free_slots;
		*s = empty;
		agent.header->free_slots = ((agent.header->free_slots >> 32) + 1) << 32 | walk.ref;
		n++;
	}
	return n;
}

START_TEST(test_per_thread)
{
	u64 used;

	agent.flags |= WIRE_PER_THREAD;
	enter();
	churn(10);
	ck_assert_uint_eq(harness_slots(), 11);
	ck_assert_uint_eq(harness_region("short").calls, 10);
	ck_assert_uint_eq(harness_region("short").nodes, 10);
	ck_assert_uint_eq(reap_dead(), 10);
	ck_assert_uint_eq(harness_slots(), 1);
	used = agent.header->used;
	for (u32 i = 0; i < 10; i++) {
		churn(10);
		ck_assert_uint_eq(harness_region("short").calls, 10);
		ck_assert_uint_eq(harness_region("short;inner").hist, 10);
		ck_assert_uint_eq(reap_dead(), 10);
	}
	/* Slots and their pages were used again. */
	ck_assert_uint_eq(agent.header->used, used);
}
END_TEST

static u32 generation;

static void many_regions(void *unused)
{
	char name[32];

	(void)unused;
	for (u32 i = 0; i < 180; i++) {
		sprintf(name, "g-%u-%u", generation, i);
		bracket(name);
	}
}

static void *interrupted_thread(void *unused)
{
	struct thread *t;
	struct lane *l;

	BEGIN("interrupted");
	l = region_enter(&t);
	harness_deeper(many_regions, NULL);
	region_leave(l);
	END("interrupted");
	harness_thread_ends();
	return unused;
}

/* A handlers' lane begins with an empty table, whoever had its memory before. */
START_TEST(test_per_thread_upper_lane)
{
	agent.flags |= WIRE_PER_THREAD;
	enter();
	for (generation = 0; generation < 4; generation++) {
		run(interrupted_thread);
		ck_assert_uint_eq(harness_region("interrupted").calls, 1);
		ck_assert_uint_eq(harness_named("g-0-0").calls, generation == 0);
		ck_assert_uint_eq(reap_dead(), 1);
	}
}
END_TEST

int main(int argc, char **argv)
{
	TCase *t = tcase_create("thread");

	(void)argc;
	harness_start(argv, 0, 0);
	tcase_add_checked_fixture(t, harness_setup, NULL);
	tcase_set_timeout(t, 30);
	tcase_add_test(t, test_threads);
	tcase_add_test(t, test_churn);
	tcase_add_test(t, test_churn_at_once);
	tcase_add_test(t, test_left_open);
	tcase_add_test(t, test_dropped_is_forgotten);
	/* Not after ThreadSanitizer's own last destructor. */
	if (!HARNESS_TSAN) {
		tcase_add_test(t, test_late_region);
		tcase_add_test(t, test_late_end);
		tcase_add_test(t, test_late_metric);
	}
	tcase_add_test(t, test_per_thread);
	tcase_add_test(t, test_per_thread_upper_lane);
	return suite_run("agent thread", t);
}
