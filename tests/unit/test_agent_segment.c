/* SPDX-License-Identifier: MIT */
/*
 * agent/segment: shared memory is handed out once, to its end and no further; private memory and
 * fork.
 */
#include "agent_harness.h"
#include "suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define THREADS 8u
#define PIECES 500u
#define UNITS_OF_CHUNK (WIRE_CHUNK / WIRE_UNIT)

static u32 pieces[THREADS * PIECES];

static int compare_refs(const void *a, const void *b)
{
	const u32 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void assert_apart(u32 bytes)
{
	qsort(pieces, ARRAY_SIZE(pieces), sizeof(*pieces), compare_refs);
	for (u32 i = 1; i < ARRAY_SIZE(pieces); i++)
		ck_assert_uint_ge(pieces[i] - pieces[i - 1], bytes / WIRE_UNIT);
}

static void take(u32 index)
{
	for (u32 i = 0; i < PIECES; i++) {
		u32 ref = segment_alloc(3 * WIRE_PAGE);
		u32 *p = ref ? segment_ptr(ref) : NULL;

		pieces[index * PIECES + i] = ref;
		if (p)
			p[0] = p[3 * WIRE_PAGE / sizeof(*p) - 1] = ref;
	}
}

/* From several threads, over many chunks: each piece in one chunk, apart, and kept. */
START_TEST(test_alloc)
{
	harness_threads(THREADS, take);
	for (u32 i = 0; i < ARRAY_SIZE(pieces); i++) {
		const u32 *p = segment_ptr(pieces[i]);
		u32 last = pieces[i] + 3 * WIRE_PAGE / WIRE_UNIT - 1;

		ck_assert_uint_ne(pieces[i], 0);
		ck_assert_uint_eq(pieces[i] / UNITS_OF_CHUNK, last / UNITS_OF_CHUNK);
		ck_assert_uint_eq(p[0], pieces[i]);
		ck_assert_uint_eq(p[3 * WIRE_PAGE / sizeof(*p) - 1], pieces[i]);
		ck_assert_uint_eq(*(const u32 *)(harness_view().base + (u64)pieces[i] * WIRE_UNIT),
				  pieces[i]);
	}
	assert_apart(3 * WIRE_PAGE);
}
END_TEST

static void take_records(u32 index)
{
	for (u32 i = 0; i < PIECES; i++) {
		pieces[index * PIECES + i] = name_record(264);
		memset(segment_ptr(pieces[index * PIECES + i]), (int)index + 1, 264);
	}
}

/* Small records share pages, and none crosses one's end. */
START_TEST(test_records)
{
	u64 used = agent.header->used;

	harness_threads(THREADS, take_records);
	assert_apart(320);
	for (u32 i = 0; i < ARRAY_SIZE(pieces); i++) {
		const u8 *p = segment_ptr(pieces[i]);

		ck_assert_uint_le((u64)pieces[i] * WIRE_UNIT % WIRE_PAGE + 264, WIRE_PAGE);
		ck_assert_mem_eq(p, p + 132, 132);
	}
	/* 12 to a page; at most a page a thread is lost to a race at each page's end. */
	ck_assert_uint_lt(agent.header->used - used, 8 * WIRE_PAGE * (ARRAY_SIZE(pieces) / 12 + 2));
}
END_TEST

/* A ref that another process handed out: in a chunk that is not mapped here. */
START_TEST(test_map_ref)
{
	u32 ref = 40 * UNITS_OF_CHUNK + 5;
	u64 *p = segment_ptr(ref);

	ck_assert_ptr_eq(p, segment_chunks[40] + 5 * WIRE_UNIT);
	*p = 4711;
	ck_assert_uint_eq(*(const u64 *)(harness_view().base + (u64)ref * WIRE_UNIT), 4711);
	for (u32 i = 0; i <= 40; i++)
		ck_assert_ptr_nonnull(segment_chunks[i]);
	ck_assert_ptr_null(segment_chunks[41]);
}
END_TEST

/* Sealed: what is not mapped cannot be had, and a ref leads to memory that does no harm. */
START_TEST(test_sealed)
{
	u64 *p;

	agent.sealed = true;
	ck_assert_ptr_null(segment_private(WIRE_PAGE, PRIVATE_INHERITED));
	ck_assert_ptr_null(segment_private(WIRE_PAGE, PRIVATE_WIPED));
	p = segment_ptr(300 * UNITS_OF_CHUNK + UNITS_OF_CHUNK - 1);
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(*p, 0);
	ck_assert_ptr_null(segment_chunks[300]);
	store_relaxed(&agent.header->used, 200ULL * WIRE_CHUNK);
	ck_assert_uint_eq(segment_alloc(WIRE_PAGE), 0);
}
END_TEST

/* No address space for a further chunk. */
START_TEST(test_no_address_space)
{
	struct rlimit limit = { 1 << 20, 1 << 20 };
	u64 used = agent.header->used;

	store_relaxed(&agent.header->used, 120ULL * WIRE_CHUNK);
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
	ck_assert_uint_eq(segment_alloc(WIRE_PAGE), 0);
	ck_assert_ptr_null(segment_private(1 << 20, PRIVATE_INHERITED));
	store_relaxed(&agent.header->used, used);
}
END_TEST

static void read_wiped(void *p)
{
	_exit(*(u8 *)p);
}

static void look_for(void *p)
{
	unsigned char resident;

	_exit(mincore(p, WIRE_PAGE, &resident) && errno == ENOMEM ? 0 : 1);
}

START_TEST(test_private_fork)
{
	u8 *kept = segment_private(WIRE_PAGE, PRIVATE_INHERITED);
	u8 *wiped = segment_private(WIRE_PAGE, PRIVATE_WIPED);
	u8 *absent = segment_private(WIRE_PAGE, PRIVATE_ABSENT);

	ck_assert_uint_eq(kept[0] | wiped[0] | absent[0], 0);
	kept[0] = wiped[0] = absent[0] = 9;
	ck_assert_int_eq(harness_fork(read_wiped, kept), 9 << 8);
	ck_assert_int_eq(harness_fork(read_wiped, wiped), 0);
	ck_assert_int_eq(harness_fork(look_for, absent), 0);
	ck_assert_uint_eq(wiped[0], 9);
	segment_private_drop(kept, WIRE_PAGE);
	segment_private_drop(wiped, WIRE_PAGE);
	segment_private_drop(absent, WIRE_PAGE);
}
END_TEST

/* The last of all: afterwards there is nothing left to be had. */
START_TEST(test_exhausted)
{
	u32 n = 0, ref, last = 0;

	store_relaxed(&agent.header->used, (u64)WIRE_SEGMENT_SIZE - 10 * WIRE_PAGE);
	while ((ref = segment_alloc(3 * WIRE_PAGE))) {
		last = ref;
		n++;
		ck_assert_uint_le((u64)ref * WIRE_UNIT + 3 * WIRE_PAGE, WIRE_SEGMENT_SIZE);
		memset(segment_ptr(ref), 1, 3 * WIRE_PAGE);
	}
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_ne(last, 0);
	/* What is too large takes nothing from what is not. */
	ck_assert_uint_ne(segment_alloc(WIRE_PAGE), 0);
	for (u32 i = 0; i < 1000; i++)
		ck_assert_uint_eq(segment_alloc(WIRE_PAGE), 0);
	ck_assert_uint_le(agent.header->used, WIRE_SEGMENT_SIZE);
	/* Records go on in the page that is open, then end. */
	for (u32 i = 0; i < 100; i++)
		ref = name_record(264);
	ck_assert_uint_eq(ref, 0);
}
END_TEST

/* A thread that comes too late is counted, marker by marker, and takes nothing with it. */
START_TEST(test_exhausted_markers)
{
	u64 lost = harness_loss(WIRE_LOSS_SLOTS);

	store_relaxed(&agent.header->used, (u64)WIRE_SEGMENT_SIZE);
	for (u32 i = 0; i < 50; i++) {
		region_name_begin("too late");
		region_name_end("too late");
	}
	ck_assert_uint_eq(harness_slots(), 0);
	/* Not even a process record may be there: then all is silent. */
	if (harness_process())
		ck_assert_uint_eq(harness_loss(WIRE_LOSS_SLOTS) - lost, 100);
}
END_TEST

int main(int argc, char **argv)
{
	TCase *t = tcase_create("segment");

	(void)argc;
	harness_start(argv, 0, 0);
	tcase_add_checked_fixture(t, harness_setup, NULL);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_alloc);
	tcase_add_test(t, test_records);
	tcase_add_test(t, test_private_fork);
	tcase_add_test(t, test_map_ref);
	if (!HARNESS_SANITIZED)
		tcase_add_test(t, test_no_address_space);
	tcase_add_test(t, test_sealed);
	tcase_add_test(t, test_exhausted);
	tcase_add_test(t, test_exhausted_markers);
	return suite_run("agent segment", t);
}
