/* SPDX-License-Identifier: MIT */
/*
 * The trace of a run: when each thread began and ended its regions. The session adds what the
 * markers recorded while the run goes on; at its end an output writes it.
 *
 * What is kept nests strictly in each thread, and its times never fall: what threads did otherwise,
 * or was lost, is closed and opened here as the paths of regions tell, and marked. So readers need
 * no repairs. Events lie in a file without a name, 16 bytes each, so that memory does not grow.
 */
#ifndef CLI_ANALYZE_TRACE_H
#define CLI_ANALYZE_TRACE_H

#include <stdio.h>

#include "cli/analyze/samples.h"

struct inside;

#define TRACE_NONE (~0u)

enum trace_kind {
	TRACE_BEGIN,
	TRACE_END,
	TRACE_UNENDED,               /* an end that its region did not have */
	TRACE_STILL_OPEN,            /* an end where the thread's records end */
	TRACE_RESUMED,               /* a begin whose record is missing: when the first one after it came */
	TRACE_CUT,                   /* an end whose record is missing: the same */
	TRACE_LATE_END,              /* no end: the region's own, after one around it had ended and closed it */
	TRACE_MISSING,               /* value: so many records are missing, or more if it is TRACE_VALUE_MOST */
};

static inline bool trace_begins(enum trace_kind kind)
{
	return kind == TRACE_BEGIN || kind == TRACE_RESUMED;
}

static inline bool trace_ends(enum trace_kind kind)
{
	return !trace_begins(kind) && kind != TRACE_LATE_END && kind != TRACE_MISSING;
}

#define TRACE_VALUE_MOST ((1u << 28) - 1)

struct trace_event {
	u64 ticks;
	u32 thread;
	u32 kind : 4;                /* enum trace_kind */
	u32 value : 28;              /* region */
};

struct trace_open {
	u32 region;
	bool over;                   /* given up, and waits for what is open above it */
};

struct trace_thread {
	u32 next;                    /* in buckets */
	u32 process;                 /* serial of struct process_facts */
	u32 pid, tid;
	char name[16];               /* not terminated if it is full; "": not known */
	u64 ticks;                   /* of its newest event */
	u64 missing;                 /* records before the next one */
	bool paused;                 /* what is open is known by the next one */
	struct trace_open *open;
	u32 depth, room;
};

struct trace_window {
	u32 process, pid;
	u32 name;                    /* string */
	bool open;
	u64 start, end;              /* ticks */
};

#define TRACE_BUCKETS 4096

struct trace {
	FILE *file;                  /* of the events */
	struct samples regions;      /* paths and strings alone */
	struct trace_thread *threads;
	struct trace_window *windows;
	u32 nthreads, threads_room, nwindows, windows_room;
	u32 buckets[TRACE_BUCKETS];  /* number of the newest thread + 1 */
	u64 start_ns;                /* of the run, by the clock that its ticks are mapped to */
	u64 missing;                 /* records, in all */
	const struct inside *inside; /* regions that alone are kept; NULL: all */
	bool failed;                 /* to keep something, of which was told */
};

/* 0, or -1 after a message. */
int trace_init(struct trace *trace);
void trace_fini(struct trace *trace);

/* Finds or adds; TRACE_NONE: there are too many, or no memory. */
u32 trace_thread(struct trace *trace, u32 process, u32 pid, u32 tid);
/* In the order of time in a thread. TRACE_BEGIN, TRACE_END, TRACE_UNENDED or TRACE_LATE_END of a region. */
void trace_add(struct trace *trace, u32 thread, enum trace_kind kind, u32 region, u64 ticks);
/* Records of the thread are missing after what was added. */
void trace_lose(struct trace *trace, u32 thread, u64 n);
/* Nothing is kept of the thread for a time. */
void trace_pause(struct trace *trace, u32 thread, u64 ticks);
/* Nothing more is to come of the thread. */
void trace_close(struct trace *trace, u32 thread, u64 ticks);
void trace_add_window(struct trace *trace, const struct trace_window *window);

/* All events, in the order in which they were added. */
void trace_rewind(struct trace *trace);
bool trace_next(struct trace *trace, struct trace_event *event);

#endif
