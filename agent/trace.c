/* SPDX-License-Identifier: MIT */
/*
 * The trace: each begin and end of a region with its time, in a ring of the segment for each lane,
 * that sparkctl reads while the run goes on. Nobody waits: what it has not read when the ring comes
 * round is overwritten, and sparkctl sees by the count that it was.
 *
 * A ring for each lane and not for each thread, since markers of a signal handler may come between
 * the time stamp of the marker that they interrupted and its record.
 */
#include "agent.h"
#include "trace.h"

#include "banned.h"

_Static_assert(WIRE_TRACE_ENTRIES * sizeof(struct wire_trace) == WIRE_CHUNK, "a ring lies within one chunk");

void trace_open(struct lane *l, u32 tid, u32 entries)
{
	struct wire_lane *w = l->w;

	l->special &= ~(u32)LANE_TRACE;
	if (!(agent.flags & WIRE_TRACE))
		return;
	if (!w->trace && load_relaxed(&agent.header->used) < WIRE_TRACE_ROOM)
		w->trace = segment_alloc(entries * (u32)sizeof(struct wire_trace));
	if (!w->trace || !segment_reach(w->trace)) {
		agent_lose(WIRE_LOSS_UNTRACED);
		return;
	}
	l->trace_ref = w->trace;
	l->trace = segment_ptr(w->trace);
	l->trace_mask = entries - 1;
	l->trace_tid = tid;
	l->special |= LANE_TRACE;
}

u64 trace_hide(struct lane *l)
{
	l->w->trace = 0;
	return l->w->trace_count;
}

void trace_show(struct lane *l, u64 count)
{
	l->w->trace_count = count;
	barrier();
	if (l->special & LANE_TRACE)
		l->w->trace = l->trace_ref;
}
