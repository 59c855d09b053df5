/* SPDX-License-Identifier: MIT */
/*
 * The agent, linked into a unit test and brought to life without sparkctl, and what it wrote, read
 * back by the decoder of common/wire_view.h.
 *
 * harness_start() comes first in main().  Check forks for every test: each is a forked child of
 * the process that said hello, with slots of its own, and the totals here are those of the calling
 * process alone.  The segment and its losses are shared by all tests of a program: compare losses
 * with what they were before.
 */
#ifndef TESTS_UNIT_AGENT_HARNESS_H
#define TESTS_UNIT_AGENT_HARNESS_H

#include "agent/agent.h"
#include "common/wire_view.h"

/* Sums over the nodes of a path in all slots and lanes of this process. */
struct harness_totals {
	u32 nodes;
	u64 calls;
	u64 wall;
	s64 off;
	u64 min;                     /* of any of the nodes; metrics: of the last one found */
	u64 max;
	u64 units;
	u64 hist;                    /* durations in the histograms, and pending ones */
	u64 cells[WIRE_CELLS];
};

/* Sanitizers make system calls, page faults and destructors of their own. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HARNESS_SANITIZED 1
#endif
#if __has_feature(thread_sanitizer)
#define HARNESS_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HARNESS_SANITIZED 1
#endif
#ifdef __SANITIZE_THREAD__
#define HARNESS_TSAN 1
#endif
#ifndef HARNESS_SANITIZED
#define HARNESS_SANITIZED 0
#endif
#ifndef HARNESS_TSAN
#define HARNESS_TSAN 0
#endif

/*
 * Returns in a new image of the program, whose agent has a segment; ends the program (99) where
 * that fails.
 */
void harness_start(char **argv, u32 flags, u32 sources);

/* The segment as it is now; it changes with it. */
struct wire_view harness_view(void);
u64 harness_loss(enum wire_loss loss);
/* A checked fixture: slots that are there already are another process's, whatever their pid. */
void harness_setup(void);
/* The next memory is in a chunk that is mapped and empty: 1 MiB for a process sealed then. */
void harness_fresh_chunk(void);
/* Slots of this process. */
u32 harness_slots(void);
/* Newest record of this process. */
const struct wire_process *harness_process(void);

/* Regions by their path, "a;b;c". */
struct harness_totals harness_region(const char *path);
struct harness_totals harness_metric(const char *path);
/* All regions of this name, whatever their path; NULL: all regions but roots. */
struct harness_totals harness_named(const char *name);
/* How often something was diagnosed; name NULL: for all names. */
u64 harness_diagnosed(enum wire_diagnosis kind, const char *name);
/* Bytes of a name, as the decoder gives them. */
bool harness_name_is(u32 ref, const char *bytes, size_t len);

/* What a marker that interrupted the one that made the lane busy meets: a deeper stack. */
void harness_deeper(void (*function)(void *), void *arg);
/* Runs a function in a child and returns the status that waitpid(2) gives. */
int harness_fork(void (*function)(void *), void *arg);
/*
 * Last thing in a thread that used markers.  ThreadSanitizer takes its state of a thread away in
 * the last round of destructors, before the agent's own: the agent must then be done a round
 * earlier.
 */
void harness_thread_ends(void);
/* Starts n threads at one moment (at most 64), gives each its index, joins them. */
void harness_threads(u32 n, void (*function)(u32 index));

#endif
