/* SPDX-License-Identifier: MIT */
/* The columns of the events of -e: what threads counted at their markers; see metric.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/calls.h"
#include "cli/analyze/metric.h"

static const char event_crossed[] = "with calls, whole, that began before measuring was switched on";
static const char event_open[] = "calls that are still open are not in it";
static const char event_scaled[] = "counters were shared: scaled by enabled / running";
static const char event_thin[] = "counters were shared, and this one ran for less than 1 ms in it: scaled, and rough";
static const char event_shared[] = "others had its counter for a part of the time: --scaled estimates what is missing";
static const char event_never[] = "others had its counter all the time";
static const char event_elsewhere[] = "it ran on cores of another kind";

enum { EVENT_SHARE_MISSING = 50 };   /* 1 / 50 of the time may be of no kind of cores */

enum { EVENT_THIN_NS = 1000000 };

/* How long the event's group was enabled, and ran, in the row's calls. */
static void event_times(const struct metric_input *in, const struct profile_event *event, u64 *enabled, u64 *running)
{
	const u64 *times = in->row->cells + source_cells(SOURCE_ALL) + in->profile->plan_events + 2 * event->group;

	*enabled = times[0];
	*running = times[1];
}

/* For how long the row ran on cores of the event's kind, by any event of it. */
static u64 event_on_kind(const struct metric_input *in, const struct profile_event *kind)
{
	u64 enabled, running, most = 0;

	for (u32 i = 0; i < in->profile->nevents; i++) {
		const struct profile_event *event = &in->profile->events[i];

		if (!event->cores || event->place == PROFILE_NONE || strcmp(event->cores, kind->cores) != 0)
			continue;
		event_times(in, event, &enabled, &running);
		if (!wire_absent(running))
			most = MAX(most, running);
	}
	return most;
}

/* Whether the kinds of cores together counted all the time: then no share is missing. */
static bool event_complete(const struct metric_input *in, u64 enabled)
{
	const struct profile_event *events = in->profile->events;
	u64 running = 0;

	for (u32 i = 0; i < in->profile->nevents; i++) {
		u32 k = 0;

		if (!events[i].cores)
			continue;
		while (!events[k].cores || strcmp(events[k].cores, events[i].cores) != 0)
			k++;
		if (k == i)
			running += event_on_kind(in, &events[i]);
	}
	return running >= enabled - enabled / EVENT_SHARE_MISSING;
}

/* What ran on cores of other kinds is no reason to scale. */
static struct cell event_on_cores(const struct metric *metric, const struct metric_input *in, struct cell cell, u64 enabled,
				  u64 running)
{
	if (!running)
		return cell_absent(CELL_NOT_COUNTED, event_elsewhere);
	cell.state = event_complete(in, enabled) ? CELL_COUNTED : CELL_ESTIMATE;
	cell.note = metric->note;
	return cell;
}

static struct cell event_value(const struct metric *metric, const struct metric_input *in, const struct profile_event *event)
{
	u64 count = in->row->cells[source_cells(SOURCE_ALL) + event->place], enabled, running;
	struct cell cell = cell_counted((double)count * event->scale);

	if (wire_absent(count))
		return usage_cell(count);
	event_times(in, event, &enabled, &running);
	if (wire_absent(enabled) || wire_absent(running))
		return usage_cell(wire_absent(enabled) ? enabled : running);
	cell.note = event->pass ? event->pass : event->note;
	if (running == enabled)
		return cell;
	if (event->cores)
		return event_on_cores(metric, in, cell, enabled, running);
	if (!running)
		return cell_absent(CELL_NOT_COUNTED, event_never);
	if (!event->shared)
		return cell_absent(CELL_UNAVAILABLE, event_shared);
	cell.value *= (double)enabled / (double)running;
	cell.state = CELL_SCALED;
	cell.note = running < EVENT_THIN_NS ? event_thin : event_scaled;
	return cell;
}

static struct cell metric_event(const struct metric *metric, const struct metric_input *in)
{
	const struct profile_event *event = &in->profile->events[metric->arg];
	struct cell cell;

	if (event->place == PROFILE_NONE)
		return cell_absent(CELL_UNAVAILABLE, event->note);
	if (in->scope != METRIC_REGION)
		return cell_absent(CELL_NOT_COUNTED, NULL);
	if (!in->row || !in->row->calls)
		return cell_absent(CELL_NOT_COUNTED, NULL);
	if (!in->row->cells && calls_lack(in->profile, in->row))
		return cell_absent(CELL_UNAVAILABLE, calls_lack(in->profile, in->row));
	if (in->row->cells_lost || !in->row->cells)
		return cell_absent(CELL_LOST, "damaged in the program's memory");
	cell = event_value(metric, in, event);
	if (in->row->open && cell_has_value(&cell) && cell.state < CELL_ESTIMATE)
		cell = (struct cell){ cell.value, CELL_ESTIMATE, event_open };
	else if (in->row->crossed && cell_has_value(&cell) && cell.state < CELL_ESTIMATE)
		cell = (struct cell){ cell.value, CELL_ESTIMATE, event_crossed };
	return cell;
}

/* Its name, title, unit and format are the event's. */
static const struct metric event_row = {
	.name = "EVENT", .title = "EVENT", .unit = "count", .class_name = "diagnostic", .source = "pmu",
	.format = METRIC_COUNT, .shown = true, .in_windows = METRIC_NEVER, .place = 25,
	.meaning = "an event of run -e that the thread counted between the region's markers",
	.bias = "what the markers themselves take is measured and subtracted; a few tens are left",
	.value = metric_event,
};

const struct metric *metric_event_example(void)
{
	return &event_row;
}

static char *event_cores_note(const struct profile_event *event)
{
	const char *more = event->pass ? event->pass : event->note;
	char *note;

	return asprintf(&note, "%s%son cores of %s, for a part of the time; not scaled", more ? more : "", more ? ", " : "",
			event->cores) < 0 ? NULL : note;
}

int metric_event_init(struct metric *column, const struct profile *profile, u32 i)
{
	const struct profile_event *event = &profile->events[i];
	bool user = event->note && !strcmp(event->note, CELL_NOTE_USER);
	char *name, *title;

	/* An event that was given the name "wall" is not ours. */
	if (asprintf(&name, "%s%s", metric_find(event->name) ? "event." : "", event->name) < 0)
		return -1;
	/* The name stays that of the event; people see at once what was left out. */
	if (asprintf(&title, "%s%s", name, user ? ":u" : "") < 0) {
		free(name);
		return -1;
	}
	*column = event_row;
	column->note = event->cores ? event_cores_note(event) : NULL;
	if (event->cores && !column->note) {
		free(name);
		free(title);
		return -1;
	}
	column->name = name;
	column->title = title;
	column->unit = event->unit;
	column->format = !strcmp(event->unit, "ns") ? METRIC_NS : event->scale == 1 ? METRIC_COUNT : METRIC_PLAIN;
	column->importance = i < 20 ? 88 - i : 45;
	column->arg = i;
	return 0;
}

void metric_event_fini(struct metric *column)
{
	free((char *)(uintptr_t)column->name);
	free((char *)(uintptr_t)column->title);
	free(column->note);
	*column = (struct metric){ .name = NULL };
}
