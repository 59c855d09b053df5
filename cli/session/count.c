/* SPDX-License-Identifier: MIT */
/* Opening events at many places; see count.h. */
#define _GNU_SOURCE
#include "cli/session/count_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/log.h"

#define COUNT_SPARE 32               /* descriptors for everything else */

/* ---- places ---------------------------------------------------------------------------------------- */

int count_add_place(struct count *count, pid_t task, int cpu, u32 part)
{
	if (count->nplaces == count->room) {
		size_t room = count->room ? 2 * count->room : 64;
		struct count_place *place = realloc(count->place, room * sizeof(*place));

		if (!place)
			return error("out of memory");
		count->place = place;
		count->room = room;
	}
	count->place[count->nplaces++] = (struct count_place){ .task = task, .cpu = cpu, .part = part };
	return 0;
}

struct count_part *count_add_part(struct count *count, u32 id, const char *format, ...)
{
	struct count_part *part = realloc(count->part, (count->nparts + 1) * sizeof(*part));
	va_list args;
	int len;

	if (!part) {
		error("out of memory");
		return NULL;
	}
	count->part = part;
	part += count->nparts;
	*part = (struct count_part){ .id = id, .fd = -1 };
	va_start(args, format);
	len = vasprintf(&part->name, format, args);
	va_end(args);
	if (len < 0) {
		error("out of memory");
		return NULL;
	}
	count->nparts++;
	return part;
}

/* ---- opening --------------------------------------------------------------------------------------- */

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
static bool count_belongs(const struct event *event, const struct count_place *place)
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

static int count_say_full(const struct count *count, int err)
{
	struct outcome o = advice_errno(err, "one for each event and thread or CPU");

	return error("%zu places and %zu events take too many descriptors: %s; %s", count->nplaces, count->nevents,
		     o.because, o.remedy);
}

/* 0, or -1 after a message. */
static int count_open_event(struct count *count, struct count_event *e)
{
	const char *futile = count_futile(count, e->event);

	e->fd = malloc(count->nplaces * sizeof(*e->fd));
	if (!e->fd)
		return error("out of memory");
	for (size_t i = 0; i < count->nplaces; i++)
		e->fd[i] = -1;
	if (futile)
		snprintf(e->note, sizeof(e->note), "%s", futile);
	for (size_t i = 0; i < count->nplaces && !futile; i++) {
		int fd;

		if (!count_belongs(e->event, &count->place[i]))
			continue;
		fd = count_open_at(count, e, i);
		if (fd == -EMFILE || fd == -ENFILE)
			return count_say_full(count, -fd);
		if (fd >= 0) {
			e->fd[i] = fd;
			e->opened++;
			continue;
		}
		e->err = -fd;
		/* What the machine has not, it has nowhere. */
		if (!e->opened && advice_means_absent(-fd))
			return 0;
	}
	return 0;
}

/* Which places lack an event that others have; a thread that ended meanwhile lacks nothing. */
static void count_mark_refused(struct count *count)
{
	for (size_t k = 0; k < count->nevents; k++) {
		const struct count_event *e = &count->event[k];

		for (size_t i = 0; e->opened && i < count->nplaces; i++)
			if (e->fd[i] < 0 && count_belongs(e->event, &count->place[i]) &&
			    (count->place[i].cpu >= 0 || !kill(count->place[i].task, 0) || errno == EPERM))
				count->place[i].refused = true;
	}
}

static void count_tell_refused(struct count *count)
{
	size_t n = 0, len = 0, size = sizeof(count->uncounted);
	char *to = count->uncounted;

	for (size_t i = 0; i < count->nplaces; i++)
		n += count->place[i].refused;
	if (n)
		len += (size_t)snprintf(to, size, "the kernel refused events of %zu of %zu %s:", n, count->nplaces,
					count->flags || count->place[0].cpu >= 0 ? "CPUs" : "threads");
	for (size_t i = 0; n && i < count->nplaces; i++)
		if (count->place[i].refused && len + 48 < size)
			len += (size_t)snprintf(to + len, size - len, " %d",
						count->place[i].cpu >= 0 ? count->place[i].cpu : count->place[i].task);
		else if (count->place[i].refused) {
			len += (size_t)snprintf(to + len, size - len, " ...");
			break;
		}
	if (count->late)
		len += (size_t)snprintf(to + len, size - len, "%s%zu threads began while counters were opened: it is not "
					"known whether they are counted", n ? "; " : "", count->late);
	len = MIN(len, size - 1);
	if (count->headless)
		snprintf(to + len, size - len, "%sthe main thread of %d had ended before", len ? "; " : "",
			 (int)count->headless);
	count->facts.uncounted = to[0] ? to : NULL;
}

static bool count_any(const struct count *count)
{
	for (size_t i = 0; i < count->nevents; i++)
		if (count->event[i].opened)
			return true;
	return false;
}

/* No event is to be had: the first that is refused tells why. */
static int count_refuse(struct count *count)
{
	/* Of a clock, which every machine has. */
	if (count->flags && (count->event[0].err == ENOENT || count->event[0].err == EBADF))
		return count_refuse_cgroup(count);
	for (size_t i = 0; i < count->nevents; i++)
		if (!count->event[i].note[0])
			count_reason(count, &count->event[i]);
	error("nothing can be counted of %s: %s", count->target, count->event[0].note);
	return -EPERM;
}

/* A list may name an event twice. */
static bool count_has(const struct count *count, const char *name)
{
	for (size_t i = 0; i < count->nevents; i++)
		if (!strcmp(count->event[i].event->name, name))
			return true;
	return false;
}

static int count_open_all(struct count *count)
{
	const struct event_list *list = count->options->events;

	count->event = calloc(list->n + 1, sizeof(*count->event));
	if (!count->event) {
		error("out of memory");
		return -EPERM;
	}
	for (size_t i = 0; i < list->n; i++)
		if (!count_has(count, list->event[i].name))
			count->event[count->nevents++].event = &list->event[i];
	/* Those that lead others first. */
	for (int shares = 0; shares < 2; shares++)
		for (size_t i = 0; i < count->nevents; i++)
			if ((count->event[i].event->topdown == EVENT_TOPDOWN) == shares &&
			    count_open_event(count, &count->event[i]))
				return -EPERM;
	for (size_t i = 0; i < count->nevents; i++)
		count->judge.asked.pmu |= count->event[i].opened && count->event[i].event->hardware;
	return count_any(count) ? 0 : count_refuse(count);
}

static void count_host(struct count *count)
{
	struct utsname u;

	if (uname(&u))
		return;
	snprintf(count->host, sizeof(count->host), "%s", u.nodename);
	snprintf(count->kernel, sizeof(count->kernel), "%s %s %s", u.sysname, u.release, u.machine);
	count->facts.host = count->host;
	count->facts.kernel = count->kernel;
}

static void count_forewarn(struct count *count)
{
	struct forewarn f = { .names = "" };

	for (size_t i = 0; i < count->nevents; i++) {
		struct count_event *e = &count->event[i];

		if (e->opened || e->event < &count->options->events->event[count->options->nstandard])
			continue;
		count_reason(count, e);
		forewarn_add(&f, e->event->name, e->note);
	}
	forewarn_say(&f);
}

/* As far as it goes, while events are opened: a command is to have the limit that we were given. */
void count_raise_limit(struct rlimit *before)
{
	struct rlimit most;

	getrlimit(RLIMIT_NOFILE, before);
	most = (struct rlimit){ before->rlim_max, before->rlim_max };
	setrlimit(RLIMIT_NOFILE, &most);
}

static int count_open_places(struct count *count)
{
	const enum count_kind kind = count->options->kind;
	struct rlimit before;
	int err;

	count_raise_limit(&before);
	err = kind == COUNT_CPUS ? count_cpus(count) : kind == COUNT_CGROUPS ? count_cgroups(count) : count_tasks(count);
	err = err ? err : count_open_all(count);
	if (!err && kind == COUNT_PROCESSES)
		count_tasks_late(count);
	setrlimit(RLIMIT_NOFILE, &before);
	return err;
}

int count_open(struct count **to, const struct count_options *options)
{
	struct count *count = calloc(1, sizeof(*count));
	int err;

	*to = count;
	if (!count) {
		error("out of memory");
		return -EPERM;
	}
	count->options = options;
	caps_init(&count->caps, "");
	totals_keep(&count->judge);
	err = count_open_places(count);
	if (err)
		return err;
	count_mark_refused(count);
	count_tell_refused(count);
	count_host(count);
	count_forewarn(count);
	count->facts.target = count->target;
	count->facts.alive = true;
	return 0;
}

void count_enable(struct count *count, bool on)
{
	for (size_t i = 0; i < count->nevents; i++)
		for (size_t k = 0; k < count->nplaces; k++)
			if (count->event[i].fd && count->event[i].fd[k] >= 0)
				ioctl(count->event[i].fd[k], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

const struct session_facts *count_facts(const struct count *count)
{
	return &count->facts;
}

static bool count_traced(const struct count *count)
{
	for (size_t i = 0; i < count->nevents; i++)
		if (count->event[i].opened && count->event[i].event->attr.type == PERF_TYPE_TRACEPOINT)
			return true;
	return false;
}

void count_free(struct count *count)
{
	if (!count)
		return;
	if (count_traced(count))
		descriptors_leave();
	for (size_t i = 0; i < count->nevents; i++) {
		for (size_t k = 0; count->event[i].fd && k < count->nplaces; k++)
			if (count->event[i].fd[k] >= 0)
				close(count->event[i].fd[k]);
		free(count->event[i].fd);
	}
	for (size_t i = 0; i < count->nparts; i++) {
		if (count->part[i].fd >= 0)
			close(count->part[i].fd);
		free(count->part[i].name);
		free(count->part[i].totals);
	}
	for (size_t i = 0; i < count->nwatched; i++)
		if (count->watch[i].pidfd >= 0)
			close(count->watch[i].pidfd);
	totals_close(&count->judge);
	free(count->event);
	free(count->place);
	free(count->part);
	free(count->watch);
	free(count->totals);
	free(count->parts);
	free(count);
}
