/* SPDX-License-Identifier: MIT */
/* The rows of a report's windows: long brackets of a whole process, without figures of single calls. */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/report_build.h"

static int report_add_each(struct report *report)
{
	const struct session_facts *facts = report->facts;
	size_t i;

	report->each = calloc(facts->nwindows + 1, sizeof(*report->each));
	if (!report->each)
		return -1;
	for (i = 0; i < facts->nwindows; i++) {
		struct report_window *window = &report->each[i];

		window->fact = &facts->windows[i];
		window_split(window->fact, window->part);
		window->cause = window_stands_out(window->fact, window->part, &window->share);
	}
	report->neach = facts->nwindows;
	return 0;
}

/* The parts of all windows that a row is of, then the time of their threads. */
static void report_window_parts(const struct report *report, const struct report_row *row, struct cell *parts)
{
	bool any = false;
	size_t i;
	u32 k;

	for (i = 0; i < report->neach; i++) {
		const struct report_window *window = &report->each[i];

		if (window->fact->len != row->len || memcmp(window->fact->name, row->name, row->len) != 0 ||
		    (report->group != PROFILE_BY_REGION && window->fact->process != row->process))
			continue;
		for (k = 0; k <= WINDOW_PARTS; k++) {
			struct cell part = k < WINDOW_PARTS ? window->part[k] : window->fact->cell[WINDOW_THREADS];

			parts[k] = any ? cell_add(parts[k], part) : part;
		}
		any = true;
	}
	for (k = 0; !any && k <= WINDOW_PARTS; k++)
		parts[k] = cell_absent(CELL_NOT_COUNTED, NULL);
}

static struct metric_input report_window_input(const struct report *report, const struct profile *profile,
					       const struct profile_window *window)
{
	struct metric_input in = {
		.scope = METRIC_WINDOW, .profile = profile, .clock = report->facts->clock_map,
		.calls = window->calls, .open = window->open, .usage = &window->usage, .snapshot = window->snapshot,
		.wall = cell_counted(clock_map_duration(report->facts->clock_map, (double)window->wall)),
	};

	in.cpu = window->usage.cpu;
	in.wall_excl = in.cpu_excl = cell_absent(CELL_NOT_COUNTED, NULL);
	in.off = cell_absent(CELL_UNAVAILABLE, "a window is of all threads of its process");
	return in;
}

int report_add_windows(struct report *report, const struct profile *profile)
{
	struct report_row *rows, *row;
	struct cell parts[WINDOW_PARTS + 1];
	struct metric_input in;
	u32 i;

	if (report_add_each(report))
		return -1;
	for (i = 0; i < profile->nwindows; i++) {
		rows = report_grow(report->windows, report->nwindows, sizeof(*rows));
		if (!rows)
			return -1;
		report->windows = rows;
		row = &rows[report->nwindows++];
		row->parent = PROFILE_NONE;
		row->process = profile->windows[i].process;
		row->pid = profile->windows[i].pid;
		row->name = profile->names[profile->windows[i].name].bytes;
		row->len = profile->names[profile->windows[i].name].len;
		in = report_window_input(report, profile, &profile->windows[i]);
		report_window_parts(report, row, parts);
		in.parts = parts;
		row->wall_share = cell_divide(in.wall, cell_counted((double)report->facts->duration_ns),
					      100);
		if (report_fill_cells(report, row, &in) != 0)
			return -1;
	}
	return 0;
}
