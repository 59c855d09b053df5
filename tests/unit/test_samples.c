/* SPDX-License-Identifier: MIT */
/* cli/analyze/samples: nothing is there twice, sums are right, and lists are the same after merging. */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/samples.h"
#include "suite.h"

static struct samples samples, other;

static void setup(void)
{
	samples_init(&samples);
	samples_init(&other);
}

static void teardown(void)
{
	samples_fini(&samples);
	samples_fini(&other);
}

static u32 string(struct samples *to, const char *text)
{
	return samples_string(to, text, strlen(text));
}

/* A sample of frames of "a.out", outermost first, 0 at the end. */
static void add(struct samples *to, u32 tid, const char *region, const u64 *addresses, u64 time_ns)
{
	struct samples_row row = { .process = 1, .pid = 10, .tid = tid, .chain = SAMPLES_NONE, .region = SAMPLES_NONE };
	u32 object = samples_object(to, "a.out", "01ab", SAMPLES_FILE);

	for (; *addresses; addresses++)
		row.chain = samples_chain(to, row.chain, samples_frame(to, object, *addresses));
	if (region)
		row.region = samples_region(to, SAMPLES_NONE, region, strlen(region));
	ck_assert_int_eq(samples_add(to, &row, 7, time_ns, tid % 4), 0);
}

START_TEST(test_once)
{
	u32 a = string(&samples, "a"), object = samples_object(&samples, "x", NULL, SAMPLES_FILE);

	ck_assert_uint_eq(string(&samples, "b"), a + 1);
	ck_assert_uint_eq(string(&samples, "a"), a);
	ck_assert_uint_eq(samples_string(&samples, "a\0b", 3), a + 2);
	ck_assert_uint_eq(samples_string(&samples, "", 0), a + 3);
	ck_assert_uint_eq(samples.nstrings, 4);
	ck_assert_uint_eq(samples_object(&samples, "x", NULL, SAMPLES_FILE), object);
	ck_assert_uint_ne(samples_object(&samples, "x", "00", SAMPLES_FILE), object);
	ck_assert_uint_ne(samples_object(&samples, "x", NULL, SAMPLES_JIT), object);
	ck_assert_uint_eq(samples_frame(&samples, object, 16), samples_frame(&samples, object, 16));
	ck_assert_uint_ne(samples_frame(&samples, object, 16), samples_frame(&samples, object, 17));
	ck_assert_uint_ne(samples_frame(&samples, object, 16), samples_frame(&samples, object + 1, 16));
	ck_assert_uint_eq(samples.nframes, 3);
	ck_assert_uint_eq(samples.frames[0].unresolved, SAMPLES_NOT_ASKED);
	ck_assert(!samples.no_memory);
}
END_TEST

START_TEST(test_rows)
{
	static const u64 short_one[] = { 1, 2, 0 }, long_one[] = { 1, 2, 3, 0 }, none[] = { 0 };

	add(&samples, 1, "r", short_one, 10);
	add(&samples, 1, "r", long_one, 30);
	add(&samples, 1, "r", short_one, 20);
	add(&samples, 2, "r", short_one, 40);
	add(&samples, 2, NULL, none, 50);
	ck_assert_uint_eq(samples.nrows, 4);
	ck_assert_uint_eq(samples.nchains, 3);
	ck_assert_uint_eq(samples.nregions, 1);
	ck_assert_uint_eq(samples.rows[0].count, 2);
	ck_assert_uint_eq(samples.rows[0].weight, 14);
	ck_assert_uint_eq(samples.rows[3].chain, SAMPLES_NONE);
	ck_assert_uint_eq(samples.nevents, 5);
	samples_sort(&samples);
	ck_assert_uint_eq(samples.events[1].time_ns, 20);
	ck_assert_uint_eq(samples.events[1].row, 0);
	ck_assert_uint_eq(samples.events[2].row, 1);
}
END_TEST

/* What a stranger's process may do to the lists: many of everything. */
START_TEST(test_many)
{
	struct samples_row row = { .process = 1, .region = SAMPLES_NONE };
	u32 i, object = samples_object(&samples, "a.out", NULL, SAMPLES_FILE);

	for (i = 0; i < 300000; i++) {
		u32 at = i % 100000;

		row.chain = samples_chain(&samples, at ? at - 1 : SAMPLES_NONE, samples_frame(&samples, object, at * 16));
		/* Check writes down each assertion, which takes longer than all else here. */
		if (row.chain != at || samples_add(&samples, &row, 1, i, 0) != 0)
			ck_abort_msg("%u is %u", at, row.chain);
	}
	ck_assert_uint_eq(samples.nframes, 100000);
	ck_assert_uint_eq(samples.nrows, 100000);
	ck_assert_uint_eq(samples.rows[99999].count, 3);
	ck_assert_uint_eq(samples.nevents, 300000);
}
END_TEST

START_TEST(test_names)
{
	static const u64 places[] = { 1, 2, 0 };
	struct samples_line lines[] = { { 0, 0, 3 }, { 0, 0, 9 } };

	add(&samples, 1, "r", places, 1);
	lines[0].function = string(&samples, "inner");
	lines[1].function = string(&samples, "outer");
	lines[0].file = lines[1].file = string(&samples, "x.c");
	samples_name(&samples, 1, lines, 2);
	samples_name(&samples, 0, NULL, 0);
	ck_assert_uint_eq(samples.frames[1].nlines, 2);
	ck_assert_uint_eq(samples.lines[samples.frames[1].first_line + 1].line, 9);
	ck_assert_uint_eq(samples.frames[1].unresolved, SAMPLES_RESOLVED);
	ck_assert_uint_eq(samples.frames[0].unresolved, SAMPLES_NOT_ASKED);
}
END_TEST

static const char *function_of(const struct samples *in, u32 frame, u32 line)
{
	return in->strings[in->lines[in->frames[frame].first_line + line].function].bytes;
}

/* Of a region of a process, of none, and of what is not known. */
START_TEST(test_missed)
{
	u32 r = samples_region(&samples, SAMPLES_NONE, "r", 1);
	const struct samples_missed missed[] = {
		{ 1, r, 0, 3, 0 }, { 2, r, 0, 4, 1 }, { 0, SAMPLES_NONE, SAMPLES_UNATTRIBUTED, 5, 0 },
		{ 1, SAMPLES_NONE, 0, 6, 0 }, { 1, r, 0, 10, 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(missed); i++)
		ck_assert_int_eq(samples_miss(&samples, &missed[i]), 0);
	ck_assert_uint_eq(samples.nmissed, 4);
	ck_assert_uint_eq(samples.missed[0].lost, 13);
	ck_assert_uint_eq(samples.missed[0].throttled, 2);
	samples_region(&other, SAMPLES_NONE, "to have another number", 22);
	ck_assert_int_eq(samples_merge(&other, &samples), 0);
	ck_assert_uint_eq(other.nmissed, 4);
	ck_assert_uint_eq(other.missed[1].region, 1);
	ck_assert_uint_eq(other.missed[1].process, 2);
	ck_assert_uint_eq(other.missed[1].lost, 4);
	ck_assert_uint_eq(other.missed[2].region, SAMPLES_NONE);
	ck_assert_uint_eq(other.missed[2].flags, SAMPLES_UNATTRIBUTED);
}
END_TEST

START_TEST(test_merge)
{
	static const u64 one[] = { 1, 2, 0 }, two[] = { 1, 3, 0 };
	struct samples_line line = { .file = SAMPLES_NONE, .line = 5 };

	samples.event = strdup("cycles");
	samples.effective = 100;
	samples.lost = 2;
	other.event = strdup("cycles");
	other.effective = 200;
	other.lost = 3;
	other.throttled = 4;
	add(&samples, 1, "r", one, 10);
	add(&samples, 1, "r", one, 30);
	string(&other, "to have other numbers");
	add(&other, 1, NULL, two, 20);
	add(&other, 1, "r", one, 40);
	line.function = string(&other, "two");
	samples_name(&other, 2, &line, 1);
	other.frames[1].unresolved = SAMPLES_STRIPPED;
	other.objects[0].note = strdup("why");
	ck_assert_int_eq(samples_merge(&samples, &other), 0);
	ck_assert_uint_eq(samples.nrows, 2);
	ck_assert_uint_eq(samples.rows[0].count, 3);
	ck_assert_uint_eq(samples.rows[0].weight, 21);
	ck_assert_uint_eq(samples.lost, 5);
	ck_assert_uint_eq(samples.throttled, 4);
	ck_assert_double_eq_tol(samples.effective, 4 / (0.02 + 0.01), 1e-9);
	ck_assert_uint_eq(samples.nevents, 4);
	ck_assert_uint_eq(samples.events[1].time_ns, 20);
	ck_assert_uint_eq(samples.events[1].row, 1);
	ck_assert_str_eq(samples.objects[0].note, "why");
	/* Frames 1, 2 of the one and 1, 3, 2 of the other. */
	ck_assert_uint_eq(samples.nframes, 3);
	ck_assert_uint_eq(samples.frames[2].unresolved, SAMPLES_STRIPPED);
	ck_assert_uint_eq(samples.frames[1].nlines, 1);
	ck_assert_str_eq(function_of(&samples, 1, 0), "two");
}
END_TEST

/* Into an empty list. */
START_TEST(test_copy)
{
	static const u64 one[] = { 1, 2, 0 };

	other.event = strdup("task-clock");
	other.stacks = strdup("fp");
	other.clock = true;
	other.frequency = 999;
	other.effective = 990;
	add(&other, 1, "r", one, 10);
	ck_assert_int_eq(samples_merge(&samples, &other), 0);
	ck_assert_str_eq(samples.event, "task-clock");
	ck_assert_str_eq(samples.stacks, "fp");
	ck_assert(samples.clock);
	ck_assert_uint_eq(samples.frequency, 999);
	ck_assert_double_eq(samples.effective, 990);
	ck_assert_uint_eq(samples.nevents, 1);
}
END_TEST

/* Intervals off the CPU have a list of their own, which can be looked at as samples, and is merged. */
START_TEST(test_off)
{
	struct samples_row row = { .process = 1, .pid = 10, .tid = 11, .region = SAMPLES_NONE, .chain = SAMPLES_NONE,
				   .flags = SAMPLES_OFF_FUTEX << SAMPLES_OFF_SHIFT, .count = 1, .weight = 500 };
	const struct samples_thread thread = { .process = 1, .pid = 10, .tid = 11, .life_ns = 1000 };
	struct samples view;

	other.off = true;
	row.region = samples_region(&other, SAMPLES_NONE, "r", 1);
	ck_assert_uint_eq(samples_off(&other, &row), 0);
	ck_assert_uint_eq(samples_off(&other, &row), 0);
	row.flags = SAMPLES_OFF_DISK << SAMPLES_OFF_SHIFT;
	ck_assert_uint_eq(samples_off(&other, &row), 1);
	ck_assert_int_eq(samples_thread(&other, &thread), 0);
	ck_assert_uint_eq(other.nrows, 0);
	samples_region(&samples, SAMPLES_NONE, "before", 6);
	ck_assert_int_eq(samples_merge(&samples, &other), 0);
	ck_assert(samples.off);
	ck_assert_uint_eq(samples.nthreads, 1);
	view = samples_off_view(&samples);
	ck_assert_str_eq(view.event, "off-cpu");
	ck_assert(view.clock);
	ck_assert_uint_eq(view.nrows, 2);
	ck_assert_uint_eq(view.rows[0].weight, 1000);
	ck_assert_uint_eq(view.rows[0].count, 2);
	ck_assert_uint_eq(view.rows[0].region, 1);
	ck_assert_uint_eq(samples_off_kind(view.rows[1].flags), SAMPLES_OFF_DISK);
	/* In another order it still knows what there is. */
	row = samples.off_rows[0];
	samples.off_rows[0] = samples.off_rows[1];
	samples.off_rows[1] = row;
	samples_off_sorted(&samples);
	ck_assert_uint_eq(samples_off(&samples, &row), 1);
	ck_assert_uint_eq(samples.off_rows[1].weight, 2000);
}
END_TEST

/* Ends of waits that are alike are one; beyond the limit they are one for each place, and none is lost. */
START_TEST(test_wakes)
{
	struct samples_wake wake = { .process = 1, .tid = 11, .region = SAMPLES_NONE, .by = SAMPLES_WAKER_THREAD,
				     .waker_process = 1, .waker_pid = 10, .name = SAMPLES_NONE, .chain = SAMPLES_NONE,
				     .count = 1, .ns = 5 };
	u64 count = 0, ns = 0;

	wake.name = samples_string(&other, "producer", 8);
	for (u32 i = 0; i < 2 * (SAMPLES_WAKES_MOST + 100); i++) {
		wake.waker_tid = 100 + i / 2;
		ck_assert_int_eq(samples_wake(&other, &wake), 0);
	}
	ck_assert_uint_eq(other.nwakes, SAMPLES_WAKES_MOST + 1);
	ck_assert_uint_eq(other.wakes[0].count, 2);
	ck_assert_uint_eq(other.wakes[SAMPLES_WAKES_MOST].by, SAMPLES_WAKER_OTHERS);
	ck_assert_uint_eq(other.wakes[SAMPLES_WAKES_MOST].count, 200);
	samples_string(&samples, "before", 6);
	ck_assert_int_eq(samples_merge(&samples, &other), 0);
	ck_assert_str_eq(samples.strings[samples.wakes[0].name].bytes, "producer");
	for (u32 i = 0; i < samples.nwakes; i++) {
		count += samples.wakes[i].count;
		ns += samples.wakes[i].ns;
	}
	ck_assert_uint_eq(count, 2 * (SAMPLES_WAKES_MOST + 100));
	ck_assert_uint_eq(ns, 5 * count);
}
END_TEST

/* Wake-ups by a thread without a place are shared among its places by how often each was, those of others stay. */
START_TEST(test_wakes_share)
{
	struct samples_wake wake = { .process = 1, .tid = 11, .region = SAMPLES_NONE, .by = SAMPLES_WAKER_THREAD,
				     .waker_process = 1, .waker_pid = 10, .waker_tid = 12, .name = SAMPLES_NONE };
	static const struct { u32 tid, chain, count; } rows[] = {
		{ 12, 1, 3 }, { 12, SAMPLES_NONE, 101 }, { 12, 2, 1 }, { 13, SAMPLES_NONE, 7 }, { 14, 5, 2 },
	};
	static const u64 want[] = { [1] = 3 + 76, [2] = 1 + 25, [5] = 2 };
	u64 sum = 0, ns = 0;

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		wake.waker_tid = rows[i].tid;
		wake.chain = rows[i].chain;
		wake.count = rows[i].count;
		wake.ns = 10 * wake.count;
		samples_wake(&samples, &wake);
	}
	samples_wakes_share(&samples);
	ck_assert_uint_eq(samples.nwakes, 4);
	ck_assert_uint_eq(samples.off_shared, 101);
	for (u32 i = 0; i < samples.nwakes; i++) {
		const struct samples_wake *w = &samples.wakes[i];

		sum += w->count;
		ns += w->ns;
		ck_assert_uint_eq(w->count, w->chain == SAMPLES_NONE ? 7 : want[w->chain]);
	}
	ck_assert_uint_eq(sum, 114);
	ck_assert_uint_eq(ns, 1140);
	/* What comes later finds them. */
	samples_wake(&samples, &wake);
	ck_assert_uint_eq(samples.nwakes, 4);
}
END_TEST

static bool lives_odd(const void *context, u32 process, u32 tid)
{
	(void)context;
	return process == 1 && tid == 1001;
}

/* Of many threads the longest lives keep their rows, as does one that lives; sums stay. */
START_TEST(test_fold)
{
	struct samples_row row = { .process = 1, .pid = 10, .region = SAMPLES_NONE, .chain = SAMPLES_NONE,
				   .flags = SAMPLES_OFF_SLEEP << SAMPLES_OFF_SHIFT, .count = 1, .weight = 7 };
	struct samples_wake wake = { .process = 1, .region = SAMPLES_NONE, .by = SAMPLES_WAKER_THREAD, .waker_process = 1,
				     .waker_pid = 10, .name = SAMPLES_NONE, .chain = SAMPLES_NONE, .count = 1, .ns = 3 };
	struct samples_thread thread = { .process = 1, .pid = 10, .blocked = 1, .woken_known = true, .disk_ns = 2 };
	u64 life = 0, weight = 0, ns = 0;

	for (u32 i = 0; i < 100; i++) {
		row.tid = wake.tid = wake.waker_tid = thread.tid = 1000 + i;
		thread.life_ns = 50 + i;
		thread.disk_known = i == 5 ? SAMPLES_DELAY_UNKNOWN : SAMPLES_DELAY_WHOLE;
		samples_off(&samples, &row);
		samples_wake(&samples, &wake);
		samples_thread(&samples, &thread);
	}
	ck_assert_int_eq(samples_fold(&samples, 10, lives_odd, NULL), 0);
	ck_assert_uint_eq(samples.nthreads, 12);
	ck_assert_uint_eq(samples.noff_rows, 12);
	ck_assert_uint_eq(samples.nwakes, 12);
	for (u32 i = 0; i < 12; i++) {
		life += samples.threads[i].life_ns;
		weight += samples.off_rows[i].weight;
		ns += samples.wakes[i].ns;
		ck_assert(samples.threads[i].tid >= 1090 || samples.threads[i].tid == 1001 || samples.threads[i].tid == 0);
		ck_assert(samples.threads[i].tid || samples.threads[i].blocked == 89);
		ck_assert(samples.threads[i].tid || (samples.threads[i].disk_ns == 178 &&
						     samples.threads[i].disk_known == SAMPLES_DELAY_LEAST));
		ck_assert(samples.off_rows[i].tid || samples.off_rows[i].count == 89);
		ck_assert(samples.wakes[i].tid || !samples.wakes[i].waker_tid);
	}
	ck_assert_uint_eq(life, 100 * 50 + 99 * 50);
	ck_assert_uint_eq(weight, 700);
	ck_assert_uint_eq(ns, 300);
	/* What is added to the folded ones finds them. */
	row.tid = 0;
	samples_off(&samples, &row);
	ck_assert_uint_eq(samples.noff_rows, 12);
	ck_assert_int_eq(samples_fold(&samples, 10, lives_odd, NULL), 0);
	ck_assert_uint_eq(samples.nthreads, 12);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("samples");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, test_once);
	tcase_add_test(tests, test_rows);
	tcase_add_test(tests, test_many);
	tcase_add_test(tests, test_names);
	tcase_add_test(tests, test_missed);
	tcase_add_test(tests, test_merge);
	tcase_add_test(tests, test_copy);
	tcase_add_test(tests, test_off);
	tcase_add_test(tests, test_wakes);
	tcase_add_test(tests, test_wakes_share);
	tcase_add_test(tests, test_fold);
	return suite_run("samples", tests);
}
