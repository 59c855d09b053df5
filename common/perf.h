/* SPDX-License-Identifier: MIT */
/*
 * The kernel's performance events, as far as both parts need them: open one, read one, map its
 * user page. Nothing here allocates, locks or prints; errors are -errno. Each function but
 * perf_page_lock makes system calls. perf_event_open(2) is the reference.
 */
#ifndef COMMON_PERF_H
#define COMMON_PERF_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/types.h>

/* What read(2) gives for an event prepared by perf_attr_init; times in ns. */
struct perf_value {
	uint64_t count;
	uint64_t enabled_ns;
	uint64_t running_ns;	/* 0: the event never ran, and count means nothing */
};

/* Clears *attr and sets type, config, the full size and the read format of struct perf_value. */
void perf_attr_init(struct perf_event_attr *attr, uint32_t type, uint64_t config);

/* Opens an event; PERF_FLAG_FD_CLOEXEC is always added. Returns the descriptor or -errno. */
int perf_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group, unsigned long flags);

/* Reads an event that no group and no other read format was asked for. Returns 0 or -errno. */
int perf_read(int fd, struct perf_value *value);

/* Maps the event's user page alone, without a ring, read-only. Returns 0 or -errno. */
int perf_page_map(int fd, const struct perf_event_mmap_page **page);
void perf_page_unmap(const struct perf_event_mmap_page *page);

/* The page's sequence word: it moves, among other things, at each switch in of the thread. */
static inline uint32_t perf_page_lock(const struct perf_event_mmap_page *page)
{
	return __atomic_load_n(&page->lock, __ATOMIC_RELAXED);
}

#endif
