/* SPDX-License-Identifier: MIT */
/*
 * Brackets in full: sources, orphans, the depth limit, ends that do not match, and repairs.
 * region.c comes here for everything that its fast path does not do.
 *
 * An end that names a region below the top closes what lies above: frames of functions that have
 * returned are given up (an exception, an early return); the others become orphans: no parents any
 * more, but their own ends, if they come, still count their whole time. That makes overlapping
 * regions right and forgotten ends harmless.
 */
#define _GNU_SOURCE
#include "agent.h"
#include "bracket.h"
#include "trace.h"
#include "watch.h"

#include <string.h>

#include "banned.h"

#define SP_SLACK 256               /* markers of one function reach us through stubs of different depth */

static bool is_orphan(const struct wire_frame *f)
{
	return f->region & WIRE_FRAME_ORPHAN;
}

static bool is_call(const struct wire_frame *f)
{
	return f->region & WIRE_FRAME_CALL;
}

/* The frame was begun by a function that has returned. */
static bool sp_gone(u64 frame, u64 now)
{
	return frame + SP_SLACK < now;
}

u32 bracket_parent(const struct lane *l)
{
	u32 d = l->w->depth;

	while (d && is_orphan(&l->w->frames[d - 1]))
		d--;
	if (d)
		return l->w->frames[d - 1].node;
	return l->special & LANE_UPPER && l->first_parent ? l->first_parent : l->w->root;
}

void bracket_push(struct thread *t, struct lane *l, u32 node, u32 flags, u64 sp)
{
	u32 d = l->w->depth;
	struct wire_frame *f = &l->w->frames[d];
	struct wire_node *n = segment_ptr(node);

	f->node = node;
	f->region = n->region | flags;
	f->sp = sp;
	f->off = 0;
	l->np[d + 1] = n;
	f->start = agent_ticks();
	if (unlikely(detect_moved(t))) {
		thread_resync(t);
		f->start = agent_ticks();
	}
	barrier();
	l->w->depth = d + 1;
	lane_sync(l);
}

/* The reading of this moment, for sources_charge(). */
static void sources_read(struct lane *l)
{
	source_read_all(lane_cells(l, WIRE_DEPTH));
}

static void sources_charge(struct lane *l, u32 d, struct wire_node *n)
{
	source_charge_all(node_cells(n), lane_cells(l, d), lane_cells(l, WIRE_DEPTH));
}

/* A bracket whose own end never came: counted and charged, but no duration of its own. */
static void frame_close(struct lane *l, u32 i, u64 now, enum wire_diagnosis why)
{
	struct wire_frame *f = &l->w->frames[i];
	struct wire_node *n = l->np[i + 1];

	if (l->cells) {
		sources_read(l);
		sources_charge(l, i, n);
	}
	/* An orphan's has been closed in the trace by the end that made it one. */
	if (is_orphan(f))
		now = MIN(now, l->orphaned_at);
	else
		trace_look(l, WIRE_TRACE_UNENDED, f->node, now);
	n->wall += now - f->start;
	n->off += f->off;
	n->calls++;
	lane_diagnose(l, why, n->region, now);
}

/* Takes frame i out of the stack. */
static void frame_remove(struct lane *l, u32 i)
{
	struct wire_lane *w = l->w;

	if (is_orphan(&w->frames[i]) && --l->orphans == 0)
		l->special &= ~(u32)LANE_ORPHANS;
	for (u32 k = i; k + 1 < w->depth; k++) {
		w->frames[k] = w->frames[k + 1];
		l->np[k + 1] = l->np[k + 2];
		if (l->cells)
			memcpy(lane_cells(l, k), lane_cells(l, k + 1), agent.cells * sizeof(u64));
	}
	barrier();
	w->depth--;
	lane_sync(l);
}

/* The brackets beyond the limit were left together with the deepest frame that has one. */
static void deep_drop(struct lane *l)
{
	l->dropped += l->deep;
	l->deep = 0;
	l->special &= ~(u32)LANE_DEEP;
}

/* A later frame is of the same call site at the same place. */
static bool frame_repeated(const struct lane *l, u32 i)
{
	const struct wire_frame *f = l->w->frames;

	for (u32 k = i + 1; k < l->w->depth; k++)
		if (f[k].sp == f[i].sp && l->np[k + 1]->region == l->np[i + 1]->region)
			return true;
	return false;
}

/*
 * The stack of frames is full: drops frames that were jumped over. Deeper frames than the caller's
 * are gone for certain. A frame that another of the same region at the same address follows was
 * left by longjmp(3), or is a recursion that does not use this stack; it is dropped too, and
 * counted: to charge all else to the last node would be worse.
 */
static void lane_prune(struct lane *l, u64 sp)
{
	u64 now = agent_ticks();
	u32 before = l->w->depth;

	for (u32 i = before; i-- > 0;)
		if (sp_gone(l->w->frames[i].sp, sp) || frame_repeated(l, i)) {
			frame_close(l, i, now, WIRE_DIAG_SKIPPED);
			frame_remove(l, i);
		}
	if (l->w->depth < before)
		deep_drop(l);
	l->dropped += before - l->w->depth;
}

/* Orphans of the same region and place were not left open on purpose: the loop has come round. */
static void orphans_replaced(struct lane *l, u32 region, u64 sp)
{
	for (u32 i = l->w->depth; l->orphans && i-- > 0;)
		if (is_orphan(&l->w->frames[i]) && l->np[i + 1]->region == region && l->w->frames[i].sp == sp) {
			frame_close(l, i, agent_ticks(), WIRE_DIAG_UNENDED);
			frame_remove(l, i);
		}
}

void bracket_begin(struct thread *t, struct lane *l, u32 region, u64 sp)
{
	u32 flags, node;

	if (l->w->depth >= WIRE_DEPTH)
		lane_prune(l, sp);
	if (l->w->depth >= WIRE_DEPTH) {
		l->deep++;
		l->special |= LANE_DEEP;
		l->np[WIRE_DEPTH]->calls++;
		lane_diagnose(l, WIRE_DIAG_DEEP, region & WIRE_NODE_NAME_MASK, agent_ticks());
		return;
	}
	flags = region & WIRE_FRAME_CALL;
	region &= WIRE_NODE_NAME_MASK;
	orphans_replaced(l, region, sp);
	node = lane_child(l, bracket_parent(l), region);
	/* Now, and not between the readings of the region's own. */
	if (l->special & (LANE_SOURCES | LANE_WATCH) && detect_moved(t))
		thread_resync(t);
	watch_look(t, l);
	if (l->cells) {
		l->early = 0;
		source_read_all(lane_cells(l, l->w->depth));
	}
	bracket_push(t, l, node, flags, sp);
	trace_look(l, WIRE_TRACE_BEGIN, node, l->top->start);
}

/* What lies above a region that ends: abandoned inner frames are closed, the others become orphans. */
static void frames_above(struct lane *l, u32 i, u64 sp, u64 now)
{
	struct wire_lane *w = l->w;

	for (u32 k = w->depth; k-- > i + 1;) {
		if (is_call(&w->frames[k]) && is_call(&w->frames[i])) {
			frame_close(l, k, now, WIRE_DIAG_SKIPPED);
			frame_remove(l, k);
			continue;
		}
		if (is_orphan(&w->frames[k]) || sp_gone(w->frames[k].sp, sp)) {
			frame_close(l, k, now, WIRE_DIAG_UNENDED);
			frame_remove(l, k);
			continue;
		}
		w->frames[k].region |= WIRE_FRAME_ORPHAN;
		l->orphans++;
		l->special |= LANE_ORPHANS;
	}
	l->orphaned_at = now;
}

static void end_unmatched(struct lane *l, u32 region, u64 now)
{
	if (l->dropped) {
		l->dropped--;
		lane_diagnose(l, WIRE_DIAG_LATE, region, now);
	} else if (!agent.joined) {
		lane_diagnose(l, WIRE_DIAG_UNMATCHED, region, now);
	}
}

/* The depth of the innermost frame of the region, or of one charged to "[other]"; 0: none. */
static u32 frame_find(const struct lane *l, u32 region)
{
	u32 i = l->w->depth;

	while (i && l->np[i]->region != region)
		i--;
	if (i)
		return i;
	/* Two threads that entered a name at once may have given it two refs. */
	for (i = l->w->depth; i && !name_same(l->np[i]->region, region); i--)
		;
	if (i)
		return i;
	for (i = l->w->depth; i && l->w->frames[i - 1].node != l->other; i--)
		;
	return i;
}

/* The depth of the call's very frame; 0: it has none. */
static u32 frame_of_call(const struct lane *l, u64 sp)
{
	u32 i = l->w->depth;

	while (i && !(is_call(&l->w->frames[i - 1]) && l->w->frames[i - 1].sp == sp))
		i--;
	return i;
}

void bracket_heal(struct lane *l, u64 sp)
{
	struct wire_frame *f;

	while (l->w->depth && (f = &l->w->frames[l->w->depth - 1], is_call(f)) && f->sp <= sp) {
		frame_close(l, l->w->depth - 1, agent_ticks(), WIRE_DIAG_SKIPPED);
		frame_remove(l, l->w->depth - 1);
		if (l->deep)
			deep_drop(l);
	}
}

bool bracket_is_open(const struct lane *l, u32 region)
{
	return l->deep || frame_find(l, region);
}

/* The audit makes system calls, and a switch at the end of one lies after the region: not in its off-CPU time. */
static void frame_audit(struct thread *t, struct wire_frame *f, u64 now)
{
	s64 off = t->off;

	thread_audit(t);
	f->off -= MAX(MIN(t->off - off, (s64)(t->sync_ticks - now)), 0);
}

void bracket_end(struct thread *t, struct lane *l, u32 region, u64 sp, u64 now)
{
	struct wire_frame *f;
	u32 i;

	if (!now)
		now = agent_ticks();
	/* First of all: what follows is none of the region's work. */
	if (l->cells && l->early != sp)
		sources_read(l);
	l->early = 0;
	if (unlikely(detect_moved(t)))
		now = thread_resync(t);
	watch_look(t, l);
	if (l->deep && sp_gone(l->top->sp, sp))
		deep_drop(l);
	if (l->deep) {
		if (--l->deep == 0)
			l->special &= ~(u32)LANE_DEEP;
		return;
	}
	i = region & WIRE_FRAME_CALL ? frame_of_call(l, sp) : frame_find(l, region);
	if (!i) {
		/* A call may return where it was never begun: in a forked child, or after its frame was given up. */
		if (!(region & WIRE_FRAME_CALL))
			end_unmatched(l, region, now);
		return;
	}
	region &= WIRE_NODE_NAME_MASK;
	i--;
	f = &l->w->frames[i];
	if (l->cells)
		sources_charge(l, i, l->np[i + 1]);
	if (is_orphan(f))
		lane_diagnose(l, WIRE_DIAG_OVERLAP, region, now);
	else
		frames_above(l, i, sp, now);
	if (now - f->start >= t->force_ticks && now - t->sync_ticks >= t->force_ticks)
		frame_audit(t, f, now);
	trace_look(l, is_orphan(f) ? WIRE_TRACE_OVERLAP : WIRE_TRACE_END, f->node, now);
	lane_charge(l, l->np[i + 1], f->node, now - f->start, f->off);
	frame_remove(l, i);
}

void bracket_abandon(struct thread *t)
{
	u64 now = agent_ticks();

	if (detect_moved(t))
		now = thread_resync(t);
	for (u32 level = 0; level < WIRE_LANES; level++) {
		struct lane *l = level ? t->upper[level - 1] : &t->lane;

		if (!l || !l->w)
			continue;
		while (l->w->depth) {
			frame_close(l, l->w->depth - 1, now, WIRE_DIAG_THREAD_END);
			frame_remove(l, l->w->depth - 1);
		}
		l->deep = l->dropped = 0;
		l->special &= ~(u32)(LANE_DEEP | LANE_ORPHANS | LANE_LATE);
		lane_flush(l);
		l->w->pending.calls = 0;
		lane_open(l);
	}
}
