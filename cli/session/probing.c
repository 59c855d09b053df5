/* SPDX-License-Identifier: MIT */
/* From records of probes to calls; see probing.h. */
#define _GNU_SOURCE
#include "cli/session/probing.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/session/internal.h"
#include "cli/session/probe_ring.h"
#include "cli/symbols/unwind_arch.h"

#define SETTLE_NS NSEC_PER_MSEC    /* forks are known by then: track.c */

const struct probing_event *probing_event(const struct probing *p, u64 id)
{
	u32 low = 0, high = p->nevents;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (p->events[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->nevents && p->events[low].id == id ? &p->events[low] : NULL;
}

/* At its entry a function's stack pointer is below its caller's by what the call has pushed. */
static u64 caller_sp(const struct probe_record *r, bool at_return)
{
	u64 pushed = !UNWIND_CALL_PUSHES ? 0 : r->abi == PERF_SAMPLE_REGS_ABI_32 ? 4 : UNWIND_CALL_PUSHES;

	return r->abi && !at_return ? r->sp + pushed : r->sp;
}

static void sample_take(struct probing *p, const struct probe_record *r, struct calls_at *at)
{
	const struct probing_event *event = probing_event(p, r->id);

	if (!event || event->function >= p->list->n)
		return;
	/* Static probes of a pair may be in different functions. */
	at->sp = p->list->probe[event->function].nsites ? 0 : caller_sp(r, event->at_return);
	if (event->at_return)
		calls_return(&p->calls, at, event->function);
	else
		calls_enter(&p->calls, at, event->function);
}

static void record_take(void *context, const struct probe_record *r)
{
	struct probing *p = context;
	struct calls_at at = { .pid = r->pid, .tid = r->tid, .ns = r->time_ns };

	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		sample_take(p, r, &at);
		break;
	case PERF_RECORD_FORK:
		calls_fork(&p->calls, &at, r->parent_pid, r->parent_tid);
		break;
	case PERF_RECORD_EXIT:
	case PERF_RECORD_COMM: /* an exec */
		calls_end(&p->calls, &at);
		break;
	case PERF_RECORD_LOST:
		p->lost += r->lost;
		break;
	default:
		break;
	}
}

void probing_drain(struct session *s, bool last)
{
	struct probing *p = s->probing;
	u64 until_ns = last ? session_now() : session_now() - SETTLE_NS;

	if (!p)
		return;
	/* Forks first: whose a call is. */
	track_drain(s, last);
	p->calls.ticks_per_ns = (double)(1 / clock_map_slope(&s->clock));
	probe_rings_read(p->rings, p->nrings, until_ns, record_take, p);
}

void probing_end(struct session *s)
{
	if (s->probing)
		calls_close(&s->probing->calls, session_now());
}

/* Of functions with one name the dearest has a total; 0: this one has none. */
static u64 pair_told(const struct probing *p, u32 function)
{
	u64 most = 0;

	for (u32 i = 0; i < p->list->n; i++) {
		if (strcmp(p->names[i], p->names[function]) != 0)
			continue;
		if (i < function)
			return 0;
		most = MAX(most, p->pair_ns[i]);
	}
	return most;
}

void probing_totals(struct session *s)
{
	struct probing *p = s->probing;
	struct cell pair = { 0, CELL_ESTIMATE, "what an empty function takes longer by probes at its entry and return" };
	struct cell cost = { 0, CELL_ESTIMATE, "calls x what an empty function takes longer by probes, not subtracted" };
	double calls = 0;
	bool known = true;

	for (u32 i = 0; p && i < p->list->n; i++) {
		calls += (double)p->calls.paired[i];
		cost.value += (double)p->calls.paired[i] * (double)p->pair_ns[i];
		if (p->calls.paired[i] && !p->pair_ns[i])
			known = false;
		pair.value = (double)pair_told(p, i);
		if (p->totals[i] && pair.value > 0)
			totals_add(&s->totals, p->totals[i], "ns", pair, "uprobe");
	}
	if (!p)
		return;
	totals_add(&s->totals, "uprobe-calls", "count", cell_counted(calls), "uprobe");
	if (p->nown)
		totals_add(&s->totals, "uprobe-cost", "ns", known ? cost :
			   cell_absent(CELL_UNAVAILABLE, "what the probes take was not measured"), "uprobe");
}

void probing_free(struct session *s)
{
	struct probing *p = s->probing;

	if (!p)
		return;
	calls_free(&p->calls);
	/* The kernel takes 80 ms to close a probe. */
	if (p->nevents)
		descriptors_leave();
	for (u32 i = 0; i < p->nevents; i++)
		close(p->events[i].fd);
	while (p->nrings)
		ring_close(&p->rings[--p->nrings]);
	descriptors_left();
	for (u32 i = 0; p->totals && i < p->list->n; i++)
		free(p->totals[i]);
	for (u32 i = 0; p->paths && i < p->list->n; i++)
		free(p->paths[i]);
	free(p->totals);
	free(p->paths);
	free(p->calls.met);
	free(p->pair_ns);
	free(p->calls.bracket_ns);
	free(p->calls.paired);
	free(p->events);
	free(p->rings);
	free(p->names);
	free(p);
	s->probing = NULL;
}
