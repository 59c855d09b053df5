/* SPDX-License-Identifier: MIT */
/*
 * The trace of a run: what the markers recorded in the rings of their lanes (struct wire_trace), read
 * each 10 ms, or each ms while rings fill, and kept in struct trace.
 */
#ifndef CLI_SESSION_TRACING_H
#define CLI_SESSION_TRACING_H

#include "cli/analyze/trace.h"
#include "common/base.h"

struct session;
struct segment;
struct wire_trace;
struct wire_view;

struct tracing {
	struct trace trace;
	u64 next_ns;                 /* when to read again */
	struct wire_trace *records;  /* of all lanes of a slot, while they are read */
};

/* Before the command starts. 0, or -1 after a message. */
int tracing_open(struct session *session);
/* Reads what was recorded since, if it is time. */
void tracing_drain(struct session *session, u64 now_ns);
/* Reads it of one segment; all: nobody writes to it any more. */
void tracing_read(struct session *session, struct segment *segment, bool all);
/* Nodes of the segment are about to become others. */
void tracing_forget(struct session *session, struct segment *segment);
/* Frees what is kept of the segment. */
void tracing_drop(struct segment *segment);
/* Once, at the end of a segment: its windows. */
void tracing_windows(struct session *session, const struct segment *segment, const struct wire_view *view);
/* Nothing is kept for a time: what is open there is closed, and opens again with what comes next. */
void tracing_pause(struct session *session, u64 ticks);
/* At the end of the run: closes what is open. */
void tracing_end(struct session *session);
void tracing_free(struct session *session);

#endif
