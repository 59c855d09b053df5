/* SPDX-License-Identifier: MIT */
/*
 * The usual begin and end of a region, for whoever opens and closes brackets; see region.c for what
 * they may cost and in which order they write. MARKER, all, with the lane's gate shut unless said.
 */
#ifndef SPARK_AGENT_FAST_H
#define SPARK_AGENT_FAST_H

#include "agent.h"
#include "trace.h"
#include "watch.h"

#include "common/hist.h"

#define always_inline inline __attribute__((always_inline))

/* Near the marker's frame; without making the compiler keep a frame pointer. */
static always_inline u64 stack_pointer(void)
{
	u64 sp;

#if defined(__x86_64__)
	__asm__ volatile("mov %%rsp, %0" : "=r"(sp));
#elif defined(__aarch64__)
	__asm__ volatile("mov %0, sp" : "=r"(sp));
#else
	sp = (u64)(uintptr_t)__builtin_frame_address(0);
#endif
	return sp;
}

/* MARKER. The region of the frame above the top is begun again. */
static always_inline void begin_account(struct lane *l, struct wire_frame *f, u32 region, u64 now)
{
	f->start = now;
	barrier();
	l->w->depth++;
	l->top = f;
	l->top_node++;
	l->top_region = region;
	l->next_region = f[1].region;
	barrier();
}

/* MARKER. Where the duration is to be counted; NULL: not in reach, or not there yet. */
static always_inline u64 *bucket_of(struct wire_node *n, u64 wall)
{
	/* hist_index() without its branch: durations vary. */
	u32 octave = 59 - (u32)__builtin_clzll(wall | (WIRE_HIST_SUB - 1));
	u32 sub = (u32)(wall >> (octave - (octave != 0))) & (WIRE_HIST_SUB - 1);
	const struct wire_hist *h = (struct wire_hist *)((char *)n + (s64)n->near * WIRE_UNIT);
	s64 near;

	if (unlikely(!n->near))
		return NULL;
	near = h->near[octave];
	return near ? (u64 *)((char *)h + near * WIRE_UNIT) + sub : NULL;
}

/* MARKER. The top frame ends, which was never off the CPU. */
static always_inline void end_account(struct lane *l, struct wire_frame *f, struct wire_node *n, u64 wall, u64 *bucket,
				      u32 region)
{
	struct wire_pending *p = &l->w->pending;

	++*l->bucket;
	l->bucket = bucket;
	p->wall = wall;
	p->node_wall = n->wall + wall;
	p->node = f->node;
	p->calls = n->calls + 1;
	barrier();
	n->wall += wall;
	if (unlikely(wall < n->min))
		n->min = wall;
	if (unlikely(wall > n->max))
		n->max = wall;
	barrier();
	n->calls++;
	barrier();
	l->w->depth--;
	l->top = f - 1;
	l->top_node--;
	l->top_region = f[-1].region;
	l->next_region = region;
	barrier();
}

/* MARKER. The frame above the top, which is of that region, begins now. False: the thread may have been off the CPU. */
static always_inline bool begin_now(struct thread *t, struct lane *l, u32 region, u64 sp)
{
	struct wire_frame *f = l->top + 1;
	u64 now;

	f->sp = sp;
	f->off = 0;
	now = cpu_ticks();
	if (unlikely(detect_moved(t)))
		return false;
	begin_account(l, f, region, now);
	return true;
}

/*
 * MARKER. The top frame, which is of that region, ends now. False: it is not all usual, and *now is left for the slow way,
 * which would else never make a bucket that is missing here.
 */
static always_inline bool end_now(struct thread *t, struct lane *l, u32 region, u64 *now)
{
	struct wire_frame *f;
	struct wire_node *n;
	u64 wall, *bucket;

	*now = cpu_ticks();
	f = l->top;
	n = *l->top_node;
	wall = *now - f->start;
	bucket = bucket_of(n, wall);
	if (unlikely(!bucket || detect_moved(t) || wall >= t->force_ticks || f->off))
		return false;
	end_account(l, f, n, wall, bucket, region);
	return true;
}

/* MARKER. Sources are read, samples are taken or markers are traced: nothing else makes the lane slow. */
static always_inline bool lane_measures(const struct lane *l)
{
	return l->gate == GATE_SLOW && !(l->special & ~(u32)(LANE_SOURCES | LANE_WATCH | LANE_TRACE));
}

/* MARKER. As the fast path, with readings of sources, a look for samples and a trace. False: it is not all usual. */
static always_inline bool begin_counted(struct thread *t, u32 region, u64 sp)
{
	struct lane *l = &t->lane;
	struct wire_frame *f;

	if (!lane_measures(l) || l->next_region != region)
		return false;
	l->gate = sp;
	barrier();
	/* Looked at again behind the gate: a handler may have begun and ended another. */
	if (l->next_region != region || detect_moved(t) || (l->special & LANE_WATCH && watch_moved(t))) {
		l->gate = GATE_SLOW;
		return false;
	}
	l->early = 0;
	if (l->special & LANE_SOURCES)
		source_read_all(lane_cells(l, l->w->depth));
	f = l->top + 1;
	f->sp = sp;
	f->off = 0;
	begin_account(l, f, region, agent_ticks());
	if (unlikely(detect_moved(t))) {
		thread_resync(t);
		f->off = 0;
		f->start = agent_ticks();
	}
	trace_look(l, WIRE_TRACE_BEGIN, f->node, f->start);
	l->gate = GATE_SLOW;
	return true;
}

/*
 * MARKER. The same. *now: 0, or when the region has ended; left for the slow way, which would else
 * never make a bucket that is missing here.
 */
static always_inline bool end_counted(struct thread *t, u32 region, u64 sp, u64 *now)
{
	struct lane *l = &t->lane;
	struct wire_frame *f;
	struct wire_node *n;
	u64 wall, *bucket;

	if (*now || !lane_measures(l) || l->top_region != region)
		return false;
	l->gate = sp;
	barrier();
	*now = agent_ticks();
	f = l->top;
	n = *l->top_node;
	wall = *now - f->start;
	bucket = bucket_of(n, wall);
	if (unlikely(l->top_region != region || !bucket || detect_moved(t) || wall >= t->force_ticks || f->off ||
		     (l->special & LANE_WATCH && watch_moved(t)))) {
		l->gate = GATE_SLOW;
		return false;
	}
	if (l->special & LANE_SOURCES) {
		if (l->early != sp)
			source_read_all(lane_cells(l, WIRE_DEPTH));
		source_charge_all(node_cells(n), lane_cells(l, l->w->depth - 1), lane_cells(l, WIRE_DEPTH));
	}
	l->early = 0;
	end_account(l, f, n, wall, bucket, region);
	trace_look(l, WIRE_TRACE_END, f->node, *now);
	l->gate = GATE_SLOW;
	return true;
}

#endif
