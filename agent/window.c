/* SPDX-License-Identifier: MIT */
/*
 * Windows: long brackets of the whole process with its CPU time, all usage and the files of snapshot.c at both edges.
 * Rare, so each edge makes system calls, and each window is a record of its own in the segment.
 */
#define _GNU_SOURCE
#include "agent.h"

#include <errno.h>

#include "banned.h"

/*
 * SAFE. A later session waits for edges that are being recorded: they are of this one's segment. The process's first
 * marker may begin another life.
 */
static struct process_life *edge_enter(void)
{
	struct process_life *l = life;

	__atomic_fetch_add(&l->windows, 1, __ATOMIC_SEQ_CST);
	return l;
}

static void edge_leave(struct process_life *l)
{
	__atomic_fetch_sub(&l->windows, 1, __ATOMIC_RELEASE);
}

static void first_edge(struct wire_window *w)
{
	w->snapshots[0] = snapshot_take();
	agent_usage(SOURCE_PROCESS, SOURCE_ALL, &w->begin_usage);
	w->snapshots[0] = marks_take(w->snapshots[0], agent_ticks());
	/* Once more: what the reading of the sources took is not the window's. */
	if (!agent_sealed())
		w->begin_usage.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void last_edge(struct wire_window *w, u64 now)
{
	agent_usage(SOURCE_PROCESS, SOURCE_ALL, &w->end_usage);
	w->snapshots[1] = marks_take(snapshot_take(), now);
	store_release(&w->to, now);
}

static void begin(const char *name)
{
	struct wire_window *w;
	int saved = errno;
	u32 ref;

	if (!agent_takes(name))
		return;
	if (fetch_add(&agent.header->window_count, 1) >= WIRE_WINDOWS || !(ref = name_record(sizeof(*w)))) {
		agent_lose(WIRE_LOSS_WINDOWS);
		return;
	}
	w = segment_ptr(ref);
	w->name = name_intern(name);
	w->pid = life->pid;
	fetch_add(&life->open, 1);
	first_edge(w);
	errno = saved;
	w->start = w->from = agent_ticks();
	w->state = WIRE_WINDOW_OPEN;
	w->next = load_relaxed(&agent.header->windows);
	while (!compare_exchange(&agent.header->windows, &w->next, ref))
		;
}

/* SAFE. The newest open window of the name in this process. */
static struct wire_window *window_find(u32 name)
{
	struct wire_window *w;
	u32 hops = 0;

	for (u32 ref = load_acquire(&agent.header->windows); ref && hops++ < WIRE_WINDOWS; ref = w->next) {
		if (!segment_reach(ref))
			return NULL;
		w = segment_ptr(ref);
		if (w->name == name && w->pid == life->pid && load_relaxed(&w->state) == WIRE_WINDOW_OPEN)
			return w;
	}
	return NULL;
}

static void window_diagnose(enum wire_diagnosis diagnosis, u32 name)
{
	struct thread *t;
	struct lane *l = region_enter(&t);

	if (!l)
		return;
	lane_diagnose(l, diagnosis, name, agent_ticks());
	region_leave(l);
}

static void end(const char *name)
{
	struct wire_window *w;
	u64 now = agent_ticks();
	u32 ref;

	if (!agent_takes(name))
		return;
	ref = name_intern(name);
	w = window_find(ref);
	if (!w) {
		window_diagnose(WIRE_DIAG_WINDOW, ref);
		return;
	}
	w->end = now;
	if (load_relaxed(&w->part) != WIRE_WINDOW_COOLDOWN)
		last_edge(w, now);
	store_release(&w->state, (u32)WIRE_WINDOW_ENDED);
	__atomic_fetch_sub(&life->open, 1, __ATOMIC_RELAXED);
}

/* SAFE. Each once, and in their order; where threads mark the same one, the first. */
static bool part_enter(struct wire_window *w, u32 part)
{
	u32 before = load_relaxed(&w->part);

	if (part < WIRE_WINDOW_WARMUP || part > WIRE_WINDOW_COOLDOWN || before >= part)
		return false;
	return compare_exchange(&w->part, &before, part);
}

static void part(const char *name, u32 which)
{
	struct wire_window *w;
	u64 now = agent_ticks();
	u32 ref;

	if (!agent_takes(name))
		return;
	ref = name_intern(name);
	w = window_find(ref);
	if (!w || !part_enter(w, which)) {
		window_diagnose(WIRE_DIAG_PART, ref);
		return;
	}
	if (which == WIRE_WINDOW_WARMUP) {
		w->begin_usage.valid = 0;
		w->snapshots[0] = 0;
		w->from = WIRE_NEVER;
	} else if (which == WIRE_WINDOW_MEASURED) {
		first_edge(w);
		w->from = agent_ticks();
	} else {
		last_edge(w, now);
	}
}

void window_part(const char *name, unsigned int which)
{
	struct process_life *l = edge_enter();
	int saved = errno;

	part(name, which);
	errno = saved;
	edge_leave(l);
}

void window_begin(const char *name)
{
	struct process_life *l = edge_enter();

	begin(name);
	edge_leave(l);
}

void window_end(const char *name)
{
	struct process_life *l = edge_enter();

	end(name);
	edge_leave(l);
}
