/* SPDX-License-Identifier: MIT */
/*
 * Rings that many threads write to: one for each CPU, mapped for an event of sparkctl's own which counts nothing,
 * so that it stays whoever ends. Into it go the events of all threads on that CPU (PERF_EVENT_IOC_SET_OUTPUT:
 * the kernel takes no others) and of what they start.
 */
#ifndef CLI_SESSION_FEED_H
#define CLI_SESSION_FEED_H

#include "cli/session/ring.h"

struct feed {
	int *fd;
	size_t n, room;
};

/* Opens and maps the ring of a CPU. 0 or -errno; *mapping: it was the mapping that failed. */
int feed_ring_open(struct ring *ring, u32 cpu, size_t pages, bool *mapping);
/* The same, and of a thread the event that will feed it: tried, and closed. */
int feed_ring_try(struct ring *ring, struct perf_event_attr *attr, pid_t tid, u32 cpu, size_t pages, bool *mapping);
/* Opens the event for a thread on the CPU of each ring. 0, or -errno: on none of them. */
int feed_add(struct feed *feed, const struct ring *rings, u32 nrings, struct perf_event_attr *attr, pid_t tid);
void feed_close(struct feed *feed);

#endif
