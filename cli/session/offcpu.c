/* SPDX-License-Identifier: MIT */
/* Pairs of switch records; see offcpu.h. */
#define _GNU_SOURCE
#include "cli/session/offcpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/session/chain.h"
#include "cli/session/internal.h"
#include "cli/session/record.h"
#include "cli/session/sampling.h"

#define THREADS_MOST 4096u         /* that have ended and rows of their own, as in the profile by thread */
#define LOOK_SHORT_NS (2 * OFFCPU_LOOK_NS) /* intervals that are longer are all seen */
#define LOOK_CALL_NS NSEC_PER_MSEC
/* The kernel tells the track of a birth or an exec in a record of its own, which may have a later time. */
#define RECORDS_APART_NS (200 * 1000u)

void offcpu_free(struct offcpu *o)
{
	for (u32 i = 0; o && i < OFFCPU_BUCKETS; i++)
		while (o->buckets[i]) {
			struct offcpu_thread *t = o->buckets[i];

			o->buckets[i] = t->next;
			free(t);
		}
	if (o) {
		feed_close(&o->feed);
		if (o->keeper >= 0)
			close(o->keeper);
		free(o->armed);
		free(o->threads);
		free(o->loss_ns);
		offcpu_wake_close(o);
	}
	free(o);
}

/* ---- threads */

struct offcpu_thread *offcpu_thread_find(const struct offcpu *o, u32 tid)
{
	struct offcpu_thread *t = o->buckets[tid % OFFCPU_BUCKETS];

	while (t && t->sums.tid != tid)
		t = t->next;
	return t;
}

/* 0: nobody told of its birth, and its time is in nobody's wall. exec: that is what begins then. */
static u32 process_of(struct session *s, u32 pid, u64 time_ns, bool exec)
{
	u64 ns = time_ns > s->start_ns ? time_ns - s->start_ns : 0;
	struct process *begun = process_begun(&s->processes, pid, ns, RECORDS_APART_NS);
	struct process *at = process_find_at(&s->processes, pid, ns);
	struct process *p = (exec && begun) || !at ? begun : at;

	return p ? p->facts.id : 0;
}

static struct offcpu_thread *thread_add(struct session *s, u32 pid, u32 tid, u64 time_ns)
{
	struct offcpu *o = s->sampling->off;
	struct offcpu_thread *t, **list = o->threads;

	if (o->nthreads == o->room) {
		u32 room = o->room ? 2 * o->room : 64;

		list = realloc(list, room * sizeof(struct offcpu_thread *));
		if (!list)
			return NULL;
		o->threads = list;
		o->room = room;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->sums = (struct samples_thread){ .process = process_of(s, pid, time_ns, false), .pid = pid, .tid = tid };
	t->born_ns = t->since_ns = time_ns;
	t->region = SAMPLES_NONE;
	t->next = o->buckets[tid % OFFCPU_BUCKETS];
	o->buckets[tid % OFFCPU_BUCKETS] = t;
	o->threads[o->nthreads++] = t;
	offcpu_wake_thread(s->sampling, tid);
	return t;
}

static struct offcpu_thread *thread_new(struct session *s, const struct record *r, u32 ring)
{
	struct offcpu_thread *t = thread_add(s, r->pid, r->tid, r->time_ns);

	if (t)
		t->ring = ring;
	return t;
}

struct offcpu_thread *offcpu_thread_get(struct session *s, u32 pid, u32 tid, u64 time_ns)
{
	struct offcpu_thread *t = offcpu_thread_find(s->sampling->off, tid);

	return t ? t : thread_add(s, pid, tid, time_ns);
}

/* Its number and process are those of one that has not ended. */
static bool thread_lives(const void *context, u32 process, u32 tid)
{
	const struct offcpu_thread *t = offcpu_thread_find(context, tid);

	return t && t->sums.process == process;
}

void offcpu_thread_end(struct sampling *p, struct offcpu_thread *t, u64 end_ns)
{
	u64 waits = p->off->polled ? 0 : t->delay_ns - MIN(t->delay_ns, t->delay_ready_ns);

	if (!t->sums.process)
		return;
	t->sums.life_ns = end_ns > t->born_ns ? end_ns - t->born_ns : 0;
	t->sums.woken_known = t->delay_known || p->off->wakes;
	/* What came after the sums were read was like what came before. */
	if (t->delay_blocked && !p->off->wakes)
		t->sums.woken_ns = (u64)((double)waits / (double)t->delay_blocked * (double)t->sums.blocked);
	offcpu_delay_end(p->off, t);
	samples_thread(&p->samples, &t->sums);
	if (p->samples.nthreads < MAX(p->off->fold_at, THREADS_MOST + THREADS_MOST / 4))
		return;
	samples_fold(&p->samples, THREADS_MOST, thread_lives, p->off);
	p->off->fold_at = p->samples.nthreads + THREADS_MOST / 4;
}

/* ---- intervals */

/* What of the newest look is of the interval until then. */
enum look_holds { LOOK_NOTHING, LOOK_CALL, LOOK_ALL };

/*
 * The call was read while its thread waited. With two waits in the time that it took it may be of the other one; so it
 * may not take long.
 */
static enum look_holds look_holds(const struct offcpu_thread *t, u64 until_ns)
{
	if (!t->look_ns)
		return LOOK_NOTHING;
	if (t->look_ns >= t->since_ns && t->look_end_ns <= until_ns)
		return LOOK_ALL;
	if (t->look_ns >= until_ns || t->look_call_ns <= t->since_ns || t->look_call_ns - t->look_ns > LOOK_CALL_NS)
		return LOOK_NOTHING;
	if (t->look_same)
		return LOOK_ALL;
	return t->look_kind_call == SAMPLES_OFF_UNSEEN ? LOOK_NOTHING : LOOK_CALL;
}

/* What is known of why it waited, and from where. */
static void blocked_cause(struct sampling *p, const struct offcpu_thread *t, u64 until_ns, struct samples_row *row)
{
	enum look_holds seen = look_holds(t, until_ns);
	u32 kind = SAMPLES_OFF_UNSEEN;

	if (t->stack_ns) {
		row->chain = t->stack_chain;
		row->flags |= t->stack_flags;
	}
	if (seen) {
		kind = seen == LOOK_ALL ? t->look_kind : t->look_kind_call;
		if (!t->stack_ns && seen == LOOK_ALL) {
			row->chain = t->look_chain;
			row->flags |= t->look_flags;
		}
		if (t->look_call != SAMPLES_NONE)
			row->chain = samples_chain(&p->samples, row->chain, t->look_call);
		if (until_ns - t->since_ns < LOOK_SHORT_NS)
			row->flags |= SAMPLES_OFF_SHARED;
	}
	if (t->stack_ns && t->stack_deep && kind != SAMPLES_OFF_OTHER) {
		kind = SAMPLES_OFF_DISK;
		row->flags = (row->flags & ~SAMPLES_OFF_SHARED) | SAMPLES_OFF_RECORDED;
	}
	row->flags |= kind << SAMPLES_OFF_SHIFT;
}

static void interval_add(struct sampling *p, struct offcpu_thread *t, u64 until_ns)
{
	struct samples_row row = {
		.process = t->sums.process, .pid = t->sums.pid, .tid = t->sums.tid, .region = t->region,
		.chain = SAMPLES_NONE, .flags = t->flags, .count = 1, .weight = until_ns - t->since_ns,
	};

	if (t->state == OFFCPU_BLOCKED) {
		row.weight = offcpu_wake_take(p, t, until_ns) - t->since_ns;
		blocked_cause(p, t, until_ns, &row);
		t->blocked_ns += row.weight;
		t->sums.blocked++;
	} else {
		if (t->stack_ns) {
			row.chain = t->stack_chain;
			row.flags |= t->stack_flags;
		}
		row.flags |= SAMPLES_OFF_PREEMPTED << SAMPLES_OFF_SHIFT | SAMPLES_OFF_RECORDED;
		t->ready_ns += row.weight;
		t->sums.preempted++;
	}
	samples_off(&p->samples, &row);
}

/* Nothing was lost between two records of a thread. */
static bool paired(const struct offcpu *o, const struct offcpu_thread *t, u32 ring)
{
	return o->loss_ns[t->ring] <= t->since_ns && o->loss_ns[ring] <= t->since_ns;
}

/* The time since the thread's newest record is accounted for. out: the record at hand is of its going. */
static void thread_account(struct sampling *p, struct offcpu_thread *t, u64 now_ns, u32 ring, bool out)
{
	u64 ns = now_ns > t->since_ns ? now_ns - t->since_ns : 0;
	bool expected;

	if (t->fresh)
		offcpu_first(p, t, now_ns, out);
	expected = out ? t->state == OFFCPU_RUNNING : t->state == OFFCPU_READY || t->state == OFFCPU_BLOCKED;
	if ((t->state == OFFCPU_UNKNOWN && !ns) || !t->sums.process)
		return;
	if (!expected || !paired(p->off, t, ring)) {
		t->sums.unknown_ns += ns;
		p->samples.off_lost += t->state != OFFCPU_UNKNOWN;
	} else if (out) {
		t->sums.running_ns += ns;
	} else {
		interval_add(p, t, MAX(now_ns, t->since_ns));
	}
	if (!out)
		t->stack_ns = t->wake.time_ns = 0;
	/* One that came after a later switch stays, and one of the wait after next. */
	if (!out && t->look_ns < now_ns && (t->state == OFFCPU_BLOCKED || t->look_call_ns <= now_ns))
		t->look_ns = 0;
}

/* It is another image now, with its own times. */
static void thread_become(struct sampling *p, struct offcpu_thread *t, u32 process, u32 pid, u64 now_ns)
{
	offcpu_thread_end(p, t, now_ns);
	t->sums = (struct samples_thread){ .process = process, .pid = pid, .tid = t->sums.tid };
	t->born_ns = t->since_ns = now_ns;
	t->delay_before_ns += t->delay_ns;
	offcpu_delay_become(t);
	t->delay_known = false;
	t->delay_blocked = t->ready_ns = t->blocked_ns = 0;
}

static void region_look(struct session *s, const struct sampling_record *at, const struct record *r, struct offcpu_thread *t)
{
	u64 ns = r->time_ns > s->start_ns ? r->time_ns - s->start_ns : 0;
	struct process *process = process_find_at(&s->processes, r->pid, ns);
	const struct attribute_sample where = {
		.segment = process ? process->segment : NULL,
		.tid = r->tid,
		.cpu = s->sampling->rings[at->ring].cpu,
		.position = at->position,
		.ticks = clock_map_ticks(&s->clock, r->time_ns),
	};
	bool unknown;

	if (process && process->facts.id != t->sums.process)
		thread_become(s->sampling, t, process->facts.id, r->pid, r->time_ns);
	t->region = attribute_region(s, &where, &unknown);
	t->flags = unknown || !process ? (u32)SAMPLES_UNATTRIBUTED : 0;
}

void offcpu_switch(struct session *s, const struct sampling_record *at, const struct record *r)
{
	struct sampling *p = s->sampling;
	struct offcpu_thread *t = offcpu_thread_find(p->off, r->tid);
	bool out = r->misc & PERF_RECORD_MISC_SWITCH_OUT;

	/* The idle task, while a process ends. */
	if (!r->tid || (!t && !(t = thread_new(s, r, at->ring))))
		return;
	thread_account(p, t, r->time_ns, at->ring, out);
	t->since_ns = r->time_ns;
	t->ring = at->ring;
	if (!out) {
		t->state = OFFCPU_RUNNING;
		return;
	}
	t->state = r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? OFFCPU_READY : OFFCPU_BLOCKED;
	region_look(s, at, r, t);
}

void offcpu_fork(struct session *s, const struct record *r)
{
	struct offcpu_thread *t = offcpu_thread_find(s->sampling->off, r->tid), *parent;

	/* Its first switch may have come before, by another CPU's clock. */
	if (!t && (t = thread_new(s, r, 0)))
		t->state = OFFCPU_READY;
	parent = offcpu_thread_find(s->sampling->off, r->task.parent_tid);
	if (t && parent && !t->name[0])
		memcpy(t->name, parent->name, sizeof(t->name));
}

void offcpu_comm(struct session *s, const struct record *r)
{
	struct offcpu_thread *t = offcpu_thread_find(s->sampling->off, r->tid);

	if (t)
		snprintf(t->name, sizeof(t->name), "%s", r->comm.name);
}

static void thread_drop(struct offcpu *o, struct offcpu_thread *t)
{
	struct offcpu_thread **to = &o->buckets[t->sums.tid % OFFCPU_BUCKETS];

	while (*to != t)
		to = &(*to)->next;
	*to = t->next;
	for (u32 i = 0; i < o->nthreads; i++)
		if (o->threads[i] == t) {
			o->threads[i] = o->threads[--o->nthreads];
			break;
		}
	free(t);
}

void offcpu_thread_gone(struct sampling *p, struct offcpu_thread *t)
{
	offcpu_thread_end(p, t, t->met_ns);
	thread_drop(p->off, t);
}

void offcpu_exit(struct session *s, const struct record *r)
{
	struct sampling *p = s->sampling;
	struct offcpu_thread *t = offcpu_thread_find(p->off, r->tid);

	if (!t)
		return;
	thread_account(p, t, r->time_ns, t->ring, true);
	offcpu_wake_ended(p->off, t);
	offcpu_thread_end(p, t, r->time_ns);
	thread_drop(p->off, t);
}

void offcpu_thread_left(struct sampling *p, struct offcpu_thread *t, u64 end_ns)
{
	t->left = true;
	thread_account(p, t, end_ns, t->ring, t->state == OFFCPU_RUNNING);
	offcpu_thread_end(p, t, MAX(end_ns, t->since_ns));
}

/* An exec ends all other threads; who calls it takes the number of the first, and its own has no record of an end. */
static void others_end(struct sampling *p, const struct record *r)
{
	struct offcpu *o = p->off;

	for (u32 i = o->nthreads; i--;) {
		struct offcpu_thread *t = o->threads[i];

		if (t->sums.pid != r->pid || t->sums.tid == r->tid)
			continue;
		t->left = true;
		thread_account(p, t, r->time_ns, t->ring, t->state == OFFCPU_RUNNING);
		offcpu_thread_end(p, t, r->time_ns);
		thread_drop(o, t);
	}
}

void offcpu_exec(struct session *s, const struct record *r)
{
	struct sampling *p = s->sampling;
	struct offcpu_thread *t = offcpu_thread_find(p->off, r->tid);
	u32 process = process_of(s, r->pid, r->time_ns, true);

	others_end(p, r);
	if (!t) {
		t = thread_new(s, r, 0);
		if (!t)
			return;
		t->sums.process = process;
	}
	if (t->state == OFFCPU_UNKNOWN) {
		t->state = OFFCPU_RUNNING;
	} else if (t->sums.process != process) {
		thread_account(p, t, r->time_ns, t->ring, true);
		thread_become(p, t, process, r->pid, r->time_ns);
		t->state = OFFCPU_RUNNING;
	}
}

void offcpu_lost(struct session *s, const struct sampling_record *at, const struct record *r)
{
	struct sampling *p = s->sampling;

	p->off->loss_ns[at->ring] = r->time_ns;
	if (!p->samples.event)
		p->samples.off_lost += r->lost;
}

/* ---- stacks at switches */

/* Of sched:sched_switch; a thread that waits without a signal being able to end that mostly waits for a disk. */
static bool state_deep(const struct offcpu *o, const struct record *r)
{
	const u64 uninterruptible = 2, noload = 0x400;
	u64 state = 0;

	if (!o->tracepoint || !r->sample.raw || o->state_at + o->state_size > r->sample.raw_size)
		return false;
	memcpy(&state, r->sample.raw + o->state_at, o->state_size);
	return state & uninterruptible && !(state & noload);
}

void offcpu_stack(struct session *s, const struct record *r)
{
	struct sampling *p = s->sampling;
	struct offcpu_thread *t = r->tid ? offcpu_thread_find(p->off, r->tid) : NULL;

	if (!t)
		return;
	t->stack_flags = 0;
	t->stack_chain = chain_take(p, r, &t->stack_flags);
	t->stack_ns = r->time_ns;
	t->stack_deep = state_deep(p->off, r);
}
