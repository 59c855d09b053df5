/* SPDX-License-Identifier: MIT */
/*
 * Opening what is needed besides records of switches: an event that has stacks of threads that are switched out. The
 * kernel's count of switches is one; it makes a switch longer by 0.1 us, and the tracepoint sched_switch, which
 * has the state, too, by 0.3. So the one is for runs that are sampled, the other for those who ask for stacks. A
 * user at perf_event_paranoid 2 gets neither: switches happen in the kernel, and with its side excluded none is
 * counted.
 */
#define _GNU_SOURCE
#include "cli/session/offcpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/session/internal.h"
#include "cli/session/record.h"
#include "cli/session/sampling.h"
#include "cli/session/tracepoint.h"

/* A second and CPU. A copy takes longer than a switch: all are had where there are few, and of many some. */
#define STACKS_RATE 1000u

bool offcpu_format(const char *format, u64 *id, u32 *at, u32 *size)
{
	return tracepoint_id(format, id) && tracepoint_field(format, "prev_state", at, size) && *size <= sizeof(u64);
}

static bool tracepoint_find(struct session *s, struct perf_event_attr *attr)
{
	struct offcpu *o = s->sampling->off;
	struct outcome why;
	char format[4096];
	u64 id;

	if (!tracing_format(&s->caps, "sched/sched_switch", format, sizeof(format), &why) ||
	    !offcpu_format(format, &id, &o->state_at, &o->state_size))
		return false;
	perf_attr_init(attr, PERF_TYPE_TRACEPOINT, id);
	return true;
}

/*
 * Whether threads may have such events is tried on one of them, for each CPU, and the kernel takes 40 ms to close the
 * last one that is open of a tracepoint: this one stays, never enabled.
 */
static void keeper_open(struct offcpu *o, const struct perf_event_attr *attr)
{
	struct perf_event_attr idle = *attr;

	idle.disabled = 1;
	o->keeper = perf_open(&idle, 0, -1, -1, 0);
}

bool offcpu_traces(const struct sampling *p)
{
	const struct offcpu *o = p->off;

	return o && (o->wakes || o->keeper >= 0 || (o->tracepoint && p->nstacks));
}

/* Stacks are asked for: of each switch, whatever it takes. */
static bool stacks_all(const struct session *s)
{
	const struct session_sampling *o = s->options->sampling;

	return o && (o->stacks == SESSION_STACKS_FP || o->stacks == SESSION_STACKS_DWARF);
}

static int stacks_open_all(struct session *s, struct perf_event_attr *attr)
{
	struct sampling *p = s->sampling;
	size_t pages = p->pages;
	bool mapping;

	for (u32 i = 0; i < p->nrings; i++) {
		u32 cpu = p->rings[i].cpu;
		int ret = p->attached ? offcpu_ring_attached(s, attr, cpu) :
			  ring_open(&p->rings[p->nrings + p->nstacks], attr, s->spawn.pid, cpu, pages, &mapping);

		if (!ret) {
			p->nstacks++;
			continue;
		}
		while (p->nstacks)
			ring_close(&p->rings[p->nrings + --p->nstacks]);
		return ret;
	}
	return 0;
}

/* The event: what it is stands in the attribute already. 0, or -errno. */
static int stacks_open(struct session *s, struct perf_event_attr *attr)
{
	struct sampling *p = s->sampling;
	const struct session_sampling *o = s->options->sampling;

	ring_attr(attr, RECORD_SAMPLE | p->stacks_type, p->pages);
	attr->freq = !stacks_all(s);
	if (attr->freq)
		attr->sample_freq = STACKS_RATE;
	else
		attr->sample_period = 1;
	attr->disabled = attr->enable_on_exec = !p->attached;
	attr->inherit = !s->options->no_inherit;
	if (p->stacks_type & PERF_SAMPLE_STACK_USER) {
		attr->sample_regs_user = p->regs;
		attr->sample_stack_user = o ? o->stack_bytes : OFFCPU_STACK;
	}
	return stacks_open_all(s, attr);
}

static bool stacks_try(struct session *s, bool tracepoint)
{
	struct sampling *p = s->sampling;
	struct perf_event_attr attr;

	perf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
	p->off->tracepoint = tracepoint;
	p->stacks_type = p->stacks;
	if (tracepoint && !tracepoint_find(s, &attr))
		return false;
	if (tracepoint && p->attached)
		keeper_open(p->off, &attr);
	if (tracepoint)
		p->stacks_type |= PERF_SAMPLE_RAW;
	return !stacks_open(s, &attr);
}

void offcpu_note(struct sampling *p, const char *text)
{
	char *before = p->samples.off_note, *both;

	if (before && strstr(before, text))
		return;
	if (asprintf(&both, "%s%s%s", before ? before : "", before ? "; " : "", text) < 0)
		return;
	free(before);
	p->samples.off_note = both;
}

void offcpu_open(struct session *s)
{
	struct sampling *p = s->sampling;
	struct offcpu *o = calloc(1, sizeof(*o));

	p->off = o;
	if (o)
		o->keeper = -1;
	if (o)
		o->loss_ns = calloc(2 * (size_t)p->nrings + 1, sizeof(*o->loss_ns));
	if (!o || !o->loss_ns) {
		warning("no off-CPU times: out of memory");
		offcpu_free(o);
		p->off = NULL;
		return;
	}
	p->samples.off = true;
	o->polled = p->samples.off_polled = !p->nrings;
	p->samples.off_stacks = strdup("proc");
	if (s->options->sampling && !o->polled && p->stacks && ((stacks_all(s) && stacks_try(s, true)) || stacks_try(s, false))) {
		free(p->samples.off_stacks);
		p->samples.off_stacks = strdup(o->tracepoint ? "sched_switch" : "context-switches");
	}
	offcpu_delay_open(s);
	offcpu_wake_open(s);
}
