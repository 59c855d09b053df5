/* SPDX-License-Identifier: MIT */
/*
 * An event of the calling thread read without a system call, by its user page (perf_page_map) and
 * the CPU's own instruction: the protocol that linux/perf_event.h describes at struct
 * perf_event_mmap_page. Only the thread that an event belongs to may read it so: the page tells of
 * the CPU that the thread is on. Async-signal-safe; a switch or a migration inside makes it look again.
 */
#ifndef COMMON_PERF_USER_H
#define COMMON_PERF_USER_H

#include <linux/perf_event.h>

#include "common/base.h"

/* In attr.config1 of an event, asks for reads from user space (arm_pmuv3.c, "rdpmc"). x86 needs no asking. */
#if defined(__aarch64__)
#define PERF_USER_CONFIG1 2U
#else
#define PERF_USER_CONFIG1 0U
#endif

/* The kernel writes the page on the CPU of its thread, so a reader is disturbed now and then, not for ever. */
#define PERF_USER_TRIES 1000

/* A reading of the page's times, ns; both grow on while the event is on a counter. */
struct perf_user_times {
	u64 enabled;
	u64 running;
};

/*
 * The instruction alone: the hardware counter of that index, as the page gives it less 1. Returns
 * whether it is known how; faults where the kernel has not allowed it. Reads of the page stay on
 * their side of it.
 */
static inline bool perf_user_counter(u32 index, u64 *value)
{
#if defined(__x86_64__)
	u32 low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index) : "memory");
	*value = (u64)high << 32 | low;
	return true;
#elif defined(__aarch64__)
#define PERF_USER_READ(n, name) \
	case n: \
		__asm__ volatile("isb\n\tmrs %0, " name "_el0" : "=r"(*value) : : "memory"); \
		return true;
#define PERF_USER_READ_EVENT(n) PERF_USER_READ(n, "pmevcntr" #n)
	switch (index) {
	PERF_USER_READ_EVENT(0) PERF_USER_READ_EVENT(1) PERF_USER_READ_EVENT(2) PERF_USER_READ_EVENT(3)
	PERF_USER_READ_EVENT(4) PERF_USER_READ_EVENT(5) PERF_USER_READ_EVENT(6) PERF_USER_READ_EVENT(7)
	PERF_USER_READ_EVENT(8) PERF_USER_READ_EVENT(9) PERF_USER_READ_EVENT(10) PERF_USER_READ_EVENT(11)
	PERF_USER_READ_EVENT(12) PERF_USER_READ_EVENT(13) PERF_USER_READ_EVENT(14) PERF_USER_READ_EVENT(15)
	PERF_USER_READ_EVENT(16) PERF_USER_READ_EVENT(17) PERF_USER_READ_EVENT(18) PERF_USER_READ_EVENT(19)
	PERF_USER_READ_EVENT(20) PERF_USER_READ_EVENT(21) PERF_USER_READ_EVENT(22) PERF_USER_READ_EVENT(23)
	PERF_USER_READ_EVENT(24) PERF_USER_READ_EVENT(25) PERF_USER_READ_EVENT(26) PERF_USER_READ_EVENT(27)
	PERF_USER_READ_EVENT(28) PERF_USER_READ_EVENT(29) PERF_USER_READ_EVENT(30)
	PERF_USER_READ(31, "pmccntr")
	default:
		return false;
	}
#undef PERF_USER_READ_EVENT
#undef PERF_USER_READ
#else
	(void)index;
	*value = 0;
	return false;
#endif
}

/* Whether events with such a page can be read so, while they are on a counter. */
static inline bool perf_user_possible(const struct perf_event_mmap_page *page)
{
	return page->cap_user_rdpmc && page->pmc_width && page->pmc_width <= 64;
}

/*
 * The event's count. False: the page has not come to rest, or the kernel has taken the permission
 * back. An event that is on no counter (index 0) has a count, too: all that it counted before.
 */
static inline bool perf_user_read(const struct perf_event_mmap_page *page, u64 *count)
{
	for (u32 i = 0; i < PERF_USER_TRIES; i++) {
		u32 lock = load_acquire(&page->lock), index = load_acquire(&page->index);
		u64 value = 0, sum = (u64)load_acquire(&page->offset);
		u32 shift = 64u - load_acquire(&page->pmc_width);
		bool known = true;

		if (unlikely(lock & 1))
			continue;
		if (index) {
			known = page->cap_user_rdpmc && shift < 64 && perf_user_counter(index - 1, &value);
			sum += known ? (u64)((s64)(value << shift) >> shift) : 0;
		}
		if (likely(load_relaxed(&page->lock) == lock)) {
			if (known)
				*count = sum;
			return known;
		}
	}
	return false;
}

/* Since when the page was written, by its conversion of the CPU's counter of time; 0: it has none. */
static inline u64 perf_user_delta(const struct perf_event_mmap_page *page)
{
	u64 offset = load_acquire(&page->time_offset), then, cycles = cpu_ticks();
	u32 mult = load_acquire(&page->time_mult), shift = load_acquire(&page->time_shift);

	barrier();
	if (!page->cap_user_time || shift >= 64)
		return 0;
	if (page->cap_user_time_short) {
		then = load_acquire(&page->time_cycles);
		cycles = then + ((cycles - then) & load_acquire(&page->time_mask));
	}
	return offset + (u64)((unsigned __int128)cycles * mult >> shift);
}

/*
 * For how long the event was wanted and had a counter. now: as of now, at the price of a time stamp;
 * else as of the last time that the thread or the event was switched, if the event has a counter.
 */
static inline bool perf_user_read_times(const struct perf_event_mmap_page *page, bool now, struct perf_user_times *times)
{
	for (u32 i = 0; i < PERF_USER_TRIES; i++) {
		u32 lock = load_acquire(&page->lock), index = load_acquire(&page->index);
		u64 enabled = load_acquire(&page->time_enabled), running = load_acquire(&page->time_running);
		u64 delta = now || !index ? perf_user_delta(page) : 0;

		if (likely(load_relaxed(&page->lock) == lock && !(lock & 1))) {
			/* Without a conversion it is still told that it has no counter. */
			times->enabled = enabled + (index || delta ? delta : 1);
			times->running = running + (index ? delta : 0);
			return true;
		}
	}
	return false;
}

#endif
