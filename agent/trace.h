/* SPDX-License-Identifier: MIT */
/* The trace of a lane's markers; see trace.c. */
#ifndef SPARK_AGENT_TRACE_H
#define SPARK_AGENT_TRACE_H

#include "agent.h"

/* THREAD, or MARKER for a lane of handlers. The lane's records go to a ring of so many, if traces are asked for. */
void trace_open(struct lane *l, u32 tid, u32 entries);

/* THREAD. What is recorded until trace_show(), which takes back the count, is not for sparkctl. */
u64 trace_hide(struct lane *l);
void trace_show(struct lane *l, u64 count);

/* MARKER. With the lane's gate shut: one writer at a time. */
static inline void trace_look(struct lane *l, enum wire_trace_kind kind, u32 node, u64 ticks)
{
	u64 count;

	if (likely(!(l->special & LANE_TRACE)))
		return;
	/* The record first: what is counted is complete. */
	count = l->w->trace_count;
	l->trace[count & l->trace_mask] = (struct wire_trace){
		.ticks = ticks | (u64)kind << WIRE_TRACE_SHIFT,
		.node = node,
		.tid = l->trace_tid,
	};
	store_release(&l->w->trace_count, count + 1);
}

#endif
