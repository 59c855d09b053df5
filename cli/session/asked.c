/* SPDX-License-Identifier: MIT */
/*
 * The events of run -e, for the whole tree: each one for itself on the held child, as totals.c has
 * its own. What the kernel would count as a silent 0, since the event happens on a side that is
 * excluded, is not opened.
 */
#define _GNU_SOURCE
#include "cli/session/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/log.h"
#include "common/perf.h"

#define ASKED_SPARE 80               /* descriptors that the session is left for its own */
#define LEAVE_MS 5000                /* to close thousands of events takes long on a busy machine */
#define LEAVE_BLIND_MS 20

static const char asked_alone[] = "the counters are those of regions, and there are no others for the whole tree: "
				  "sparkctl stat counts it";

const char asked_no_slots[] = "it is a share of slots, and counted in a group with them alone: -e slots with it";

struct asked_way {
	pid_t child;
	bool inherit, deferred;
	int leader;                  /* -1: none */
};

static int asked_open_as(void *context, union event_attr *a, bool heritable)
{
	const struct asked_way *way = context;
	int fd;

	a->attr.enable_on_exec = !way->deferred;
	a->attr.inherit = heritable;
	a->attr.inherit_thread = !way->inherit && heritable;
	fd = perf_open(&a->attr, way->child, -1, way->leader, 0);
	if (fd == -EINVAL && a->attr.inherit_thread) {
		/* Before Linux 5.13 there is no inherit_thread: the main thread alone. */
		a->attr.inherit = a->attr.inherit_thread = 0;
		fd = perf_open(&a->attr, way->child, -1, way->leader, 0);
	}
	return fd;
}

bool asked_is_same(const struct event *a, const struct event *b)
{
	struct perf_event_attr other = b->attr;

	if (a->path && b->path && !strcmp(a->path, b->path))
		other.config1 = a->attr.config1;
	return !memcmp(&a->attr, &other, sizeof(other)) && a->config3 == b->config3;
}

/* A list may have an event in several groups; a group makes no difference to a total. */
static bool asked_is_elsewhere(const struct event_list *events, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(events->event[k].name, events->event[i].name))
			return true;
	return totals_have(&events->event[i]);
}

/* With -vv: what perf stat -vv prints, by the same names and without what is 0. */
static void asked_tell(const struct event *event, int fd)
{
	const struct perf_event_attr *a = &event->attr;
	const struct { const char *name; u64 value; } fields[] = {
		{ "type", a->type }, { "config", a->config }, { "config1", a->config1 }, { "config2", a->config2 },
		{ "config3", event->config3 }, { "bp_type", a->bp_type }, { "exclude_user", a->exclude_user },
		{ "exclude_kernel", a->exclude_kernel }, { "exclude_hv", a->exclude_hv },
		{ "exclude_idle", a->exclude_idle }, { "precise_ip", a->precise_ip }, { "pinned", a->pinned },
	};
	char text[512] = "";
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (i == 0 || fields[i].value)
			len += (size_t)snprintf(text + len, sizeof(text) - len,
				i ? " %s %#llx" : " %s %llu", fields[i].name,
						(unsigned long long)fields[i].value);
	verbose(2, "event %s:%s%s%s", event->name, text, fd < 0 ? "; not counted, errno " : "",
		fd < 0 ? advice_errno_name(-fd) : "");
}

/* The slots of which the event is a share, if they are counted; else -1. */
static int asked_slots(const struct asked *asked, const struct event *event)
{
	for (size_t i = 0; i < asked->list->n; i++) {
		const struct event *slots = &asked->list->event[i];

		if (slots->topdown == EVENT_SLOTS && asked->event[i].fd >= 0 && slots->attr.type == event->attr.type)
			return asked->event[i].fd;
	}
	return -1;
}

static void asked_arm_one(struct asked *asked, size_t i, bool alone, struct asked_way way)
{
	const struct event *event = &asked->list->event[i];
	struct asked_event *e = &asked->event[i];
	const char *futile = alone ? asked_alone : attempt_futile(event);

	if (event->topdown == EVENT_TOPDOWN && !futile) {
		way.leader = asked_slots(asked, event);
		futile = way.leader < 0 ? asked_no_slots : NULL;
	}
	e->elsewhere = asked_is_elsewhere(asked->list, i);
	e->fd = futile || e->elsewhere ? -ENODATA : attempt_open(event, asked_open_as, &way, &e->attempt);
	e->fd = attempt_filter(event, e->fd);
	if (e->fd >= 0 && descriptor_keep(e->fd, ASKED_SPARE) < 0)
		e->fd = -EMFILE;
	asked_tell(event, e->fd);
	if (futile)
		snprintf(e->note, sizeof(e->note), "%s", futile);
	asked->pmu = asked->pmu || (e->fd >= 0 && event->hardware);
}

void asked_arm(struct asked *asked, const struct event_list *events, const bool *alone, pid_t child, bool inherit)
{
	const struct asked_way way = { child, inherit, asked->deferred, -1 };

	asked->list = events;
	asked->event = events && events->n ? calloc(events->n, sizeof(*asked->event)) : NULL;
	for (size_t i = 0; asked->event && i < events->n; i++)
		asked->event[i].fd = -ENODATA;
	/* Those that lead others first. */
	for (int shares = 0; asked->event && shares < 2; shares++)
		for (size_t i = 0; i < events->n; i++)
			if ((events->event[i].topdown == EVENT_TOPDOWN) == shares)
				asked_arm_one(asked, i, alone && alone[i], way);
}

void asked_enable(struct asked *asked, bool on)
{
	for (size_t i = 0; asked->event && i < asked->list->n; i++)
		if (asked->event[i].fd >= 0)
			ioctl(asked->event[i].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

struct outcome asked_reason(struct totals *t, const struct event *event, int err, struct caps_context *caps)
{
	if (event->path)
		return advice_perf_privilege(caps, err);
	if (event->hardware && err != EINVAL && advice_means_absent(err)) {
		if (t->pmu || t->asked.pmu)
			return outcome_no("", "this PMU does not have the event (%s)", advice_errno_name(err));
		if (totals_hardware(t, caps).available == CAPS_NO)
			return t->hardware;
	}
	if (err == EINVAL)
		return outcome_no("", "the kernel refuses it (EINVAL): no such event of %s, or it only takes samples",
			event->pmu ? event->pmu : "this kind");
	/* Above level 2 user mode is refused as well, and to allow that is enough for most. */
	return advice_perf(caps, err, event->side == EVENT_KERNEL || event->attr.exclude_user ||
		(event->side != EVENT_NO_SIDE && caps->paranoid <= 2));
}

static const char *asked_refusal(struct totals *t, size_t i, struct caps_context *caps)
{
	struct asked_event *e = &t->asked.event[i];
	struct outcome o;

	if (!e->note[0]) {
		o = asked_reason(t, &t->asked.list->event[i], -e->fd, caps);
		snprintf(e->note, sizeof(e->note), "%s%s%s", o.because, o.remedy[0] ? "; " : "", o.remedy);
	}
	return e->note;
}

void asked_forewarn(struct totals *t, struct caps_context *caps, struct forewarn *f)
{
	for (size_t i = 0; t->asked.event && i < t->asked.list->n; i++)
		if (t->asked.event[i].fd < 0 && !t->asked.event[i].elsewhere)
			forewarn_add(f, t->asked.list->event[i].name, asked_refusal(t, i, caps));
}

/* Whether the kinds of cores together counted all the time: then no share is missing. */
static bool asked_complete(const struct asked *asked, size_t i)
{
	const struct event *event = asked->list->event;
	u64 running = 0;

	for (size_t k = 0; k < asked->list->n; k++)
		if (event[k].item == event[i].item && asked->event[k].fd >= 0)
			running += asked->event[k].value.running_ns;
	return running >= asked->event[i].value.enabled_ns - asked->event[i].value.enabled_ns / 50;
}

/* Counted on one kind of core: what ran on others is no reason to scale. */
static struct cell asked_on_cores(struct asked *asked, size_t i)
{
	struct asked_event *e = &asked->event[i];
	const struct event *event = &asked->list->event[i];
	struct cell c = cell_counted((double)e->value.count * event->scale);

	if (e->value.running_ns == e->value.enabled_ns)
		return c;
	snprintf(e->note, sizeof(e->note), "on cores of %s (%s), for %.0f %% of the time; not scaled",
		 event->pmu, event->cpus, 100.0 * (double)e->value.running_ns / (double)e->value.enabled_ns);
	c.state = asked_complete(asked, i) ? CELL_COUNTED : CELL_ESTIMATE;
	c.note = e->note;
	return c;
}

static struct cell asked_on_any(const struct event *event, const struct asked_event *e)
{
	struct cell c = cell_counted((double)e->value.count * event->scale);

	c.note = attempt_note(event, e->attempt);
	if (e->value.running_ns < e->value.enabled_ns) {
		c.value *= (double)e->value.enabled_ns / (double)e->value.running_ns;
		c.state = CELL_SCALED;
		c.note = cell_of_user(&c) ? CELL_NOTE_USER_SHARED : CELL_NOTE_SHARED;
	}
	return c;
}

static struct cell asked_cell(struct totals *t, size_t i, struct caps_context *caps)
{
	struct asked_event *e = &t->asked.event[i];
	const struct event *event = &t->asked.list->event[i];
	struct cell c;

	if (e->fd < 0)
		return cell_absent(CELL_UNAVAILABLE, asked_refusal(t, i, caps));
	if (e->err)
		return cell_absent(e->err == -EIO ? CELL_NOT_COUNTED : CELL_UNAVAILABLE,
			event->attr.pinned ? attempt_idle(caps, event->hardware, true) : "the kernel did not give it back");
	if (!e->value.running_ns)
		return cell_absent(CELL_NOT_COUNTED, attempt_idle(caps, event->hardware && e->value.enabled_ns, false));
	if (t->hidden == TOTALS_HIDDEN)
		return cell_absent(CELL_UNAVAILABLE, t->hidden_note);
	c = event->scope == EVENT_CORES ? asked_on_cores(&t->asked, i) : asked_on_any(event, e);
	if (t->hidden == TOTALS_LITTLE_HIDDEN) {
		c.state = CELL_ESTIMATE;
		c.note = t->hidden_note;
	} else if (!attempt_heritable(event) && !t->alone) {
		c.state = CELL_ESTIMATE;
		c.note = "of the command's first thread alone: the kernel cannot pass a probe on to others";
	}
	return c;
}

void asked_mark(struct asked *asked)
{
	for (size_t i = 0; asked->event && i < asked->list->n; i++)
		if (asked->event[i].fd >= 0 && perf_read(asked->event[i].fd, &asked->event[i].before))
			asked->event[i].before = (struct perf_value){ 0 };
}

bool asked_heritable(const struct event_list *events)
{
	for (size_t i = 0; events && i < events->n; i++)
		if (!attempt_heritable(&events->event[i]))
			return false;
	return true;
}

void asked_read(struct totals *t, struct caps_context *caps)
{
	const struct event_list *list = t->asked.list;

	/* All first: kinds of cores are judged together. */
	for (size_t i = 0; t->asked.event && i < list->n; i++) {
		struct asked_event *e = &t->asked.event[i];

		if (e->fd < 0)
			continue;
		e->err = perf_read(e->fd, &e->value);
		e->value = totals_since(&e->value, &e->before);
	}
	for (size_t i = 0; t->asked.event && i < list->n; i++) {
		const struct event *event = &list->event[i];
		const struct perf_value *v = &t->asked.event[i].value;

		if (t->asked.event[i].elsewhere)
			continue;
		totals_add(t, event->name, event_unit(event), asked_cell(t, i, caps), "perf");
		totals_add_raw(t, (struct total_raw){ true, event->scope == EVENT_CORES, (double)v->count * event->scale,
						      v->enabled_ns, v->running_ns });
	}
}

/* An end of a pipe: whoever has the other one keeps copies of descriptors for as long. -1: nobody does. */
static int left_open = -1;

/* By now the copies keep what is to be closed from being closed here. */
static void leave_apart(const int *pipe)
{
	struct pollfd closed_here = { .fd = pipe[0] };

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		close(fd);
	if (pipe[1] >= 0)
		close(pipe[1]);
	/* It keeps no file system busy. */
	if (chdir("/") == 0 && fork() == 0)
		poll(&closed_here, 1, pipe[0] >= 0 ? LEAVE_MS : LEAVE_BLIND_MS);
	_exit(0);
}

void descriptors_leave(void)
{
	int pipe[2];
	pid_t child;

	descriptors_left();
	if (pipe2(pipe, O_CLOEXEC))
		pipe[0] = pipe[1] = -1;
	child = fork();
	if (!child)
		leave_apart(pipe);
	if (child > 0)
		waitpid(child, NULL, 0);
	if (pipe[0] >= 0)
		close(pipe[0]);
	left_open = pipe[1];
}

void descriptors_left(void)
{
	if (left_open >= 0)
		close(left_open);
	left_open = -1;
}

/* Events that the kernel takes 40 ms to close, unless the same one is open elsewhere. */
static bool asked_traces(const struct event *event)
{
	return event->attr.type == PERF_TYPE_TRACEPOINT;
}

static int asked_open_kept(void *context, union event_attr *a, bool heritable)
{
	(void)context;
	(void)heritable;
	return perf_open(&a->attr, 0, -1, -1, 0);
}

void asked_keep(struct asked *asked, const struct event_list *events)
{
	struct attempt attempt;

	asked->list = events;
	asked->keepers = events && events->n ? calloc(events->n, sizeof(*asked->keepers)) : NULL;
	asked->nkeepers = asked->keepers ? events->n : 0;
	for (size_t i = 0; i < asked->nkeepers; i++) {
		const struct event *event = &events->event[i];

		asked->keepers[i] = asked_traces(event) && !attempt_futile(event) ?
			attempt_open(event, asked_open_kept, NULL, &attempt) : -ENODATA;
	}
}

void asked_drop(struct asked *asked)
{
	bool traced = false;

	for (size_t i = 0; i < asked->nkeepers; i++)
		traced = traced || asked->keepers[i] >= 0;
	if (traced)
		descriptors_leave();
	for (size_t i = 0; i < asked->nkeepers; i++)
		if (asked->keepers[i] >= 0)
			close(asked->keepers[i]);
	descriptors_left();
	free(asked->keepers);
	asked->keepers = NULL;
	asked->nkeepers = 0;
}

void asked_close(struct asked *asked)
{
	bool traced = false;

	for (size_t i = 0; asked->event && i < asked->list->n; i++)
		traced = traced || (asked->event[i].fd >= 0 && asked_traces(&asked->list->event[i]));
	if (traced && !asked->keepers)
		descriptors_leave();
	for (size_t i = 0; asked->event && i < asked->list->n; i++)
		if (asked->event[i].fd >= 0)
			close(asked->event[i].fd);
	descriptors_left();
	free(asked->event);
	asked->event = NULL;
}
