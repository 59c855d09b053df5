/* SPDX-License-Identifier: MIT */
/*
 * The region that a sample belongs to, from what the agent's markers logged of the rings (struct
 * wire_watch). Exact for a sample of the CPU that the log's entry names, by the position of its
 * record; for samples of another CPU, where the thread has been in between, by time.
 */
#ifndef CLI_SESSION_ATTRIBUTE_H
#define CLI_SESSION_ATTRIBUTE_H

#include "cli/analyze/samples.h"

struct session;
struct segment;

struct attribute_thread;
struct attribute_alias;

#define ATTRIBUTE_BUCKETS 1024

struct attribute {
	struct attribute_thread *threads[ATTRIBUTE_BUCKETS];
	struct attribute_alias *aliases[ATTRIBUTE_BUCKETS]; /* of threads in PID namespaces of their own */
	u32 nthreads;
	u64 turn;                    /* of the drain: what is on top in one stays for all of its samples */
	u64 handled_ticks;           /* samples of before have their regions */
};

/* Reads what the threads of a segment have logged since the last time, before samples of them are looked up. */
void attribute_read(struct session *session, struct segment *segment);

struct attribute_sample {
	struct segment *segment;     /* of the process; NULL: it has none, and no regions */
	u32 tid;
	u32 cpu;
	u64 position;                /* of its record in the CPU's ring */
	u64 ticks;
};

/*
 * The region in samples->regions; SAMPLES_NONE: in none, or not known, and then *unknown is set. The
 * samples of a thread must come in the order of time.
 */
u32 attribute_region(struct session *session, const struct attribute_sample *sample, bool *unknown);

/* The same of the region that the thread is in now, whatever it has logged. */
u32 attribute_now(struct session *session, struct segment *segment, u32 tid, bool *unknown);

/* Nodes of the segment are about to become others. */
void attribute_forget(struct session *session, struct segment *segment);
void attribute_free(struct session *session);

#endif
