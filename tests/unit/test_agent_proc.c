/* SPDX-License-Identifier: MIT */
/* agent/proc, src_procio and src_sched: known work is counted, the agent's own reads are not. */
#include "agent/proc.h"

#include "agent_harness.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#define BEGIN(name) region_name_begin(name)
#define END(name) region_name_end(name)
#define SOURCES (1u << SOURCE_procio | 1u << SOURCE_sched)
#define SCHED(i) (PROCIO_CELLS + (i))

static int null, zero;

static void open_devices(void)
{
	harness_setup();
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(null, 0);
	ck_assert_int_ge(zero, 0);
}

/* Without assertions: Check writes a message for each. */
static void work(u32 calls, u32 bytes)
{
	char buffer[4096] = { 0 };

	for (u32 i = 0; i < calls; i++)
		if (write(null, buffer, bytes) != (ssize_t)bytes || read(zero, buffer, bytes) != (ssize_t)bytes)
			abort();
}

/* This kernel counts, and lets us see it. */
static bool counts(u32 cell)
{
	u64 cells[WIRE_CELLS];

	source_read_all(cells);
	return !wire_absent(cells[cell]);
}

static void assert_io(const char *path, u64 calls, u64 bytes)
{
	struct harness_totals t = harness_region(path);

	ck_assert_uint_eq(t.cells[PROCIO_RCHAR], bytes);
	ck_assert_uint_eq(t.cells[PROCIO_WCHAR], bytes);
	ck_assert_uint_eq(t.cells[PROCIO_SYSCR], calls);
	ck_assert_uint_eq(t.cells[PROCIO_SYSCW], calls);
}

START_TEST(test_known_work)
{
	if (!counts(PROCIO_RCHAR))
		return;
	for (u32 i = 0; i < 10; i++) {
		BEGIN("empty");
		END("empty");
	}
	BEGIN("a");
	work(7, 100);
	BEGIN("b");
	work(5, 4000);
	BEGIN("nothing");
	END("nothing");
	END("b");
	END("a");
	assert_io("empty", 0, 0);
	assert_io("a;b;nothing", 0, 0);
	assert_io("a;b", 5, 20000);
	assert_io("a", 12, 20700);
}
END_TEST

/* Reading these costs no reads: nothing is to be subtracted. */
START_TEST(test_costs)
{
	BEGIN("a");
	END("a");
	for (u32 i = 0; i < PROCIO_CELLS; i++)
		ck_assert_uint_eq(harness_process()->source_cost[i], 0);
	ck_assert_uint_eq(harness_process()->source_cost[SCHED(SCHED_TIMESLICES)], 0);
}
END_TEST

static volatile u32 handled;

static void handler(int n)
{
	(void)n;
	BEGIN("handler");
	work(1, 10);
	END("handler");
	handled++;
}

/* Handlers' markers come between any two steps of others: none of their own reads is left over. */
START_TEST(test_handlers)
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	struct harness_totals t;

	if (!counts(PROCIO_RCHAR))
		return;
	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &often, NULL);
	for (u32 i = 0; handled < 200 && i < 1000000; i++) {
		BEGIN("a");
		END("a");
	}
	setitimer(ITIMER_REAL, &never, NULL);
	usleep(10000); /* the thread sanitizer runs handlers late, at calls like this one */
	t = harness_named("handler");
	ck_assert_uint_eq(t.calls, handled);
	ck_assert_uint_eq(t.cells[PROCIO_SYSCW], handled);
	ck_assert_uint_eq(t.cells[PROCIO_SYSCR], handled);
	ck_assert_uint_eq(t.cells[PROCIO_RCHAR], handled * 10);
	/* A handler within "a" did its work there; between two of them it did not. */
	t = harness_region("a");
	ck_assert_uint_le(t.cells[PROCIO_SYSCR], handled);
	ck_assert_uint_eq(t.cells[PROCIO_SYSCR], t.cells[PROCIO_SYSCW]);
	ck_assert_uint_eq(t.cells[PROCIO_RCHAR], t.cells[PROCIO_WCHAR]);
}
END_TEST

static void in_child(void *unused)
{
	(void)unused;
	BEGIN("empty");
	END("empty");
	BEGIN("child");
	work(3, 1000);
	END("child");
	assert_io("empty", 0, 0);
	assert_io("child", 3, 3000);
}

/* The kernel's counts of a child begin at 0, and so does what is taken off. */
START_TEST(test_forked)
{
	int status;

	if (!counts(PROCIO_RCHAR))
		return;
	BEGIN("parent");
	work(100, 1000);
	status = harness_fork(in_child, NULL);
	END("parent");
	ck_assert_int_eq(status, 0);
	assert_io("parent", 100, 100000);
}
END_TEST

static struct wire_usage usage_of(enum source_scope scope)
{
	struct wire_usage u;

	agent_usage(scope, SOURCE_ALL, &u);
	if (!u.valid)
		abort();
	return u;
}

static void thread_work(u32 index)
{
	BEGIN("thread");
	work(index + 1, 100);
	END("thread");
}

/* The process's figures have those of threads that ended; the thread's own have not. */
START_TEST(test_process_usage)
{
	u32 first = source_first_cell(SOURCE_ALL, SOURCE_procio);
	struct wire_usage a, t, b, c;

	BEGIN("warm");
	END("warm");
	if (!counts(PROCIO_RCHAR) || HARNESS_SANITIZED)
		return;
	a = usage_of(SOURCE_PROCESS);
	t = usage_of(SOURCE_THREAD);
	work(2, 100);
	harness_threads(4, thread_work);
	b = usage_of(SOURCE_PROCESS);
	c = usage_of(SOURCE_THREAD);
	ck_assert_uint_eq(b.cell[first + PROCIO_SYSCW] - a.cell[first + PROCIO_SYSCW], 2 + 1 + 2 + 3 + 4);
	ck_assert_uint_eq(b.cell[first + PROCIO_WCHAR] - a.cell[first + PROCIO_WCHAR], 1200);
	ck_assert_uint_eq(b.cell[first + PROCIO_SYSCR] - a.cell[first + PROCIO_SYSCR], 12);
	b = c;
	ck_assert_uint_eq(b.cell[first + PROCIO_SYSCW] - t.cell[first + PROCIO_SYSCW], 2);
	ck_assert_uint_eq(b.cell[first + PROCIO_SYSCR] - t.cell[first + PROCIO_SYSCR], 2);
}
END_TEST

static void spin(u64 ns)
{
	u64 end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

/* The runtime in the file is that of the last tick, unless the CPU clock is read first. */
START_TEST(test_runtime)
{
	struct harness_totals t;

	if (!counts(SCHED(SCHED_RUNTIME)))
		return;
	BEGIN("warm");
	END("warm");
	for (u32 i = 0; i < 10; i++) {
		BEGIN("spin");
		spin(200 * NSEC_PER_USEC);
		END("spin");
	}
	t = harness_region("spin");
	ck_assert_uint_ge(t.cells[SCHED(SCHED_RUNTIME)], 2 * NSEC_PER_MSEC);
	ck_assert_uint_lt(t.cells[SCHED(SCHED_RUNTIME)], 2 * NSEC_PER_MSEC + 50 * NSEC_PER_MSEC);
}
END_TEST

static void *bare(void *unused)
{
	spin(NSEC_PER_MSEC);
	return unused;
}

/* Of one thread nothing is missing; of one that ended without a marker all is, and it is known. */
START_TEST(test_unseen)
{
	u32 first = source_first_cell(SOURCE_ALL, SOURCE_sched);
	struct wire_usage a, b, c;
	pthread_t thread;

	if (!counts(SCHED(SCHED_RUNTIME)) || HARNESS_TSAN)
		return;
	a = usage_of(SOURCE_PROCESS);
	ck_assert_uint_eq(a.unseen_ns, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, bare, NULL), 0);
	pthread_join(thread, NULL);
	b = usage_of(SOURCE_PROCESS);
	ck_assert_uint_ge(b.unseen_ns, NSEC_PER_MSEC / 2);
	ck_assert_uint_ge(b.cell[first + SCHED_RUNTIME] - a.cell[first + SCHED_RUNTIME], NSEC_PER_MSEC);
	c = usage_of(SOURCE_PROCESS);
	ck_assert_uint_le(c.unseen_ns, b.unseen_ns + 100 * NSEC_PER_USEC);
	ck_assert_uint_ge(c.unseen_ns + 100 * NSEC_PER_USEC, b.unseen_ns);
}
END_TEST

static void *marked(void *unused)
{
	BEGIN("thread");
	spin(5 * NSEC_PER_MSEC);
	END("thread");
	harness_thread_ends();
	return unused;
}

/* Of one with markers only its last moments are. */
START_TEST(test_seen)
{
	u32 first = source_first_cell(SOURCE_ALL, SOURCE_sched);
	struct wire_usage a, b;
	pthread_t thread;

	if (!counts(SCHED(SCHED_RUNTIME)) || HARNESS_SANITIZED)
		return;
	BEGIN("warm");
	END("warm");
	a = usage_of(SOURCE_PROCESS);
	ck_assert_int_eq(pthread_create(&thread, NULL, marked, NULL), 0);
	pthread_join(thread, NULL);
	b = usage_of(SOURCE_PROCESS);
	ck_assert_uint_ge(b.cell[first + SCHED_TIMESLICES], a.cell[first + SCHED_TIMESLICES] + 1);
	ck_assert_uint_lt(b.unseen_ns, 2 * NSEC_PER_MSEC);
}
END_TEST

static u64 late_runtime;

/* Later markers make it claimed and released again: its figures are in the sum once. */
static void *late(void *unused)
{
	u32 first = source_first_cell(SOURCE_ALL, SOURCE_sched);

	BEGIN("late");
	spin(3 * NSEC_PER_MSEC);
	END("late");
	thread_release(thread_self);
	for (u32 i = 0; i < 3; i++) {
		BEGIN("late");
		END("late");
	}
	if (thread_self->slot)
		abort();
	late_runtime = usage_of(SOURCE_THREAD).cell[first];
	return unused;
}

START_TEST(test_released_twice)
{
	pthread_t thread;

	if (!counts(SCHED(SCHED_RUNTIME)) || HARNESS_SANITIZED)
		return;
	BEGIN("warm");
	END("warm");
	ck_assert_int_eq(pthread_create(&thread, NULL, late, NULL), 0);
	pthread_join(thread, NULL);
	ck_assert_uint_ge(life->ended.cells[SCHED_RUNTIME], 3 * NSEC_PER_MSEC);
	ck_assert_uint_le(life->ended.cells[SCHED_RUNTIME], late_runtime);
}
END_TEST

/* What cannot be read is absent, and says why; what can be is not harmed; no descriptor stays. */
START_TEST(test_no_descriptor)
{
	struct rlimit none = { 0, 0 };
	u64 cells[WIRE_CELLS];
	struct wire_usage u;

	errno = 5;
	BEGIN("a");
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	END("a");
	source_read_all(cells);
	ck_assert_int_eq(errno, 5);
	for (u32 i = 0; i < PROCIO_CELLS + SCHED_CELLS; i++) {
		ck_assert_uint_eq(cells[i], WIRE_ABSENT(WIRE_ABSENT_LIMIT));
		ck_assert(wire_absent(harness_region("a").cells[i]));
	}
	u = usage_of(SOURCE_PROCESS);
	ck_assert_uint_eq(u.cell[source_first_cell(SOURCE_ALL, SOURCE_procio)], WIRE_ABSENT(WIRE_ABSENT_LIMIT));
	ck_assert(!wire_absent(u.cell[RUSAGE_MINFLT]));
	ck_assert_uint_gt(u.cpu_ns, 0);
}
END_TEST

START_TEST(test_no_descriptor_stays)
{
	int before = open("/dev/null", O_RDONLY | O_CLOEXEC), after;

	for (u32 i = 0; i < 10; i++) {
		BEGIN("a");
		END("a");
		usage_of(SOURCE_PROCESS);
	}
	after = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(after, before + 1);
}
END_TEST

START_TEST(test_read)
{
	char text[64];

	ck_assert_int_eq(proc_read(AT_FDCWD, "/proc/self/no-such-file", text, sizeof(text)), -ENOENT);
	ck_assert_int_gt(proc_read(AT_FDCWD, "/proc/self/comm", text, sizeof(text)), 0);
	ck_assert_int_eq(proc_read(AT_FDCWD, "/proc/self/stat", text, 5), 5);
}
END_TEST

START_TEST(test_sealed)
{
	u64 cells[WIRE_CELLS];

	BEGIN("a");
	agent.sealed = true;
	END("a");
	source_read_all(cells);
	for (u32 i = 0; i < PROCIO_CELLS + SCHED_CELLS; i++) {
		ck_assert_uint_eq(cells[i], WIRE_ABSENT(WIRE_ABSENT_SEALED));
		ck_assert(wire_absent(harness_region("a").cells[i]));
	}
}
END_TEST

int main(int argc, char **argv)
{
	TCase *t = tcase_create("proc");

	(void)argc;
	harness_start(argv, 0, SOURCES);
	tcase_add_checked_fixture(t, open_devices, NULL);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_known_work);
	tcase_add_test(t, test_costs);
	tcase_add_test(t, test_handlers);
	tcase_add_test(t, test_forked);
	tcase_add_test(t, test_process_usage);
	tcase_add_test(t, test_runtime);
	tcase_add_test(t, test_unseen);
	tcase_add_test(t, test_seen);
	tcase_add_test(t, test_released_twice);
	tcase_add_test(t, test_no_descriptor);
	tcase_add_test(t, test_no_descriptor_stays);
	tcase_add_test(t, test_read);
	tcase_add_test(t, test_sealed);
	return suite_run("agent proc", t);
}
