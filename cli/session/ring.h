/* SPDX-License-Identifier: MIT */
/* Rings of perf records as their reader sees them (perf_event_open(2), "MMAP layout"). */
#ifndef CLI_SESSION_RING_H
#define CLI_SESSION_RING_H

#include <linux/perf_event.h>
#include <sys/types.h>

#include "common/base.h"

struct ring {
	int fd;                      /* -1: none */
	u32 cpu;
	bool over;                   /* nobody is left whose event it is: poll(2) would report it each time */
	struct perf_event_mmap_page *page;
	size_t size;                 /* of the mapping */
};

/* Records of that type with their times, for a ring of so many pages: it is to be read when a quarter is full. */
void ring_attr(struct perf_event_attr *attr, u64 type, size_t pages);
/* Opens the event and maps a ring of so many pages, a power of two. 0 or -errno; *mapping: it was the mapping that failed. */
int ring_open(struct ring *ring, struct perf_event_attr *attr, pid_t pid, u32 cpu, size_t pages, bool *mapping);
void ring_close(struct ring *ring);

/* A reader's place in it. Positions only grow; bytes of a record lie between two of them. */
struct ring_walk {
	u64 at, head;
};

struct ring_walk ring_walk(const struct ring *ring);
/*
 * The header of the record at walk.at; false: there is none, or the ring makes no sense, and all of
 * it is given up. The record itself is copied by ring_copy().
 */
bool ring_peek(const struct ring *ring, struct ring_walk *walk, struct perf_event_header *header);
void ring_copy(const struct ring *ring, u64 at, void *to, size_t size);
/* The record where it lies, until ring_release(); NULL: it wraps. */
const u8 *ring_bytes(const struct ring *ring, u64 at, size_t size);
/* What lies before walk.at is given back to the kernel. */
void ring_release(const struct ring *ring, const struct ring_walk *walk);

#endif
