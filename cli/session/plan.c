/* SPDX-License-Identifier: MIT */
/*
 * Which of the events of -e each thread counts by itself, at its markers.
 *
 * What happens in software, tracepoints, breakpoints and probes make one group, which always runs.
 * Events of the CPU's counters make another, or those that braces put together: all of them are
 * counted here for two ms, once beside a second event of each for the totals of the tree and once
 * without. Whatever does not fit is left out by name, the pair of the last-level cache first; or,
 * if counters may be shared, put into groups that take turns.
 */
#define _GNU_SOURCE
#include "cli/session/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/log.h"

#define PLAN_OTHER_WAYS "--scaled lets them take turns, --passes counting counts it in a run of its own"

/* ---- fitting --------------------------------------------------------------------------------------- */

static bool is_last_level(const struct event *e)
{
	u64 id = e->attr.config & 0xff;

	if (e->attr.type == PERF_TYPE_HW_CACHE)
		return id == PERF_COUNT_HW_CACHE_LL;
	return e->attr.type == PERF_TYPE_HARDWARE &&
	       (id == PERF_COUNT_HW_CACHE_REFERENCES || id == PERF_COUNT_HW_CACHE_MISSES);
}

/* The next to go; NULL: none is left. */
static struct candidate *least_wanted(struct planner *p)
{
	struct candidate *last = NULL;

	for (size_t i = p->n; i-- > 0;) {
		struct candidate *c = &p->list[i];

		if (!trial_has(p, c))
			continue;
		if (is_last_level(c->event))
			return c;
		/* Slots are of no use to those that they lead once they are gone. */
		if (!last || (last->event->topdown == EVENT_SLOTS && c->event->topdown == EVENT_TOPDOWN))
			last = c;
	}
	return last;
}

/* One counter is missing, and it is known who has it. */
static void blame_watchdog(struct planner *p)
{
	struct candidate *only = NULL;
	u32 deferred = 0;

	for (size_t i = 0; i < p->n; i++)
		if (p->list[i].deferred && plan_same_kind(p->list[i].event, p->kind)) {
			only = &p->list[i];
			deferred++;
		}
	if (deferred == 1 && facts_watchdog(&p->s->caps))
		candidate_leave_out(only, "the NMI watchdog holds a counter: sudo sysctl kernel.nmi_watchdog=0 gives it back; "
				    "or " PLAN_OTHER_WAYS);
}

/* Without sharing: leaves out until the rest fits. */
static void fit_exactly(struct planner *p)
{
	struct candidate *c;

	p->doubled = true;
	if (trial_fits(p))
		return;
	p->doubled = false;
	while (!trial_fits(p) && (c = least_wanted(p))) {
		candidate_leave_out(c, "the CPU has no counter left for it beside the others: " PLAN_OTHER_WAYS);
		c->deferred = true;
	}
	blame_watchdog(p);
}

/* Adds one to the newest group, if the PMU takes both at a time; else it begins another. */
static void join_group(struct planner *p, struct candidate *c, struct candidate **leader)
{
	c->fd = *leader ? candidate_open(c, (*leader)->fd) : -1;
	if (c->fd >= 0) {
		c->group = (*leader)->group;
		return;
	}
	c->fd = candidate_open(c, -1);
	if (c->fd < 0) {
		candidate_leave_out(c, "the kernel refuses it (%s)", advice_errno_name(-c->fd));
		return;
	}
	/* A leader that is off is not looked at when another one joins. */
	ioctl(c->fd, PERF_EVENT_IOC_ENABLE, 0);
	c->group = p->groups++;
	*leader = c;
}

/* Groups as large as the PMU takes, in the order of the list; braces stay together. */
static void share(struct planner *p)
{
	struct candidate *leader = NULL;

	p->shared = true;
	p->doubled = false;
	for (size_t i = 0; i < p->n; i++)
		if (p->list[i].loose && trial_has(p, &p->list[i]))
			join_group(p, &p->list[i], &leader);
	for (size_t i = p->n; i-- > 0;)
		close_at(&p->list[i].fd);
}

static void limit_groups(struct planner *p)
{
	u32 keys[WIRE_GROUPS], n = 0, events = 0, k;

	for (size_t i = 0; i < p->n; i++) {
		struct candidate *c = &p->list[i];

		if (c->left_out)
			continue;
		for (k = 0; k < n && keys[k] != c->group; k++)
			;
		if (k == WIRE_GROUPS || events == WIRE_EVENTS) {
			candidate_leave_out(c, "more than %u events, or %u groups that take turns, are not counted at markers",
				WIRE_EVENTS, WIRE_GROUPS);
			continue;
		}
		if (k == n)
			keys[n++] = c->group;
		events++;
	}
}

static int check_no_mux(struct planner *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->list[i].left_out && !attempt_futile(p->list[i].event) && p->s->options->no_mux)
			return error("%s cannot be counted at markers: %s", p->list[i].event->name, p->list[i].note);
	return 0;
}

/* What is to be counted on the CPUs that this process is on now. */
static void fit_here(struct planner *p)
{
	/* Slots first: others join them. */
	for (int rest = 0; rest < 2; rest++)
		for (size_t i = 0; i < p->n; i++)
			if (plan_same_kind(p->list[i].event, p->kind) && (p->list[i].event->topdown != EVENT_SLOTS) == rest)
				candidate_try(p, &p->list[i]);
	if (!least_wanted(p))
		return;
	if (!p->s->options->scaled) {
		fit_exactly(p);
		return;
	}
	p->doubled = true;
	if (trial_fits(p))
		return;
	p->doubled = false;
	if (!trial_fits(p))
		share(p);
}

static void leave_out_kind(struct planner *p, int err)
{
	for (size_t i = 0; i < p->n; i++)
		if (plan_same_kind(p->list[i].event, p->kind))
			candidate_leave_out(&p->list[i], "sparkctl cannot go to cores of %s (%s) to try it: %s", p->kind->pmu,
					    p->kind->cpus, advice_errno_name(err));
}

/* One kind of cores after the other. */
static void fit(struct planner *p)
{
	bool doubled = true;
	cpu_set_t before;

	for (size_t i = 0; i < p->n; i++) {
		size_t k = 0;
		int err;

		while (!plan_same_kind(p->list[k].event, p->list[i].event))
			k++;
		if (k < i)
			continue;
		p->kind = p->list[i].event;
		p->doubled = true;
		err = trial_enter(p->kind, &before);
		if (err) {
			leave_out_kind(p, -err);
			continue;
		}
		fit_here(p);
		trial_leave(p->kind, &before);
		doubled = doubled && (p->doubled || !least_wanted(p));
	}
	p->doubled = doubled;
}

/* ---- the result ------------------------------------------------------------------------------------ */

/* Room for all paths, too. */
static struct wire_plan *wire_new(const struct planner *p)
{
	size_t size = sizeof(struct wire_plan), events = 0;
	struct wire_plan *wire;
	bool cores = false;

	for (size_t i = 0; i < p->n; i++)
		if (!p->list[i].left_out) {
			events++;
			cores = cores || p->list[i].event->scope == EVENT_CORES;
			size += sizeof(struct wire_event) + (p->list[i].event->path ? strlen(p->list[i].event->path) + 1 : 0);
		}
	if (!events)
		return NULL;
	wire = calloc(1, size);
	if (!wire) {
		error("out of memory");
		return NULL;
	}
	wire->size = (u32)(sizeof(*wire) + events * sizeof(wire->event[0]));
	wire->flags = p->shared || cores ? WIRE_PLAN_SHARED : 0;
	return wire;
}

static void wire_add(struct wire_plan *wire, const struct candidate *c, u32 group)
{
	struct wire_event *e = &wire->event[wire->events++];
	union event_attr a;
	size_t size;

	candidate_attr(c, &a);
	_Static_assert(sizeof(a) == sizeof(e->attr), "attr");
	memcpy(e->attr, &a, sizeof(a));
	e->group = (u16)group;
	e->flags = c->by_page ? WIRE_EVENT_USER : 0;
	if (!c->event->path)
		return;
	size = strlen(c->event->path) + 1;
	memcpy((char *)wire + wire->size, c->event->path, size);
	e->path = wire->size;
	wire->size += (u32)size;
}

const char *event_unit(const struct event *event)
{
	bool clock = event->attr.type == PERF_TYPE_SOFTWARE && (event->attr.config == PERF_COUNT_SW_TASK_CLOCK ||
								event->attr.config == PERF_COUNT_SW_CPU_CLOCK);

	return event->unit ? event->unit : clock ? "ns" : "count";
}

static void profile_event_fill(struct profile_event *e, const struct planner *p, const struct candidate *c)
{
	const char *note = attempt_note(c->event, c->attempt);

	*e = (struct profile_event){
		.name = c->event->name,
		.unit = event_unit(c->event),
		.scale = c->event->scale,
		.place = PROFILE_NONE,
		.note = c->left_out ? c->note : note,
		.shared = p->shared && c->event->hardware,
		.cores = c->event->scope == EVENT_CORES ? c->event->pmu : NULL,
		.deferred = c->deferred,
	};
}

static void wire_place(struct planner *p, struct plan *plan, size_t i)
{
	plan->events[i].place = plan->wire->events;
	plan->events[i].group = plan->wire->groups;
	wire_add(plan->wire, &p->list[i], plan->wire->groups);
}

/* Group after group: the agent finds each by its first event. */
static void wire_fill(struct planner *p, struct plan *plan)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct candidate *c = &p->list[i];

		if (c->left_out || candidate_leader(p, c) != c)
			continue;
		wire_place(p, plan, i);
		for (size_t k = 0; k < p->n; k++)
			if (k != i && !p->list[k].left_out && p->list[k].group == c->group)
				wire_place(p, plan, k);
		plan->wire->groups++;
	}
}

/* Of what was attached to, those that every session counts are of threads alone. */
static const struct event_list *plan_list(const struct session *s)
{
	return s->attached ? s->options->marked : s->options->events;
}

static int plan_fill(struct planner *p)
{
	const struct event_list *list = plan_list(p->s);
	struct plan *plan = &p->s->plan;

	plan->wire = wire_new(p);
	/* One more event for the tree would take its counter from those. */
	for (size_t k = 0; k < list->n; k++)
		plan->alone[k] = list->event[k].hardware && !p->doubled;
	for (size_t i = 0; i < p->n; i++) {
		profile_event_fill(&plan->events[i], p, &p->list[i]);
		verbose(2, "event %s at markers: %s", p->list[i].event->name,
			p->list[i].left_out ? p->list[i].note : p->list[i].by_page ? "by its page" : "by read(2)");
	}
	if (plan->wire)
		wire_fill(p, plan);
	return 0;
}

/* Whether braces have an event of the CPU's counters before this one. */
static bool brace_begun(const struct event_list *list, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (list->event[k].group == list->event[i].group && list->event[k].hardware &&
		    plan_same_kind(&list->event[k], &list->event[i]))
			return true;
	return false;
}

/* Those of one kind of cores are apart from others, and slots with their shares, in braces or not. */
static void candidate_join_alike(struct planner *p, struct candidate *c)
{
	const struct event *e = c->event;
	bool shares = e->topdown && e->group < 0;

	for (struct candidate *k = p->list; k < c; k++)
		if (k->event->group == e->group && k->loose == c->loose && plan_same_kind(k->event, e) &&
		    (k->event->topdown && k->event->group < 0) == shares && (c->loose || shares || e->group >= 0)) {
			c->group = k->group;
			return;
		}
	c->group = p->groups++;
}

/* What is pinned, or wants the counters for itself, leads a group: the kernel takes it as no other's member. */
static void candidate_join(struct planner *p, struct candidate *c, const struct event_list *list, size_t i)
{
	const struct event *e = c->event;
	bool leads = e->attr.pinned || e->attr.exclusive;

	c->loose = e->hardware && e->group < 0 && !leads && !e->topdown;
	if (e->hardware && e->group >= 0 && leads && brace_begun(list, i))
		candidate_leave_out(c, "only the first event of a group can be %s", e->attr.pinned ? "pinned" : "exclusive");
	if (e->scope == EVENT_CORES || (e->topdown && e->group < 0)) {
		candidate_join_alike(p, c);
	} else if (e->hardware && e->group >= 0) {
		c->group = GROUP_BRACES + (u32)e->group;
	} else if (leads) {
		c->group = p->groups++;
	} else {
		c->group = e->hardware ? GROUP_HARDWARE : GROUP_SOFTWARE;
	}
}

/* Of events of one name the first: a report has one column for each. */
static void take_candidates(struct planner *p)
{
	const struct event_list *list = plan_list(p->s);
	struct plan *plan = &p->s->plan;

	p->groups = GROUP_BRACES + (u32)list->groups;
	for (size_t i = 0; i < list->n; i++) {
		const struct event *e = &list->event[i];
		bool known = false;

		for (size_t k = 0; k < p->n; k++)
			known = known || !strcmp(p->list[k].event->name, e->name);
		if (known)
			continue;
		p->list[p->n] = (struct candidate){ .event = e, .fd = -1, .single = -1, .note = plan->notes[p->n] };
		candidate_join(p, &p->list[p->n++], list, i);
	}
	plan->nevents = (u32)p->n;
}

int plan_make(struct session *s)
{
	const struct event_list *list = plan_list(s);
	struct planner p = { .s = s };
	int ret = 0;

	if (!list || !list->n)
		return 0;
	p.list = calloc(list->n, sizeof(*p.list));
	s->plan.events = calloc(list->n, sizeof(*s->plan.events));
	s->plan.notes = calloc(list->n, sizeof(*s->plan.notes));
	s->plan.alone = calloc(list->n, sizeof(*s->plan.alone));
	if (!p.list || !s->plan.events || !s->plan.notes || !s->plan.alone) {
		free(p.list);
		return error("out of memory");
	}
	take_candidates(&p);
	fit(&p);
	limit_groups(&p);
	ret = check_no_mux(&p) || plan_fill(&p) ? -1 : 0;
	free(p.list);
	return ret;
}

void plan_free(struct plan *plan)
{
	free(plan->wire);
	free(plan->events);
	free(plan->notes);
	free(plan->alone);
	*plan = (struct plan){ .wire = NULL };
}
