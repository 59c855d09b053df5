/* SPDX-License-Identifier: MIT */
/* What becomes of events of -e: pipes stand in for them, with what read(2) of one would give. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/session/internal.h"
#include "fake_root.h"
#include "suite.h"

static struct event events[2];
static struct event_list list = { .event = events, .n = 2 };
static struct asked_event asked[2];
static struct total_fact facts[8];
static struct totals totals;
static struct caps_context caps;

static void setup(void)
{
	memset(events, 0, sizeof(events));
	memset(asked, 0, sizeof(asked));
	totals = (struct totals){ .asked = { .list = &list, .event = asked }, .facts = facts, .room = ARRAY_SIZE(facts),
				  .alone = true };
	caps = (struct caps_context){ .root = "/nonexistent", .paranoid = 2, .uid = 1234 };
	for (int i = 0; i < 2; i++) {
		events[i] = (struct event){ .name = (char *)(uintptr_t)(i ? "second" : "first"),
			.scale = 1, .group = -1 };
		asked[i].fd = -ENOENT;
	}
}

/* An event that reads as these numbers, or as only so many bytes of them. */
static void gives(int i, u64 count, u64 enabled, u64 running, size_t bytes)
{
	struct perf_value value = { count, enabled, running };
	int end[2];

	ck_assert_int_eq(pipe(end), 0);
	ck_assert_int_eq(write(end[1], &value, bytes), (ssize_t)bytes);
	close(end[1]);
	asked[i].fd = end[0];
}

static const struct cell *got(int i)
{
	totals.nfacts = 0;
	asked_read(&totals, &caps);
	ck_assert_uint_eq(totals.nfacts, 2);
	ck_assert_str_eq(facts[i].name, events[i].name);
	return &facts[i].cell;
}

static void assert_note(const struct cell *cell, const char *part)
{
	ck_assert_msg(cell->note && strstr(cell->note, part), "'%s' lacks '%s'", cell->note ? cell->note : "", part);
}

START_TEST(test_counted)
{
	gives(0, 5000, 100, 100, sizeof(struct perf_value));
	events[0].scale = 0.5;
	events[0].unit = (char *)(uintptr_t)"Joules";
	ck_assert_int_eq(got(0)->state, CELL_COUNTED);
	ck_assert_double_eq(facts[0].cell.value, 2500);
	ck_assert_str_eq(facts[0].unit, "Joules");
	ck_assert_ptr_null(facts[0].cell.note);
	ck_assert_str_eq(facts[1].unit, "count");
}
END_TEST

START_TEST(test_scaled)
{
	gives(0, 5000, 100, 40, sizeof(struct perf_value));
	ck_assert_int_eq(got(0)->state, CELL_SCALED);
	ck_assert_double_eq(facts[0].cell.value, 12500);
}
END_TEST

/* Never ran, or was dropped: no 0. */
START_TEST(test_not_counted)
{
	gives(0, 0, 100, 0, sizeof(struct perf_value));
	gives(1, 0, 100, 100, 0);
	events[1].attr.pinned = 1;
	ck_assert_int_eq(got(0)->state, CELL_NOT_COUNTED);
	ck_assert_int_eq(facts[1].cell.state, CELL_NOT_COUNTED);
	assert_note(&facts[1].cell, "pinned");
}
END_TEST

/* Where others have a counter, the watchdog may be why this one has none. */
START_TEST(test_watchdog)
{
	fake_make(NULL);
	fake_put("/proc/sys/kernel/nmi_watchdog", "1\n");
	caps.root = fake_root;
	gives(0, 0, 100, 0, sizeof(struct perf_value));
	gives(1, 0, 100, 100, 0);
	events[0].hardware = events[1].hardware = true;
	events[1].attr.pinned = 1;
	assert_note(got(0), "sudo sysctl kernel.nmi_watchdog=0");
	assert_note(&facts[1].cell, "sudo sysctl kernel.nmi_watchdog=0");
	/* What takes none, or was never on. */
	gives(0, 0, 100, 0, sizeof(struct perf_value));
	gives(1, 0, 0, 0, sizeof(struct perf_value));
	events[0].hardware = false;
	events[1].attr.pinned = 0;
	ck_assert_str_eq(got(0)->note, "the event never ran");
	ck_assert_str_eq(facts[1].cell.note, "the event never ran");
	fake_remove();
}
END_TEST

START_TEST(test_sides)
{
	gives(0, 1, 9, 9, sizeof(struct perf_value));
	gives(1, 1, 9, 9, sizeof(struct perf_value));
	asked[0].attempt.less = ATTEMPT_USER;
	events[1].side = EVENT_NO_SIDE;
	events[1].attr.exclude_kernel = 1;
	assert_note(got(0), "user mode only");
	assert_note(&facts[1].cell, "in both modes");
}
END_TEST

static void on_cores(u64 running, u64 other)
{
	for (int i = 0; i < 2; i++) {
		events[i].scope = EVENT_CORES;
		events[i].pmu = (char *)(uintptr_t)(i ? "cpu_core" : "cpu_atom");
		events[i].cpus = (char *)(uintptr_t)(i ? "0-15" : "16-23");
	}
	gives(0, 100, 1000, running, sizeof(struct perf_value));
	gives(1, 300, 1000, other, sizeof(struct perf_value));
}

/* Two kinds of cores that had the thread in turn: both shares are whole, and neither is scaled. */
START_TEST(test_cores)
{
	on_cores(400, 600);
	ck_assert_int_eq(got(0)->state, CELL_COUNTED);
	ck_assert_double_eq(facts[0].cell.value, 100);
	assert_note(&facts[0].cell, "cores of cpu_atom (16-23), for 40 %");
	ck_assert_int_eq(facts[1].cell.state, CELL_COUNTED);
	ck_assert_double_eq(facts[1].cell.value, 300);
}
END_TEST

/* A counter that was shared as well. */
START_TEST(test_cores_incomplete)
{
	on_cores(200, 600);
	ck_assert_int_eq(got(0)->state, CELL_ESTIMATE);
	ck_assert_double_eq(facts[0].cell.value, 100);
}
END_TEST

START_TEST(test_cores_never)
{
	on_cores(0, 1000);
	ck_assert_int_eq(got(0)->state, CELL_NOT_COUNTED);
	ck_assert_int_eq(facts[1].cell.state, CELL_COUNTED);
	ck_assert_ptr_null(facts[1].cell.note);
}
END_TEST

START_TEST(test_probe)
{
	gives(0, 7, 9, 9, sizeof(struct perf_value));
	events[0].pmu = (char *)(uintptr_t)"uprobe";
	totals.alone = false;
	ck_assert_int_eq(got(0)->state, CELL_ESTIMATE);
	assert_note(&facts[0].cell, "first thread alone");
}
END_TEST

/* One reason for each way of being refused. */
static const struct { int err; bool hardware, pmu, probe; const char *said; } refused[] = {
	{ EACCES, false, false, false, "perf_event_paranoid is 2 and uid 1234" },
	{ EACCES, false, false, false, "sudo sysctl kernel.perf_event_paranoid=1" },
	{ EACCES, false, false, true, "uid 1234 has no CAP_PERFMON" },
	{ ENOENT, true, true, false, "this PMU does not have the event (ENOENT)" },
	{ EINVAL, false, false, false, "the kernel refuses it (EINVAL)" },
	{ EMFILE, false, false, false, "EMFILE" },
	{ ENOSPC, false, false, false, "ENOSPC" },
	{ EBUSY, true, false, false, "somebody else holds the counters" },
};

START_TEST(test_refused)
{
	asked[0].fd = -refused[_i].err;
	events[0].hardware = refused[_i].hardware;
	events[0].path = refused[_i].probe ? (char *)(uintptr_t)"/bin/x" : NULL;
	totals.asked.pmu = refused[_i].pmu;
	ck_assert_int_eq(got(0)->state, CELL_UNAVAILABLE);
	assert_note(&facts[0].cell, refused[_i].said);
}
END_TEST

/* Where even user mode is forbidden, the least that helps is named. */
START_TEST(test_forbidden)
{
	caps.paranoid = 4;
	asked[0].fd = asked[1].fd = -EACCES;
	events[1].side = EVENT_KERNEL;
	assert_note(got(0), "kernel.perf_event_paranoid=2");
	assert_note(&facts[1].cell, "kernel.perf_event_paranoid=1");
}
END_TEST

/* Nothing is opened for these. */
START_TEST(test_futile)
{
	totals.asked = (struct asked){ .list = NULL };
	events[0].obstacle = (char *)(uintptr_t)"not here";
	events[1].scope = EVENT_SYSTEM;
	asked_arm(&totals.asked, &list, NULL, getpid(), true);
	assert_note(got(0), "not here");
	assert_note(&facts[1].cell, "a part of the machine");
	asked_close(&totals.asked);
	events[0] = (struct event){ .name = events[0].name, .side = EVENT_KERNEL, .attr.exclude_kernel = 1 };
	asked_arm(&totals.asked, &list, NULL, getpid(), true);
	assert_note(got(0), "would read 0");
	asked_close(&totals.asked);
	events[0] = (struct event){ .name = events[0].name, .side = EVENT_USER, .attr.exclude_user = 1 };
	asked_arm(&totals.asked, &list, NULL, getpid(), true);
	assert_note(got(0), "it happens in user mode");
	asked_close(&totals.asked);
}
END_TEST

static void assert_taken(const char *name, u64 config, bool taken)
{
	events[0].name = (char *)(uintptr_t)name;
	events[0].attr.type = PERF_TYPE_SOFTWARE;
	events[0].attr.config = config;
	ck_assert_int_eq(session_check_events(&list), taken ? -1 : 0);
}

START_TEST(test_names_taken)
{
	assert_taken("faults", PERF_COUNT_SW_PAGE_FAULTS, false);
	assert_taken("minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN, false);
	assert_taken("minor-faults", PERF_COUNT_SW_PAGE_FAULTS, true);
	assert_taken("elapsed", 0, true);
	assert_taken("marker-cost", 0, true);
	assert_taken("mine", PERF_COUNT_SW_DUMMY, false);
	events[1] = events[0];
	assert_taken("mine", PERF_COUNT_SW_DUMMY, false);
	assert_taken("mine", PERF_COUNT_SW_PAGE_FAULTS, true);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("asked");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, test_counted);
	tcase_add_test(tests, test_scaled);
	tcase_add_test(tests, test_not_counted);
	tcase_add_test(tests, test_watchdog);
	tcase_add_test(tests, test_sides);
	tcase_add_test(tests, test_cores);
	tcase_add_test(tests, test_cores_incomplete);
	tcase_add_test(tests, test_cores_never);
	tcase_add_test(tests, test_probe);
	tcase_add_loop_test(tests, test_refused, 0, ARRAY_SIZE(refused));
	tcase_add_test(tests, test_forbidden);
	tcase_add_test(tests, test_futile);
	tcase_add_test(tests, test_names_taken);
	return suite_run("asked", tests);
}
