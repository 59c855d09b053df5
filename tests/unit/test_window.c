/* SPDX-License-Identifier: MIT */
/* analyze/window: a window's time taken apart, its disk, and threads over time. */
#include "cli/analyze/window.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"

#define MS 1e6

static struct window_fact fact;
static struct cell parts[WINDOW_PARTS];

/* One of 100 ms with one thread, of which all is known. */
static void known(double user, double kernel, double queue)
{
	fact = (struct window_fact){ .name = "w", .len = 1, .to_ns = 100000000, .end_ns = 100000000 };
	for (u32 i = 0; i < WINDOW_CELLS; i++)
		fact.cell[i] = cell_counted(0);
	fact.cell[WINDOW_THREADS] = cell_counted(100 * MS);
	fact.cell[WINDOW_CPU] = cell_counted((user + kernel) * MS);
	fact.cell[WINDOW_UTIME] = cell_counted(user * MS);
	fact.cell[WINDOW_STIME] = cell_counted(kernel * MS);
	fact.cell[WINDOW_RUNWAIT] = cell_counted(queue * MS);
	fact.cell[WINDOW_READ] = cell_counted(4096);
	fact.cell[WINDOW_DELAY] = cell_absent(CELL_UNAVAILABLE, "off");
}

static void pressed(double io_ms)
{
	fact.cell[WINDOW_PSI_IO] = cell_counted(io_ms * MS);
	fact.cell[WINDOW_GROUP_IO] = cell_absent(CELL_UNAVAILABLE, "no group");
}

static void check_parts(double user, double kernel, double queue, double disk, double rest)
{
	const double want[WINDOW_PARTS] = { user, kernel, queue, disk, rest };
	double sum = 0;

	window_split(&fact, parts);
	for (u32 i = 0; i < WINDOW_PARTS; i++) {
		ck_assert_msg(cell_has_value(&parts[i]), "%s has no value", window_part_names[i]);
		ck_assert_double_eq_tol(parts[i].value, want[i] * MS, 1);
		sum += parts[i].value;
	}
	ck_assert_double_le(sum, fact.cell[WINDOW_THREADS].value + 1);
}

static u32 stands_out(double *share)
{
	window_split(&fact, parts);
	return window_stands_out(&fact, parts, share);
}

START_TEST(test_split)
{
	double share;

	known(60, 20, 10);
	pressed(4);
	check_parts(60, 20, 10, 4, 6);
	ck_assert_int_eq(parts[WINDOW_QUEUE].state, CELL_COUNTED);
	ck_assert_int_eq(parts[WINDOW_DISK].state, CELL_ESTIMATE);
	ck_assert_ptr_nonnull(strstr(parts[WINDOW_DISK].note, "overlap the run queue"));
	ck_assert_uint_eq(stands_out(&share), WINDOW_USER);
	ck_assert_double_eq_tol(share, 0.6, 1e-9);
	/* Delay accounting is of the threads themselves. */
	fact.cell[WINDOW_DELAY] = cell_counted(8 * MS);
	check_parts(60, 20, 10, 8, 2);
	ck_assert_int_eq(parts[WINDOW_DISK].state, CELL_COUNTED);
}
END_TEST

START_TEST(test_clamped)
{
	/* Clocks differ, pressure is of others, too: the sum is never more than there was. */
	known(60, 20, 30);
	pressed(500);
	check_parts(60, 20, 20, 0, 0);
	ck_assert_ptr_nonnull(strstr(parts[WINDOW_REST].note, "cut"));
	known(90, 60, 30);
	pressed(0);
	check_parts(60, 40, 0, 0, 0);
	known(10, 10, 10);
	pressed(500);
	check_parts(10, 10, 10, 70, 0);
}
END_TEST

START_TEST(test_unknown)
{
	double share;

	known(10, 0, 0);
	fact.cell[WINDOW_RUNWAIT] = cell_absent(CELL_UNAVAILABLE, "of several threads");
	fact.cell[WINDOW_PSI_IO] = fact.cell[WINDOW_GROUP_IO] = cell_absent(CELL_UNAVAILABLE, "psi=0");
	window_split(&fact, parts);
	ck_assert_int_eq(parts[WINDOW_QUEUE].state, CELL_UNAVAILABLE);
	ck_assert_int_eq(parts[WINDOW_DISK].state, CELL_UNAVAILABLE);
	ck_assert_double_eq_tol(parts[WINDOW_REST].value, 90 * MS, 1);
	ck_assert_int_eq(parts[WINDOW_REST].state, CELL_ESTIMATE);
	ck_assert_ptr_nonnull(strstr(parts[WINDOW_REST].note, "nothing is known"));
	fact.cell[WINDOW_THREADS] = cell_absent(CELL_UNAVAILABLE, "no records");
	ck_assert_uint_eq(stands_out(&share), WINDOW_BY_NOTHING);
	ck_assert_int_eq(parts[WINDOW_REST].state, CELL_UNAVAILABLE);
	ck_assert_double_eq_tol(parts[WINDOW_USER].value, 10 * MS, 1);
	known(10, 0, 0);
	fact.cell[WINDOW_CPU] = cell_absent(CELL_UNAVAILABLE, "gone");
	window_split(&fact, parts);
	ck_assert_int_eq(parts[WINDOW_USER].state, CELL_UNAVAILABLE);
	ck_assert_int_eq(parts[WINDOW_REST].state, CELL_UNAVAILABLE);
}
END_TEST

START_TEST(test_causes)
{
	double share;

	known(5, 5, 0);
	pressed(0);
	ck_assert_uint_eq(stands_out(&share), WINDOW_REST);
	pressed(80);
	ck_assert_uint_eq(stands_out(&share), WINDOW_DISK);
	/* It did no I/O: the pressure is of others. */
	fact.cell[WINDOW_READ] = cell_counted(0);
	ck_assert_uint_eq(stands_out(&share), WINDOW_REST);
	known(5, 5, 70);
	pressed(0);
	ck_assert_uint_eq(stands_out(&share), WINDOW_QUEUE);
	ck_assert_double_eq_tol(share, 0.7, 1e-9);
	known(5, 50, 10);
	pressed(20);
	ck_assert_uint_eq(stands_out(&share), WINDOW_KERNEL);
	fact.cell[WINDOW_GROUP_MEMORY] = cell_counted(40 * MS);
	ck_assert_uint_eq(stands_out(&share), WINDOW_BY_MEMORY);
	ck_assert_double_eq_tol(share, 0.4, 1e-9);
	known(70, 5, 10);
	fact.cell[WINDOW_GROUP_MEMORY] = cell_counted(40 * MS);
	ck_assert_uint_eq(stands_out(&share), WINDOW_USER);
}
END_TEST

static const char before[] = "254 0 vda 10 0 1000 5 3 0 200 9 0 1 2\n8 0 sda 1 0 10 1 1 0 10 1 0 1 1\n";
static const char after[] = "254 0 vda 11 0 1600 5 3 0 201 9 0 1 2 0 0\n8 0 sda 1 0 10 1 1 0 700 1 0 1 1\n7 0 loop0 9 0 9999 1\n";

START_TEST(test_disk)
{
	u64 read_bytes, written;
	char *name = window_disk(before, strlen(before), after, strlen(after), " vda sda ", &read_bytes, &written);

	ck_assert_str_eq(name, "sda");
	ck_assert_uint_eq(read_bytes, 0);
	ck_assert_uint_eq(written, 690 * 512);
	free(name);
	name = window_disk(before, strlen(before), after, strlen(after), " vda ", &read_bytes, &written);
	ck_assert_str_eq(name, "vda");
	ck_assert_uint_eq(read_bytes, 600 * 512);
	free(name);
	/* Nothing happened, counters that went back, a text that was cut, no text. */
	ck_assert_ptr_null(window_disk(before, strlen(before), before, strlen(before), NULL, &read_bytes, &written));
	ck_assert_ptr_null(window_disk(after, strlen(after), before, strlen(before), " sda vda ", &read_bytes, &written));
	ck_assert_ptr_null(window_disk(before, strlen(before), after, 20, NULL, &read_bytes, &written));
	ck_assert_ptr_null(window_disk("", 0, after, strlen(after), NULL, &read_bytes, &written));
}
END_TEST

START_TEST(test_threads)
{
	struct thread_history h = { .list = NULL };
	struct cell cell;

	thread_history_add(&h, 0, true);
	ck_assert_double_eq(thread_history_between(&h, 10, 30).value, 20);
	thread_history_add(&h, 100, true);
	thread_history_add(&h, 300, false);
	/* Late, out of order: one that lived from 50 to 60. */
	thread_history_add(&h, 50, true);
	thread_history_add(&h, 60, false);
	ck_assert_double_eq(thread_history_between(&h, 0, 400).value, 400 + 200 + 10);
	ck_assert_double_eq(thread_history_between(&h, 150, 200).value, 100);
	ck_assert_double_eq(thread_history_between(&h, 55, 110).value, 55 + 5 + 10);
	ck_assert_double_eq(thread_history_between(&h, 300, 300).value, 0);
	thread_history_add(&h, 500, false);
	ck_assert_double_eq(thread_history_between(&h, 450, 600).value, 50);
	/* More ends than begins: something was lost. */
	thread_history_add(&h, 600, false);
	cell = thread_history_between(&h, 0, 700);
	ck_assert_int_eq(cell.state, CELL_UNAVAILABLE);
	thread_history_free(&h);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("window");

	tcase_add_test(t, test_split);
	tcase_add_test(t, test_clamped);
	tcase_add_test(t, test_unknown);
	tcase_add_test(t, test_causes);
	tcase_add_test(t, test_disk);
	tcase_add_test(t, test_threads);
	return suite_run("window", t);
}
