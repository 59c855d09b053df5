/* SPDX-License-Identifier: MIT */
/* cli/analyze/calls and cli/session/probe_ring: entries and returns, out of order over CPUs, become regions. */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/calls.h"
#include "cli/session/probe_ring.h"
#include "suite.h"

enum { F, G, H };

#define TREE 100u                  /* its pids are from here on */

static const char *const names[] = { "f", "g", "h" };
static const char *const paths[] = { "/bin/app", "/bin/app", "/lib/libh.so" };
static u64 brackets[3], paired[3];
static bool met[3];
static struct profile profile;
static struct calls calls;
static u64 now;

static u32 process_of(void *context, u32 pid, u64 ns)
{
	(void)context;
	(void)ns;
	return pid >= TREE ? pid - TREE + 1 : 0;
}

static void setup(void)
{
	profile_init(&profile, PROFILE_BY_PROCESS);
	memset(brackets, 0, sizeof(brackets));
	memset(paired, 0, sizeof(paired));
	memset(met, 0, sizeof(met));
	calls = (struct calls){
		.profile = &profile, .names = names, .nfunctions = 3, .process = process_of, .ticks_per_ns = 2,
		.bracket_ns = brackets, .paired = paired, .paths = paths, .met = met,
	};
	now = 1000;
}

static void teardown(void)
{
	calls_free(&calls);
	profile_fini(&profile);
}

static struct calls_at at(u32 tid, u64 sp)
{
	return (struct calls_at){ .pid = TREE, .tid = tid, .ns = now += 10, .sp = sp };
}

static void enter(u32 tid, u64 sp, u32 function)
{
	struct calls_at a = at(tid, sp);

	calls_enter(&calls, &a, function);
}

static void leave(u32 tid, u64 sp, u32 function)
{
	struct calls_at a = at(tid, sp);

	calls_return(&calls, &a, function);
}

/* The row of a path of functions of one letter; a row that lacks is one of zeros. */
static struct profile_row row_of(u32 process, const char *path)
{
	u32 row = profile_find_row(&profile, process, 0, (const char *const[]){ CALLS_ROOT }, 1);

	for (; row != PROFILE_NONE && *path; path++)
		row = profile_find_child(&profile, row, path, 1);
	return row == PROFILE_NONE ? (struct profile_row){ .calls = 0 } : profile.rows[row];
}

static u64 diagnosed(u32 kind, const char *name)
{
	u64 n = 0;

	for (u32 i = 0; i < profile.ndiags; i++)
		if (profile.diags[i].kind == kind && !strcmp(profile.names[profile.diags[i].name].bytes, name))
			n += profile.diags[i].count;
	return n;
}

START_TEST(test_nested)
{
	struct profile_row inner;

	enter(TREE, 900, F);
	enter(TREE, 800, G);
	leave(TREE, 800, G);
	enter(TREE, 800, G);
	leave(TREE, 800, G);
	leave(TREE, 900, F);
	calls_close(&calls, now);
	ck_assert_uint_eq(row_of(1, "f").calls, 1);
	ck_assert_uint_eq(row_of(1, "f").wall, 2 * 50);
	inner = row_of(1, "fg");
	ck_assert_uint_eq(inner.calls, 2);
	ck_assert_uint_eq(inner.wall, 2 * 20);
	ck_assert_uint_eq(inner.min, 20);
	ck_assert_uint_eq(hist_total(&inner.hist), 2);
	ck_assert_uint_eq(row_of(1, "").calls, 1);
	ck_assert_uint_eq(row_of(1, "").wall, 100);
	ck_assert_int_eq(row_of(1, "fg").cpu_state, CELL_UNAVAILABLE);
	ck_assert_uint_eq(paired[G], 2);
	ck_assert_uint_eq(profile.ndiags, 0);
}
END_TEST

/* Where each comes from is told once, and once for the row around them. */
START_TEST(test_origin)
{
	for (u32 i = 0; i < 3; i++) {
		enter(TREE, 900, H);
		leave(TREE, 900, H);
	}
	ck_assert_uint_eq(profile.norigins, 2);
	ck_assert_uint_eq(profile.origins[0].kind, WIRE_ORIGIN_PROBED);
	ck_assert_uint_eq(profile.origins[0].library, PROFILE_NONE);
	ck_assert_str_eq(profile.names[profile.origins[1].name].bytes, "h");
	ck_assert_str_eq(profile.names[profile.origins[1].library].bytes, paths[H]);
	ck_assert_uint_eq(profile.origins[1].caller, PROFILE_NONE);
}
END_TEST

START_TEST(test_bracket)
{
	brackets[F] = 4;
	brackets[G] = 1000;
	enter(TREE, 900, F);
	leave(TREE, 900, F);
	enter(TREE, 900, G);
	leave(TREE, 900, G);
	ck_assert_uint_eq(row_of(1, "f").wall, 2 * 6);
	ck_assert_uint_eq(row_of(1, "f").raw_wall, 2 * 10);
	ck_assert(row_of(1, "f").bracket == 8);
	ck_assert_uint_eq(row_of(1, "g").wall, 0);
}
END_TEST

START_TEST(test_recursion)
{
	for (u64 sp = 900; sp >= 600; sp -= 100)
		enter(TREE, sp, F);
	for (u64 sp = 600; sp <= 900; sp += 100)
		leave(TREE, sp, F);
	ck_assert_uint_eq(row_of(1, "f").calls, 1);
	ck_assert_uint_eq(row_of(1, "ffff").calls, 1);
	ck_assert_uint_eq(row_of(1, "ffff").wall, 2 * 10);
	ck_assert_uint_eq(paired[F], 4);
}
END_TEST

/* One that ends by a jump to another: both have the same place on the stack, and both returns come. */
START_TEST(test_tail_call)
{
	for (u32 i = 0; i < 3; i++) {
		enter(TREE, 900, F);
		enter(TREE, 900, G);
		leave(TREE, 900, G);
		leave(TREE, 900, F);
	}
	calls_close(&calls, now);
	ck_assert_uint_eq(row_of(1, "f").calls, 3);
	ck_assert_uint_eq(row_of(1, "fg").calls, 3);
	ck_assert_uint_eq(profile.ndiags, 0);
}
END_TEST

START_TEST(test_longjmp)
{
	enter(TREE, 900, F);
	/* Left from two deep, again and again in the same place. */
	for (u32 i = 0; i < 5000; i++) {
		enter(TREE, 800, G);
		enter(TREE, 700, H);
	}
	leave(TREE, 900, F);
	calls_close(&calls, now);
	ck_assert_uint_eq(row_of(1, "f").calls, 1);
	ck_assert_uint_eq(row_of(1, "fg").calls, 0);
	ck_assert_uint_eq(row_of(1, "fgh").calls, 0);
	ck_assert_uint_eq(row_of(1, "fgg").calls + row_of(1, "fghg").calls, 0);
	ck_assert_uint_eq(diagnosed(WIRE_DIAG_SKIPPED, "g"), 5000);
	ck_assert_uint_eq(diagnosed(WIRE_DIAG_SKIPPED, "h"), 5000);
	ck_assert_uint_eq(row_of(1, "f").open, 0);
}
END_TEST

/* What used the place of one that was left is not in it for long. */
START_TEST(test_place_again)
{
	enter(TREE, 800, G);
	enter(TREE, 800, F);
	leave(TREE, 800, F);
	enter(TREE, 800, H);
	leave(TREE, 800, H);
	calls_close(&calls, now);
	ck_assert_uint_eq(row_of(1, "gf").calls, 1);
	ck_assert_uint_eq(row_of(1, "h").calls, 1);
	ck_assert_uint_eq(diagnosed(WIRE_DIAG_SKIPPED, "g"), 1);
	ck_assert_uint_eq(profile.nopens, 0);
}
END_TEST

/* Returns that the kernel does not catch, deep in a recursion. */
START_TEST(test_deep)
{
	for (u64 n = 0; n < 3000; n++)
		enter(TREE, 1000000 - 64 * n, F);
	for (u64 n = 64; n--;)
		leave(TREE, 1000000 - 64 * n, F);
	enter(TREE, 1000000, G);
	leave(TREE, 1000000, G);
	calls_close(&calls, now);
	ck_assert_uint_eq(paired[F] + diagnosed(WIRE_DIAG_SKIPPED, "f"), 3000);
	ck_assert_uint_eq(row_of(1, "g").calls, 1);
}
END_TEST

/* Another stack lies higher: what runs there is no sign that calls here are over. */
START_TEST(test_stacks)
{
	enter(TREE, 900, F);
	enter(TREE, 1u << 30, G);
	leave(TREE, 900, F);
	leave(TREE, 1u << 30, G);
	ck_assert_uint_eq(row_of(1, "f").calls, 1);
	ck_assert_uint_eq(row_of(1, "fg").calls, 1);
}
END_TEST

START_TEST(test_threads)
{
	enter(TREE, 900, F);
	enter(TREE + 1, 900, G);
	leave(TREE, 900, F);
	enter(TREE + 1, 800, F);
	leave(TREE + 1, 800, F);
	/* The thread ends with a call open, the process with another one. */
	calls_end(&calls, &(struct calls_at){ TREE, TREE + 1, now += 10, 0 });
	enter(TREE, 900, H);
	calls_close(&calls, now + 10);
	ck_assert_uint_eq(row_of(1, "f").calls, 1);
	ck_assert_uint_eq(row_of(1, "gf").calls, 1);
	ck_assert_uint_eq(row_of(1, "g").left, 1);
	ck_assert_uint_eq(diagnosed(WIRE_DIAG_THREAD_END, "g"), 1);
	ck_assert_uint_eq(row_of(1, "h").open, 1);
	ck_assert_uint_eq(row_of(1, "h").wall, 2 * 10);
	ck_assert_uint_eq(row_of(1, "").open, 1);
	ck_assert_uint_eq(profile.nopens, 1);
}
END_TEST

START_TEST(test_strangers)
{
	struct calls_at other = { .pid = 5, .tid = 5, .ns = 1, .sp = 900 };

	calls_enter(&calls, &other, F);
	calls_return(&calls, &other, F);
	leave(TREE, 900, G);
	calls_close(&calls, now);
	ck_assert_uint_eq(paired[F], 0);
	ck_assert_uint_eq(diagnosed(WIRE_DIAG_UNMATCHED, "g"), 1);
	ck_assert_uint_eq(diagnosed(WIRE_DIAG_UNMATCHED, "f"), 0);
}
END_TEST

/* A child returns from what its parent entered: that is no call of the child's. */
START_TEST(test_fork)
{
	struct calls_at child = { .pid = TREE + 1, .tid = TREE + 1, .sp = 700 };

	enter(TREE, 900, F);
	child.ns = now;
	calls_fork(&calls, &child, TREE, TREE);
	calls_enter(&calls, &child, G);
	child.ns += 5;
	calls_return(&calls, &child, G);
	child.sp = 900;
	calls_return(&calls, &child, F);
	leave(TREE, 900, F);
	calls_close(&calls, now);
	ck_assert_uint_eq(row_of(1, "f").calls, 1);
	ck_assert_uint_eq(row_of(2, "f").calls, 0);
	ck_assert_uint_eq(row_of(2, "g").calls, 1);
	ck_assert_uint_eq(row_of(2, "").calls, 1);
	ck_assert_uint_eq(profile.ndiags, 0);
}
END_TEST

START_TEST(test_by_thread)
{
	profile.group = PROFILE_BY_THREAD;
	enter(TREE, 900, F);
	leave(TREE, 900, F);
	enter(TREE + 7, 900, F);
	leave(TREE + 7, 900, F);
	profile_root(&profile, 1, TREE, TREE);
	calls_close(&calls, now);
	ck_assert_uint_eq(profile.nthreads, 2);
	ck_assert_uint_eq(profile.threads[0].process, 1);
	ck_assert_uint_eq(profile.threads[0].tid + profile.threads[1].tid, 2 * TREE + 7);
}
END_TEST

/* ---- rings ----------------------------------------------------------------------------------------- */

#define RING_BYTES 512u

static struct {
	struct perf_event_mmap_page page;
	u64 data[RING_BYTES / 8];
} pages[2];
static struct ring rings[2];

static void rings_setup(void)
{
	for (u32 i = 0; i < 2; i++) {
		memset(&pages[i], 0, sizeof(pages[i]));
		pages[i].page.data_offset = offsetof(__typeof__(pages[i]), data);
		pages[i].page.data_size = RING_BYTES;
		rings[i] = (struct ring){ .cpu = i, .page = &pages[i].page };
	}
}

/* Words of a record at the ring's head, which wraps. */
static void put(u32 ring, u32 type, u32 misc, const u64 *words, u32 n)
{
	u64 head = pages[ring].page.data_head / 8;

	pages[ring].data[head++ % (RING_BYTES / 8)] = type | (u64)misc << 32 | (u64)(8 + 8 * n) << 48;
	for (u32 i = 0; i < n; i++)
		pages[ring].data[head++ % (RING_BYTES / 8)] = words[i];
	pages[ring].page.data_head = head * 8;
}

static void put_sample(u32 ring, u64 ns, u64 id, u64 sp)
{
	put(ring, PERF_RECORD_SAMPLE, 0, (u64[]){ TREE | (u64)TREE << 32, ns, id, sp ? 2 : 0, sp }, sp ? 5 : 4);
}

static struct probe_record taken[64];
static u32 ntaken;

static void take(void *context, const struct probe_record *r)
{
	(void)context;
	taken[ntaken++] = *r;
}

static void take_until(u64 ns)
{
	ntaken = 0;
	probe_rings_read(rings, 2, ns, take, NULL);
}

START_TEST(test_merge)
{
	put_sample(0, 10, 1, 900);
	put_sample(0, 40, 4, 900);
	put_sample(1, 20, 2, 800);
	put_sample(1, 30, 3, 0);
	put_sample(1, 50, 5, 900);
	take_until(45);
	ck_assert_uint_eq(ntaken, 4);
	for (u32 i = 0; i < 4; i++) {
		ck_assert_uint_eq(taken[i].id, i + 1);
		ck_assert_uint_eq(taken[i].time_ns, 10 * (i + 1));
		ck_assert_uint_eq(taken[i].tid, TREE);
	}
	ck_assert_uint_eq(taken[1].sp, 800);
	ck_assert_uint_eq(taken[2].abi, 0);
	/* The last one waited, and the room of the others is free. */
	ck_assert_uint_eq(pages[0].page.data_tail, pages[0].page.data_head);
	take_until(60);
	ck_assert_uint_eq(ntaken, 1);
	ck_assert_uint_eq(taken[0].id, 5);
	for (u32 round = 0; round < 20; round++) {
		put_sample(0, 100 + round, round, 900);
		take_until(1000);
		ck_assert_uint_eq(ntaken, 1);
		ck_assert_uint_eq(taken[0].id, round);
	}
}
END_TEST

START_TEST(test_records)
{
	const u64 trailer[] = { 7 | 8ull << 32, 33, 9 };

	put(0, PERF_RECORD_FORK, 0, (u64[]){ 7 | 5ull << 32, 8 | 6ull << 32, 33, trailer[0], 33, 9 }, 6);
	put(0, PERF_RECORD_LOST, 0, (u64[]){ 9, 12, trailer[0], 34, 9 }, 5);
	put(0, PERF_RECORD_COMM, 0, (u64[]){ 7 | 8ull << 32, 0x41, trailer[0], 35, 9 }, 5);
	put(0, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, (u64[]){ 7 | 8ull << 32, 0x41, trailer[0], 36, 9 }, 5);
	put(0, PERF_RECORD_EXIT, 0, (u64[]){ 7 | 5ull << 32, 8 | 6ull << 32, 37, trailer[0], 37, 9 }, 6);
	/* Cut short, and of no kind that is known. */
	put(0, PERF_RECORD_EXIT, 0, trailer, 3);
	put(0, PERF_RECORD_SAMPLE, 0, trailer, 3);
	put(0, PERF_RECORD_AUX, 0, trailer, 3);
	take_until(100);
	ck_assert_uint_eq(ntaken, 4);
	ck_assert_uint_eq(taken[0].type, PERF_RECORD_FORK);
	ck_assert_uint_eq(taken[0].pid, 7);
	ck_assert_uint_eq(taken[0].tid, 8);
	ck_assert_uint_eq(taken[0].parent_pid, 5);
	ck_assert_uint_eq(taken[0].parent_tid, 6);
	ck_assert_uint_eq(taken[1].lost, 12);
	ck_assert_uint_eq(taken[2].type, PERF_RECORD_COMM);
	ck_assert_uint_eq(taken[2].time_ns, 36);
	ck_assert_uint_eq(taken[3].type, PERF_RECORD_EXIT);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("calls");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_checked_fixture(tests, rings_setup, NULL);
	tcase_add_test(tests, test_nested);
	tcase_add_test(tests, test_origin);
	tcase_add_test(tests, test_bracket);
	tcase_add_test(tests, test_recursion);
	tcase_add_test(tests, test_tail_call);
	tcase_add_test(tests, test_longjmp);
	tcase_add_test(tests, test_place_again);
	tcase_add_test(tests, test_deep);
	tcase_add_test(tests, test_stacks);
	tcase_add_test(tests, test_threads);
	tcase_add_test(tests, test_strangers);
	tcase_add_test(tests, test_fork);
	tcase_add_test(tests, test_by_thread);
	tcase_add_test(tests, test_merge);
	tcase_add_test(tests, test_records);
	return suite_run("calls", tests);
}
