/* SPDX-License-Identifier: MIT */
/*
 * From segments to the profile: slots of the dead are read, added up and emptied while the run goes
 * on, so that programs with any number of threads and forks fit; what is left is read at the end.
 */
#define _GNU_SOURCE
#include "cli/session/internal.h"
#include "cli/session/sampling.h"
#include "cli/session/tracing.h"
#include "cli/session/windows.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/log.h"

#define DEAD_ENOUGH 32             /* dead processes in a segment before it is worth a reading */

struct process *segment_process(const struct segment *g, u32 wire_pid)
{
	for (struct process *p = g->processes; p; p = p->sibling)
		if (p->wire_pid == wire_pid)
			return p;
	return NULL;
}

static u64 relative_ns(const struct session *s, u64 ticks)
{
	u64 ns = clock_map_ns(&s->clock, ticks);

	return ns > s->start_ns ? ns - s->start_ns : 0;
}

/* In another PID namespace the segment's pids are not ours: such a process is known by its segment alone. */
static u32 pid_seen(const struct segment *g, u32 wire_pid)
{
	return g->pid == g->wire_pid ? wire_pid : 0;
}

/*
 * Whether a pid from the segment, where the target can write what it likes, is that of a process of
 * the tree: the kernel has told of it, or its parent is one.
 */
static bool pid_confirmed(const struct session *s, const struct process *p)
{
	return p->born || (!s->track.count && process_find(&s->processes, process_parent(p->facts.pid)));
}

static void forked_known(struct session *s, struct segment *g, const struct wire_process *w)
{
	u64 start_ns = relative_ns(s, w->start);
	struct process *parent = segment_process(g, w->ppid), *p = NULL;

	if (pid_seen(g, w->pid))
		p = process_find_at(&s->processes, w->pid, start_ns);
	if (!p || p->segment)
		p = process_add(&s->processes, w->pid, 0, start_ns);
	if (!p)
		return;
	p->wire_pid = w->pid;
	process_join(p, g);
	p->forked = true;
	if (parent)
		process_inherit(p, parent);
	/* Nobody tells of its end: it lives as long as the segment is in use. */
	if (p->alive && (!pid_seen(g, w->pid) || !pid_confirmed(s, p) || (p->pidfd < 0 && !p->threads)))
		process_unwatch(p);
	else if (p->alive)
		g->live++;
	else
		g->dead++;
}

/* Reads one record of the segment without copying it all. */
static bool peek(const struct segment *g, u32 ref, void *to, size_t size)
{
	return ref && (u64)ref * WIRE_UNIT + size <= WIRE_SEGMENT_SIZE &&
	       pread(g->fd, to, size, (off_t)ref * WIRE_UNIT) == (ssize_t)size;
}

void harvest_discover(struct session *s, struct segment *g)
{
	struct wire_process w;
	u32 first = load_acquire(&g->header->processes), ref = first;

	/* Newest first: everything behind one that was seen has been seen. */
	for (u32 hops = 0; ref != g->seen && hops < 1u << 16 && peek(g, ref, &w, sizeof(w)); hops++, ref = w.next) {
		struct process *p = segment_process(g, w.pid);

		if (w.flags & WIRE_PROCESS_FORKED && (!p || (!p->alive && relative_ns(s, w.start) > p->facts.end_ns)))
			forked_known(s, g, &w);
	}
	g->seen = first;
}

static void add_slot(struct session *s, struct profile *to, struct segment *g, struct wire_view *view, u32 ref,
		     struct process *p, u64 now)
{
	const struct wire_slot *slot = wire_view_slot(view, ref);
	struct profile_slot add = {
		.view = view,
		.ref = ref,
		.process = p ? p->facts.id : 0,
		.pid = p ? p->facts.pid : slot->pid,
		.live = slot->state == WIRE_SLOT_LIVE,
		.now = now,
	};

	if (p && !p->alive)
		add.now = MIN(add.now, clock_map_ticks(&s->clock, s->start_ns + p->facts.end_ns));
	if (!add.process) {
		g->strangers++;
		return;
	}
	profile_add_slot(to, &add);
}

/* What the agent says of its process. */
static void process_read(const struct wire_process *w, struct process *p)
{
	if (!w)
		return;
	p->facts.bracket = w->bracket;
	p->facts.pair = w->pair;
	p->facts.detector = w->detector;
	p->facts.sealed_cpu = w->sealed_cpu;
	if (p->facts.ended == PROCESS_UNKNOWN && w->flags & WIRE_PROCESS_EXITED) {
		p->facts.ended = PROCESS_EXIT;
		p->facts.status = w->status & 0xff;
	}
}

static void add_windows(const struct session *s, struct profile *to, const struct wire_view *view,
			const struct process *p)
{
	profile_add_windows(to, view, p->wire_pid, p->facts.id, p->facts.pid,
			    p->alive ? session_ticks(s) : clock_map_ticks(&s->clock, s->start_ns + p->facts.end_ns));
}

static void process_harvested(struct session *s, const struct wire_view *view, struct process *p)
{
	const struct wire_process *w = wire_view_process_of(view, p->wire_pid);

	if (p->harvested)
		return;
	p->harvested = true;
	process_read(w, p);
	process_settle(p, w);
	add_windows(s, &s->profile, view, p);
}

/* A copy of the segment that makes sense. */
static bool segment_opened(const struct segment *g, struct wire_view *view)
{
	if (!g->header || segment_copy(g, view))
		return false;
	if (wire_view_header(view))
		return true;
	segment_drop_copy(view);
	return false;
}

/* False: it can't be read any more, or not yet. */
static bool look_slots(struct session *s, struct segment *g, struct wire_view *view, struct profile *to)
{
	const struct wire_slot *slot;
	struct wire_walk walk;
	u64 strangers = g->strangers;
	/* Before it is copied: what is open in the copy was open then, or begun since. So what is looked at only grows. */
	u64 now = session_ticks(s);

	if (g->closed || !segment_opened(g, view))
		return false;
	walk = wire_walk_slots(view);
	while ((slot = wire_next_slot(view, &walk)))
		if (slot->state != WIRE_SLOT_FREE)
			add_slot(s, to, g, view, walk.ref, segment_process(g, slot->pid), now);
	g->strangers = strangers; /* they will be met again */
	return true;
}

void harvest_look_regions(struct session *s, struct segment *g, struct profile *to)
{
	struct wire_view view;

	if (look_slots(s, g, &view, to))
		segment_drop_copy(&view);
}

void harvest_look(struct session *s, struct segment *g, struct profile *to)
{
	struct wire_view view;

	if (!look_slots(s, g, &view, to))
		return;
	for (struct process *p = g->processes; p; p = p->sibling) {
		if (p->harvested)
			continue;
		process_read(wire_view_process_of(&view, p->wire_pid), p);
		add_windows(s, to, &view, p);
	}
	profile_add_losses(to, &view);
	profile_add_origins(to, &view);
	segment_drop_copy(&view);
}

/* Slots of the processes that have ended; all: of the others too. */
static void harvest(struct session *s, struct segment *g, bool all)
{
	struct wire_view view;
	struct wire_walk walk;
	const struct wire_slot *slot;
	u64 before = session_ticks(s);

	/* Samples whose regions, and traces whose records, lie in the slots that are about to be emptied. */
	sampling_drain(s, true);
	tracing_read(s, g, all);
	if (!segment_opened(g, &view)) {
		s->unreadable++;
		return;
	}
	walk = wire_walk_slots(&view);
	while ((slot = wire_next_slot(&view, &walk))) {
		struct process *p = segment_process(g, slot->pid);
		/* One that ended while the copy was made may have names in pages that were copied before. */
		bool dead = (slot->state == WIRE_SLOT_DEAD && slot->end <= before) || (p && !p->alive && !p->harvested);

		if (slot->state == WIRE_SLOT_FREE || (!dead && !all))
			continue;
		add_slot(s, &s->profile, g, &view, walk.ref, p, session_ticks(s));
		if (!all)
			segment_reap_slot(g, &view, walk.ref);
	}
	for (struct process *p = g->processes; p; p = p->sibling)
		if (all || !p->alive)
			process_harvested(s, &view, p);
	if (all) {
		profile_add_losses(&s->profile, &view);
		profile_add_origins(&s->profile, &view);
		tracing_windows(s, g, &view);
		windows_inside(s, g, &view);
	}
	if (all && !g->unheard && !wire_view_header(&view)->processes)
		s->unstarted++;
	segment_drop_copy(&view);
	attribute_forget(s, g);
	tracing_forget(s, g);
	g->dead = 0;
}

/* Per thread, slots wait for us as soon as their threads end. */
static bool has_dead_slots(const struct session *s, const struct segment *g)
{
	struct wire_slot slot;
	u32 ref = load_acquire(&g->header->slots);

	if (s->options->group != PROFILE_BY_THREAD)
		return false;
	for (u32 hops = 0; hops < 1u << 16 && peek(g, ref, &slot, sizeof(slot)); hops++, ref = slot.next)
		if (slot.state == WIRE_SLOT_DEAD)
			return true;
	return false;
}

void harvest_dead(struct session *s, struct segment *g)
{
	if (g->dead >= DEAD_ENOUGH || has_dead_slots(s, g))
		harvest(s, g, false);
}

void harvest_all(struct session *s, struct segment *g)
{
	if (g->closed)
		return;
	if (g->header)
		harvest_discover(s, g);
	for (struct process *p = g->over ? g->processes : NULL; p; p = p->sibling)
		if (p->unwatched && p->alive)
			process_end(p, PROCESS_UNKNOWN, session_now() - s->start_ns);
	harvest(s, g, true);
	g->closed = true;
	segment_close(g);
}
