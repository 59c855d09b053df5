/* SPDX-License-Identifier: MIT */
/*
 * Threads that run, or wait, already when the session begins. What they did until their first record is told by that
 * record: before a thread is switched out it ran, before it is switched in it was off the CPU. What it waited for, and
 * what it is at if no record comes, is read in /proc at the start.
 */
#define _GNU_SOURCE
#include "cli/session/offcpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/session/internal.h"
#include "cli/session/sampling.h"
#include "common/proc.h"

int offcpu_ring_attached(struct session *s, struct perf_event_attr *attr, u32 cpu)
{
	struct sampling *p = s->sampling;
	bool mapping;

	p->off->attr = *attr;
	return feed_ring_try(&p->rings[p->nrings + p->nstacks], attr, p->task, cpu, p->pages, &mapping);
}

int offcpu_add(struct session *s, pid_t tid)
{
	struct sampling *p = s->sampling;
	struct offcpu *o = p->off;

	if (o->polled)
		return 0;
	if (o->narmed == o->armed_room) {
		size_t room = o->armed_room ? 2 * o->armed_room : 64;
		pid_t *list = realloc(o->armed, room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		o->armed = list;
		o->armed_room = room;
	}
	o->armed[o->narmed++] = tid;
	return 0;
}

void offcpu_add_stacks(struct session *s)
{
	struct sampling *p = s->sampling;
	struct offcpu *o = p ? p->off : NULL;

	for (size_t i = 0; o && p->nstacks && i < o->narmed; i++) {
		if (feed_add(&o->feed, p->rings + p->nrings, p->nstacks, &o->attr, o->armed[i]) != -EMFILE)
			continue;
		offcpu_note(p, "too few descriptors for the stacks of all threads (ulimit -n): of some they come from /proc alone");
		return;
	}
}

/* False: it is none of the process's. */
static bool thread_begin(struct session *s, u32 pid, u32 tid)
{
	struct process_stat stat;
	struct offcpu_thread *t;
	u64 cells[SCHED_CELLS];

	if (!process_thread_stat(pid, tid, &stat))
		return false;
	/* The first thread has ended, and others go on. */
	if (stat.state == 'Z' || stat.state == 'X')
		return true;
	t = offcpu_thread_get(s, pid, tid, s->start_ns);
	if (!t)
		return true;
	t->fresh = true;
	t->state = stat.state == 'R' ? OFFCPU_RUNNING : OFFCPU_BLOCKED;
	t->fresh_ns = session_now();
	t->older = true;
	t->disk_before_ns = t->disk_ns = process_ticks_ns(stat.delay);
	if (offcpu_schedstat(pid, tid, cells)) {
		t->delay_before_ns = cells[SCHED_RUNWAIT];
		t->ran_ns = cells[SCHED_RUNTIME];
	}
	return true;
}

void offcpu_begin(struct session *s)
{
	struct offcpu *o = s->sampling ? s->sampling->off : NULL;
	struct process **live;
	size_t n;

	if (o && o->polled && !s->track.count && !s->options->no_inherit)
		offcpu_note(s->sampling, "of processes that start meanwhile the kernel tells nothing: without an agent they are missing");
	live = processes_live(&s->processes, &n);
	for (size_t i = 0; o && i < o->narmed; i++)
		for (size_t k = 0; k < n; k++)
			if (thread_begin(s, live[k]->facts.pid, (u32)o->armed[i]))
				break;
}

/* Some ring lost records since the thread began: its first one may be among them. */
static bool record_lost(const struct sampling *p, const struct offcpu_thread *t)
{
	for (u32 i = 0; i < p->nrings; i++)
		if (p->off->loss_ns[i] > t->since_ns)
			return true;
	return false;
}

/*
 * It could run when it was looked at, and did not. Since when, a record of its wake-up tells; where there are none of
 * those, it is not known of the time before that look.
 */
static void ready_since(const struct offcpu *o, struct offcpu_thread *t)
{
	t->state = OFFCPU_READY;
	if (offcpu_wakes_complete(o, t->since_ns)) {
		if (t->wake.time_ns)
			t->state = OFFCPU_BLOCKED;
		return;
	}
	t->sums.unknown_ns += t->fresh_ns - MIN(t->fresh_ns, t->since_ns);
	t->since_ns = MAX(t->fresh_ns, t->since_ns);
}

void offcpu_first(const struct sampling *p, struct offcpu_thread *t, u64 now_ns, bool out)
{
	t->fresh = false;
	if (record_lost(p, t))
		t->state = OFFCPU_UNKNOWN;
	else if (out)
		t->state = OFFCPU_RUNNING;
	else if (now_ns < t->fresh_ns)
		/* It was switched in before it was looked at. */
		t->state = OFFCPU_UNKNOWN;
	else if (t->state == OFFCPU_RUNNING)
		ready_since(p->off, t);
}

void offcpu_unmoved(const struct offcpu *o, struct offcpu_thread *t, u64 end_ns)
{
	u64 ns = end_ns - MIN(end_ns, t->since_ns), ran;
	u64 cells[SCHED_CELLS];

	if (!t->fresh || t->state != OFFCPU_RUNNING)
		return;
	if (!offcpu_schedstat(t->sums.pid, t->sums.tid, cells)) {
		t->state = OFFCPU_UNKNOWN;
		return;
	}
	/* It had a CPU all the time, or none; the kernel adds up at its clock's ticks. */
	ran = cells[SCHED_RUNTIME] - MIN(cells[SCHED_RUNTIME], t->ran_ns);
	if (ran <= ns / 2)
		ready_since(o, t);
}
