/* SPDX-License-Identifier: MIT */
/*
 * Where no switch is recorded, since the kernel refuses all events: each thread of the tree is looked at each 10 ms.
 * The kernel's sums tell how long it ran and waited for a CPU since the last time, and the rest of that time is
 * given to what it is blocked by now, in the region that it is in now. All of it is an estimate.
 */
#define _GNU_SOURCE
#include "cli/session/offcpu.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/session/internal.h"
#include "cli/session/sampling.h"
#include "cli/symbols/space.h"
#include "common/proc.h"

#define THREADS_MOST 256u          /* at a time */
#define SNAPSHOT_TURNS 10u         /* looks between two at what is mapped */

bool offcpu_schedstat(u32 pid, u32 tid, u64 *cells)
{
	char path[64], text[PROC_SCHEDSTAT_ROOM];
	ssize_t n;

	snprintf(path, sizeof(path), "task/%u/schedstat", tid);
	n = process_read_file(pid, path, text, sizeof(text));
	if (n <= 0)
		return false;
	proc_parse_schedstat(text, (size_t)n, cells);
	return !wire_absent(cells[SCHED_RUNTIME]) && !wire_absent(cells[SCHED_RUNWAIT]);
}

static void poll_row(struct sampling *p, const struct offcpu_thread *t, u32 kind, u32 chain, u32 flags, u64 ns)
{
	const struct samples_row row = {
		.process = t->sums.process, .pid = t->sums.pid, .tid = t->sums.tid, .region = t->region, .chain = chain,
		.flags = flags | t->flags | kind << SAMPLES_OFF_SHIFT, .count = 1, .weight = ns,
	};

	if (ns)
		samples_off(&p->samples, &row);
}

/*
 * What the time since the last look went to; returns what of it cannot be told yet: the thread is not blocked now, so
 * that it either was, or waits for a CPU, which the kernel adds up when it gets one.
 */
static u64 poll_account(struct session *s, struct offcpu_thread *t, const u64 *cells, u64 now_ns)
{
	struct sampling *p = s->sampling;
	u64 ns = now_ns - t->since_ns, ran = MIN(cells[SCHED_RUNTIME] - MIN(t->ran_ns, cells[SCHED_RUNTIME]), ns);
	u64 waited = MIN(cells[SCHED_RUNWAIT] - MIN(t->delay_ns, cells[SCHED_RUNWAIT]), ns - ran);
	u32 chain;

	t->look_ns = 0;
	if (ns - ran - waited)
		offcpu_thread_look(s, t);
	t->sums.running_ns += ran;
	poll_row(p, t, SAMPLES_OFF_PREEMPTED, SAMPLES_NONE, 0, waited);
	if (!t->look_ns)
		return ns - ran - waited;
	chain = t->look_call == SAMPLES_NONE ? t->look_chain : samples_chain(&p->samples, t->look_chain, t->look_call);
	poll_row(p, t, t->look_kind, chain, t->look_flags, ns - ran - waited);
	t->blocked_ns += ns - ran - waited;
	t->sums.blocked += ns > ran + waited;
	return 0;
}

/* What it waited for block devices before is of others. */
static void disk_begin(struct offcpu_thread *t, bool older)
{
	struct process_stat stat;

	t->older = older;
	if (process_thread_stat(t->sums.pid, t->sums.tid, &stat))
		t->disk_before_ns = t->disk_ns = process_ticks_ns(stat.delay);
}

static void thread_poll(struct session *s, struct process *process, u32 tid, u64 now_ns)
{
	struct offcpu_thread *t;
	u64 cells[SCHED_CELLS];
	bool unknown = false, older = s->attached && !s->sampling->off->at, began = older;
	u64 open = 0;

	if (!offcpu_schedstat(process->facts.pid, tid, cells))
		return;
	t = offcpu_thread_get(s, process->facts.pid, tid, now_ns);
	if (t && t->sums.process != process->facts.id) {
		/* Another program by now. */
		older |= t->older;
		began = true;
		t->met_ns = MAX(t->met_ns, t->born_ns);
		offcpu_thread_gone(s->sampling, t);
		t = offcpu_thread_get(s, process->facts.pid, tid, now_ns);
	}
	if (!t)
		return;
	if (began && !t->delay_known)
		disk_begin(t, older);
	t->region = process->segment && !process->segment->closed && process->segment->header ?
		    attribute_now(s, process->segment, tid, &unknown) : SAMPLES_NONE;
	t->flags = unknown ? (u32)SAMPLES_UNATTRIBUTED : 0;
	if (t->delay_known && now_ns > t->since_ns)
		open = poll_account(s, t, cells, now_ns);
	t->delay_known = true;
	t->ran_ns = cells[SCHED_RUNTIME];
	t->delay_ns = cells[SCHED_RUNWAIT];
	t->since_ns = now_ns - open;
	t->met_ns = now_ns;
}

static u32 process_poll(struct session *s, struct process *process, u32 most, u64 now_ns)
{
	struct dirent *e;
	char path[64];
	u32 n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", process->facts.pid);
	dir = opendir(path);
	while (dir && n < most && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0])) {
			thread_poll(s, process, (u32)strtoul(e->d_name, NULL, 10), now_ns);
			n++;
		}
	if (dir)
		closedir(dir);
	return n;
}

void offcpu_poll(struct session *s, u64 now_ns)
{
	struct offcpu *o = s->sampling->off;
	size_t nlive;
	struct process **live = processes_live(&s->processes, &nlive);
	u32 n = 0;

	for (struct segment *g = s->segments; g; g = g->next)
		if (!g->closed && g->header) {
			harvest_discover(s, g);
			attribute_read(s, g);
		}
	for (size_t i = 0; i < nlive && n < THREADS_MOST; i++) {
		if (live[i]->unwatched)
			continue;
		if (o->at % SNAPSHOT_TURNS == 0)
			spaces_snapshot(s->sampling->spaces, live[i]->facts.pid, now_ns);
		n += process_poll(s, live[i], THREADS_MOST - n, now_ns);
	}
	if (n >= THREADS_MOST)
		offcpu_note(s->sampling, "there were more threads than the 256 that are looked at: the others are missing");
	o->at++;
	/* Those that were not met have ended. */
	for (u32 i = 0; n < THREADS_MOST && i < o->nthreads;) {
		if (o->threads[i]->met_ns == now_ns)
			i++;
		else
			offcpu_thread_gone(s->sampling, o->threads[i]);
	}
}
