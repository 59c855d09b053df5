/* SPDX-License-Identifier: MIT */
/* analyze/window: a window's time taken apart, its disk, and threads over time. */
#include "cli/analyze/window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/clock_map.h"
#include "cli/analyze/trace.h"
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

static bool waited_for;

static u32 stands_out(double *share)
{
	window_split(&fact, parts);
	return window_stands_out(&fact, parts, share, &waited_for);
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
	/* It is cut where it is a little more than there was, and not believed where it is much more. */
	fact.cell[WINDOW_DELAY] = cell_counted(25 * MS);
	check_parts(60, 20, 10, 10, 0);
	fact.cell[WINDOW_DELAY] = cell_counted(3418e3 * MS);
	check_parts(60, 20, 10, 4, 6);
	ck_assert_int_eq(parts[WINDOW_DISK].state, CELL_ESTIMATE);
	fact.cell[WINDOW_PSI_IO] = cell_absent(CELL_UNAVAILABLE, "psi=0");
	window_split(&fact, parts);
	ck_assert_int_eq(parts[WINDOW_DISK].state, CELL_UNAVAILABLE);
	ck_assert_ptr_nonnull(strstr(parts[WINDOW_DISK].note, "not believed"));
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

/* A shell that waits for a child which works: three threads, of which one fills the window. */
START_TEST(test_waited_for)
{
	double share;

	known(60, 20, 0);
	pressed(0);
	fact.cell[WINDOW_THREADS] = cell_counted(300 * MS);
	ck_assert_uint_eq(stands_out(&share), WINDOW_USER);
	ck_assert(waited_for);
	ck_assert_double_eq_tol(share, 0.6, 1e-9);
	/* It sleeps for the greater part: nobody has worked. */
	known(30, 15, 0);
	pressed(0);
	fact.cell[WINDOW_THREADS] = cell_counted(300 * MS);
	ck_assert_uint_eq(stands_out(&share), WINDOW_REST);
	ck_assert(!waited_for);
	ck_assert_double_eq_tol(share, 0.85, 1e-9);
	/* One thread waits for nobody of its own. */
	known(30, 25, 0);
	pressed(0);
	ck_assert_uint_eq(stands_out(&share), WINDOW_REST);
	/* More on CPUs than the window is long. */
	known(150, 10, 0);
	pressed(0);
	fact.cell[WINDOW_THREADS] = cell_counted(600 * MS);
	ck_assert_uint_eq(stands_out(&share), WINDOW_USER);
	ck_assert_double_eq_tol(share, 1, 1e-9);
	known(80, 10, 0);
	pressed(0);
	ck_assert_uint_eq(stands_out(&share), WINDOW_USER);
	ck_assert(!waited_for);
}
END_TEST

/* ---- regions --------------------------------------------------------------------------------------- */

static struct trace trace;
static struct clock_map map;

static void trace_start(void)
{
	ck_assert_int_eq(trace_init(&trace), 0);
	/* A tick is a ns. */
	ck_assert_int_eq(clock_map_add(&map, 0, 0), 0);
	ck_assert_int_eq(clock_map_add(&map, 1000000000, 1000000000), 0);
}

static void trace_over(struct window_fact *list, u32 n)
{
	for (u32 i = 0; i < n; i++)
		free(list[i].regions);
	trace_fini(&trace);
	clock_map_fini(&map);
}

/* A call of a path of names of one letter, from tick to tick; without a mark what is in it comes in between. */
static void call(u32 process, const char *path, u64 from, u64 to)
{
	u32 thread = trace_thread(&trace, process, process + 100, process + 100), region = SAMPLES_NONE;

	for (; *path; path++)
		region = samples_region(&trace.regions, region, path, 1);
	if (from)
		trace_add(&trace, thread, TRACE_BEGIN, region, from);
	if (to)
		trace_add(&trace, thread, TRACE_END, region, to);
}

/* "b:2:30:20 " for each: calls, time, time of its own. */
static const char *regions(const struct window_fact *w)
{
	static char text[256];
	size_t n = 0;

	text[0] = 0;
	for (u32 i = 0; i < w->nregions; i++) {
		const struct window_region *r = &w->regions[i];

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s:%u:%u:%u ",
				      trace.regions.strings[trace.regions.regions[r->path].name].bytes, (u32)r->calls, (u32)r->ns,
				      (u32)r->self_ns);
	}
	return text;
}

START_TEST(test_regions)
{
	struct window_fact list[] = {
		{ .process = 1, .begin_ns = 100, .from_ns = 100, .to_ns = 200, .end_ns = 200 },
		{ .process = 0, .begin_ns = 150, .from_ns = 150, .to_ns = 400, .end_ns = 400 },
		{ .process = 2, .begin_ns = 50, .from_ns = 100, .to_ns = 110, .end_ns = 900 },
		{ .process = 1, .begin_ns = 500, .from_ns = 500, .to_ns = 500, .end_ns = 500 },
	};

	trace_start();
	call(1, "a", 90, 0);
	call(1, "ab", 120, 130);
	call(1, "ab", 140, 160);
	call(1, "a", 0, 300);
	call(2, "c", 160, 170);
	call(1, "d", 400, 600);
	ck_assert_int_eq(window_trace_regions(list, 4, &trace, &map), 0);
	ck_assert_str_eq(regions(&list[0]), "a:1:100:70 b:2:30:30 ");
	ck_assert_uint_eq(list[0].regions[0].first_ns, 100);
	ck_assert_uint_eq(list[0].regions[0].last_ns, 200);
	ck_assert_uint_eq(list[0].regions[1].first_ns, 120);
	ck_assert_uint_eq(list[0].regions[1].last_ns, 160);
	ck_assert_double_eq(list[0].cell[WINDOW_REGIONS].value, 100);
	ck_assert_int_eq(list[0].cell[WINDOW_REGIONS].state, CELL_COUNTED);
	ck_assert_str_eq(regions(&list[1]), "a:1:150:140 b:1:10:10 c:1:10:10 ");
	ck_assert_double_eq(list[1].cell[WINDOW_REGIONS].value, 160);
	ck_assert_str_eq(regions(&list[2]), "");
	ck_assert_double_eq(list[2].cell[WINDOW_REGIONS].value, 0);
	ck_assert_uint_eq(list[3].nregions, 0);
	trace_over(list, 4);
}
END_TEST

START_TEST(test_regions_missing)
{
	struct window_fact one = { .to_ns = 100, .end_ns = 100 };

	trace_start();
	trace_lose(&trace, trace_thread(&trace, 1, 101, 101), 5);
	call(1, "a", 10, 20);
	ck_assert_int_eq(window_trace_regions(&one, 1, &trace, &map), 0);
	ck_assert_int_eq(one.cell[WINDOW_REGIONS].state, CELL_ESTIMATE);
	trace_over(&one, 1);
}
END_TEST

/* One around all, and many calls in many: what a call costs does not grow with them. */
START_TEST(test_regions_many)
{
	enum { MANY = 20000 };
	struct window_fact *list = calloc(MANY + 1, sizeof(*list));

	trace_start();
	list[MANY] = (struct window_fact){ .to_ns = 10 * MANY, .end_ns = 10 * MANY };
	for (u64 i = 0; i < MANY; i++) {
		list[i] = (struct window_fact){ .begin_ns = 10 * i, .from_ns = 10 * i, .to_ns = 10 * i + 8, .end_ns = 10 * i + 8 };
		call(1, "a", 10 * i + 1, 10 * i + 5);
	}
	ck_assert_int_eq(window_trace_regions(list, MANY + 1, &trace, &map), 0);
	for (u32 i = 0; i < MANY; i++)
		ck_assert_str_eq(regions(&list[i]), "a:1:4:4 ");
	ck_assert_str_eq(regions(&list[MANY]), "a:20000:80000:80000 ");
	trace_over(list, MANY + 1);
	free(list);
}
END_TEST

START_TEST(test_regions_most)
{
	struct window_region list[WINDOW_REGIONS_MOST + 10];
	struct window_fact one = { .to_ns = 100 };
	struct samples paths;

	samples_init(&paths);
	for (u32 i = 0; i < ARRAY_SIZE(list); i++) {
		char name[12];
		int n = snprintf(name, sizeof(name), "%u", i);

		list[i] = (struct window_region){ .path = samples_region(&paths, SAMPLES_NONE, name, (size_t)n), .ns = 1000 + i };
	}
	ck_assert_int_eq(window_set_regions(&one, &paths, list, ARRAY_SIZE(list)), 0);
	ck_assert_uint_eq(one.nregions, WINDOW_REGIONS_MOST);
	ck_assert_uint_eq(one.regions[0].ns, 1000 + WINDOW_REGIONS_MOST + 9);
	free(one.regions);
	samples_fini(&paths);
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
	tcase_add_test(t, test_waited_for);
	tcase_add_test(t, test_regions);
	tcase_add_test(t, test_regions_missing);
	tcase_add_test(t, test_regions_many);
	tcase_add_test(t, test_regions_most);
	return suite_run("window", t);
}
