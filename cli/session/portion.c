/* SPDX-License-Identifier: MIT */
/* What of a run is measured; see portion.h. */
#define _GNU_SOURCE
#include "cli/session/portion.h"

#include <stdlib.h>
#include <string.h>

#include "cli/analyze/profile_difference.h"
#include "cli/log.h"
#include "cli/session/probing.h"
#include "cli/session/sampling.h"
#include "cli/session/steer.h"
#include "cli/session/tracing.h"

int portion_open(struct session *s)
{
	const struct session_options *o = s->options;
	bool steered = o->steer && (steer_defers(o->steer) || steer_descriptor(o->steer) >= 0);
	struct portion *p;

	/* What sparkctl stat counts is switched by itself, and nothing else is measured. */
	if ((o->outside && !s->attached) || (!steered && !o->inside))
		return 0;
	p = s->portion = calloc(1, sizeof(*p));
	if (!p)
		return error("out of memory");
	p->steered = steered;
	p->on = p->was_on = !p->steered;
	if (o->inside)
		p->inside = *o->inside;
	profile_init(&p->sum, s->profile.group);
	profile_init(&p->before, s->profile.group);
	s->processes.clocked = p->steered;
	if (s->tracing && p->inside.n)
		s->tracing->trace.inside = &p->inside;
	return 0;
}

void portion_free(struct session *s)
{
	struct portion *p = s->portion;

	if (!p)
		return;
	profile_fini(&p->sum);
	profile_fini(&p->before);
	free(p->spans);
	free(p);
	s->portion = NULL;
}

/* ---- spans ------------------------------------------------------------------------------------------- */

static bool span_begin(struct portion *p, u64 ns)
{
	size_t room = p->room ? 2 * p->room : 16;
	struct span_fact *spans = p->spans;

	if (p->nspans == p->room) {
		spans = room <= PORTION_SPANS_MOST ? realloc(p->spans, room * sizeof(*spans)) : NULL;
		if (!spans) {
			warning("measuring stays off: it was switched on %zu times", p->nspans);
			return false;
		}
		p->room = room;
	}
	p->spans = spans;
	spans[p->nspans++] = (struct span_fact){ ns, UINT64_MAX };
	return true;
}

u64 portion_measured(const struct session *s, u64 end)
{
	return spans_overlap(s->portion->spans, s->portion->nspans, 0, end > s->start_ns ? end - s->start_ns : 0);
}

bool portion_has(const struct session *s, u64 ns, const struct samples *samples, u32 region)
{
	const struct portion *p = s->portion;

	if (!p)
		return true;
	if (!(ns >= p->edge_ns ? p->on : p->was_on))
		return false;
	return !p->inside.n || inside_sampled(&p->inside, samples, region);
}

bool portion_meets(const struct session *s, u64 begin_ns, u64 end_ns)
{
	const struct portion *p = s->portion;
	u64 begin = begin_ns - MIN(begin_ns, s->start_ns), end = end_ns - MIN(end_ns, s->start_ns);

	if (!p)
		return true;
	return !p->inside.n && (!p->steered || spans_overlap(p->spans, p->nspans, begin, MAX(end, begin + 1)));
}

/* ---- what processes have used ------------------------------------------------------------------------ */

static void usage_less(struct usage *usage, const struct usage *before)
{
	usage->cpu = cell_subtract(usage->cpu, before->cpu);
	for (u32 i = 0; i < WIRE_CELLS; i++)
		usage->cell[i] = cell_subtract(usage->cell[i], before->cell[i]);
}

/* Since the newest edge. False: it was not there. */
static bool process_used(const struct portion *p, const struct process *process, struct usage *usage)
{
	u64 begin = p->nspans ? p->spans[p->nspans - 1].begin_ns : 0;

	if (!p->on || (!process->in_portion && process->facts.start_ns < begin))
		return false;
	if (!process->sampled) {
		usage_fill_absent(usage, "it was gone before it could be read");
		return true;
	}
	*usage = process->last;
	if (process->in_portion)
		usage_less(usage, &process->base);
	return true;
}

static void process_begin(struct session *s, struct process *process)
{
	process_look(process, s->options->sources);
	process->in_portion = process->sampled;
	process->base = process->last;
}

static void process_settled(struct session *s, struct process *process)
{
	struct usage usage;

	if (process->alive && !process->unwatched)
		process_look(process, s->options->sources);
	if (process_used(s->portion, process, &usage))
		usage_add(&process->portion, &usage);
	process->in_portion = false;
}

void portion_replaced(const struct session *s, const struct process *old, struct process *process)
{
	if (!s->portion || !s->portion->on || !old->sampled)
		return;
	process->in_portion = true;
	process->base = old->last;
}

/* ---- edges ------------------------------------------------------------------------------------------- */

static int all_now(struct session *s, struct profile *all)
{
	profile_init(all, s->profile.group);
	if (profile_merge(all, &s->profile))
		return -1;
	for (struct segment *g = s->segments; g; g = g->next)
		harvest_look(s, g, all);
	return 0;
}

/* All that is of before the edge. */
static void drain(struct session *s)
{
	track_drain(s, true);
	sampling_drain(s, true);
	probing_drain(s, true);
	for (struct segment *g = s->segments; g; g = g->next) {
		if (!g->closed && g->header)
			harvest_discover(s, g);
		tracing_read(s, g, true);
	}
}

static void processes_begin(struct session *s)
{
	struct process **live;
	size_t n;

	live = processes_live(&s->processes, &n);
	for (size_t i = 0; i < n; i++)
		if (!live[i]->unwatched)
			process_begin(s, live[i]);
}

static void switch_on(struct session *s, u64 now)
{
	struct portion *p = s->portion;

	if (!span_begin(p, now - s->start_ns))
		return;
	profile_fini(&p->before);
	if (all_now(s, &p->before))
		return;
	p->on = true;
	processes_begin(s);
	if (s->probing)
		s->probing->calls.since_ns = now;
}

static void switch_off(struct session *s, u64 now)
{
	struct portion *p = s->portion;
	struct profile all;

	for (size_t i = 0; i < s->processes.count; i++)
		process_settled(s, s->processes.list[i]);
	if (all_now(s, &all) == 0)
		profile_add_difference(&p->sum, &all, &p->before);
	profile_fini(&all);
	p->spans[p->nspans - 1].end_ns = now - s->start_ns;
	p->on = false;
	tracing_pause(s, session_ticks(s));
}

void portion_switch(struct session *s, bool on)
{
	struct portion *p = s->portion;
	u64 now;

	if (!p || !p->steered || p->on == on)
		return;
	drain(s);
	p->was_on = p->on;
	p->edge_ns = now = session_now();
	if (on)
		switch_on(s, now);
	else
		switch_off(s, now);
}

void portion_start(struct session *s)
{
	struct portion *p = s->portion;

	if (!p || (p->steered && steer_defers(s->options->steer)))
		return;
	p->on = p->was_on = span_begin(p, 0);
	if (p->steered)
		processes_begin(s);
}

/* ---- results ----------------------------------------------------------------------------------------- */

int portion_cut(struct session *s, struct profile *all)
{
	struct portion *p = s->portion;
	struct profile part;
	u64 calls = 0;

	if (!p)
		return 0;
	if (p->steered) {
		profile_init(&part, all->group);
		part.threads_most = s->profile.threads_most;
		part.sources = all->sources;
		part.events = all->events;
		part.nevents = all->nevents;
		part.plan_events = all->plan_events;
		part.plan_groups = all->plan_groups;
		if (profile_merge(&part, &p->sum) || (p->on && profile_add_difference(&part, all, &p->before))) {
			profile_fini(&part);
			return -1;
		}
		profile_fini(all);
		*all = part;
	}
	if (p->inside.n && inside_keep(&p->inside, all, &calls))
		return -1;
	p->entered = p->entered || calls;
	return 0;
}

void portion_totals(const struct session *s, struct total_fact *totals, size_t n)
{
	static const char whole[] = "it is known of the whole run alone, not of the part that was measured";
	static const char outside[] = "it is counted for the whole program, not for the regions of --roi";

	for (size_t i = 0; s->portion && i < n; i++) {
		struct total_fact *total = &totals[i];

		if (s->portion->inside.n && strcmp(total->name, "elapsed") != 0)
			total->cell = cell_absent(CELL_UNAVAILABLE, outside);
		else if (s->facts.partial && !strcmp(total->source, "wait4"))
			total->cell = cell_absent(CELL_UNAVAILABLE, whole);
	}
}

void portion_facts(struct session *s, u64 end)
{
	struct portion *p = s->portion;

	if (!p)
		return;
	s->facts.spans = p->spans;
	s->facts.nspans = p->nspans;
	s->facts.partial = p->steered && (p->nspans != 1 || p->spans[0].begin_ns || !p->on);
	s->facts.measured_ns = portion_measured(s, end);
	s->facts.inside = p->inside.n ? (const char *const *)p->inside.region : NULL;
	s->facts.ninside = p->inside.n;
	portion_totals(s, s->totals.facts, s->totals.nfacts);
}

void portion_process(const struct session *s, const struct process *process, struct process_facts *facts)
{
	static const char edges[] = "by /proc, at the edges of what was measured";
	static const char inside[] = "it is known of the whole process, not of the regions of --roi";
	const struct portion *p = s->portion;
	struct usage usage;

	if (!p)
		return;
	if (p->inside.n) {
		usage_fill_absent(&facts->usage, inside);
	} else if (s->facts.partial) {
		facts->usage = process->portion;
		if (process_used(p, process, &usage))
			usage_add(&facts->usage, &usage);
		for (u32 i = 0; i < WIRE_CELLS; i++)
			if (facts->usage.cell[i].state == CELL_ESTIMATE && !facts->usage.cell[i].note)
				facts->usage.cell[i].note = edges;
		if (facts->usage.cpu.state == CELL_ESTIMATE && !facts->usage.cpu.note)
			facts->usage.cpu.note = edges;
	}
}

void portion_say(const struct session *s)
{
	const struct portion *p = s->portion;

	if (!p)
		return;
	if (p->steered && !p->nspans)
		warning("nothing was measured: measuring was never switched on, since %s",
			s->options->steer->delay_ns ? "the command ended first" : "nobody has said enable");
	else if (p->inside.n && !p->entered)
		warning("nothing was measured: no call of a region of --roi was seen");
}
