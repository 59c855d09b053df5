/* SPDX-License-Identifier: MIT */
/*
 * The reader of user pages, with pages of any content that change while they are read. Every reading ends,
 * and of a page that keeps still it gives what the page says.
 *
 * An input is one byte, the page's first bytes, and steps: the emulated instruction, which is executed
 * between the reader's looks at the page, takes them as far as the next that is marked as the last of an update.
 */
#include <stdlib.h>
#include <string.h>

#include "common/perf_user.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/pmu_emulator.h"

#define HEAD (offsetof(struct perf_event_mmap_page, time_mask) + sizeof(u64))
#define STEP sizeof(struct step)
#define STEPS_MOST 64u
#define ROOM (1 + HEAD + STEPS_MOST * STEP)
/* In the first byte: the steps begin again at their end. Rarely, since such a reading is one of all tries. */
#define FOR_EVER 31u

struct step {
	u8 at;                       /* of the page */
	u8 size;                     /* 1 .. 8, and LAST */
	u8 value[8];
};
#define LAST 0x80u

static struct perf_event_mmap_page page;
static const u8 *steps;
static size_t steps_left, steps_size;
static bool for_ever;
static volatile u32 executed;

static u64 counter_of(u32 index)
{
	return (index + 1) * 0x9e3779b97f4a7c15ULL;
}

static bool step_take(void)
{
	struct step step;
	size_t n, at;

	if (steps_left < STEP && for_ever) {
		steps += steps_left - steps_size;
		steps_left = steps_size;
	}
	if (steps_left < STEP)
		return false;
	memcpy(&step, steps, STEP);
	steps += STEP;
	steps_left -= STEP;
	at = step.at % HEAD;
	n = MIN(1 + (size_t)(step.size & 7), HEAD - at);
	memcpy((u8 *)&page + at, step.value, n);
	return !(step.size & LAST);
}

static u64 counter_value(u32 index)
{
	executed++;
	while (step_take())
		if (steps_left < STEP)
			break;
	return counter_of(index);
}

/* ---- what must hold ---------------------------------------------------------------------------------- */

static u64 sum_expected(void)
{
	u64 value = page.index ? counter_of(page.index - 1) : 0, sign;

	if (page.index && page.pmc_width < 64) {
		sign = 1ULL << (page.pmc_width - 1);
		value &= 2 * sign - 1;
		value = (value ^ sign) - sign;
	}
	return (u64)page.offset + value;
}

static void check_count(bool still)
{
	bool odd = page.lock & 1, forbidden = page.index && !perf_user_possible(&page), got;
	u64 count = 0, expected = still && !forbidden ? sum_expected() : 0;

	executed = 0;
	got = perf_user_read(&page, &count);
	fuzz_check(executed <= PERF_USER_TRIES, "a reading ends");
	fuzz_check(!got || !(page.lock & 1), "nothing is read during an update");
	if (!still)
		return;
	fuzz_check(!got || !(odd || forbidden), "nothing is read that is not to be");
	/* Not every CPU has a counter of each number. */
	fuzz_check(got || odd || forbidden || page.index > 31, "what can be read is read");
	fuzz_check(!got || count == expected, "the sum is right");
}

/* Nothing changes here: no instruction is executed. */
static void check_times(bool now)
{
	struct perf_user_times times = { 0, 0 };
	u64 enabled, running;

	if (!perf_user_read_times(&page, now, &times)) {
		fuzz_check(page.lock & 1, "the times of a page at rest are read");
		return;
	}
	fuzz_check(!(page.lock & 1), "no times are read during an update");
	enabled = times.enabled - page.time_enabled;
	running = times.running - page.time_running;
	fuzz_check(page.index ? enabled == running : enabled && !running, "without a counter it waits, else it runs");
	fuzz_check(now || !page.index || !enabled, "as of the last switch is what the page says");
}

static void user_run(const u8 *input, size_t size)
{
	size_t head = size ? MIN(size - 1, HEAD) : 0;

	memset(&page, 0, sizeof(page));
	if (size)
		memcpy(&page, input + 1, head);
	steps = input + (size ? 1 + head : 0);
	steps_size = 0;
	steps_left = 0;
	if (!emulator_start(counter_value)) {
		emulator_stop();
		page.index = 0;
		check_count(true);
		return;
	}
	check_times(false);
	check_times(true);
	check_count(true);
	steps_size = steps_left = size ? size - 1 - head : 0;
	for_ever = size && (input[0] & FOR_EVER) == FOR_EVER && steps_size >= STEP;
	check_count(steps_left < STEP);
	check_times(false);
	check_times(true);
	emulator_stop();
}

/* ---- inputs ------------------------------------------------------------------------------------------ */

static size_t step_put(u8 *at, size_t field, size_t n, u64 value, bool last)
{
	struct step step = { (u8)field, (u8)((n - 1) | (last ? LAST : 0)), { 0 } };

	memcpy(step.value, &value, sizeof(value));
	memcpy(at, &step, STEP);
	return STEP;
}

#define PUT(member, value, last) \
	step_put(input + size, offsetof(struct perf_event_mmap_page, member), sizeof(page.member), (value), (last))

/* As the kernel does it. */
static size_t update_put(u8 *input, size_t size, u32 lock)
{
	size += PUT(lock, lock + 1, false);
	size += PUT(index, fuzz_below(5), false);
	size += PUT(offset, fuzz_odd(), false);
	size += PUT(lock, lock + 2, true);
	return size;
}

static size_t user_make(u8 *input)
{
	static const u16 widths[] = { 32, 40, 48, 64 };
	struct perf_event_mmap_page sound = {
		.lock = (u32)fuzz_odd() & ~1u,
		.index = (u32)fuzz_below(5),
		.offset = (s64)fuzz_odd(),
		.time_enabled = fuzz_odd(),
		.time_running = fuzz_odd(),
		.cap_user_rdpmc = !fuzz_once_in(8),
		.cap_user_time = fuzz_once_in(2),
		.cap_user_time_short = fuzz_once_in(2),
		.pmc_width = widths[fuzz_below(ARRAY_SIZE(widths))],
		.time_shift = (u16)fuzz_below(64),
		.time_mult = (u32)fuzz_odd(),
		.time_offset = fuzz_odd(),
		.time_cycles = fuzz_odd(),
		.time_mask = fuzz_odd(),
	};
	size_t size = 1 + HEAD;

	input[0] = (u8)fuzz_random();
	memcpy(input + 1, &sound, HEAD);
	for (u64 n = fuzz_below(4), i = 0; i < n; i++)
		size = update_put(input, size, sound.lock + 2 * (u32)i);
	return size;
}

static size_t user_mutate(u8 *input, size_t size)
{
	return fuzz_mutate_bytes(input, size, ROOM);
}

static void user_open(char **argv)
{
	(void)argv;
}

const struct fuzz fuzz_target = {
	.name = "perf_user",
	.room = ROOM,
	.rounds = 10000,
	.open = user_open,
	.make = user_make,
	.mutate = user_mutate,
	.run = user_run,
};
