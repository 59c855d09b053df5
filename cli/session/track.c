/* SPDX-License-Identifier: MIT */
/*
 * Processes of the tree as the kernel sees them: fork, exec and exit records of an inherited dummy
 * event, one small ring for each CPU (perf_event_open(2): an inherited event can only be mapped per
 * CPU). Works without privileges; where it is refused, or on machines with very many CPUs,
 * processes are known by their hello and their segment alone.
 *
 * Records of different CPUs are put in order by their time. Only those older than a moment are
 * taken: the others may have elders that are being written on another CPU.
 */
#define _GNU_SOURCE
#include "cli/session/internal.h"
#include "cli/session/windows.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/session/sampling.h"
#include "common/perf.h"

#define RING_PAGES 16u               /* each time half as many, where the user may not lock as much */
#define SETTLE_NS (1 * NSEC_PER_MSEC)
#define RECORD_MOST 4096u
#define EXEC_SHORT_NS (10 * NSEC_PER_USEC) /* no program gets from its exec to its end in that */
#define EXEC_LONG_NS (5 * NSEC_PER_MSEC)
#define END_LONG_NS (200 * NSEC_PER_MSEC)  /* nor from there to where it can be waited for, if it runs at all */

/* What follows each record by sample_id_all with PERF_SAMPLE_TID | PERF_SAMPLE_TIME. */
struct record_id {
	u32 pid, tid;
	u64 time;
};

struct task_record {
	struct perf_event_header header;
	u32 pid, ppid;
	u32 tid, ptid;
	u64 time;
};

static void track_attr(struct perf_event_attr *attr, bool running, size_t pages)
{
	perf_attr_init(attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr->read_format = 0;
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr->sample_id_all = attr->inherit = 1;
	attr->disabled = attr->enable_on_exec = !running;
	attr->task = attr->comm = attr->comm_exec = 1;
	attr->exclude_kernel = attr->exclude_hv = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC_RAW;
	attr->watermark = 1;
	attr->wakeup_watermark = (u32)(pages * (size_t)sysconf(_SC_PAGESIZE) / 2);
}

/* child 0: for threads that run already. */
static int track_ring_open(struct ring *r, pid_t child, u32 cpu, size_t pages, bool *mapping)
{
	struct perf_event_attr attr;

	if (!child)
		return feed_ring_open(r, cpu, pages, mapping);
	track_attr(&attr, false, pages);
	return ring_open(r, &attr, child, cpu, pages, mapping);
}

void track_open_attached(struct track *t)
{
	track_open(t, 0);
}

int track_add(struct track *t, pid_t tid)
{
	struct perf_event_attr attr;

	track_attr(&attr, true, t->pages);
	return feed_add(&t->feed, t->rings, t->count, &attr, tid);
}

/* Of so many pages on each CPU. */
static int track_open_all(struct track *t, pid_t child, long cpus, size_t pages, bool *mapping)
{
	int ret = 0;

	for (long cpu = 0; cpu < cpus && !ret; cpu++) {
		struct ring *r = &t->rings[t->count++];

		ret = track_ring_open(r, child, (u32)cpu, pages, mapping);
		if (ret == -ENODEV) { /* offline */
			t->count--;
			ret = 0;
		}
	}
	return ret;
}

void track_open(struct track *t, pid_t child)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int ret = cpus > TRACK_CPUS ? -E2BIG : -EPERM;
	bool mapping = true;

	for (size_t pages = RING_PAGES; ret == -EPERM && mapping && pages; pages /= 2) {
		track_close(t);
		t->pages = pages;
		ret = track_open_all(t, child, cpus, pages, &mapping);
	}
	t->err = -ret;
	if (!ret)
		return;
	verbose(1, "processes are known by their agents only: %s", strerror(-ret));
	track_close(t);
}

void track_close(struct track *t)
{
	feed_close(&t->feed);
	while (t->count)
		ring_close(&t->rings[--t->count]);
}

static bool record_parse(struct track *t, const u8 *bytes, const struct perf_event_header *h, struct track_event *e)
{
	struct record_id id;

	if (h->size < sizeof(*h) + sizeof(id))
		return false;
	memcpy(&id, bytes + h->size - sizeof(id), sizeof(id));
	*e = (struct track_event){ .time_ns = id.time, .pid = id.pid, .tid = id.tid, .type = h->type };
	switch (h->type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT: {
		struct task_record r;

		if (h->size < sizeof(r) + sizeof(id))
			return false;
		memcpy(&r, bytes, sizeof(r));
		e->pid = r.pid;
		e->tid = r.tid;
		e->ppid = r.ppid;
		e->ptid = r.ptid;
		return true;
	}
	case PERF_RECORD_COMM: /* header, pid, tid, the name with zeros up to 8 bytes */
		memcpy(e->name, bytes + sizeof(*h) + 8, MIN(sizeof(e->name) - 1, h->size - sizeof(*h) - 8 - sizeof(id)));
		return h->misc & PERF_RECORD_MISC_COMM_EXEC;
	case PERF_RECORD_LOST: {
		u64 lost;

		if (h->size < sizeof(*h) + 16 + sizeof(id))
			return false;
		memcpy(&lost, bytes + sizeof(*h) + 8, sizeof(lost));
		t->lost += lost;
		return false;
	}
	default:
		return false;
	}
}

static bool event_push(struct track *t, const struct track_event *e)
{
	if (t->nevents == t->room) {
		size_t room = t->room ? t->room * 2 : 256;
		struct track_event *list = realloc(t->events, room * sizeof(*list));

		if (!list)
			return false;
		t->events = list;
		t->room = room;
	}
	t->events[t->nevents++] = *e;
	return true;
}

static void track_walk(struct track *t, struct ring *r, u64 until_ns, bool release)
{
	struct ring_walk walk = ring_walk(r);
	struct perf_event_header h;

	while (ring_peek(r, &walk, &h)) {
		u8 bytes[RECORD_MOST];
		struct track_event e;
		bool wanted;

		if (h.size > sizeof(bytes)) {
			walk.at = walk.head;
			break;
		}
		ring_copy(r, walk.at, bytes, h.size);
		wanted = record_parse(t, bytes, &h, &e);
		if (wanted && e.time_ns > until_ns)
			break;
		if (wanted && !event_push(t, &e))
			t->lost++;
		walk.at += h.size;
	}
	if (release)
		ring_release(r, &walk);
}

void track_take(struct track *t, struct ring *r, u64 until_ns)
{
	track_walk(t, r, until_ns, true);
}

bool track_look(struct track *t)
{
	u64 lost = t->lost;
	bool whole;

	t->nevents = 0;
	for (u32 i = 0; i < t->count; i++)
		track_walk(t, &t->rings[i], UINT64_MAX, false);
	whole = t->lost == lost;
	/* They will be told of when they are taken. */
	t->lost = lost;
	return whole;
}

static int event_order(const void *a, const void *b)
{
	const struct track_event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (y->type == PERF_RECORD_FORK) - (x->type == PERF_RECORD_FORK);
}

/* The entry that a record of that time is about: not one that began later. */
static struct process *process_at(struct session *s, u32 pid, u64 ns)
{
	struct process *p = process_find(&s->processes, pid);

	return p && p->facts.start_ns <= ns ? p : NULL;
}

/* An entry that its hello or its segment made before the record of its fork was read. */
static struct process *process_unborn(struct session *s, u32 pid, u64 ns)
{
	struct process *found = NULL;

	for (struct process *p = s->processes.by_pid[pid % PROCESS_BUCKETS]; p; p = p->older)
		if (p->facts.pid == pid && !p->born && p->facts.start_ns >= ns)
			found = p;
	return found;
}

static void event_fork(struct session *s, const struct track_event *e, u64 ns)
{
	struct process *parent = process_find_at(&s->processes, e->ppid, ns), *p;

	if (e->pid == e->ppid) {
		/* Its end may have been seen before this record was read. */
		p = process_find_at(&s->processes, e->pid, ns);
		/* Who was there at the start has been counted. */
		if (p && (ns || !p->attached)) {
			p->threads++;
			p->facts.threads++;
		}
		windows_thread(s, p, ns, true);
		return;
	}
	p = process_unborn(s, e->pid, ns);
	if (p) {
		p->facts.start_ns = ns;
		if (!p->facts.parent && parent)
			p->facts.parent = parent->facts.id;
	} else {
		p = process_add(&s->processes, e->pid, e->ppid, ns);
		if (!p)
			return;
		p->forked = true;
		if (parent)
			process_inherit(p, parent);
	}
	process_confirm(p);
	p->born = true;
	p->threads = p->threads ? p->threads : 1;
	p->facts.threads = MAX(p->facts.threads, p->threads);
	windows_thread(s, NULL, ns, true);
}

static void process_hidden(struct session *s, struct process *p)
{
	p->hidden = true;
	p->leaving_ns = 0;
	s->hidden++;
	s->main_hidden = s->main_hidden || p->facts.pid == (u32)s->spawn.pid;
}

u64 track_end(struct session *s, struct process *p, u64 now_ns)
{
	u64 told = p->leaving_ns;

	if (!told)
		return now_ns;
	if (now_ns < told + END_LONG_NS)
		return told;
	process_hidden(s, p);
	return now_ns;
}

/*
 * At the exec of a program with other rights than its user's, or that he may not read, the kernel takes his events
 * off the process, as at its end (begin_new_exec() in fs/exec.c): the exit is told right behind the exec, or before
 * the hello of an agent that came in all the same. If it is not that close, the command's file tells, or the process
 * itself later.
 */
static bool left_in_exec(struct session *s, struct process *p, u64 ns)
{
	struct pollfd ended = { .fd = p->pidfd, .events = POLLIN };
	bool lives = p->pidfd >= 0 && poll(&ended, 1, 0) == 0;
	bool ours = p->facts.pid == (u32)s->spawn.pid;
	u64 since_ns = ns > p->image_ns ? ns - p->image_ns : 0;

	if (!p->image_ns || since_ns > EXEC_LONG_NS || (p->facts.agent && since_ns))
		return false;
	if (since_ns < EXEC_SHORT_NS || (ours && s->target.guarded))
		process_hidden(s, p);
	else if (lives)
		p->leaving_ns = ns;
	else
		return false;
	/* Nobody knows when it ended: no later than this. */
	if (!lives && !ours)
		session_process_gone(p, -1, session_now() - s->start_ns);
	return true;
}

static void event_exit(struct session *s, const struct track_event *e, u64 ns)
{
	struct process *p = process_at(s, e->pid, ns);

	windows_thread(s, p, ns, false);
	if (!p || (p->attached && !ns) || (p->threads && --p->threads) || left_in_exec(s, p, ns))
		return;
	if (e->pid == (u32)s->spawn.pid || p->attached)
		return; /* its wait status or its descriptor tells more */
	session_process_gone(p, -1, ns);
}

/* A hello told of it before, which came later: the exec was when the kernel says. */
static void exec_timed(struct session *s, u32 pid, u64 ns)
{
	struct process *p = process_find(&s->processes, pid), *old = p ? p->older : NULL;

	while (old && old->facts.pid != pid)
		old = old->older;
	if (!p || !p->exec || p->facts.start_ns <= ns || !old || old->facts.ended != PROCESS_EXEC ||
	    old->facts.end_ns != p->facts.start_ns || old->facts.start_ns >= ns || old->image_ns >= ns)
		return;
	old->facts.end_ns = p->facts.start_ns = ns;
}

static void event_exec(struct session *s, const struct track_event *e, u64 ns)
{
	struct process *p = process_at(s, e->pid, ns), *next;

	exec_timed(s, e->pid, ns);
	if (!p || ns <= p->image_ns)
		return;
	if (!p->segment) {
		/* Forked only to exec, and seen by nobody: the same entry goes on under its new name. */
		bool ours = p->facts.pid == (u32)s->spawn.pid && !p->image_ns;

		/* Times off the CPU are of the whole life of its thread. */
		if (p->facts.pid != (u32)s->spawn.pid && !(s->sampling && s->sampling->off))
			p->facts.start_ns = ns;
		p->image_ns = ns;
		if (ours)
			process_describe(p);
		else
			process_replaced(p, e->name);
		return;
	}
	next = session_image_replaced(s, p, ns);
	if (next)
		process_replaced(next, e->name);
}

void track_drain(struct session *s, bool last)
{
	struct track *t = &s->track;
	u64 now = session_now();

	if (!t->count)
		return;
	t->nevents = 0;
	for (u32 i = 0; i < t->count; i++)
		track_take(t, &t->rings[i], last ? now : now - SETTLE_NS);
	if (t->nevents)
		qsort(t->events, t->nevents, sizeof(*t->events), event_order);
	for (size_t i = 0; i < t->nevents; i++) {
		const struct track_event *e = &t->events[i];
		u64 ns = e->time_ns > s->start_ns ? e->time_ns - s->start_ns : 0;

		if (e->type == PERF_RECORD_FORK)
			event_fork(s, e, ns);
		else if (e->type == PERF_RECORD_EXIT)
			event_exit(s, e, ns);
		else
			event_exec(s, e, ns);
	}
}
