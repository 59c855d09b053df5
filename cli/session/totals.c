/* SPDX-License-Identifier: MIT */
/*
 * Totals of the whole tree from outside: one event of each type on the held child, inherited by all
 * it starts, enabled by its exec, so that neither the loader of sparkctl nor the fork is in them.
 * What the kernel would count as a silent 0 without kernel access is not opened; wait4(2) stands in
 * where it can, and says so.
 */
#define _GNU_SOURCE
#include "cli/session/cgroup_own.h"
#include "cli/session/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/log.h"
#include "common/perf.h"

enum fallback { FALLBACK_NONE, FALLBACK_CPU, FALLBACK_MINFLT, FALLBACK_MAJFLT, FALLBACK_SWITCHES };

/* kernel: it happens in the kernel, so a count of user mode alone is 0 or a part. */
static const struct total_row {
	const char *name;
	const char *unit;
	u32 type;
	u64 config;
	bool kernel;
	enum fallback fallback;
} rows[] = {
	{ "task-clock", "ns", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false, FALLBACK_CPU },
	{ "minor-faults", "count", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, true, FALLBACK_MINFLT },
	{ "major-faults", "count", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, true, FALLBACK_MAJFLT },
	{ "context-switches", "count", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true, FALLBACK_SWITCHES },
	{ "cpu-migrations", "count", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true, FALLBACK_NONE },
	{ "cycles", "count", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, FALLBACK_NONE },
	{ "instructions", "count", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false, FALLBACK_NONE },
	{ "branches", "count", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, false, FALLBACK_NONE },
	{ "branch-misses", "count", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false, FALLBACK_NONE },
};

struct total_event {
	int fd;                      /* or -errno of the refusal */
	bool user_only;
	struct perf_value before;    /* what is not this run's: totals_mark() */
};

/* Totals that are there in any run, and names that the report adds. */
static const char *const others[] = { "elapsed", "user", "sys", "maxrss", "markers", "marker-cost" };

/* With -e the counters are for what was asked. */
static bool row_left_out(const struct totals *t, size_t i)
{
	return rows[i].type == PERF_TYPE_HARDWARE && t->asked.list && t->asked.list->n;
}

/*
 * Of each software event, and one of the processor: with what is not inherited among its events, the kernel never has
 * this process and a child that it starts exchange all of theirs, which before Linux 6.2 it does at a switch. They would
 * be the other's then, with the exec that enables them already used up (repeat.c).
 */
void totals_keep(struct totals *t)
{
	struct perf_event_attr attr;
	size_t n = 0;

	t->kept = true;
	for (size_t i = 0; i < ARRAY_SIZE(t->keepers); i++)
		t->keepers[i] = -1;
	for (size_t i = 0; i < ARRAY_SIZE(rows) && n < ARRAY_SIZE(t->keepers); i++) {
		if (rows[i].type != PERF_TYPE_SOFTWARE && rows[i].config != PERF_COUNT_HW_CPU_CYCLES)
			continue;
		perf_attr_init(&attr, rows[i].type, rows[i].config);
		attr.disabled = 1;
		attr.exclude_kernel = 1;
		t->keepers[n++] = perf_open(&attr, 0, -1, -1, 0);
	}
}

static int event_open(const struct totals *t, const struct total_row *row, pid_t child, bool user_only)
{
	struct perf_event_attr attr;
	int fd;

	perf_attr_init(&attr, row->type, row->config);
	attr.disabled = 1;
	attr.enable_on_exec = !t->deferred;
	attr.inherit = 1;
	attr.inherit_thread = !t->inherit;
	attr.exclude_kernel = user_only;
	attr.exclude_hv = user_only;
	fd = perf_open(&attr, child, -1, -1, 0);
	if (fd == -EINVAL && !t->inherit) {
		/* Before Linux 5.13 there is no inherit_thread: the main thread alone. */
		attr.inherit = attr.inherit_thread = 0;
		fd = perf_open(&attr, child, -1, -1, 0);
	}
	return fd;
}

bool totals_have(const struct event *event)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].type == PERF_TYPE_SOFTWARE && !strcmp(rows[i].name, event->name))
			return event->attr.type == rows[i].type && event->attr.config == rows[i].config &&
			       !event->attr.exclude_user && !event->attr.exclude_kernel;
	return false;
}

bool session_has_total(const char *name)
{
	bool has = false;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		has = has || !strcmp(rows[i].name, name);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		has = has || !strcmp(others[i], name);
	return has;
}

int session_check_events(const struct event_list *events)
{
	for (size_t i = 0; i < events->n; i++) {
		const struct event *e = &events->event[i];
		bool taken = false;

		for (size_t k = 0; k < ARRAY_SIZE(rows) && !totals_have(e); k++)
			taken = taken || (rows[k].type == PERF_TYPE_SOFTWARE && !strcmp(rows[k].name, e->name));
		for (size_t k = 0; k < ARRAY_SIZE(others); k++)
			taken = taken || !strcmp(others[k], e->name);
		for (size_t k = 0; k < i; k++)
			taken = taken || (!strcmp(events->event[k].name, e->name) && !asked_is_same(&events->event[k], e));
		if (taken)
			return error("another total is called '%s'; give the event a name of its own by name=", e->name);
	}
	return 0;
}

void totals_arm(struct totals *t, pid_t child, bool inherit, const struct event_list *events, const bool *alone)
{
	bool no_pmu = false;

	t->inherit = inherit;
	t->asked.deferred = t->deferred;
	asked_arm(&t->asked, events, alone, child, inherit);
	t->room = ARRAY_SIZE(rows) + ARRAY_SIZE(others) + TOTALS_PROBING + CGROUP_FIGURES + (events ? events->n : 0);
	t->facts = calloc(t->room, sizeof(*t->facts));
	t->room = t->facts ? t->room : 0;
	t->events = calloc(ARRAY_SIZE(rows), sizeof(*t->events));
	for (size_t i = 0; t->events && i < ARRAY_SIZE(rows); i++) {
		struct total_event *e = &t->events[i];

		e->fd = -ENODATA;
		if (t->unarmed || row_left_out(t, i))
			continue;
		if (no_pmu && rows[i].type == PERF_TYPE_HARDWARE) {
			e->fd = -ENOENT;
			continue;
		}
		e->fd = event_open(t, &rows[i], child, false);
		if ((e->fd == -EACCES || e->fd == -EPERM) && !rows[i].kernel) {
			e->user_only = rows[i].type == PERF_TYPE_HARDWARE;
			e->fd = event_open(t, &rows[i], child, true);
		}
		/* The first of them, cycles, every PMU has. */
		no_pmu = no_pmu || (rows[i].config == PERF_COUNT_HW_CPU_CYCLES && rows[i].type == PERF_TYPE_HARDWARE &&
				    e->fd == -ENOENT);
		t->pmu = t->pmu || (rows[i].type == PERF_TYPE_HARDWARE && e->fd >= 0);
	}
}

void totals_enable(struct totals *t, bool on)
{
	for (size_t i = 0; t->events && i < ARRAY_SIZE(rows); i++)
		if (t->events[i].fd >= 0)
			ioctl(t->events[i].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
	asked_enable(&t->asked, on);
}

void totals_add(struct totals *t, const char *name, const char *unit, struct cell cell, const char *source)
{
	if (t->nfacts < t->room)
		t->facts[t->nfacts++] = (struct total_fact){ .name = name, .unit = unit, .cell = cell, .source = source };
}

void totals_add_raw(struct totals *t, struct total_raw raw)
{
	if (t->nfacts)
		t->facts[t->nfacts - 1].raw = raw;
}

void totals_add_pass(struct totals *t, const struct totals *other, const struct pass_notes *note)
{
	for (size_t i = 0; i < t->nfacts; i++)
		for (size_t k = 0; k < other->nfacts; k++) {
			struct cell *to = &t->facts[i].cell;

			if (strcmp(t->facts[i].name, other->facts[k].name) != 0 || cell_has_value(to) ||
			    !cell_has_value(&other->facts[k].cell))
				continue;
			*to = other->facts[k].cell;
			to->note = !to->note ? note->any : strcmp(to->note, CELL_NOTE_USER) ? to->note : note->user;
		}
}

static struct cell cell_noted(double value, const char *note)
{
	struct cell c = cell_counted(value);

	c.note = note;
	return c;
}

/* Linux splits the exact CPU time by what ran at its clock ticks (cputime_adjust() in kernel/sched/cputime.c). */
static struct cell cell_split(double value)
{
	struct cell c = cell_noted(value, "user and sys together are exact, their shares sampled at the clock tick");

	c.state = CELL_ESTIMATE;
	return c;
}

static double timeval_ns(struct timeval v)
{
	return (double)v.tv_sec * 1e9 + (double)v.tv_usec * 1e3;
}

static struct cell fallback_cell(enum fallback fallback, const struct rusage *u, const char *note)
{
	switch (fallback) {
	case FALLBACK_CPU:
		return cell_noted(timeval_ns(u->ru_utime) + timeval_ns(u->ru_stime), note);
	case FALLBACK_MINFLT:
		return cell_noted((double)u->ru_minflt, note);
	case FALLBACK_MAJFLT:
		return cell_noted((double)u->ru_majflt, note);
	case FALLBACK_SWITCHES:
		return cell_noted((double)(u->ru_nvcsw + u->ru_nivcsw), note);
	default:
		return cell_absent(CELL_UNAVAILABLE, NULL);
	}
}

struct outcome totals_hardware(struct totals *t, struct caps_context *caps)
{
	if (!t->asked_hardware)
		t->hardware = hardware_probe(caps);
	t->asked_hardware = true;
	return t->hardware;
}

bool totals_want_hardware(const struct totals *t)
{
	bool want = !t->unarmed && (!t->asked.list || !t->asked.list->n);

	for (size_t i = 0; !want && i < t->asked.list->n; i++)
		want = t->asked.list->event[i].hardware;
	return want;
}

/* Why an event was refused and what helps, in the words of the capability. */
const char *totals_reason(struct totals *t, size_t i, struct caps_context *caps)
{
	struct outcome o;

	if (t->unarmed)
		return "nothing is counted in a pass that takes times";
	if (t->pmu && rows[i].type == PERF_TYPE_HARDWARE && t->events[i].fd == -ENOENT)
		return "this PMU does not have the event (ENOENT)";
	if (rows[i].type == PERF_TYPE_HARDWARE && i && rows[i - 1].type == PERF_TYPE_HARDWARE &&
	    t->events[i].fd == t->events[i - 1].fd)
		return strcpy(t->notes[i], t->notes[i - 1]);
	o = rows[i].type == PERF_TYPE_HARDWARE ? totals_hardware(t, caps) : advice_perf(caps, -t->events[i].fd, rows[i].kernel);
	if (o.available == CAPS_YES) /* by now; it was refused when it mattered */
		o = advice_perf(caps, -t->events[i].fd, rows[i].kernel);
	snprintf(t->notes[i], sizeof(t->notes[i]), "%s%s%s", o.because, o.remedy[0] ? "; " : "", o.remedy);
	return t->notes[i];
}

static int event_read(struct total_event *e, struct perf_value *v)
{
	int ret = perf_read(e->fd, v);

	*v = totals_since(v, &e->before);
	return ret;
}

struct perf_value totals_since(const struct perf_value *now, const struct perf_value *before)
{
	return (struct perf_value){ now->count - before->count, now->enabled_ns - before->enabled_ns,
				    now->running_ns - before->running_ns };
}

void totals_mark(struct totals *t)
{
	for (size_t i = 0; t->events && i < ARRAY_SIZE(rows); i++)
		if (t->events[i].fd >= 0)
			perf_read(t->events[i].fd, &t->events[i].before);
	asked_mark(&t->asked);
}

bool totals_refused(const struct totals *t)
{
	for (size_t i = 0; t->events && i < ARRAY_SIZE(rows); i++)
		if (t->events[i].fd >= 0)
			return false;
	return t->events && !t->unarmed;
}

static struct cell event_cell(struct totals *t, size_t i, struct caps_context *caps, struct perf_value *value)
{
	struct total_event *e = &t->events[i];
	struct perf_value v;
	int ret;

	if (e->fd < 0)
		return cell_absent(CELL_UNAVAILABLE, totals_reason(t, i, caps));
	ret = event_read(e, &v);
	if (ret)
		return cell_absent(CELL_UNAVAILABLE, "the kernel did not give it back");
	*value = v;
	if (v.running_ns == 0)
		return cell_absent(CELL_NOT_COUNTED,
				   attempt_idle(caps, rows[i].type == PERF_TYPE_HARDWARE && v.enabled_ns, false));
	if (v.running_ns < v.enabled_ns) {
		struct cell c = cell_counted((double)v.count * (double)v.enabled_ns / (double)v.running_ns);

		c.state = CELL_SCALED;
		c.note = e->user_only ? CELL_NOTE_USER_SHARED : CELL_NOTE_SHARED;
		return c;
	}
	return e->user_only ? cell_noted((double)v.count, CELL_NOTE_USER) : cell_counted((double)v.count);
}

/* wait4(2) adds up what was waited for, whatever was asked for. */
static const char *fallback_note(const struct totals *t)
{
	if (t->inherit)
		return "from wait4: with the start of the program before its exec, without what nobody waited for";
	return "from wait4: with the start of the program before its exec, and with processes that it waited for";
}

static void totals_read_events(struct totals *t, struct caps_context *caps, const struct rusage *u, bool reaped)
{
	t->all_software = t->events;
	for (size_t i = 0; t->events && i < ARRAY_SIZE(rows); i++) {
		struct perf_value v = { .count = 0 };
		struct cell c;
		bool perf, substitute;

		if (row_left_out(t, i))
			continue;
		c = event_cell(t, i, caps, &v);
		perf = cell_has_value(&c);
		t->all_software = t->all_software && (perf || rows[i].type != PERF_TYPE_SOFTWARE);
		if (perf && t->hidden == TOTALS_HIDDEN) {
			c = cell_absent(CELL_UNAVAILABLE, t->hidden_note);
			perf = false;
		} else if (perf && t->hidden == TOTALS_LITTLE_HIDDEN) {
			c.state = CELL_ESTIMATE;
			c.note = t->hidden_note;
		}
		substitute = !perf && reaped && !t->deferred && rows[i].fallback != FALLBACK_NONE;
		if (substitute)
			c = fallback_cell(rows[i].fallback, u, fallback_note(t));
		totals_add(t, rows[i].name, rows[i].unit, c, substitute ? "wait4" : "perf");
		totals_add_raw(t, (struct total_raw){ true, false, (double)v.count, v.enabled_ns, v.running_ns });
	}
}

/*
 * CPU time that the events have not seen and wait4(2) has, beyond what always differs: the start before the exec,
 * and some 20 us of each switch, which task-clock leaves out.
 */
static bool cpu_missing(struct totals *t, const struct rusage *u, double *counted, double *all)
{
	double switches = (double)(u->ru_nvcsw + u->ru_nivcsw);
	struct perf_value v;

	*all = timeval_ns(u->ru_utime) + timeval_ns(u->ru_stime);
	if (!t->events || t->events[0].fd < 0 || event_read(&t->events[0], &v))
		return false;
	*counted = (double)v.count;
	return t->inherit && !t->deferred && *all - *counted > 3e6 + *all * 0.05 + switches * 60e3;
}

static void totals_judge(struct totals *t, const struct rusage *u, bool reaped, enum totals_hidden hidden)
{
	static const char why[] = "the kernel takes its counters off programs that run with other rights than "
				  "their user's, or that he may not read";
	double counted = 0, all = 0;
	bool missing = reaped && cpu_missing(t, u, &counted, &all);

	t->hidden = missing ? TOTALS_HIDDEN : hidden;
	if (missing)
		snprintf(t->hidden_note, sizeof(t->hidden_note), "%s: they saw %.3g of %.3g ms of CPU time", why,
			 counted / 1e6, all / 1e6);
	else
		snprintf(t->hidden_note, sizeof(t->hidden_note), "%s", why);
}

void totals_read(struct totals *t, struct caps_context *caps, u64 elapsed_ns, const struct rusage *u, bool reaped,
		 enum totals_hidden hidden)
{
	static const char running[] = "the command still runs";

	t->nfacts = 0;
	totals_add(t, "elapsed", "ns", cell_counted((double)elapsed_ns), "clock");
	if (reaped) {
		totals_add(t, "user", "ns", cell_split(timeval_ns(u->ru_utime)), "wait4");
		totals_add(t, "sys", "ns", cell_split(timeval_ns(u->ru_stime)), "wait4");
		totals_add(t, "maxrss", "B", cell_counted((double)u->ru_maxrss * 1024), "wait4");
	} else {
		totals_add(t, "user", "ns", cell_absent(CELL_UNAVAILABLE, running), "wait4");
		totals_add(t, "sys", "ns", cell_absent(CELL_UNAVAILABLE, running), "wait4");
		totals_add(t, "maxrss", "B", cell_absent(CELL_UNAVAILABLE, running), "wait4");
	}
	totals_judge(t, u, reaped, hidden);
	totals_read_events(t, caps, u, reaped);
	asked_read(t, caps);
}

void totals_disarm(struct totals *t)
{
	for (size_t i = 0; t->events && i < ARRAY_SIZE(rows); i++)
		if (t->events[i].fd >= 0)
			close(t->events[i].fd);
	free(t->events);
	t->events = NULL;
	asked_close(&t->asked);
	free(t->facts);
	t->facts = NULL;
	t->nfacts = t->room = 0;
}

void totals_close(struct totals *t)
{
	totals_disarm(t);
	for (size_t i = 0; t->kept && i < ARRAY_SIZE(t->keepers); i++)
		if (t->keepers[i] >= 0)
			close(t->keepers[i]);
	t->kept = false;
	asked_drop(&t->asked);
}
