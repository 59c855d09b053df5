/* SPDX-License-Identifier: MIT */
/* cli/analyze: what lies between two looks at a run, and inside some regions. */
#include "cli/analyze/inside.h"
#include "cli/analyze/profile_difference.h"
#include "cli/analyze/report.h"
#include "segment.h"
#include "suite.h"

static struct segment seg;
static struct profile before, now, part;
static u32 slot;

enum { PID = 500, SERIAL = 1 };

static void setup(void)
{
	segment_init(&seg, 0, 0);
	segment_process(&seg, PID);
	slot = segment_slot(&seg, PID, PID);
	profile_init(&before, PROFILE_BY_PROCESS);
	profile_init(&now, PROFILE_BY_PROCESS);
	profile_init(&part, PROFILE_BY_PROCESS);
}

static void teardown(void)
{
	profile_fini(&before);
	profile_fini(&now);
	profile_fini(&part);
	segment_fini(&seg);
}

static void look(struct profile *profile, u32 ref, u64 ticks)
{
	struct wire_view view = segment_view(&seg);
	struct profile_slot add = { .view = &view, .ref = ref, .process = SERIAL, .pid = PID, .live = true, .now = ticks };

	ck_assert_int_eq(profile_add_slot(profile, &add), 0);
}

static const struct profile_row *row_at(const struct profile *profile, const char *const *path, size_t depth)
{
	u32 row = profile_find_row(profile, SERIAL, 0, path, depth);

	return row == PROFILE_NONE ? NULL : &profile->rows[row];
}

#define ROW(profile, ...) row_at(profile, (const char *const[]){ __VA_ARGS__ }, \
				 sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void difference(void)
{
	ck_assert_int_eq(profile_add_difference(&part, &now, &before), 0);
}

START_TEST(test_calls)
{
	u32 a = segment_region(&seg, slot, 0, "a"), b = segment_region(&seg, slot, a, "b");
	u32 only_before = segment_region(&seg, slot, 0, "before"), after;

	segment_call(&seg, a, 1000, 100);
	segment_call(&seg, b, 300, 0);
	segment_call(&seg, only_before, 7, 0);
	look(&before, slot, 5000);
	segment_call(&seg, b, 500, 20);
	segment_call(&seg, b, 400, 0);
	after = segment_region(&seg, slot, a, "after");
	segment_call(&seg, after, 40, 0);
	look(&now, slot, 9000);
	difference();
	ck_assert_uint_eq(ROW(&part, "a", "b")->calls, 2);
	ck_assert_uint_eq(ROW(&part, "a", "b")->wall, 900);
	ck_assert_uint_eq(ROW(&part, "a", "b")->off, 20);
	ck_assert_uint_eq(hist_total(&ROW(&part, "a", "b")->hist), 2);
	ck_assert_uint_eq(ROW(&part, "a", "after")->calls, 1);
	ck_assert_uint_eq(ROW(&part, "a", "after")->min, 40);
	ck_assert(!ROW(&part, "a", "after")->bounds);
	/* It is there for those below alone. */
	ck_assert_uint_eq(ROW(&part, "a")->calls, 0);
	ck_assert_uint_eq(ROW(&part, "a")->wall, 0);
	ck_assert_ptr_null(ROW(&part, "before"));
	ck_assert_uint_eq(part.pairs, 3);
	/* What there was before is what it was. */
	ck_assert_uint_eq(ROW(&now, "a", "b")->calls, 3);
}
END_TEST

/* New records are exact, others are those of buckets. */
START_TEST(test_extremes)
{
	u32 a = segment_region(&seg, slot, 0, "a"), b = segment_region(&seg, slot, 0, "b");

	segment_call(&seg, a, 10, 0);
	segment_call(&seg, a, 100000, 0);
	segment_call(&seg, b, 500, 0);
	look(&before, slot, 0);
	segment_call(&seg, a, 1000, 0);
	segment_call(&seg, a, 2000, 0);
	segment_call(&seg, b, 20, 0);
	segment_call(&seg, b, 7000, 0);
	look(&now, slot, 0);
	difference();
	ck_assert(ROW(&part, "a")->bounds);
	ck_assert_uint_le(ROW(&part, "a")->min, 1000);
	ck_assert_uint_ge(ROW(&part, "a")->min, 1000 - 1000 / 32);
	ck_assert_uint_ge(ROW(&part, "a")->max, 2000);
	ck_assert_uint_le(ROW(&part, "a")->max, 2000 + 2000 / 32);
	ck_assert(!ROW(&part, "b")->bounds);
	ck_assert_uint_eq(ROW(&part, "b")->min, 20);
	ck_assert_uint_eq(ROW(&part, "b")->max, 7000);
}
END_TEST

/* Of a call that is open at an edge the time inside counts, whether it ends before the next one or not. */
START_TEST(test_open)
{
	u32 a = segment_region(&seg, slot, 0, "a"), b = segment_region(&seg, slot, a, "b");
	struct wire_lane *lane = segment_lane_of(&seg, slot, 0);

	segment_open(&seg, slot, a, 1000);
	segment_open(&seg, slot, b, 2000);
	look(&before, slot, 5000);
	lane->depth = 1;
	segment_call(&seg, b, 4000, 0);
	look(&now, slot, 8000);
	difference();
	ck_assert_uint_eq(ROW(&part, "a")->wall, 3000);
	ck_assert_uint_eq(ROW(&part, "a")->open, 1);
	ck_assert_uint_eq(ROW(&part, "a")->calls, 0);
	ck_assert_uint_eq(ROW(&part, "a")->crossed, 0);
	ck_assert_uint_eq(part.nopens, 1);
	/* From 5000 to its end at 6000. */
	ck_assert_uint_eq(ROW(&part, "a", "b")->wall, 1000);
	ck_assert_uint_eq(ROW(&part, "a", "b")->calls, 1);
	ck_assert_uint_eq(ROW(&part, "a", "b")->crossed, 1);
	ck_assert_uint_le(ROW(&part, "a", "b")->raw_wall, ROW(&part, "a", "b")->wall);
}
END_TEST

/* Two spans; open is what was so at the end of the last. */
START_TEST(test_spans)
{
	u32 a = segment_region(&seg, slot, 0, "a");
	struct wire_lane *lane = segment_lane_of(&seg, slot, 0);

	segment_open(&seg, slot, a, 1000);
	look(&now, slot, 3000);
	difference();
	ck_assert_uint_eq(ROW(&part, "a")->wall, 2000);
	look(&before, slot, 5000);
	lane->depth = 0;
	segment_call(&seg, a, 8000, 0);
	profile_fini(&now);
	profile_init(&now, PROFILE_BY_PROCESS);
	look(&now, slot, 20000);
	difference();
	ck_assert_uint_eq(ROW(&part, "a")->wall, 2000 + 4000);
	ck_assert_uint_eq(ROW(&part, "a")->open, 0);
	ck_assert_uint_eq(ROW(&part, "a")->calls, 1);
	ck_assert_uint_eq(part.nopens, 0);
	ck_assert_uint_eq(part.nthreads, 1);
}
END_TEST

START_TEST(test_others)
{
	u32 a = segment_region(&seg, slot, 0, "a"), queue, idle;

	((struct wire_node *)segment_at(&seg, a))->units = 10;
	segment_call(&seg, a, 10, 0);
	queue = segment_metric(&seg, slot, a, "queue", 2, 30, 10, 20, 20);
	idle = segment_metric(&seg, slot, a, "idle", 1, 5, 5, 5, 5);
	segment_diagnosis(&seg, slot, WIRE_DIAG_UNMATCHED, "x", 3);
	look(&before, slot, 0);
	((struct wire_node *)segment_at(&seg, a))->units = 25;
	((struct wire_node *)segment_at(&seg, queue))->calls = 3;
	((struct wire_node *)segment_at(&seg, queue))->wall = segment_bits(42);
	(void)idle;
	segment_diagnosis(&seg, slot, WIRE_DIAG_UNMATCHED, "y", 2);
	look(&now, slot, 0);
	difference();
	ck_assert_uint_eq(ROW(&part, "a")->units, 15);
	ck_assert_uint_eq(part.nvalues, 1);
	ck_assert_uint_eq(part.values[0].count, 1);
	ck_assert(part.values[0].sum == 12);
	ck_assert(part.values[0].bounds);
	ck_assert_uint_eq(part.ndiags, 1);
	ck_assert_uint_eq(part.diags[0].count, 2);
}
END_TEST

/* One thread more than have rows of their own: it joins the others between two looks. */
START_TEST(test_threads_most)
{
	u32 other = segment_slot(&seg, PID, 501);
	const char *const path[] = { "a" };
	u32 row;

	profile_fini(&before);
	profile_fini(&now);
	profile_fini(&part);
	profile_init(&before, PROFILE_BY_THREAD);
	profile_init(&now, PROFILE_BY_THREAD);
	profile_init(&part, PROFILE_BY_THREAD);
	now.threads_most = part.threads_most = 1;
	segment_call(&seg, segment_region(&seg, slot, 0, "a"), 10, 0);
	segment_call(&seg, segment_region(&seg, other, 0, "a"), 30, 0);
	look(&before, slot, 0);
	look(&before, other, 0);
	segment_call(&seg, segment_region(&seg, other, 0, "a"), 5, 0);
	look(&now, slot, 0);
	look(&now, other, 0);
	difference();
	row = profile_find_row(&part, SERIAL, 0, path, 1);
	if (row == PROFILE_NONE)
		row = profile_find_row(&part, SERIAL, 501, path, 1);
	ck_assert_uint_ne(row, PROFILE_NONE);
	ck_assert_uint_eq(part.rows[row].calls, 1);
	ck_assert_uint_eq(part.rows[row].wall, 5);
	ck_assert_uint_eq(profile_find_row(&part, SERIAL, PID, path, 1), PROFILE_NONE);
}
END_TEST

START_TEST(test_inside)
{
	u32 a = segment_region(&seg, slot, 0, "a"), b = segment_region(&seg, slot, a, "b");
	u32 c = segment_region(&seg, slot, b, "c"), bb = segment_region(&seg, slot, c, "b");
	u32 d = segment_region(&seg, slot, 0, "b"), semicolon = segment_region(&seg, slot, 0, "x;y");
	static const u64 left[] = { 4, 3, 2, 0 };
	char name[] = "b", path[] = "a;b", semicolons[] = "x;y", deep[] = "c;b", no_name[] = "z", no_path[] = "b;a";
	char *names[] = { name }, *paths[] = { path }, *odd[] = { semicolons, deep }, *none[] = { no_name, no_path };
	struct inside inside;
	u64 calls;

	segment_call(&seg, a, 1000, 0);
	segment_call(&seg, b, 500, 0);
	segment_call(&seg, c, 400, 0);
	segment_call(&seg, bb, 300, 0);
	segment_call(&seg, d, 50, 0);
	segment_call(&seg, semicolon, 5, 0);
	for (u32 i = 0; i < 4; i++) {
		look(&now, slot, 0);
		inside = (struct inside){ i == 0 ? names : i == 1 ? paths : i == 2 ? odd : none, i < 2 ? 1 : 2 };
		ck_assert_int_eq(inside_keep(&inside, &now, &calls), 0);
		ck_assert_uint_eq(calls, left[i]);
		ck_assert_uint_eq(now.pairs, calls);
		ck_assert(!ROW(&now, "a") || ROW(&now, "a")->calls == 0);
		ck_assert(!ROW(&now, "a") == (i == 3));
		ck_assert(!ROW(&now, "b") == (i != 0));
		ck_assert(!ROW(&now, "x;y") == (i != 2));
		if (i < 3)
			ck_assert_uint_eq(ROW(&now, "a", "b", "c", "b")->wall, 300);
		profile_fini(&now);
		profile_init(&now, PROFILE_BY_PROCESS);
	}
}
END_TEST

START_TEST(test_overlap)
{
	const struct span_fact spans[] = { { 10, 20 }, { 30, 40 }, { 50, UINT64_MAX } };

	ck_assert_uint_eq(spans_overlap(spans, 3, 0, 100), 70);
	ck_assert_uint_eq(spans_overlap(spans, 3, 15, 35), 10);
	ck_assert_uint_eq(spans_overlap(spans, 3, 20, 30), 0);
	ck_assert_uint_eq(spans_overlap(spans, 3, 60, 61), 1);
	ck_assert_uint_eq(spans_overlap(spans, 3, 35, 15), 0);
	ck_assert_uint_eq(spans_overlap(NULL, 0, 0, 100), 0);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("profile_difference");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_set_timeout(tests, 30);
	tcase_add_test(tests, test_calls);
	tcase_add_test(tests, test_extremes);
	tcase_add_test(tests, test_open);
	tcase_add_test(tests, test_spans);
	tcase_add_test(tests, test_others);
	tcase_add_test(tests, test_threads_most);
	tcase_add_test(tests, test_inside);
	tcase_add_test(tests, test_overlap);
	return suite_run("profile_difference", tests);
}
