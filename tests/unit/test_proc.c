/* SPDX-License-Identifier: MIT */
/* common/proc and source_table: what /proc says as cells, whatever a kernel leaves out or adds. */
#include "common/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/source_table.h"
#include "suite.h"

#define ABSENT WIRE_ABSENT(WIRE_ABSENT_FIELD)

static u64 io[PROCIO_CELLS], sched[SCHED_CELLS];

/* The text lies at the end of its memory: reading on is found by a sanitizer. */
static void parse_io(const char *text)
{
	size_t size = strlen(text);
	char *copy = malloc(size + 1);

	memcpy(copy, text, size);
	copy = realloc(copy, size ? size : 1);
	proc_parse_io(copy, size, io);
	free(copy);
}

static void parse_sched(const char *text)
{
	size_t size = strlen(text);
	char *copy = malloc(size ? size : 1);

	memcpy(copy, text, size);
	proc_parse_schedstat(copy, size, sched);
	free(copy);
}

START_TEST(test_io)
{
	parse_io("rchar: 532357\nwchar: 0\nsyscr: 5013\nsyscw: 7\nread_bytes: 4096\nwrite_bytes: 8192\n"
		 "cancelled_write_bytes: 12\n");
	ck_assert_uint_eq(io[PROCIO_RCHAR], 532357);
	ck_assert_uint_eq(io[PROCIO_WCHAR], 0);
	ck_assert_uint_eq(io[PROCIO_SYSCR], 5013);
	ck_assert_uint_eq(io[PROCIO_SYSCW], 7);
	ck_assert_uint_eq(io[PROCIO_READ_BYTES], 4096);
	ck_assert_uint_eq(io[PROCIO_WRITE_BYTES], 8192);
	ck_assert_uint_eq(io[PROCIO_CANCELLED], 12);
}
END_TEST

/* CONFIG_TASK_XACCT without CONFIG_TASK_IO_ACCOUNTING. */
START_TEST(test_io_four)
{
	parse_io("rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\n");
	ck_assert_uint_eq(io[PROCIO_SYSCW], 4);
	ck_assert_uint_eq(io[PROCIO_READ_BYTES], ABSENT);
	ck_assert_uint_eq(io[PROCIO_WRITE_BYTES], ABSENT);
	ck_assert_uint_eq(io[PROCIO_CANCELLED], ABSENT);
}
END_TEST

START_TEST(test_io_odd)
{
	parse_io("");
	for (u32 i = 0; i < PROCIO_CELLS; i++)
		ck_assert_uint_eq(io[i], ABSENT);
	/* Other names, also such as begin or end like ours; any order; no end of the last line. */
	parse_io("xrchar: 9\nrchar2: 8\nsyscw: 5\n\n\nsome new: 1 2 3\nrchar: 6\nwchar:7\nread_bytes: 11");
	ck_assert_uint_eq(io[PROCIO_RCHAR], 6);
	ck_assert_uint_eq(io[PROCIO_WCHAR], 7);
	ck_assert_uint_eq(io[PROCIO_SYSCW], 5);
	ck_assert_uint_eq(io[PROCIO_SYSCR], ABSENT);
	ck_assert_uint_eq(io[PROCIO_READ_BYTES], 11);
	/* No numbers, too great ones, cut ones. */
	parse_io("rchar: \nwchar: 12x\nsyscr: -1\nsyscw: 18446744073709551616\nread_bytes: 99999999999999999999999\n"
		 "write_bytes: 18446744073709551583\ncancelled_write_bytes:");
	for (u32 i = 0; i < PROCIO_CELLS; i++)
		ck_assert_uint_eq(io[i], i == PROCIO_WRITE_BYTES ? 18446744073709551583ULL : ABSENT);
	/* What means absence is no number. */
	parse_io("rchar: 18446744073709551600\nwchar: 18446744073709551615\n");
	ck_assert_uint_eq(io[PROCIO_RCHAR], ABSENT);
	ck_assert_uint_eq(io[PROCIO_WCHAR], ABSENT);
	parse_io("rchar");
	ck_assert_uint_eq(io[PROCIO_RCHAR], ABSENT);
	parse_io("rchar:");
	ck_assert_uint_eq(io[PROCIO_RCHAR], ABSENT);
}
END_TEST

START_TEST(test_schedstat)
{
	parse_sched("9949935 66542 1\n");
	ck_assert_uint_eq(sched[SCHED_RUNTIME], 9949935);
	ck_assert_uint_eq(sched[SCHED_RUNWAIT], 66542);
	ck_assert_uint_eq(sched[SCHED_TIMESLICES], 1);
	parse_sched("9949935 0 12 and more");
	ck_assert_uint_eq(sched[SCHED_RUNWAIT], 0);
	ck_assert_uint_eq(sched[SCHED_TIMESLICES], 12);
}
END_TEST

START_TEST(test_schedstat_odd)
{
	/* Compiled in and switched off. */
	parse_sched("0 0 0\n");
	for (u32 i = 0; i < SCHED_CELLS; i++)
		ck_assert_uint_eq(sched[i], WIRE_ABSENT(WIRE_ABSENT_OFF));
	parse_sched("");
	for (u32 i = 0; i < SCHED_CELLS; i++)
		ck_assert_uint_eq(sched[i], ABSENT);
	parse_sched("5 6");
	ck_assert_uint_eq(sched[SCHED_RUNWAIT], 6);
	ck_assert_uint_eq(sched[SCHED_TIMESLICES], ABSENT);
	parse_sched("5x 99999999999999999999999 7");
	ck_assert_uint_eq(sched[SCHED_RUNTIME], ABSENT);
	ck_assert_uint_eq(sched[SCHED_RUNWAIT], ABSENT);
	ck_assert_uint_eq(sched[SCHED_TIMESLICES], 7);
}
END_TEST

/* The kernel at hand: what it shows is understood. */
START_TEST(test_here)
{
	char text[PROC_IO_ROOM];
	int fd = open("/proc/self/io", O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (n <= 0)
		return;
	close(fd);
	ck_assert_int_lt(n, PROC_IO_ROOM);
	proc_parse_io(text, (size_t)n, io);
	ck_assert(!wire_absent(io[PROCIO_RCHAR]));
	ck_assert(!wire_absent(io[PROCIO_SYSCW]));
}
END_TEST

START_TEST(test_reasons)
{
	ck_assert_int_eq(proc_absent(ENOENT), WIRE_ABSENT_NO_FILE);
	ck_assert_int_eq(proc_absent(EACCES), WIRE_ABSENT_DENIED);
	ck_assert_int_eq(proc_absent(EPERM), WIRE_ABSENT_DENIED);
	ck_assert_int_eq(proc_absent(EMFILE), WIRE_ABSENT_LIMIT);
	ck_assert_int_eq(proc_absent(EIO), WIRE_ABSENT_UNREADABLE);
	ck_assert(wire_absent(ABSENT));
	ck_assert(wire_absent(WIRE_ABSENT(0)));
	ck_assert(!wire_absent(UINT64_MAX - WIRE_ABSENT_MAX));
}
END_TEST

START_TEST(test_cells)
{
	u32 procio = source_first_cell(SOURCE_ALL, SOURCE_procio);
	u32 sched_first = source_first_cell(SOURCE_ALL, SOURCE_sched);

	ck_assert_uint_eq(source_cells(1u << SOURCE_rusage), RUSAGE_CELLS);
	ck_assert_uint_eq(source_cells(1u << SOURCE_procio), PROCIO_CELLS);
	ck_assert_uint_eq(source_cells(1u << SOURCE_sched), SCHED_CELLS);
	ck_assert_str_eq(source_cell_of(RUSAGE_STIME)->name, "stime");
	ck_assert_uint_eq(source_cell_of(RUSAGE_STIME)->flags, SOURCE_IN_WINDOWS | SOURCE_SAMPLED);
	ck_assert_str_eq(source_cell_of(procio + PROCIO_CANCELLED)->name, "cancelled_write_bytes");
	ck_assert_str_eq(source_cell_of(sched_first + SCHED_RUNWAIT)->name, "runwait");
	ck_assert_uint_eq(source_of_cell(procio), SOURCE_procio);
	ck_assert_uint_eq(source_of_cell(procio - 1), SOURCE_rusage);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("proc");

	tcase_add_test(t, test_io);
	tcase_add_test(t, test_io_four);
	tcase_add_test(t, test_io_odd);
	tcase_add_test(t, test_schedstat);
	tcase_add_test(t, test_schedstat_odd);
	tcase_add_test(t, test_here);
	tcase_add_test(t, test_reasons);
	tcase_add_test(t, test_cells);
	return suite_run("proc", t);
}
