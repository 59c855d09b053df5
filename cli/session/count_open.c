/* SPDX-License-Identifier: MIT */
/* Opening events at many places, one after the other; see count.h. */
#define _GNU_SOURCE
#include "cli/session/count_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/log.h"

#define COUNT_SPARE 32               /* descriptors for everything else */

/* ---- an event at a place --------------------------------------------------------------------------- */

struct count_way {
	const struct count *count;
	const struct count_place *place;
	int leader;                  /* -1: none */
};

static int count_open_as(void *context, union event_attr *a, bool heritable)
{
	const struct count_way *way = context;
	bool tasks = way->count->options->kind == COUNT_PROCESSES || way->count->options->kind == COUNT_THREADS;

	a->attr.inherit = tasks && heritable && !way->count->options->no_inherit;
	return perf_open(&a->attr, way->place->task, way->place->cpu, way->leader, way->count->flags);
}

/* An event of some CPUs only, such as those of one kind, or of the one that counts for the socket. */
bool count_belongs(const struct event *event, const struct count_place *place)
{
	cpu_set_t set;

	if (place->cpu < 0 || !event->cpus || cpus_parse(event->cpus, &set))
		return true;
	return CPU_ISSET((size_t)place->cpu, &set);
}

static const char *count_futile(const struct count *count, const struct event *event)
{
	bool system = event->scope == EVENT_SYSTEM && count->options->kind == COUNT_CPUS && !event->obstacle;

	return system ? NULL : attempt_futile(event);
}

/* The slots of which the event is a share, at that place; -1: they are not counted. */
static int count_slots(const struct count *count, const struct event *event, size_t at)
{
	for (size_t i = 0; i < count->nevents; i++) {
		const struct count_event *e = &count->event[i];

		if (e->event->topdown == EVENT_SLOTS && e->event->attr.type == event->attr.type && e->fd)
			return e->fd[at];
	}
	return -1;
}

static int count_open_at(struct count *count, struct count_event *e, size_t at)
{
	struct count_way way = { count, &count->place[at], -1 };
	struct attempt attempt;
	int fd;

	if (e->event->topdown == EVENT_TOPDOWN) {
		way.leader = count_slots(count, e->event, at);
		if (way.leader < 0)
			return -ENODATA;
	}
	fd = attempt_filter(e->event, attempt_open(e->event, count_open_as, &way, &attempt));
	if (fd >= 0 && descriptor_keep(fd, COUNT_SPARE) < 0)
		return -EMFILE;
	if (fd >= 0 && attempt.less > e->attempt.less)
		e->attempt = attempt;
	return fd;
}

/* Room for its descriptors at all places. 0, or -1 after a message. */
static int count_make_room(struct count *count, struct count_event *e)
{
	int *fd;

	if (count->nplaces <= e->room)
		return 0;
	fd = realloc(e->fd, count->room * sizeof(*fd));
	if (!fd)
		return error("out of memory");
	for (size_t i = e->room; i < count->room; i++)
		fd[i] = -1;
	e->fd = fd;
	e->room = count->room;
	return 0;
}

/* ---- all events at a place ------------------------------------------------------------------------- */

/* 0, or -EMFILE. */
static int count_open_event(struct count *count, struct count_event *e, size_t at)
{
	int fd;

	if (e->absent || !count_belongs(e->event, &count->place[at]))
		return 0;
	fd = count_open_at(count, e, at);
	if (fd == -EMFILE || fd == -ENFILE)
		return -EMFILE;
	if (fd >= 0) {
		e->fd[at] = fd;
		e->opened++;
		return 0;
	}
	e->err = -fd;
	count->place[at].gone = count->place[at].gone || fd == -ESRCH;
	/* What the machine has not, it has nowhere. */
	e->absent = !e->opened && advice_means_absent(-fd);
	return 0;
}

static void count_close_place(struct count *count, size_t at)
{
	for (size_t k = 0; k < count->nevents; k++) {
		struct count_event *e = &count->event[k];

		if (e->room <= at || e->fd[at] < 0)
			continue;
		close(e->fd[at]);
		e->fd[at] = -1;
		e->opened--;
	}
}

int count_open_place(struct count *count, size_t at)
{
	struct count_place *place = &count->place[at];
	int err;

	place->from_ns = session_now();
	err = count->also ? count->also->before(count->also->context, place->task) : 0;
	/* Gone: so its events will be. */
	err = err == -EMFILE ? err : 0;
	/* Those that lead others first. */
	for (int shares = 0; shares < 2; shares++)
		for (size_t i = 0; !err && i < count->nevents; i++)
			if ((count->event[i].event->topdown == EVENT_TOPDOWN) == shares)
				err = count_make_room(count, &count->event[i]) ? -ENOMEM :
				      count_open_event(count, &count->event[i], at);
	if (!err && count->also)
		err = count->also->after(count->also->context, place->task);
	place->until_ns = session_now();
	if (err == -EMFILE || err == -ENOMEM) {
		count_close_place(count, at);
		return err;
	}
	/* Refused, or gone. */
	place->refused = err && err != -ESRCH;
	return 0;
}

/* ---- all places ------------------------------------------------------------------------------------ */

static int count_say_full(const struct count *count, int err)
{
	struct outcome o = advice_errno(err, "one for each event and thread or CPU");

	return error("%zu places and %zu events take too many descriptors: %s; %s", count->nplaces, count->nevents,
		     o.because, o.remedy);
}

bool count_bare(const struct count *count)
{
	for (size_t i = 0; i < count->nevents; i++)
		if (count->event[i].opened)
			return false;
	return true;
}

/* No event is to be had: the first that is refused tells why. 0: it is for each of them to tell. */
static int count_refuse(struct count *count)
{
	/* Of a clock, which every machine has. */
	if (count->flags && (count->event[0].err == ENOENT || count->event[0].err == EBADF))
		return count_refuse_cgroup(count);
	/* One that is about to end has no memory any more, by which it could be asked whose it is. */
	if (count->nwatched && (count->event[0].err == EACCES || count->event[0].err == ESRCH) && count_tasks_gone(count)) {
		error("%s ended before it could be counted", count->target);
		return -EPERM;
	}
	for (size_t i = 0; i < count->nevents; i++)
		if (!count->event[i].note[0])
			count_reason(count, &count->event[i]);
	if (count->options->dispensable)
		return 0;
	error("nothing can be counted of %s: %s", count->target, count->event[0].note);
	return -EPERM;
}

static bool count_has(const struct count *count, const char *name)
{
	for (size_t i = 0; i < count->nevents; i++)
		if (!strcmp(count->event[i].event->name, name))
			return true;
	return false;
}

/* The rest is without events. 0, or -1 after a message. */
static int count_cut(struct count *count, size_t at, int err)
{
	if (err != -EMFILE || !count->options->later || !at)
		return err == -EMFILE ? count_say_full(count, EMFILE) : -1;
	for (size_t i = at; i < count->nplaces; i++)
		if (count_leave(count, count->place[i].task, false))
			return -1;
	count->nplaces = at;
	return 0;
}

/* A list may name an event twice. 0, or -1 after a message. */
static int count_list(struct count *count)
{
	const struct event_list *list = count->options->events;

	count->event = calloc(list->n + 1, sizeof(*count->event));
	if (!count->event)
		return error("out of memory");
	for (size_t i = 0; i < list->n; i++) {
		struct count_event *e = &count->event[count->nevents];
		const char *futile = count_futile(count, &list->event[i]);

		if (count_has(count, list->event[i].name))
			continue;
		e->event = &list->event[i];
		e->absent = futile;
		if (futile)
			snprintf(e->note, sizeof(e->note), "%s", futile);
		count->nevents++;
	}
	return 0;
}

int count_open_all(struct count *count)
{
	if (count_list(count))
		return -EPERM;
	for (size_t i = 0; i < count->nplaces; i++) {
		int err = count_open_place(count, i);

		if (err && count_cut(count, i, err))
			return -EPERM;
	}
	for (size_t i = 0; i < count->nevents; i++)
		count->judge.asked.pmu |= count->event[i].opened && count->event[i].event->hardware;
	return count_bare(count) ? count_refuse(count) : 0;
}
