/* SPDX-License-Identifier: MIT */
/*
 * Who ends waits, and when. The kernel tells of each wake-up (the tracepoint sched_waking) in the context of who makes
 * it: a thread, or an interrupt, of which the thread that it came upon knows nothing. So there is an event of each CPU,
 * since one of the tree has nothing of interrupts and of other programs; it has the stacks, where one is the tree's own.
 * The first wake-up since a thread went counts. It may come just before the record of its going, by a thread on another
 * CPU; of several in front of it the newest counts then.
 *
 * Between the wake-up and the next record the thread waits for a CPU.
 */
#define _GNU_SOURCE
#include "cli/session/offcpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/session/chain.h"
#include "cli/session/internal.h"
#include "cli/session/record.h"
#include "cli/session/sampling.h"
#include "cli/session/tracepoint.h"

/* Bytes that are copied of the waker's stack: from the C library's function to the program's. */
#define WAKE_STACK 1024u
/* Such stacks, a second and CPU: of more wake-ups some have one, since copies take the program's time. */
#define WAKE_STACKS_RATE 4000u
#define REMEMBERED 256u            /* threads: of other programs, and such as have ended */
/* A wake-up told twice is told within the time of an interrupt. */
#define WAKE_APART_NS (100 * 1000u)
/* Of common_flags (include/linux/trace_events.h). */
#define IN_HARDIRQ 0x08u
#define IN_SOFTIRQ 0x10u
#define IN_NMI 0x40u

struct offcpu_wakes {
	struct offcpu_wake_fields fields;
	u32 first;                   /* the least number of a thread that the kernel tells of */
	u64 loss_ns;                 /* when records were lost last */
	struct {
		u32 tid, name;
	} strangers[REMEMBERED];     /* threads of other programs */
	struct offcpu_ended {
		u32 tid, process, pid;
		char name[16];
	} ended[REMEMBERED];
};

/* ---- opening */

bool offcpu_wake_format(const char *format, struct offcpu_wake_fields *f)
{
	return tracepoint_id(format, &f->id) &&
	       tracepoint_field(format, "pid", &f->pid_at, &f->pid_size) && f->pid_size == sizeof(u32) &&
	       tracepoint_field(format, "common_flags", &f->flags_at, &f->flags_size) && f->flags_size == 1 &&
	       tracepoint_field(format, "common_pid", &f->current_at, &f->current_size) && f->current_size == sizeof(u32);
}

/* A ring for each CPU behind those that are there, or none; pid -1: of all that runs on it. 0 or -errno. */
static int rings_open(struct sampling *p, struct perf_event_attr *attr, pid_t pid, u32 *n, bool *mapping)
{
	u32 first = p->nrings + p->nstacks + p->nwakes + p->nwakers;

	for (*n = 0; *n < p->nrings; ++*n) {
		int ret = ring_open(&p->rings[first + *n], attr, pid, p->rings[*n].cpu, p->pages, mapping);

		if (!ret)
			continue;
		while (*n)
			ring_close(&p->rings[first + --*n]);
		return ret;
	}
	return 0;
}

/* Of the wake-ups of a CPU most concern others. Threads of the tree have greater numbers than the one that was first. */
static void wakes_filter(const struct sampling *p, u32 first)
{
	char filter[32];

	snprintf(filter, sizeof(filter), "pid >= %u", first);
	for (u32 i = 0; i < p->nwakes; i++)
		ioctl(p->rings[p->nrings + p->nstacks + i].fd, PERF_EVENT_IOC_SET_FILTER, filter);
	p->off->wakes->first = first;
}

/* Where wake-ups are made by threads of the tree: their stacks are copied. Without them it works, too. */
static void wakers_open(struct session *s, u64 id)
{
	struct sampling *p = s->sampling;
	struct perf_event_attr attr;
	bool mapping;

	if (!p->stacks || p->attached)
		return;
	p->wakers_type = PERF_SAMPLE_RAW | (p->stacks & PERF_SAMPLE_STACK_USER ?
					    PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER : PERF_SAMPLE_CALLCHAIN);
	tracepoint_attr(&attr, id, p->wakers_type, p->pages);
	attr.exclude_callchain_kernel = 1;
	if (p->wakers_type & PERF_SAMPLE_STACK_USER) {
		attr.sample_regs_user = p->regs;
		attr.sample_stack_user = WAKE_STACK;
	}
	attr.disabled = attr.enable_on_exec = 1;
	attr.inherit = !s->options->no_inherit;
	attr.freq = 1;
	attr.sample_freq = WAKE_STACKS_RATE;
	/* The kernel may have lowered its limit of rates. */
	if (!rings_open(p, &attr, s->spawn.pid, &p->nwakers, &mapping))
		return;
	attr.freq = 0;
	attr.sample_period = 1;
	rings_open(p, &attr, s->spawn.pid, &p->nwakers, &mapping);
}

/* True, or false with the reason. */
static bool wakes_open(struct session *s, struct offcpu_wakes *wakes, struct outcome *why)
{
	struct sampling *p = s->sampling;
	struct perf_event_attr attr;
	bool mapping = false;
	char text[4096];
	int ret;

	if (p->off->polled) {
		*why = outcome_no("", "no switch is recorded");
		return false;
	}
	if (!wakers_format(&s->caps, text, sizeof(text), why))
		return false;
	if (!offcpu_wake_format(text, &wakes->fields)) {
		*why = outcome_no("", "the tracepoint sched:sched_waking has other fields here");
		return false;
	}
	tracepoint_attr(&attr, wakes->fields.id, 0, p->pages);
	ret = rings_open(p, &attr, -1, &p->nwakes, &mapping);
	if (ret) {
		*why = mapping ? advice_ring(&s->caps, -ret) : advice_perf_scope(&s->caps, -ret, ADVICE_TRACE);
		return false;
	}
	p->off->wakes = wakes;
	if (!p->attached)
		wakes_filter(p, (u32)s->spawn.pid);
	wakers_open(s, wakes->fields.id);
	return true;
}

void offcpu_wake_open(struct session *s)
{
	struct sampling *p = s->sampling;
	struct offcpu_wakes *wakes = calloc(1, sizeof(*wakes));
	struct outcome why = outcome_no("", "out of memory");

	if (wakes && wakes_open(s, wakes, &why)) {
		p->samples.off_waker = strdup("sched_waking");
		return;
	}
	free(wakes);
	p->samples.off_no_waker = strdup(why.because);
}

void offcpu_wake_close(struct offcpu *o)
{
	free(o->wakes);
	o->wakes = NULL;
}

/* ---- records */

void offcpu_wake_ended(struct offcpu *o, const struct offcpu_thread *t)
{
	struct offcpu_ended *ended = o->wakes ? &o->wakes->ended[t->sums.tid % REMEMBERED] : NULL;

	if (!ended)
		return;
	*ended = (struct offcpu_ended){ .tid = t->sums.tid, .process = t->sums.process, .pid = t->sums.pid };
	memcpy(ended->name, t->name, sizeof(ended->name));
}

/* A thread's name as /proc has it, of one that is not of the tree. */
static u32 stranger_name(struct sampling *p, u32 tid)
{
	struct offcpu_wakes *wakes = p->off->wakes;
	u32 at = tid % REMEMBERED;
	char text[32] = "";
	ssize_t n;

	if (wakes->strangers[at].tid == tid)
		return wakes->strangers[at].name;
	n = process_read_file(tid, "comm", text, sizeof(text) - 1);
	wakes->strangers[at].tid = tid;
	wakes->strangers[at].name = n > 0 ? samples_string(&p->samples, text, strcspn(text, "\n")) : SAMPLES_NONE;
	return wakes->strangers[at].name;
}

/* A thread ran when it was made. One that ends wakes who waits for that when the record of its end is written. */
static void wake_by_thread(struct sampling *p, const struct record *r, u32 tid, struct offcpu_wake *wake)
{
	const struct offcpu_thread *waker = offcpu_thread_find(p->off, tid);
	const struct offcpu_ended *ended = &p->off->wakes->ended[tid % REMEMBERED];
	const char *name = waker ? waker->name : ended->name;
	u32 flags = 0;

	wake->tid = tid;
	if (!waker && ended->tid != tid) {
		wake->by = SAMPLES_WAKER_OUTSIDE;
		wake->name = stranger_name(p, tid);
		return;
	}
	wake->by = SAMPLES_WAKER_THREAD;
	wake->process = waker ? waker->sums.process : ended->process;
	wake->pid = waker ? waker->sums.pid : ended->pid;
	if (name[0])
		wake->name = samples_string(&p->samples, name, strlen(name));
	if (waker && (r->sample.nchain || r->sample.abi))
		wake->chain = chain_take(p, r, &flags);
}

static struct offcpu_wake wake_make(struct sampling *p, const struct record *r)
{
	const struct offcpu_wake_fields *f = &p->off->wakes->fields;
	struct offcpu_wake wake = { .time_ns = r->time_ns, .by = SAMPLES_WAKER_INTERRUPT, .name = SAMPLES_NONE,
				    .chain = SAMPLES_NONE };
	u8 context = r->sample.raw[f->flags_at];
	u32 tid;

	memcpy(&tid, r->sample.raw + f->current_at, sizeof(tid));
	/* The idle task does what interrupts leave to it. */
	if (context & (IN_HARDIRQ | IN_NMI) || !tid)
		return wake;
	wake.by = SAMPLES_WAKER_SOFTIRQ;
	if (!(context & IN_SOFTIRQ))
		wake_by_thread(p, r, tid, &wake);
	return wake;
}

/* The same wake-up, told by the event of the CPU and by that of the waker, once by each. */
static bool wake_same(const struct offcpu_wake *x, const struct offcpu_wake *y)
{
	u64 apart = x->time_ns > y->time_ns ? x->time_ns - y->time_ns : y->time_ns - x->time_ns;

	return x->time_ns && !(x->told & y->told) && x->by == y->by && x->tid == y->tid && apart < WAKE_APART_NS;
}

static void wake_add(struct offcpu_thread *t, const struct offcpu_wake *wake)
{
	u32 chain = t->wake.chain;

	if (wake_same(&t->wake, wake)) {
		t->wake.time_ns = MIN(t->wake.time_ns, wake->time_ns);
		t->wake.chain = chain == SAMPLES_NONE ? wake->chain : chain;
		t->wake.told |= wake->told;
	} else if (t->state != OFFCPU_BLOCKED || t->wake.time_ns < t->since_ns) {
		t->wake = *wake;
	}
}

void offcpu_wake(struct session *s, const struct sampling_record *at, const struct record *r)
{
	struct sampling *p = s->sampling;
	struct offcpu *o = p->off;
	const struct offcpu_wake_fields *f = &o->wakes->fields;
	bool lost = r->type == PERF_RECORD_LOST || r->type == PERF_RECORD_LOST_SAMPLES;
	struct offcpu_wake wake;
	struct offcpu_thread *t;
	u32 tid;

	/* Of the others stacks are missing, and nothing else. */
	if (lost && at->ring < p->nrings + p->nstacks + p->nwakes)
		o->wakes->loss_ns = r->time_ns;
	if (r->type != PERF_RECORD_SAMPLE || r->sample.raw_size < sizeof(u32) ||
	    MAX(MAX(f->pid_at, f->current_at) + (u32)sizeof(u32), f->flags_at + 1) > r->sample.raw_size)
		return;
	memcpy(&tid, r->sample.raw + f->pid_at, sizeof(tid));
	t = offcpu_thread_find(o, tid);
	if (!t || t->state == OFFCPU_READY)
		return;
	wake = wake_make(p, r);
	wake.told = at->ring < p->nrings + p->nstacks + p->nwakes ? 1 : 2;
	wake_add(t, &wake);
}

void offcpu_wake_thread(struct sampling *p, u32 tid)
{
	/* Numbers begin anew when they are used up. */
	if (p->off->wakes && tid < p->off->wakes->first)
		wakes_filter(p, 0);
}

bool offcpu_wakes_complete(const struct offcpu *o, u64 since_ns)
{
	return o->wakes && o->wakes->loss_ns < since_ns;
}

/* What ended the wait, or NULL: that was lost. */
static const struct offcpu_wake *wake_of(const struct offcpu_wakes *wakes, const struct offcpu_thread *t)
{
	if (!t->wake.time_ns || (t->wake.time_ns < t->since_ns && wakes->loss_ns >= t->wake.time_ns))
		return NULL;
	return &t->wake;
}

u64 offcpu_wake_take(struct sampling *p, struct offcpu_thread *t, u64 until_ns)
{
	const struct offcpu_wake *wake = p->off->wakes ? wake_of(p->off->wakes, t) : NULL;
	struct samples_wake ended = { .process = t->sums.process, .tid = t->sums.tid, .region = t->region, .count = 1 };
	struct samples_row ready = {
		.process = t->sums.process, .pid = t->sums.pid, .tid = t->sums.tid, .region = t->region, .chain = SAMPLES_NONE,
		.flags = t->flags | SAMPLES_OFF_WOKEN << SAMPLES_OFF_SHIFT | SAMPLES_OFF_RECORDED, .count = 1,
	};
	u64 woken_ns;

	if (!wake) {
		p->samples.off_unwoken += p->off->wakes && !t->left;
		return until_ns;
	}
	woken_ns = MIN(MAX(wake->time_ns, t->since_ns), until_ns);
	ended.by = wake->by;
	ended.waker_process = wake->process;
	ended.waker_pid = wake->pid;
	ended.waker_tid = wake->tid;
	ended.name = wake->name;
	ended.chain = wake->chain;
	ended.ns = woken_ns - t->since_ns;
	samples_wake(&p->samples, &ended);
	ready.weight = until_ns - woken_ns;
	t->sums.woken_ns += ready.weight;
	samples_off(&p->samples, &ready);
	return woken_ns;
}
