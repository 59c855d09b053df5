/* SPDX-License-Identifier: MIT */
/* Counting events in sparkctl itself, to see which of them threads can count at a time; see plan.c. */
#define _GNU_SOURCE
#include "cli/session/plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/perf.h"
#include "common/perf_user.h"

#define TRIAL_NS (2 * NSEC_PER_MSEC)
#define TRIAL_SHARE 0.98           /* of the time that a counter must have run */

static int self_open(void *context, union event_attr *a, bool heritable)
{
	int group = *(const int *)context;

	(void)heritable;
	a->attr.disabled = group < 0;
	return perf_open(&a->attr, 0, -1, group, 0);
}

void candidate_attr(const struct candidate *c, union event_attr *a)
{
	attempt_attr(c->event, c->attempt, a);
	if (c->config1)
		a->attr.config1 |= PERF_USER_CONFIG1;
}

int candidate_open(const struct candidate *c, int group)
{
	union event_attr a;

	candidate_attr(c, &a);
	return self_open(&group, &a, false);
}

void close_at(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void __attribute__((format(printf, 2, 3))) candidate_leave_out(struct candidate *c, const char *format, ...)
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

struct candidate *candidate_leader(struct planner *p, const struct candidate *c)
{
	struct candidate *leader = NULL;

	for (struct candidate *k = p->list; k < p->list + p->n; k++)
		if (!k->left_out && k->group == c->group &&
		    (!leader || (k->event->topdown == EVENT_SLOTS && leader->event->topdown != EVENT_SLOTS)))
			leader = k;
	return leader;
}

/* The slots of which the event is a share, which lead its group. A descriptor, or -1. */
static int slots_open(struct planner *p, const struct candidate *c)
{
	struct candidate *slots = candidate_leader(p, c);

	if (slots->event->topdown != EVENT_SLOTS)
		return -1;
	return candidate_open(slots, -1);
}

void candidate_try(struct planner *p, struct candidate *c)
{
	const char *futile = attempt_futile(c->event);
	int leader = -1, fd, err;
	struct outcome o;

	if (c->left_out)
		return;
	if (futile) {
		candidate_leave_out(c, "%s", futile);
		return;
	}
	if (c->event->topdown == EVENT_TOPDOWN) {
		leader = slots_open(p, c);
		if (leader < 0) {
			candidate_leave_out(c, "%s", asked_no_slots);
			return;
		}
	}
	fd = attempt_open(c->event, self_open, &leader, &c->attempt);
	err = -fd;
	close_at(&leader);
	if (fd < 0) {
		o = asked_reason(&p->s->totals, c->event, err, &p->s->caps);
		candidate_leave_out(c, "%s%s%s", o.because, o.remedy[0] ? "; " : "", o.remedy);
		return;
	}
	close(fd);
	/* The page of a share of slots has no count. */
	if (!c->event->hardware || c->event->topdown == EVENT_TOPDOWN)
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

int trial_enter(const struct event *event, cpu_set_t *before)
{
	cpu_set_t set;

	if (event->scope != EVENT_CORES)
		return 0;
	if (sched_getaffinity(0, sizeof(*before), before))
		return -errno;
	if (cpus_parse(event->cpus, &set))
		return -EINVAL;
	CPU_AND(&set, &set, before);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

void trial_leave(const struct event *event, const cpu_set_t *before)
{
	if (event->scope == EVENT_CORES)
		sched_setaffinity(0, sizeof(*before), before);
}

bool trial_has(const struct planner *p, const struct candidate *c)
{
	return !c->left_out && c->event->hardware && plan_same_kind(c->event, p->kind);
}

static bool trial_open_one(struct planner *p, struct candidate *c)
{
	struct candidate *leader = candidate_leader(p, c);

	c->fd = candidate_open(c, leader == c ? -1 : leader->fd);
	if (c->fd >= 0 && p->doubled)
		c->single = candidate_open(c, c->event->topdown == EVENT_TOPDOWN ? leader->single : -1);
	return c->fd >= 0 && (c->single >= 0 || !p->doubled);
}

/* Leaders first. */
static bool trial_open(struct planner *p)
{
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < p->n; i++) {
			struct candidate *c = &p->list[i];

			if (trial_has(p, c) && (candidate_leader(p, c) == c) == !pass && !trial_open_one(p, c))
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

bool trial_fits(struct planner *p)
{
	bool fits = trial_open(p);

	for (size_t i = 0; fits && i < p->n; i++) {
		if (p->list[i].fd >= 0 && candidate_leader(p, &p->list[i]) == &p->list[i])
			ioctl(p->list[i].fd, PERF_EVENT_IOC_ENABLE, 0);
		if (p->list[i].single >= 0)
			ioctl(p->list[i].single, PERF_EVENT_IOC_ENABLE, 0);
	}
	if (fits)
		trial_spin();
	for (size_t i = 0; i < p->n; i++)
		fits = fits && ran(p->list[i].fd) && ran(p->list[i].single);
	/* The members before their leader, so that none is made one for a moment. */
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = p->n; i-- > 0;)
			if (pass || (!p->list[i].left_out && candidate_leader(p, &p->list[i]) != &p->list[i])) {
				close_at(&p->list[i].single);
				close_at(&p->list[i].fd);
			}
	return fits;
}
