/* SPDX-License-Identifier: MIT */
/* Counts of many places added up, for all of them and for each part; see count.h. */
#define _GNU_SOURCE
#include "cli/session/count_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reasons --------------------------------------------------------------------------------------- */

void count_reason(struct count *count, struct count_event *e)
{
	bool cpus = count->options->kind == COUNT_CPUS || count->options->kind == COUNT_CGROUPS;
	struct outcome o;

	if (e->note[0])
		return;
	if (e->err == ESRCH)
		o = outcome_no("", "it had ended before it could be counted");
	else if (!e->err)
		o = outcome_no("", "it counts on other CPUs: %s", e->event->cpus ? e->event->cpus : "");
	else if (e->err == ENODATA)
		o = outcome_no("", "%s", asked_no_slots);
	else if (e->err == EBADF && count->flags)
		o = outcome_no("", "the kernel does not know the control group: it is of a hierarchy without events");
	else if (cpus && (e->err == EACCES || e->err == EPERM))
		o = advice_perf_scope(&count->caps, e->err, ADVICE_CPU);
	else
		o = asked_reason(&count->judge, e->event, e->err, &count->caps);
	snprintf(e->note, sizeof(e->note), "%s%s%s", o.because, o.remedy[0] ? "; " : "", o.remedy);
}

/* ---- cells ----------------------------------------------------------------------------------------- */

struct count_sum {
	struct perf_value value;
	u32 opened, failed;
	bool unsure;                 /* by what it is to be scaled */
};

static struct cell count_value(struct count_event *e, const struct count_sum *sum)
{
	const struct perf_value *v = &sum->value;
	struct cell c = cell_counted((double)v->count * e->event->scale);

	c.note = attempt_note(e->event, e->attempt);
	if (v->running_ns < v->enabled_ns && e->event->scope == EVENT_CORES) {
		c.state = CELL_ESTIMATE;
		c.note = "on cores of one kind, for a part of the time; not scaled";
	} else if (v->running_ns < v->enabled_ns) {
		c.value *= (double)v->enabled_ns / (double)v->running_ns;
		c.state = CELL_SCALED;
		c.note = cell_of_user(&c) ? CELL_NOTE_USER_SHARED : CELL_NOTE_SHARED;
	}
	if (sum->unsure) {
		c.state = CELL_ESTIMATE;
		c.note = "the counter was shared, and the kernel's times of the control group are longer than it was counted";
	}
	if (sum->failed) {
		c.state = CELL_ESTIMATE;
		c.note = "some counters were not given back";
	}
	return c;
}

static struct cell count_cell(struct count *count, struct count_event *e, const struct count_sum *sum)
{
	if (!sum->opened) {
		count_reason(count, e);
		return cell_absent(CELL_UNAVAILABLE, e->note);
	}
	if (sum->failed == sum->opened)
		return e->event->attr.pinned ?
			cell_absent(CELL_NOT_COUNTED, attempt_idle(&count->caps, e->event->hardware, true)) :
			cell_absent(CELL_UNAVAILABLE, "the kernel did not give it back");
	if (!sum->value.enabled_ns)
		return cell_absent(CELL_NOT_COUNTED, "nothing ran while it was counted");
	if (!sum->value.running_ns)
		return cell_absent(CELL_NOT_COUNTED, attempt_idle(&count->caps, e->event->hardware, false));
	return count_value(e, sum);
}

static struct total_fact count_fact(struct count *count, struct count_event *e, const struct count_sum *sum)
{
	return (struct total_fact){
		.name = e->event->name,
		.unit = event_unit(e->event),
		.cell = count_cell(count, e, sum),
		.source = "perf",
		.raw = { true, e->event->scope == EVENT_CORES, (double)sum->value.count * e->event->scale,
			 sum->value.enabled_ns, sum->value.running_ns },
	};
}

static void count_sum_add(struct count_sum *to, const struct perf_value *v, int err)
{
	to->opened++;
	if (err) {
		to->failed++;
		return;
	}
	to->value.count += v->count;
	to->value.enabled_ns += v->enabled_ns;
	to->value.running_ns += v->running_ns;
}

bool count_mend_times(const struct event *event, u64 counted_ns, struct perf_value *v)
{
	u64 most = counted_ns + COUNT_SLACK_NS;
	u32 type = event->attr.type;
	bool alone = type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT || v->running_ns == v->enabled_ns;

	if (!alone && v->enabled_ns <= most)
		return true;
	v->enabled_ns = MIN(v->enabled_ns, most);
	v->running_ns = alone ? v->enabled_ns : MIN(v->running_ns, v->enabled_ns);
	return alone;
}

/* One of the names of control groups is the other one, or below it. */
static bool group_within(const char *inner, const char *outer)
{
	size_t len = strlen(outer);

	while (len && outer[len - 1] == '/')
		len--;
	return !len || (!strncmp(inner, outer, len) && (inner[len] == '/' || !inner[len]));
}

/* ---- all of it ------------------------------------------------------------------------------------- */

/* Groups within groups would count twice. */
static bool count_whole(const struct count *count)
{
	for (size_t i = 0; count->flags && i < count->nparts; i++)
		for (size_t k = 0; k < count->nparts; k++)
			if (i != k && group_within(count->part[i].name, count->part[k].name))
				return false;
	return true;
}

static void count_read_event(struct count *count, size_t at, bool whole, u64 counted_ns, struct count_sum *sums)
{
	struct count_event *e = &count->event[at];
	struct count_sum all = { .opened = 0 };
	struct total_fact fact;
	struct perf_value v;

	memset(sums, 0, (count->nparts + 1) * sizeof(*sums));
	for (size_t i = 0; i < count->nplaces; i++) {
		int err;

		if (!e->fd || e->fd[i] < 0)
			continue;
		err = perf_read(e->fd[i], &v);
		if (!err && count->flags && !count_mend_times(e->event, counted_ns, &v))
			all.unsure = sums[count->place[i].part].unsure = true;
		count_sum_add(&all, &v, err);
		count_sum_add(&sums[count->place[i].part], &v, err);
	}
	fact = count_fact(count, e, &all);
	if (whole || fact.cell.state == CELL_UNAVAILABLE)
		count->totals[count->facts.ntotals++] = fact;
	for (size_t i = 0; i < count->nparts; i++)
		count->part[i].totals[at] = count_fact(count, e, &sums[i]);
}

static bool count_make_room(struct count *count)
{
	bool ok;

	if (!count->totals)
		count->totals = calloc(count->nevents + 1, sizeof(*count->totals));
	if (!count->parts)
		count->parts = calloc(count->nparts + 1, sizeof(*count->parts));
	ok = count->totals && count->parts;
	for (size_t i = 0; ok && i < count->nparts; i++) {
		if (!count->part[i].totals)
			count->part[i].totals = calloc(count->nevents + 1, sizeof(*count->part[i].totals));
		ok = count->part[i].totals;
		count->parts[i] = (struct part_fact){ count->part[i].name, count->part[i].id, count->part[i].totals,
						      count->nevents };
	}
	return ok;
}

void count_read(struct count *count, u64 counted_ns, u64 elapsed_ns)
{
	struct count_sum *sums = calloc(count->nparts + 1, sizeof(*sums));
	bool whole = count_whole(count);

	count->facts.duration_ns = elapsed_ns;
	count->facts.ntotals = 0;
	if (!sums || !count_make_room(count)) {
		free(sums);
		return;
	}
	count->totals[count->facts.ntotals++] = (struct total_fact){
		.name = "elapsed", .unit = "ns", .cell = cell_counted((double)counted_ns), .source = "clock",
	};
	for (size_t i = 0; i < count->nevents; i++)
		count_read_event(count, i, whole, counted_ns, sums);
	free(sums);
	count->facts.totals = count->totals;
	count->facts.parts = count->parts;
	count->facts.nparts = count->nparts;
}
