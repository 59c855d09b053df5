/* SPDX-License-Identifier: MIT */
/*
 * Which events threads are to count. Breakpoints stand in for a PMU: the CPU has a few, one more is refused, and
 * users may have them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "caps_root.h"
#include "cli/session/internal.h"
#include "common/perf.h"
#include "suite.h"

enum { EVENTS_MOST = 18 };

static u64 watched[EVENTS_MOST];
static char names[EVENTS_MOST][8];
static struct event events[EVENTS_MOST];
static struct event_list list = { .event = events };
static struct session_options options = { .events = &list };
static struct session session;

static void events_init(void)
{
	for (u32 i = 0; i < EVENTS_MOST; i++) {
		snprintf(names[i], sizeof(names[i]), "e%u", i);
		events[i] = (struct event){ .name = names[i], .scale = 1, .group = -1, .hardware = true };
		perf_attr_init(&events[i].attr, PERF_TYPE_BREAKPOINT, 0);
		events[i].attr.exclude_kernel = events[i].attr.exclude_hv = 1;
		events[i].attr.bp_type = HW_BREAKPOINT_W;
		events[i].attr.bp_addr = (u64)(uintptr_t)&watched[i];
		events[i].attr.bp_len = HW_BREAKPOINT_LEN_8;
	}
}

static void setup(void)
{
	root_setup();
	events_init();
	memset(&session, 0, sizeof(session));
	session.options = &options;
	caps_init(&session.caps, root);
}

static void teardown(void)
{
	plan_free(&session.plan);
	root_teardown();
}

/* How many breakpoints there are; 0: they cannot be had here. */
static u32 places(void)
{
	int fd[EVENTS_MOST];
	u32 n = 0;

	while (n < EVENTS_MOST && (fd[n] = perf_open(&events[n].attr, 0, -1, -1, 0)) >= 0)
		n++;
	for (u32 i = 0; i < n; i++)
		close(fd[i]);
	return n;
}

static void plan(u32 n)
{
	list.n = n;
	ck_assert_int_eq(plan_make(&session), 0);
	ck_assert_uint_eq(session.plan.nevents, n);
}

static bool left_out(u32 i)
{
	return session.plan.events[i].place == PROFILE_NONE;
}

START_TEST(test_all_fit)
{
	plan(places());
	for (u32 i = 0; i < list.n; i++)
		ck_assert(!left_out(i));
	ck_assert_uint_eq(session.plan.wire->groups, 1);
	/* There is none for the totals. */
	ck_assert(session.plan.alone[0]);
}
END_TEST

START_TEST(test_one_too_many)
{
	u32 n = places();

	plan(n + 1);
	ck_assert_uint_eq(session.plan.wire->events, n);
	ck_assert(left_out(n) && session.plan.events[n].deferred);
	assert_contains(session.plan.events[n].note, "no counter left for it beside the others");
}
END_TEST

/* The watchdog has one counter: where more are missing, it is not the reason. */
START_TEST(test_watchdog)
{
	u32 n = places();

	put_file("/proc/sys/kernel/nmi_watchdog", "1\n");
	plan(n + 1);
	assert_contains(session.plan.events[n].note, "the NMI watchdog holds a counter: sudo sysctl kernel.nmi_watchdog=0");
	assert_contains(session.plan.events[n].note, "--scaled");
	plan_free(&session.plan);
	plan(n + 2);
	for (u32 i = n; i < n + 2; i++)
		assert_contains(session.plan.events[i].note, "no counter left for it beside the others");
}
END_TEST

/* A pinned event leads a group, wherever it stands. */
START_TEST(test_pinned)
{
	events[1].attr.pinned = 1;
	events[2].hardware = false;
	events[2].attr.pinned = 1;
	plan(3);
	for (u32 i = 0; i < 3; i++)
		ck_assert(!left_out(i) && session.plan.events[i].group == i);
	ck_assert_uint_eq(session.plan.wire->groups, 3);
}
END_TEST

START_TEST(test_pinned_in_braces)
{
	for (u32 i = 0; i < 3; i++) {
		events[i].group = i < 2 ? 0 : 1;
		events[i].attr.pinned = i > 0;
	}
	plan(3);
	ck_assert(!left_out(0) && !left_out(2));
	ck_assert(left_out(1) && !session.plan.events[1].deferred);
	ck_assert_str_eq(session.plan.events[1].note, "only the first event of a group can be pinned");
}
END_TEST

/* Slots lead their shares, wherever they stand, apart from others. */
START_TEST(test_topdown)
{
	events[0].topdown = events[1].topdown = EVENT_TOPDOWN;
	events[2].topdown = EVENT_SLOTS;
	plan(3);
	for (u32 i = 0; i < 3; i++)
		ck_assert(!left_out(i) && session.plan.events[i].group == 0);
	ck_assert_uint_eq(session.plan.events[2].place, 0);
	ck_assert(!(session.plan.wire->event[1].flags & WIRE_EVENT_USER));
	plan_free(&session.plan);
	events[1].topdown = EVENT_NO_TOPDOWN;
	plan(3);
	ck_assert_uint_eq(session.plan.events[0].group, session.plan.events[2].group);
	ck_assert_uint_ne(session.plan.events[1].group, session.plan.events[2].group);
	plan_free(&session.plan);
	events[2].topdown = EVENT_NO_TOPDOWN;
	plan(3);
	ck_assert(left_out(0) && !left_out(1) && !left_out(2));
	assert_contains(session.plan.events[0].note, "-e slots");
}
END_TEST

/* The totals' as well: whoever leads is switched on with all of its group. */
START_TEST(test_topdown_totals)
{
	struct asked asked = { .list = NULL };
	struct perf_value value;

	events[0].topdown = EVENT_TOPDOWN;
	events[1].topdown = EVENT_SLOTS;
	list.n = 2;
	asked_arm(&asked, &list, NULL, getpid(), false);
	ck_assert(asked.event[0].fd >= 0 && asked.event[1].fd >= 0);
	ck_assert_int_eq(ioctl(asked.event[1].fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), 0);
	*(volatile u64 *)&watched[0] = 1;
	ck_assert_int_eq(perf_read(asked.event[0].fd, &value), 0);
	ck_assert_uint_eq(value.count, 1);
	asked_close(&asked);
	events[1].topdown = EVENT_NO_TOPDOWN;
	asked_arm(&asked, &list, NULL, getpid(), false);
	ck_assert(asked.event[0].fd < 0 && asked.event[1].fd >= 0);
	assert_contains(asked.event[0].note, "-e slots");
	asked_close(&asked);
}
END_TEST

/* An event of one of two kinds of cores: each lies on a CPU of its own where there are two. */
static void on_cores(u32 i, bool second)
{
	static char cpus[2][16];
	cpu_set_t set;
	int n = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
		if (CPU_ISSET(cpu, &set))
			snprintf(cpus[n++], sizeof(cpus[0]), "%d-%d", cpu, cpu);
	events[i].scope = EVENT_CORES;
	events[i].pmu = (char *)(uintptr_t)(second ? "cpu_atom" : "cpu_core");
	events[i].cpus = cpus[second && n == 2];
}

/* Each kind has counters of its own, and a group; the others' want is not its. */
START_TEST(test_cores)
{
	cpu_set_t before, after;
	u32 n = places();

	if (2 * n + 1 > EVENTS_MOST)
		return;
	for (u32 i = 0; i < 2 * n + 1; i++)
		on_cores(i, i % 2 == 0);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	plan(2 * n + 1);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(after), &after), 0);
	ck_assert(CPU_EQUAL(&before, &after));
	for (u32 i = 0; i < 2 * n; i++) {
		ck_assert(!left_out(i));
		ck_assert_uint_eq(session.plan.events[i].group, i % 2);
		ck_assert_str_eq(session.plan.events[i].cores, i % 2 ? "cpu_core" : "cpu_atom");
	}
	ck_assert(left_out(2 * n) && session.plan.events[2 * n].deferred);
	ck_assert_uint_eq(session.plan.wire->groups, 2);
	/* Shares of the time are told for each region. */
	ck_assert(session.plan.wire->flags & WIRE_PLAN_SHARED);
	ck_assert(!session.plan.events[0].shared);
}
END_TEST

START_TEST(test_cores_in_braces)
{
	for (u32 i = 0; i < 4; i++) {
		on_cores(i, i % 2);
		events[i].group = 0;
		events[i].attr.pinned = i == 0;
	}
	plan(4);
	for (u32 i = 0; i < 4; i++)
		ck_assert(!left_out(i) && session.plan.events[i].group == i % 2);
}
END_TEST

START_TEST(test_cores_out_of_reach)
{
	for (u32 i = 0; i < 2; i++)
		on_cores(i, i);
	events[1].cpus = (char *)(uintptr_t)"1023";
	plan(2);
	ck_assert(!left_out(0) && left_out(1));
	assert_contains(session.plan.events[1].note, "sparkctl cannot go to cores of cpu_atom (1023) to try it: EINVAL");
}
END_TEST

int main(void)
{
	TCase *tests;
	u32 n;

	events_init();
	n = places();
	if (n < 3 || n + 2 > EVENTS_MOST) {
		printf("breakpoints: the kernel gives %u\n", n);
		return 77;
	}
	tests = tcase_create("plan");
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, test_all_fit);
	tcase_add_test(tests, test_one_too_many);
	tcase_add_test(tests, test_watchdog);
	tcase_add_test(tests, test_pinned);
	tcase_add_test(tests, test_pinned_in_braces);
	tcase_add_test(tests, test_topdown);
	tcase_add_test(tests, test_topdown_totals);
	tcase_add_test(tests, test_cores);
	tcase_add_test(tests, test_cores_in_braces);
	tcase_add_test(tests, test_cores_out_of_reach);
	return suite_run("plan", tests);
}
