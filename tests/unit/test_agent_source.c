/* SPDX-License-Identifier: MIT */
/* agent/source and agent/src_rusage: bracketed sources, their cells behind the nodes. */
#include "agent/source.h"

#include "agent_harness.h"
#include "suite.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BEGIN(name) region_name_begin(name)
#define END(name) region_name_end(name)
#define SOURCES (1u << SOURCE_rusage)

enum { MINFLT, MAJFLT, NVCSW, NIVCSW, UTIME, STIME, CELLS };

/* Faults that are not the test's own; sanitizers add theirs. */
static void assert_faults(const struct harness_totals *t, u64 least, u64 most)
{
	ck_assert_uint_ge(t->cells[MINFLT], least);
	if (!HARNESS_SANITIZED)
		ck_assert_uint_le(t->cells[MINFLT], most);
}

static void fault(u32 pages)
{
	char *p = mmap(NULL, pages * (size_t)WIRE_PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	madvise(p, pages * (size_t)WIRE_PAGE, MADV_NOHUGEPAGE);
	for (u32 i = 0; i < pages; i++)
		p[i * (size_t)WIRE_PAGE] = 1;
	munmap(p, pages * (size_t)WIRE_PAGE);
}

static void nap(void)
{
	struct timespec ts = { 0, 2000000 };

	nanosleep(&ts, NULL);
}

START_TEST(test_layout)
{
	ck_assert_uint_eq(agent.sources, SOURCES);
	ck_assert_uint_eq(agent.cells, CELLS);
	ck_assert_uint_eq(source_cells(SOURCES), CELLS);
	ck_assert_uint_eq(source_cells(0), 0);
	ck_assert_uint_eq(source_first_cell(SOURCES, SOURCE_rusage), 0);
	ck_assert_uint_eq(agent.stride, wire_node_stride(CELLS));
	ck_assert_uint_ge(agent.stride, sizeof(struct wire_node) + CELLS * sizeof(u64));
	ck_assert_str_eq(source_table[SOURCE_rusage].name, "rusage");
}
END_TEST

START_TEST(test_open_and_close)
{
	u64 cells[WIRE_CELLS];

	source_close_all();
	memset(cells, 0xee, sizeof(cells));
	source_read_all(cells);
	ck_assert_uint_eq(cells[0], 0xeeeeeeeeeeeeeeeeULL);
	ck_assert_uint_eq(source_open_all(0), 0);
	/* Bits that stand for no source are taken out. */
	ck_assert_uint_eq(source_open_all(~0u), (1u << SOURCE_COUNT) - 1);
	source_read_all(cells);
	ck_assert_uint_ne(cells[MINFLT], 0xeeeeeeeeeeeeeeeeULL);
	ck_assert_uint_eq(cells[source_cells(SOURCE_ALL)], 0xeeeeeeeeeeeeeeeeULL);
	source_close_all();
}
END_TEST

START_TEST(test_monotonous)
{
	u64 a[WIRE_CELLS] = { 0 }, b[WIRE_CELLS];

	for (u32 i = 0; i < 50; i++) {
		fault(8);
		source_read_all(b);
		for (u32 c = 0; c < CELLS; c++)
			ck_assert_uint_ge(b[c], a[c]);
		memcpy(a, b, sizeof(a));
	}
}
END_TEST

START_TEST(test_bracket)
{
	struct harness_totals t;

	BEGIN("warm");
	END("warm");
	for (u32 i = 0; i < 3; i++) {
		BEGIN("faults");
		fault(100);
		END("faults");
		BEGIN("naps");
		nap();
		END("naps");
	}
	t = harness_region("faults");
	ck_assert_uint_eq(t.calls, 3);
	assert_faults(&t, 300, 600);
	t = harness_region("naps");
	ck_assert_uint_ge(t.cells[NVCSW], 3);
	assert_faults(&t, 0, 100);
	ck_assert_uint_lt(t.cells[UTIME] + t.cells[STIME], 1000 * NSEC_PER_MSEC);
}
END_TEST

/* Inclusive, level by level; a recursion's levels have cells of their own. */
START_TEST(test_nested)
{
	struct harness_totals a, b, c;

	BEGIN("a");
	fault(50);
	BEGIN("b");
	fault(70);
	BEGIN("b");
	fault(90);
	END("b");
	END("b");
	END("a");
	a = harness_region("a");
	b = harness_region("a;b");
	c = harness_region("a;b;b");
	assert_faults(&c, 90, 200);
	assert_faults(&b, c.cells[MINFLT] + 70, 300);
	assert_faults(&a, b.cells[MINFLT] + 50, 400);
}
END_TEST

/* Frames move down when one below them ends; their readings with them. */
START_TEST(test_overlap)
{
	struct harness_totals a, b;

	BEGIN("a");
	fault(100);
	BEGIN("b");
	fault(200);
	END("a");
	fault(400);
	END("b");
	a = harness_region("a");
	b = harness_region("a;b");
	assert_faults(&a, 300, 500);
	assert_faults(&b, 600, 700);
}
END_TEST

static void naps(u32 index)
{
	BEGIN("thread");
	for (u32 i = 0; i <= index; i++)
		nap();
	END("thread");
}

/* Readings are the thread's own. */
START_TEST(test_threads)
{
	BEGIN("waiting");
	harness_threads(4, naps);
	END("waiting");
	ck_assert_uint_eq(harness_region("thread").calls, 4);
	ck_assert_uint_ge(harness_region("thread").cells[NVCSW], 1 + 2 + 3 + 4);
	ck_assert_uint_lt(harness_region("waiting").cells[NVCSW], 50);
}
END_TEST

START_TEST(test_calibrated)
{
	BEGIN("a");
	END("a");
	ck_assert(agent.calibrated);
	/* Reading twice switches and faults nothing. */
	ck_assert_uint_eq(harness_process()->source_cost[NVCSW], 0);
	ck_assert_uint_eq(harness_process()->source_cost[MINFLT], 0);
}
END_TEST

/* The sandbox comes within a bracket: what cannot be read any more is absent, not 0. */
START_TEST(test_sealed_within)
{
	struct harness_totals t;

	BEGIN("a");
	fault(10);
	BEGIN("b");
	agent.sealed = true;
	END("b");
	END("a");
	BEGIN("c");
	END("c");
	for (u32 c = 0; c < CELLS; c++) {
		t = harness_region("a");
		ck_assert_uint_eq(t.cells[c], WIRE_ABSENT(WIRE_ABSENT_SEALED));
		t = harness_region("a;b");
		ck_assert_uint_eq(t.cells[c], WIRE_ABSENT(WIRE_ABSENT_SEALED));
		ck_assert_uint_eq(harness_region("c").cells[c], WIRE_ABSENT(WIRE_ABSENT_SEALED));
	}
}
END_TEST

static void *many_markers(void *unused)
{
	for (u32 i = 0; i < 500; i++) {
		BEGIN("late");
		END("late");
	}
	harness_thread_ends();
	return unused;
}

/*
 * A new thread in a sealed process gets no memory for its readings: it must not take a slot at
 * each marker.
 */
START_TEST(test_sealed_thread)
{
	u64 lost = harness_loss(WIRE_LOSS_SLOTS);
	pthread_t thread;

	BEGIN("a");
	END("a");
	harness_fresh_chunk();
	agent.sealed = true;
	ck_assert_int_eq(pthread_create(&thread, NULL, many_markers, NULL), 0);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(harness_region("late").calls * 2 + harness_loss(WIRE_LOSS_SLOTS) - lost,
			  1000);
	ck_assert_uint_le(harness_slots(), 2);
}
END_TEST

int main(int argc, char **argv)
{
	TCase *t = tcase_create("source");

	(void)argc;
	harness_start(argv, 0, SOURCES);
	tcase_add_checked_fixture(t, harness_setup, NULL);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_layout);
	tcase_add_test(t, test_open_and_close);
	tcase_add_test(t, test_monotonous);
	tcase_add_test(t, test_bracket);
	tcase_add_test(t, test_nested);
	tcase_add_test(t, test_overlap);
	tcase_add_test(t, test_threads);
	tcase_add_test(t, test_calibrated);
	tcase_add_test(t, test_sealed_within);
	tcase_add_test(t, test_sealed_thread);
	return suite_run("agent source", t);
}
