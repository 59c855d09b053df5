/* SPDX-License-Identifier: MIT */
/*
 * What several probes do: count an event on this thread, receive records in a ring, look up a
 * tracepoint. For the probes of this folder alone.
 */
#ifndef SPARK_CLI_CAPS_TRY_H
#define SPARK_CLI_CAPS_TRY_H

#include <linux/perf_event.h>
#include <stdint.h>

#include "cli/caps/caps.h"

/* Some microseconds of work for a CPU. */
void try_spin(void);
/* Waits until this thread was switched out. */
void try_sleep(void);

/*
 * Opens an event on this thread, does the work and reads it. Returns 1: it counts; 0: it opens
 * and counts nothing; else -errno.
 */
int try_count(struct perf_event_attr *attr, void (*work)(void));

/*
 * Closes an event that may be a tracepoint, or leaves that to the end of this process if it is a
 * child of caps_probe(): nobody waits for that.
 */
void try_close(int fd);

/* The ring of an event on this thread. */
struct try_ring {
	int fd;
	size_t size;			/* of the whole mapping */
	struct perf_event_mmap_page *page;
	uint64_t next;			/* where the record lies that was not looked at yet */
};

/* Which step failed: they have gates of their own. */
enum try_stage { TRY_OPEN, TRY_MAP };

/*
 * Opens the event, in the group of that leader or in none (-1), and maps a ring of 8 pages,
 * writable, so that the kernel overwrites nothing. Returns 0 or -errno, with *stage; then there is
 * nothing to close.
 */
int try_ring_open(struct try_ring *ring, struct perf_event_attr *attr, int group,
	enum try_stage *stage);
/*
 * Copies the next record of that type, cut to size bytes, and steps behind it. Returns its full
 * length, or 0 if the ring holds none.
 */
size_t try_ring_next(struct try_ring *ring, uint32_t type, void *record, size_t size);
void try_ring_close(struct try_ring *ring);
/* What the failure of try_ring_open means. */
struct outcome try_ring_advice(const struct caps_context *context, enum try_stage stage, int err,
	enum advice_scope scope);

/*
 * The number of a tracepoint, "sched/sched_switch", from the file that tells it. Returns it, or
 * -errno with *advice filled.
 */
long tracing_id(const struct caps_context *context, const char *name, struct outcome *advice);

#endif
