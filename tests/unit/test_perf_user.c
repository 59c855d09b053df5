/* SPDX-License-Identifier: MIT */
/*
 * common/perf_user: what a reader makes of the user page, whatever the kernel does meanwhile. The page and the
 * counters are made up; the instruction that reads them is the real one, emulated. The kernel is played by the
 * emulated instruction, so in the middle of a reading, or by a second thread.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "common/perf_user.h"
#include "pmu_emulator.h"
#include "suite.h"

enum { COUNTERS = 32, READINGS = 100000 };

static struct perf_event_mmap_page page;
static u64 counters[COUNTERS];
/* How often the instruction was executed. */
static volatile u32 executed;
/* What the kernel does while that happens. */
static void (*kernel)(void);

static u64 random_state = 88172645463325252ULL;

static u64 random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static u64 counter_value(u32 index)
{
	u64 value = index < COUNTERS ? load_relaxed(&counters[index]) : 0xbad;

	executed++;
	if (kernel)
		kernel();
	return value;
}

static void setup(void)
{
	memset(&page, 0, sizeof(page));
	memset(counters, 0, sizeof(counters));
	page.cap_user_rdpmc = 1;
	page.pmc_width = 48;
	kernel = NULL;
	emulator_start(counter_value);
	executed = 0;
}

static void teardown(void)
{
	emulator_stop();
}

/* As perf_event_update_userpage() writes it; index: that of a counter, plus 1. */
static void page_update(u32 index, u64 offset)
{
	store_release(&page.lock, page.lock + 1);
	store_release(&page.index, index);
	store_release(&page.offset, (s64)offset);
	store_release(&page.lock, page.lock + 1);
}

static u64 count_read(void)
{
	u64 count = 0xbad;

	ck_assert(perf_user_read(&page, &count));
	return count;
}

static void assert_no_count(u32 most)
{
	u64 count = 0xbad;

	executed = 0;
	ck_assert(!perf_user_read(&page, &count));
	ck_assert_uint_eq(executed, most);
	ck_assert_uint_eq(count, 0xbad);
}

/* ---- without the instruction ------------------------------------------------------------------------- */

START_TEST(test_possible)
{
	ck_assert(perf_user_possible(&page));
	page.pmc_width = 64;
	ck_assert(perf_user_possible(&page));
	page.pmc_width = 65;
	ck_assert(!perf_user_possible(&page));
	page.pmc_width = 0;
	ck_assert(!perf_user_possible(&page));
	page.pmc_width = 48;
	page.cap_user_rdpmc = 0;
	ck_assert(!perf_user_possible(&page));
}
END_TEST

START_TEST(test_on_no_counter)
{
	static const u64 offsets[] = { 0, 1, ~0ULL, 1ULL << 63, (1ULL << 63) - 1, 0 - 12345ULL };

	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		page_update(0, offsets[i]);
		page.pmc_width = (u16)(i * 40);
		ck_assert_uint_eq(count_read(), offsets[i]);
	}
	ck_assert_uint_eq(executed, 0);
}
END_TEST

START_TEST(test_not_allowed)
{
	static const u16 widths[] = { 0, 65, 128, 65535 };

	page_update(1, 1000);
	page.cap_user_rdpmc = 0;
	assert_no_count(0);
	page.cap_user_rdpmc = 1;
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		page.pmc_width = widths[i];
		assert_no_count(0);
	}
}
END_TEST

/* Nobody is there who would ever make it even. */
START_TEST(test_odd_lock)
{
	struct perf_user_times times;

	page.lock = 7;
	assert_no_count(0);
	page.index = 1;
	assert_no_count(0);
	ck_assert(!perf_user_read_times(&page, true, &times));
	ck_assert(!perf_user_read_times(&page, false, &times));
}
END_TEST

/* ---- sums -------------------------------------------------------------------------------------------- */

/* By the definition of a two's complement number. */
static u64 count_expected(u64 offset, u64 value, u32 width)
{
	__int128 number = width < 64 ? (__int128)(value % (1ULL << width)) : (__int128)value;

	if (value >> (width - 1) & 1)
		number -= (__int128)1 << width;
	return (u64)((__int128)offset + number);
}

static void assert_sum(u64 offset, u64 value, u32 width)
{
	u32 counter = (u32)(random_u64() % COUNTERS);
	u64 got;

	counters[counter] = value;
	page.pmc_width = (u16)width;
	page_update(counter + 1, offset);
	got = count_read();
	if (got != count_expected(offset, value, width))
		ck_abort_msg("offset %#llx, counter %#llx of %u bits: %#llx", (unsigned long long)offset,
			(unsigned long long)value, width, (unsigned long long)got);
}

START_TEST(test_sums)
{
	static const u32 widths[] = { 1, 32, 40, 48, 63, 64 };
	static const u64 offsets[] = { 0, 1, ~0ULL, 1ULL << 63, (1ULL << 63) - 1, 1ULL << 47, 0 - (1ULL << 40) };

	for (size_t w = 0; w < ARRAY_SIZE(widths); w++)
		for (size_t o = 0; o < ARRAY_SIZE(offsets); o++) {
			u64 sign = 1ULL << (widths[w] - 1);
			u64 values[] = { 0, 1, sign - 1, sign, sign + 1, sign | (sign - 1), ~0ULL, random_u64() };

			for (size_t v = 0; v < ARRAY_SIZE(values); v++)
				assert_sum(offsets[o], values[v], widths[w]);
		}
	for (u32 i = 0; i < 1000; i++)
		assert_sum(random_u64(), random_u64(), 1 + (u32)(random_u64() % 64));
}
END_TEST

/* The kernel starts a counter below 0, so that it tells of its end by an interrupt. */
START_TEST(test_wrap)
{
	static const u32 widths[] = { 32, 40, 48, 64 };

	for (size_t w = 0; w < ARRAY_SIZE(widths); w++) {
		u64 most = ~0ULL >> (64 - widths[w]);
		u64 start = 5000;

		page.pmc_width = (u16)widths[w];
		/* What it has counted is 5000 so far. */
		page_update(3, start + 10);
		counters[2] = most - 9;
		ck_assert_uint_eq(count_read(), start);
		counters[2] = most;
		ck_assert_uint_eq(count_read(), start + 9);
		counters[2] = 0;
		ck_assert_uint_eq(count_read(), start + 10);
		counters[2] = most >> 1;
		ck_assert_uint_eq(count_read(), start + 10 + (most >> 1));
	}
}
END_TEST

/* ---- changes in the middle --------------------------------------------------------------------------- */

static u32 updates_left;

/* An update, while the value that was read before it is still on its way to the reader. */
static void kernel_moves_on(void)
{
	if (!updates_left)
		return;
	updates_left--;
	counters[page.index - 1] = 0 - 10ULL - executed;
	page_update(page.index, (u64)page.offset + 1000000);
}

START_TEST(test_updates_in_the_middle)
{
	static const u32 times[] = { 1, 2, 7, PERF_USER_TRIES - 1 };

	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		counters[4] = 77;
		page_update(5, 0);
		executed = 0;
		updates_left = times[i];
		kernel = kernel_moves_on;
		ck_assert_uint_eq(count_read(), times[i] * 1000000ULL - 10 - times[i]);
		ck_assert_uint_eq(executed, times[i] + 1);
	}
	updates_left = ~0u;
	assert_no_count(PERF_USER_TRIES);
}
END_TEST

static void kernel_stops_half_way(void)
{
	page.lock++;
	page.offset = 1;
}

START_TEST(test_half_an_update)
{
	page_update(1, 0);
	kernel = kernel_stops_half_way;
	assert_no_count(1);
}
END_TEST

/* To another counter; what the first one has from now on is another event's. */
static void kernel_migrates(void)
{
	kernel = NULL;
	counters[9] = 50;
	counters[2] = 0x7777777;
	page_update(10, 1234);
}

static void kernel_switches_out(void)
{
	kernel = NULL;
	page_update(0, 4321);
}

static void kernel_forbids(void)
{
	kernel = NULL;
	page.lock++;
	page.cap_user_rdpmc = 0;
	page.lock++;
}

START_TEST(test_migration)
{
	counters[2] = 1000;
	page_update(3, 284);
	kernel = kernel_migrates;
	ck_assert_uint_eq(count_read(), 1284);
	ck_assert_uint_eq(executed, 2);
	kernel = kernel_switches_out;
	ck_assert_uint_eq(count_read(), 4321);
	ck_assert_uint_eq(executed, 3);
	page_update(10, 1234);
	kernel = kernel_forbids;
	assert_no_count(1);
}
END_TEST

/* ---- times ------------------------------------------------------------------------------------------- */

/* cycles * mult >> shift in limbs of 32 bits, by halving. */
static u64 ns_expected(u64 cycles, u32 mult, u32 shift)
{
	u64 low = (cycles & 0xffffffff) * mult, high = (cycles >> 32) * mult + (low >> 32);

	low &= 0xffffffff;
	for (; shift; shift--) {
		low = (low | (high & 1) << 32) >> 1;
		high >>= 1;
	}
	return high << 32 | low;
}

/* A page whose conversion begins at that time and gives the same at any other. */
static void page_set_times(u32 index, u64 cycles, u32 mult, u32 shift)
{
	page.index = index;
	page.time_enabled = 5000000;
	page.time_running = 3000000;
	page.cap_user_time = page.cap_user_time_short = 1;
	page.time_cycles = cycles;
	page.time_mask = 0;
	page.time_mult = mult;
	page.time_shift = (u16)shift;
	page.time_offset = 0 - 987654321ULL;
}

/* now: 0 or 1 */
static void assert_times(bool now, u64 enabled, u64 running)
{
	struct perf_user_times times;

	ck_assert(perf_user_read_times(&page, now, &times));
	if (times.enabled != enabled || times.running != running)
		ck_abort_msg("shift %u, mult %u, index %u, now %d: %llu, %llu", page.time_shift, page.time_mult,
			page.index, now, (unsigned long long)(times.enabled - page.time_enabled),
			(unsigned long long)(times.running - page.time_running));
}

static void assert_conversion(u64 cycles, u32 mult, u32 shift)
{
	u64 delta = ns_expected(cycles, mult, shift) - 987654321;

	page_set_times(2, cycles, mult, shift);
	assert_times(true, 5000000 + delta, 3000000 + delta);
	assert_times(false, 5000000, 3000000);
	page.index = 0;
	/* Waiting goes on whether it is asked for or not; that it waits has to be seen even if no time has passed. */
	assert_times(true, 5000000 + (delta ? delta : 1), 3000000);
	assert_times(false, 5000000 + (delta ? delta : 1), 3000000);
}

START_TEST(test_times)
{
	static const u64 cycles[] = { 0, 1, 0xffffffff, 1ULL << 32, 1ULL << 63, ~0ULL, 123456789012345ULL };
	static const u32 mults[] = { 0, 1, 0x7fffffff, 0xffffffff, 1364125921 };

	for (u32 shift = 0; shift < 64; shift++) {
		for (size_t c = 0; c < ARRAY_SIZE(cycles); c++)
			for (size_t m = 0; m < ARRAY_SIZE(mults); m++)
				assert_conversion(cycles[c], mults[m], shift);
		assert_conversion(random_u64(), (u32)random_u64(), shift);
	}
	/* 1 GHz: as far as the offset. */
	assert_conversion(987654321, 1 << 10, 10);
	ck_assert_uint_eq(executed, 0);
}
END_TEST

START_TEST(test_times_without_conversion)
{
	static const u32 shifts[] = { 64, 100, 65535 };

	for (size_t i = 0; i <= ARRAY_SIZE(shifts); i++) {
		page_set_times(2, 1000, 1000, 10);
		if (i)
			page.time_shift = (u16)shifts[i - 1];
		else
			page.cap_user_time = 0;
		assert_times(true, 5000000, 3000000);
		assert_times(false, 5000000, 3000000);
		page.index = 0;
		assert_times(true, 5000001, 3000000);
		assert_times(false, 5000001, 3000000);
	}
}
END_TEST

/* The CPU's own clock: what is read lies between what follows from a look before and one after. */
static void assert_clock(u64 back, u64 lost)
{
	struct perf_user_times times;
	u64 before, after, delta;

	do {
		before = cpu_ticks();
		page.time_cycles = before - back;
		ck_assert(perf_user_read_times(&page, true, &times));
		after = cpu_ticks();
	} while (page.time_mask != ~0ULL && after - before > page.time_mask / 2);
	delta = times.enabled - page.time_enabled;
	ck_assert_uint_eq(times.running - page.time_running, delta);
	ck_assert_uint_le(ns_expected(before - lost, page.time_mult, page.time_shift) + page.time_offset, delta);
	ck_assert_uint_le(delta, ns_expected(after - lost, page.time_mult, page.time_shift) + page.time_offset);
}

START_TEST(test_times_by_the_clock)
{
	page_set_times(1, 0, 800000000, 31);
	page.time_offset = 1000000;
	page.time_mask = ~0ULL;
	for (u32 i = 0; i < 1000; i++) {
		page.cap_user_time_short = i % 2;
		assert_clock(1000, 0);
	}
	/* Of a short counter the turns that it took in between are lost. */
	page.cap_user_time_short = 1;
	page.time_mask = (1 << 20) - 1;
	for (u32 i = 0; i < 1000; i++)
		assert_clock(100 + 3 * (1 << 20), 3 * (1 << 20));
}
END_TEST

/* ---- a kernel on another CPU ------------------------------------------------------------------------- */

static u32 ended;
static u64 updates;

/* The sum is always the same, and any mixture of two updates gives another. */
#define SUM 123456789012345ULL

static void rest(u64 rounds)
{
	while (rounds--)
		barrier();
}

/* In bursts: between them a reading, which takes a signal, can come to its end. */
static void *count_updates(void *unused)
{
	u64 state = 362436069362436069ULL, value;
	u32 index;

	while (!load_acquire(&ended)) {
		for (u32 burst = 1 + (u32)(state >> 60); burst; burst--, fetch_add(&updates, 1)) {
			state = state * 6364136223846793005ULL + 1442695040888963407ULL;
			index = (u32)(state >> 33) % 8;
			value = state >> 16;
			store_release(&page.lock, page.lock + 1);
			store_release(&page.index, index + 1);
			store_release(&counters[index], value);
			store_release(&page.offset, (s64)(SUM - count_expected(0, value, 48)));
			store_release(&page.lock, page.lock + 1);
		}
		rest(state >> 40 & 0x3fff);
	}
	return unused;
}

static void *time_updates(void *unused)
{
	for (; !load_acquire(&ended); fetch_add(&updates, 1)) {
		store_release(&page.lock, page.lock + 1);
		store_release(&page.index, 1 + (u32)(updates & 1));
		store_release(&page.time_enabled, 3 * updates + 7);
		store_release(&page.time_mult, (u32)updates);
		store_release(&page.time_offset, 0 - (u64)(u32)updates * 1024);
		store_release(&page.time_running, updates);
		store_release(&page.lock, page.lock + 1);
	}
	return unused;
}

static bool count_holds(void)
{
	u64 count;

	if (!perf_user_read(&page, &count))
		return false;
	if (count != SUM)
		ck_abort_msg("torn: %llu", (unsigned long long)count);
	return true;
}

/* By the conversion, 1024 cycles are the offset: no time has passed. */
static bool times_hold(void)
{
	struct perf_user_times times;

	if (!perf_user_read_times(&page, random_u64() & 1, &times))
		return false;
	if (times.enabled != 3 * times.running + 7)
		ck_abort_msg("torn: %llu, %llu", (unsigned long long)times.enabled, (unsigned long long)times.running);
	return true;
}

/* A kernel that lost its CPU in the middle of an update leaves nothing to be read for as long. */
static void read_against(void *(*writer)(void *), bool (*holds)(void))
{
	pthread_t thread;
	u32 good = 0;

	ended = 0;
	updates = 0;
	ck_assert_int_eq(pthread_create(&thread, NULL, writer, NULL), 0);
	while (good < READINGS || load_relaxed(&updates) < READINGS)
		if (holds())
			good++;
		else
			sched_yield();
	store_release(&ended, 1);
	pthread_join(thread, NULL);
}

START_TEST(test_count_against_a_thread)
{
	page_update(1, SUM);
	read_against(count_updates, count_holds);
	ck_assert_uint_ge(executed, READINGS);
}
END_TEST

START_TEST(test_times_against_a_thread)
{
	page_set_times(1, 1024, 0, 0);
	page.time_offset = 0;
	page.time_enabled = 7;
	page.time_running = 0;
	read_against(time_updates, times_hold);
}
END_TEST

/* A case that says why the others of its kind are not there. */
START_TEST(test_nothing)
{
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("perf_user"), *skipped = NULL;

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, test_possible);
	tcase_add_test(tests, test_on_no_counter);
	tcase_add_test(tests, test_not_allowed);
	tcase_add_test(tests, test_odd_lock);
	tcase_add_test(tests, test_times);
	tcase_add_test(tests, test_times_without_conversion);
	tcase_add_test(tests, test_times_by_the_clock);
	tcase_add_test(tests, test_times_against_a_thread);
	if (emulator_start(counter_value)) {
		tcase_add_test(tests, test_sums);
		tcase_add_test(tests, test_wrap);
		tcase_add_test(tests, test_updates_in_the_middle);
		tcase_add_test(tests, test_half_an_update);
		tcase_add_test(tests, test_migration);
		tcase_add_test(tests, test_count_against_a_thread);
	} else {
		skipped = tcase_create("sums # SKIP emulator: the instruction that reads a counter does not fault here");
		tcase_add_test(skipped, test_nothing);
	}
	emulator_stop();
	return suite_run_with("perf_user", tests, skipped);
}
