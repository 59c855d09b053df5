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
#include "cli/session/internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/log.h"
#include "common/perf.h"
#include "common/perf_user.h"

#define TRIAL_NS (2 * NSEC_PER_MSEC)
#define TRIAL_SHARE 0.98           /* of the time that a counter must have run */

enum { GROUP_SOFTWARE, GROUP_HARDWARE, GROUP_BRACES };

/* An event of the list that may be counted in threads. */
struct candidate {
	const struct event *event;
	struct attempt attempt;
	u32 group;                   /* key: those with the same are counted together */
	bool left_out;
	bool deferred;               /* left out for want of a counter alone */
	bool by_page;                /* its page shows the counter */
	bool config1;                /* it was asked for reads from user space */
	int fd, single;              /* of a trial; the second for the tree */
	char *note;
};

struct planner {
	struct session *s;
	struct candidate *list;
	size_t n;
	u32 groups;                  /* keys given so far */
	bool doubled;                /* there is room for totals, too */
	bool shared;
};

/* ---- opening --------------------------------------------------------------------------------------- */

static int self_open(void *context, union event_attr *a, bool heritable)
{
	int group = *(const int *)context;

	(void)heritable;
	a->attr.disabled = group < 0;
	return perf_open(&a->attr, 0, -1, group, 0);
}

static void candidate_attr(const struct candidate *c, union event_attr *a)
{
	attempt_attr(c->event, c->attempt, a);
	if (c->config1)
		a->attr.config1 |= PERF_USER_CONFIG1;
}

static int candidate_open(const struct candidate *c, int group)
{
	union event_attr a;

	candidate_attr(c, &a);
	return self_open(&group, &a, false);
}

static void close_at(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void __attribute__((format(printf, 2, 3))) leave_out(struct candidate *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->note, PLAN_NOTE, format, args);
	va_end(args);
	c->left_out = true;
}

/* Alone, and so on a counter: its page tells on which if user space may read that. */
static bool page_shows(int fd)
{
	const struct perf_event_mmap_page *page;
	bool shows;

	if (perf_page_map(fd, &page))
		return false;
	shows = perf_user_possible(page) && load_relaxed(&page->index);
	perf_page_unmap(page);
	return shows;
}

/* Whether it can be counted in a thread at all; how is found out on the way. */
static void candidate_try(struct planner *p, struct candidate *c)
{
	const char *futile = attempt_futile(c->event);
	int none = -1, fd, err;
	struct outcome o;

	if (futile) {
		leave_out(c, "%s", futile);
		return;
	}
	if (c->event->scope != EVENT_TASK) {
		leave_out(c, "cores of different kinds have PMUs of their own: counted for the whole tree alone");
		return;
	}
	fd = attempt_open(c->event, self_open, &none, &c->attempt);
	err = -fd;
	if (fd < 0) {
		o = asked_reason(&p->s->totals, c->event, err, &p->s->caps);
		leave_out(c, "%s%s%s", o.because, o.remedy[0] ? "; " : "", o.remedy);
		return;
	}
	close(fd);
	if (!c->event->hardware)
		return;
	c->config1 = PERF_USER_CONFIG1 != 0;
	fd = candidate_open(c, -1);
	if (fd < 0 && c->config1) {
		c->config1 = false;
		fd = candidate_open(c, -1);
	}
	if (fd >= 0 && !ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		c->by_page = page_shows(fd);
	close_at(&fd);
}

/* ---- trials ---------------------------------------------------------------------------------------- */

static struct candidate *leader_of(struct planner *p, const struct candidate *c)
{
	struct candidate *leader = p->list;

	while (leader->left_out || leader->group != c->group)
		leader++;
	return leader;
}

static bool trial_open(struct planner *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct candidate *c = &p->list[i], *leader;

		if (c->left_out || c->group == GROUP_SOFTWARE)
			continue;
		leader = leader_of(p, c);
		c->fd = candidate_open(c, leader == c ? -1 : leader->fd);
		if (c->fd < 0)
			return false;
		if (!p->doubled)
			continue;
		c->single = candidate_open(c, -1);
		if (c->single < 0)
			return false;
	}
	return true;
}

static void trial_spin(void)
{
	u64 until = clock_ns(CLOCK_MONOTONIC) + TRIAL_NS;

	while (clock_ns(CLOCK_MONOTONIC) < until)
		;
}

static bool ran(int fd)
{
	struct perf_value v;

	if (fd < 0)
		return true;
	return !perf_read(fd, &v) && v.running_ns && (double)v.running_ns >= TRIAL_SHARE * (double)v.enabled_ns;
}

/* All that is not left out counts at a time. */
static bool trial(struct planner *p)
{
	bool fits = trial_open(p);

	for (size_t i = 0; fits && i < p->n; i++) {
		if (p->list[i].fd >= 0 && leader_of(p, &p->list[i]) == &p->list[i])
			ioctl(p->list[i].fd, PERF_EVENT_IOC_ENABLE, 0);
		if (p->list[i].single >= 0)
			ioctl(p->list[i].single, PERF_EVENT_IOC_ENABLE, 0);
	}
	if (fits)
		trial_spin();
	for (size_t i = 0; i < p->n; i++)
		fits = fits && ran(p->list[i].fd) && ran(p->list[i].single);
	/* The members before their leader, so that none is made one for a moment. */
	for (size_t i = p->n; i-- > 0;) {
		close_at(&p->list[i].single);
		close_at(&p->list[i].fd);
	}
	return fits;
}

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

		if (c->left_out || c->group == GROUP_SOFTWARE)
			continue;
		if (is_last_level(c->event))
			return c;
		last = last ? last : c;
	}
	return last;
}

static bool any_hardware(struct planner *p)
{
	return least_wanted(p) != NULL;
}

/* ---- fitting --------------------------------------------------------------------------------------- */

/* Without sharing: leaves out until the rest fits. */
static void fit_exactly(struct planner *p)
{
	struct candidate *c;

	p->doubled = true;
	if (trial(p))
		return;
	p->doubled = false;
	while (!trial(p) && (c = least_wanted(p))) {
		leave_out(c, "the CPU has no counter left for it beside the others: --scaled lets them take turns, "
			  "--passes counts it in a run of its own");
		c->deferred = true;
	}
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
	if (c->fd < 0 || p->groups >= GROUP_BRACES + 64) {
		leave_out(c, "the kernel refuses it (%s)", advice_errno_name(-c->fd));
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
		if (!p->list[i].left_out && p->list[i].group == GROUP_HARDWARE)
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
			leave_out(c, "more than %u events, or %u groups that take turns, are not counted at markers",
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

static void fit(struct planner *p)
{
	for (size_t i = 0; i < p->n; i++)
		candidate_try(p, &p->list[i]);
	if (!any_hardware(p))
		return;
	if (!p->s->options->scaled) {
		fit_exactly(p);
		return;
	}
	p->doubled = true;
	if (trial(p))
		return;
	p->doubled = false;
	if (!trial(p))
		share(p);
}

/* ---- the result ------------------------------------------------------------------------------------ */

/* Room for all paths, too. */
static struct wire_plan *wire_new(const struct planner *p)
{
	size_t size = sizeof(struct wire_plan), events = 0;
	struct wire_plan *wire;

	for (size_t i = 0; i < p->n; i++)
		if (!p->list[i].left_out) {
			events++;
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
	wire->flags = p->shared ? WIRE_PLAN_SHARED : 0;
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

static const char *event_unit(const struct event *event)
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
		.shared = p->shared && c->group != GROUP_SOFTWARE,
		.hardware = c->event->hardware,
		.deferred = c->deferred,
	};
}

/* Group after group: the agent finds each by its first event. */
static void wire_fill(struct planner *p, struct plan *plan)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct candidate *c = &p->list[i];

		if (c->left_out || leader_of(p, c) != c)
			continue;
		for (size_t k = i; k < p->n; k++)
			if (!p->list[k].left_out && p->list[k].group == c->group) {
				plan->events[k].place = plan->wire->events;
				plan->events[k].group = plan->wire->groups;
				wire_add(plan->wire, &p->list[k], plan->wire->groups);
			}
		plan->wire->groups++;
	}
}

static int plan_fill(struct planner *p)
{
	const struct event_list *list = p->s->options->events;
	struct plan *plan = &p->s->plan;

	plan->wire = wire_new(p);
	/* One more event for the tree would take its counter from those. */
	for (size_t k = 0; k < list->n; k++)
		plan->alone[k] = list->event[k].hardware && any_hardware(p) && !p->doubled;
	for (size_t i = 0; i < p->n; i++) {
		profile_event_fill(&plan->events[i], p, &p->list[i]);
		verbose(2, "event %s at markers: %s", p->list[i].event->name,
			p->list[i].left_out ? p->list[i].note : p->list[i].by_page ? "by its page" : "by read(2)");
	}
	if (plan->wire)
		wire_fill(p, plan);
	return 0;
}

/* Of events of one name the first: a report has one column for each. */
static void take_candidates(struct planner *p)
{
	const struct event_list *list = p->s->options->events;
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
		p->list[p->n++].group = !e->hardware ? GROUP_SOFTWARE :
					e->group < 0 ? GROUP_HARDWARE : GROUP_BRACES + (u32)e->group;
	}
	plan->nevents = (u32)p->n;
}

int plan_make(struct session *s)
{
	const struct event_list *list = s->options->events;
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
