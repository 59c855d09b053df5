/* SPDX-License-Identifier: MIT */
/* agent/trace: what markers record when they are traced. */
#define _GNU_SOURCE
#include "agent_harness.h"
#include "suite.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct wire_trace *record(const struct lane *l, u64 i)
{
	return l->trace + (i & l->trace_mask);
}

/* The kinds and names of all records from one on, as text: "+a +b -b -a". */
static const char *recorded(const struct lane *l, u64 from)
{
	static char text[1024];
	u64 before = 0;

	text[0] = 0;
	for (u64 i = from; i < l->w->trace_count; i++) {
		const struct wire_trace *r = record(l, i);
		const struct wire_node *n = segment_ptr(r->node);
		const struct wire_name *name = segment_ptr(n->region);
		u64 ticks = r->ticks << 2 >> 2;

		ck_assert_uint_ge(ticks, before);
		ck_assert_uint_eq(r->tid, thread_self->slot->tid);
		before = ticks;
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%c%.*s", text[0] ? " " : "",
			 "+-!~"[r->ticks >> WIRE_TRACE_SHIFT], (int)name->length, name->bytes);
	}
	return text;
}

static const struct lane *lane(void)
{
	return &thread_self->lane;
}

static void nest(void)
{
	region_name_begin("a");
	region_name_begin("b");
	region_name_end("b");
	region_name_end("a");
}

START_TEST(test_nested)
{
	nest();
	ck_assert_str_eq(recorded(lane(), 0), "+a +b -b -a");
	/* Again by the fast way. */
	nest();
	nest();
	ck_assert_str_eq(recorded(lane(), 4), "+a +b -b -a +a +b -b -a");
	ck_assert_uint_eq(lane()->trace_mask, WIRE_TRACE_ENTRIES - 1);
	ck_assert_uint_eq(harness_region("a;b").calls, 3);
}
END_TEST

/* The time of a record is that of its bracket. */
START_TEST(test_times)
{
	struct harness_totals t;

	region_name_begin("a");
	region_name_end("a");
	region_name_begin("a");
	region_name_end("a");
	t = harness_region("a");
	ck_assert_uint_eq(t.wall, (record(lane(), 1)->ticks << 2 >> 2) - record(lane(), 0)->ticks +
				  (record(lane(), 3)->ticks << 2 >> 2) - record(lane(), 2)->ticks);
}
END_TEST

START_TEST(test_overlap)
{
	region_name_begin("a");
	region_name_begin("b");
	region_name_end("a");
	region_name_end("b");
	region_name_end("c");
	ck_assert_str_eq(recorded(lane(), 0), "+a +b -a ~b");
}
END_TEST

static void leave_open(void *unused)
{
	(void)unused;
	region_name_begin("b");
}

START_TEST(test_abandoned)
{
	region_name_begin("a");
	harness_deeper(leave_open, NULL);
	region_name_end("a");
	ck_assert_str_eq(recorded(lane(), 0), "+a +b !b -a");
}
END_TEST

/* A loop that never ends its region: repaired when the stack of frames is full, and balanced at the thread's end. */
START_TEST(test_pruned)
{
	s64 open = 0;

	for (u32 i = 0; i < 2000; i++)
		region_name_begin("loop");
	for (u64 i = 0; i < lane()->w->trace_count; i++)
		open += record(lane(), i)->ticks >> WIRE_TRACE_SHIFT == WIRE_TRACE_BEGIN ? 1 : -1;
	ck_assert_int_eq(open, lane()->w->depth);
	ck_assert_uint_lt(lane()->w->depth, 256);
}
END_TEST

static void handle(int n)
{
	(void)n;
	nest();
}

/* In a handler that interrupts no marker, and in one that does. */
START_TEST(test_handlers)
{
	struct lane *l;
	struct thread *t;

	signal(SIGUSR1, handle);
	region_name_begin("main");
	raise(SIGUSR1);
	region_name_end("main");
	ck_assert_str_eq(recorded(lane(), 0), "+main +a +b -b -a -main");
	l = region_enter(&t);
	raise(SIGUSR1);
	region_leave(l);
	ck_assert_uint_eq(lane()->w->trace_count, 6);
	ck_assert_str_eq(recorded(thread_self->upper[0], 0), "+a +b -b -a");
	ck_assert_uint_eq(thread_self->upper[0]->trace_mask, WIRE_TRACE_UPPER - 1);
}
END_TEST

START_TEST(test_overwritten)
{
	for (u32 i = 0; i < WIRE_TRACE_ENTRIES; i++) {
		region_name_begin("a");
		region_name_end("a");
	}
	ck_assert_uint_eq(lane()->w->trace_count, 2 * WIRE_TRACE_ENTRIES);
	ck_assert_str_eq(recorded(lane(), 2 * WIRE_TRACE_ENTRIES - 4), "+a -a +a -a");
}
END_TEST

static u32 slot_of_thread;

static void *thread_open(void *unused)
{
	(void)unused;
	region_name_begin("open");
	slot_of_thread = thread_self->slot_ref;
	harness_thread_ends();
	return NULL;
}

/* What is open when a thread ends is closed; the next one goes on in the same ring, under its own number. */
START_TEST(test_threads)
{
	const struct wire_trace *ring;
	const struct wire_lane *w;
	pthread_t t;

	for (u32 i = 0; i < 2; i++) {
		ck_assert_int_eq(pthread_create(&t, NULL, thread_open, NULL), 0);
		pthread_join(t, NULL);
	}
	w = segment_ptr(((struct wire_slot *)segment_ptr(slot_of_thread))->lanes[0]);
	ring = segment_ptr(w->trace);
	ck_assert_uint_eq(w->trace_count, 4);
	for (u32 i = 0; i < 4; i++)
		ck_assert_uint_eq(ring[i].ticks >> WIRE_TRACE_SHIFT, i % 2 ? WIRE_TRACE_UNENDED : WIRE_TRACE_BEGIN);
	ck_assert_uint_eq(ring[0].tid, ring[1].tid);
	ck_assert_uint_ne(ring[1].tid, ring[2].tid);
}
END_TEST

static void forked(void *unused)
{
	(void)unused;
	region_name_end("a");
	nest();
	_exit(strcmp(recorded(lane(), 0), "+a +b -b -a") != 0);
}

START_TEST(test_fork)
{
	region_name_begin("a");
	ck_assert_int_eq(harness_fork(forked, NULL), 0);
	region_name_end("a");
	ck_assert_str_eq(recorded(lane(), 0), "+a -a");
}
END_TEST

/* Memory that is left belongs to slots: such a thread is measured and not traced. */
START_TEST(test_no_room)
{
	u64 lost = harness_loss(WIRE_LOSS_UNTRACED);

	store_relaxed(&agent.header->used, (u64)WIRE_TRACE_ROOM);
	nest();
	ck_assert_uint_eq(harness_loss(WIRE_LOSS_UNTRACED), lost + 1);
	ck_assert_uint_eq(lane()->w->trace, 0);
	ck_assert_uint_eq(harness_region("a;b").calls, 1);
}
END_TEST

int main(int argc, char **argv)
{
	TCase *tests = tcase_create("trace");

	(void)argc;
	harness_start(argv, WIRE_TRACE, 0);
	tcase_add_checked_fixture(tests, harness_setup, NULL);
	tcase_add_test(tests, test_nested);
	tcase_add_test(tests, test_times);
	tcase_add_test(tests, test_overlap);
	tcase_add_test(tests, test_abandoned);
	tcase_add_test(tests, test_pruned);
	tcase_add_test(tests, test_handlers);
	tcase_add_test(tests, test_overwritten);
	tcase_add_test(tests, test_threads);
	tcase_add_test(tests, test_fork);
	tcase_add_test(tests, test_no_room);
	return suite_run("agent_trace", tests);
}
