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
		window->cause = window_stands_out(window->fact, window->part, &window->share, &window->waited_for);
	}
	report->neach = facts->nwindows;
	return 0;
}

static int report_name_order(const struct window_fact *fact, const char *name, size_t len)
{
	int order = memcmp(fact->name, name, MIN(fact->len, len));

	return order || fact->len == len ? order : fact->len < len ? -1 : 1;
}

/* By name, then by process: those that a row is of are beside each other. */
static int report_each_order(const void *a, const void *b)
{
	const struct window_fact *x = (*(const struct report_window *const *)a)->fact, *y = (*(const struct report_window *const *)b)->fact;
	int order = report_name_order(x, y->name, y->len);

	return order ? order : x->process < y->process ? -1 : x->process > y->process;
}

static const struct report_window **report_each_sorted(const struct report *report)
{
	const struct report_window **sorted = calloc(report->neach + 1, sizeof(*sorted));
	size_t i;

	for (i = 0; sorted && i < report->neach; i++)
		sorted[i] = &report->each[i];
	if (sorted)
		qsort(sorted, report->neach, sizeof(*sorted), report_each_order);
	return sorted;
}

/* Where the window stands to those of the row: before, among or behind them. */
static int report_row_order(const struct report *report, const struct report_row *row, const struct window_fact *fact)
{
	int order = report_name_order(fact, row->name, row->len);

	if (order || report->group == PROFILE_BY_REGION)
		return order;
	return fact->process < row->process ? -1 : fact->process > row->process;
}

/* The parts of all windows that a row is of, then the time of their threads. True: one of them is a phase. */
static bool report_window_parts(const struct report *report, const struct report_window *const *sorted,
				const struct report_row *row, struct cell *parts)
{
	size_t i = 0, high = report->neach;
	bool any = false, by_lines = false;
	u32 k;

	while (i < high) {
		size_t middle = i + (high - i) / 2;

		if (report_row_order(report, row, sorted[middle]->fact) < 0)
			i = middle + 1;
		else
			high = middle;
	}
	for (; i < report->neach && !report_row_order(report, row, sorted[i]->fact); i++) {
		const struct report_window *window = sorted[i];

		for (k = 0; k <= WINDOW_PARTS; k++) {
			struct cell part = k < WINDOW_PARTS ? window->part[k] : window->fact->cell[WINDOW_THREADS];

			parts[k] = any ? cell_add(parts[k], part) : part;
		}
		any = true;
		by_lines = by_lines || window->fact->by_lines;
	}
	for (k = 0; !any && k <= WINDOW_PARTS; k++)
		parts[k] = cell_absent(CELL_NOT_COUNTED, NULL);
	return by_lines;
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

static int report_add_window(struct report *report, const struct profile *profile, const struct profile_window *window,
			     const struct report_window *const *sorted)
{
	struct report_row *rows = report_grow(report->windows, report->nwindows, sizeof(*rows)), *row;
	struct cell parts[WINDOW_PARTS + 1];
	struct metric_input in;

	if (!rows)
		return -1;
	report->windows = rows;
	row = &rows[report->nwindows++];
	row->parent = PROFILE_NONE;
	row->process = window->process;
	row->pid = window->pid;
	row->name = profile->names[window->name].bytes;
	row->len = profile->names[window->name].len;
	in = report_window_input(report, profile, window);
	if (report_window_parts(report, sorted, row, parts))
		in.wall = (struct cell){ in.wall.value, CELL_ESTIMATE, window_by_lines };
	in.parts = parts;
	row->wall_share = cell_divide(in.wall, cell_counted((double)report->facts->duration_ns), 100);
	return report_fill_cells(report, row, &in);
}

int report_add_windows(struct report *report, const struct profile *profile)
{
	const struct report_window **sorted = report_add_each(report) ? NULL : report_each_sorted(report);
	int err = sorted ? 0 : -1;
	u32 i;

	for (i = 0; !err && i < profile->nwindows; i++)
		err = report_add_window(report, profile, &profile->windows[i], sorted);
	free(sorted);
	return err;
}
