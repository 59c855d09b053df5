/* SPDX-License-Identifier: MIT */
/* cli/session/sample: what a process has used, by its agent, by /proc, by wait4, or by nobody. */
#define _GNU_SOURCE
#include "cli/session/internal.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

static struct process process;
static struct wire_process wire;

static u32 cell_of(u32 source, u32 i)
{
	return source_first_cell(SOURCE_ALL, source) + i;
}

#define WCHAR cell_of(SOURCE_procio, PROCIO_WCHAR)
#define SYSCR cell_of(SOURCE_procio, PROCIO_SYSCR)
#define RUNWAIT cell_of(SOURCE_sched, SCHED_RUNWAIT)

static void setup(void)
{
	memset(&process, 0, sizeof(process));
	memset(&wire, 0, sizeof(wire));
	process.io_fd = -1;
	process.facts.pid = (u32)getpid();
	process.facts.threads = 1;
	process.facts.agent = true;
	wire.begin_usage.valid = wire.end_usage.valid = 1;
	wire.flags = WIRE_PROCESS_EXITED;
}

static void assert_cell(const struct cell *cell, enum cell_state state, double value, const char *words)
{
	ck_assert_int_eq(cell->state, state);
	if (cell_has_value(cell))
		ck_assert_double_eq(cell->value, value);
	if (words)
		ck_assert_msg(cell->note && strstr(cell->note, words), "note: %s", cell->note ? cell->note : "none");
	else
		ck_assert_ptr_null(cell->note);
}

/* As /proc said, while it lived. */
static void sampled(u32 cell, double value)
{
	if (!process.sampled)
		usage_fill_absent(&process.last, "nobody looked");
	process.sampled = true;
	process.last.cell[cell] = (struct cell){ value, CELL_ESTIMATE, NULL };
}

START_TEST(test_agent)
{
	const struct usage *usage = &process.facts.usage;

	wire.end_usage.cpu_ns = 500;
	wire.end_usage.cell[WCHAR] = 7000;
	wire.end_usage.cell[SYSCR] = WIRE_ABSENT(WIRE_ABSENT_DENIED);
	/* Those at its begin are of what it was forked from, or of nothing. */
	wire.begin_usage.cell[WCHAR] = 1000;
	sampled(WCHAR, 5);
	process_settle(&process, &wire);
	assert_cell(&usage->cpu, CELL_COUNTED, 500, NULL);
	assert_cell(&usage->cell[WCHAR], CELL_COUNTED, 7000, NULL);
	assert_cell(&usage->cell[SYSCR], CELL_UNAVAILABLE, 0, "may not be read");
	assert_cell(&usage->cell[RUSAGE_NVCSW], CELL_COUNTED, 0, NULL);
	/* Once and for all. */
	process_settle(&process, NULL);
	assert_cell(&usage->cell[WCHAR], CELL_COUNTED, 7000, NULL);
}
END_TEST

START_TEST(test_fallback)
{
	wire.end_usage.cell[SYSCR] = WIRE_ABSENT(WIRE_ABSENT_DENIED);
	wire.own_calls = 3;
	sampled(SYSCR, 10);
	process_settle(&process, &wire);
	assert_cell(&process.facts.usage.cell[SYSCR], CELL_ESTIMATE, 7, "last seen in /proc");
}
END_TEST

START_TEST(test_killed)
{
	wire.flags = 0;
	wire.own_calls = 3;
	wire.own_bytes = 100;
	sampled(SYSCR, 10);
	process.last.cell[WCHAR] = cell_counted(42);
	process_settle(&process, &wire);
	assert_cell(&process.facts.usage.cell[WCHAR], CELL_COUNTED, 42, NULL);
	assert_cell(&process.facts.usage.cell[SYSCR], CELL_ESTIMATE, 7, "without its exit handlers");
	assert_cell(&process.facts.usage.cell[RUNWAIT], CELL_UNAVAILABLE, 0, "nobody looked");
}
END_TEST

START_TEST(test_unknown)
{
	process_settle(&process, NULL);
	assert_cell(&process.facts.usage.cpu, CELL_UNAVAILABLE, 0, "without its exit handlers");
	for (u32 i = 0; i < source_cells(SOURCE_ALL); i++)
		assert_cell(&process.facts.usage.cell[i], CELL_UNAVAILABLE, 0, "without its exit handlers");
}
END_TEST

/* An image that came by exec has what came after; where its begin is not known it is said. */
START_TEST(test_exec)
{
	process.exec = true;
	wire.begin_usage.cell[WCHAR] = 1000;
	wire.end_usage.cell[WCHAR] = 7000;
	process_settle(&process, &wire);
	assert_cell(&process.facts.usage.cell[WCHAR], CELL_COUNTED, 6000, NULL);
	setup();
	process.exec = true;
	wire.flags = 0;
	wire.begin_usage.cell[WCHAR] = 1000;
	wire.begin_usage.cell[SYSCR] = WIRE_ABSENT(WIRE_ABSENT_NOT_ASKED);
	sampled(WCHAR, 1500);
	process.last.cell[SYSCR] = cell_counted(9);
	process_settle(&process, &wire);
	assert_cell(&process.facts.usage.cell[WCHAR], CELL_ESTIMATE, 500, "last seen");
	assert_cell(&process.facts.usage.cell[SYSCR], CELL_ESTIMATE, 9, "before the exec");
}
END_TEST

/* A zombie has one thread: its figures are the process's only if it never had another. */
START_TEST(test_threads)
{
	for (u32 threads = 0; threads < 3; threads++) {
		setup();
		process.facts.threads = threads;
		sampled(WCHAR, 1);
		process.sched_sampled = true;
		process.final_sched.cell[RUNWAIT] = cell_counted(99);
		process_settle(&process, NULL);
		if (threads == 0)
			assert_cell(&process.facts.usage.cell[RUNWAIT], CELL_ESTIMATE, 99, "first thread");
		else if (threads == 1)
			assert_cell(&process.facts.usage.cell[RUNWAIT], CELL_COUNTED, 99, NULL);
		else
			assert_cell(&process.facts.usage.cell[RUNWAIT], CELL_UNAVAILABLE, 0, "gone before");
	}
	/* What was seen of all that lived is more than what is known of the first. */
	setup();
	process.facts.threads = 2;
	sampled(RUNWAIT, 500);
	process.sched_sampled = true;
	process.final_sched.cell[RUNWAIT] = cell_counted(99);
	process_settle(&process, NULL);
	assert_cell(&process.facts.usage.cell[RUNWAIT], CELL_ESTIMATE, 500, "of the threads that lived then");
}
END_TEST

START_TEST(test_waited)
{
	struct rusage usage = { .ru_utime = { 1, 5 }, .ru_stime = { 0, 7 }, .ru_minflt = 3, .ru_nvcsw = 4 };

	process_reaped(&process, &usage);
	process_settle(&process, NULL);
	assert_cell(&process.facts.usage.cpu, CELL_COUNTED, 1000012000, "wait4");
	assert_cell(&process.facts.usage.cell[RUSAGE_NVCSW], CELL_COUNTED, 4, "wait4");
	assert_cell(&process.facts.usage.cell[WCHAR], CELL_UNAVAILABLE, 0, "gone before");
	/* wait4's figures are also those of children. */
	setup();
	process.children_faults = 1;
	process_reaped(&process, &usage);
	process_settle(&process, NULL);
	assert_cell(&process.facts.usage.cell[RUSAGE_NVCSW], CELL_UNAVAILABLE, 0, "without its exit handlers");
}
END_TEST

/* Of a live process: this one. */
START_TEST(test_live)
{
	int status;

	process.alive = true;
	ck_assert(process_sample(&process, SOURCE_ALL, &status));
	ck_assert_int_eq(status, -1);
	process_settle(&process, NULL);
	ck_assert_int_eq(process.facts.usage.cell[RUSAGE_MINFLT].state, CELL_ESTIMATE);
	ck_assert_double_gt(process.facts.usage.cell[RUSAGE_MINFLT].value, 0);
	assert_cell(&process.facts.usage.cell[RUSAGE_NVCSW], CELL_UNAVAILABLE, 0, "single threads");
	ck_assert_int_ne(process.facts.usage.cell[WCHAR].state, CELL_COUNTED);
	ck_assert_ptr_nonnull(process.facts.usage.cell[WCHAR].note);
	process.facts.pid = 0x7fffffff;
	ck_assert(!process_sample(&process, SOURCE_ALL, &status));
}
END_TEST

/* Of a zombie: final, and read by who had it open. */
START_TEST(test_zombie)
{
	static const char written[] = "eleven byte";
	int go[2], status, fd;
	siginfo_t info;
	pid_t pid;

	ck_assert_int_eq(pipe(go), 0);
	pid = fork();
	if (!pid) {
		char byte;

		if (read(go[0], &byte, 1) != 1 || write(go[1], written, 11) != 11)
			_exit(1);
		_exit(3);
	}
	process.facts.pid = (u32)pid;
	process_keep_open(&process);
	fd = process.io_fd;
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert(process_sample(&process, 0, &status));
	ck_assert_int_eq(WEXITSTATUS(status), 3);
	process_settle(&process, NULL);
	if (fd >= 0 && cell_has_value(&process.facts.usage.cell[WCHAR]))
		assert_cell(&process.facts.usage.cell[WCHAR], CELL_COUNTED, 11, NULL);
	ck_assert_int_eq(process.facts.usage.cell[RUSAGE_MINFLT].state, CELL_COUNTED);
	ck_assert_int_ne(process.facts.usage.cell[RUNWAIT].state, CELL_ESTIMATE);
	waitpid(pid, NULL, 0);
	close(fd);
	close(go[0]);
	close(go[1]);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("sample");

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, test_agent);
	tcase_add_test(t, test_fallback);
	tcase_add_test(t, test_killed);
	tcase_add_test(t, test_unknown);
	tcase_add_test(t, test_exec);
	tcase_add_test(t, test_threads);
	tcase_add_test(t, test_waited);
	tcase_add_test(t, test_live);
	tcase_add_test(t, test_zombie);
	return suite_run("sample", t);
}
