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

/* ---- what is missing -------------------------------------------------------------------------------- */

/* Which places lack an event that others have; a thread that ended meanwhile lacks nothing. */
static void count_mark_refused(struct count *count)
{
	for (size_t k = 0; k < count->nevents; k++) {
		const struct count_event *e = &count->event[k];

		for (size_t i = 0; e->opened && i < count->nplaces; i++)
			if (e->fd[i] < 0 && count_belongs(e->event, &count->place[i]) && !count->place[i].gone)
				count->place[i].refused = true;
	}
}

/* Their numbers, as far as there is room. How many there are. */
static size_t count_refused(const struct count *count, char *text, size_t size)
{
	size_t n = 0, len = 0;
	bool full = false;

	text[0] = '\0';
	for (size_t i = 0; i < count->nplaces; i++) {
		const struct count_place *place = &count->place[i];

		if (!place->refused)
			continue;
		n++;
		if (len + 16 < size)
			len += (size_t)snprintf(text + len, size - len, " %d", place->cpu >= 0 ? place->cpu : place->task);
		else if (!full)
			full = snprintf(text + len, size - len, " ...") > 0;
	}
	return n;
}

static size_t count_say(struct count *count, size_t at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static size_t count_say(struct count *count, size_t at, const char *format, ...)
{
	size_t size = sizeof(count->uncounted);
	va_list args;

	if (at && at < size)
		at += (size_t)snprintf(count->uncounted + at, size - at, "; ");
	if (at >= size)
		return at;
	va_start(args, format);
	at += (size_t)vsnprintf(count->uncounted + at, size - at, format, args);
	va_end(args);
	return at;
}

static void count_tell_missing(struct count *count)
{
	char ids[COUNT_IDS];
	size_t at = 0, n = count_refused(count, ids, sizeof(ids));

	if (n)
		at = count_say(count, at, "the kernel refused events of %zu of %zu %s:%s", n, count->nplaces,
			       count->flags || count->place[0].cpu >= 0 ? "CPUs" : "threads", ids);
	n = count_tell_left(count, false, ids, sizeof(ids));
	if (n)
		at = count_say(count, at, "%zu of %zu threads are left out, for want of descriptors (ulimit -n):%s", n,
			       n + count->nplaces, ids);
	n = count_tell_left(count, true, ids, sizeof(ids));
	if (n)
		at = count_say(count, at, "%zu threads began while counters were opened, and it is not known whether they are "
			       "counted:%s", n, ids);
	if (count->headless)
		count_say(count, at, "the main thread of %d had ended before", (int)count->headless);
	count->facts.uncounted = count->uncounted[0] ? count->uncounted : NULL;
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
	if (!err && !count->options->later)
		err = count_open_all(count);
	if (!err && !count->options->later && kind == COUNT_PROCESSES && count_find_late(count))
		count_arm_late(count, NULL, 0, false);
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
	count_host(count);
	count->facts.target = count->target;
	count->facts.alive = true;
	if (!options->later)
		count_settle(count);
	return 0;
}

int count_arm(struct count *count, const struct count_also *also)
{
	count->also = also;
	return count_open_all(count);
}

void count_settle(struct count *count)
{
	count->also = NULL;
	count_mark_refused(count);
	count_tell_missing(count);
	count_forewarn(count);
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
	descriptors_left();
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
	free(count->late);
	free(count->left);
	free(count->totals);
	free(count->parts);
	free(count);
}
