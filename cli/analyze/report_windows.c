/* SPDX-License-Identifier: MIT */
/* The rows of a report's windows: long brackets of a whole process, without figures of single calls. */
#include "cli/analyze/report_build.h"

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
	struct metric_input in;
	u32 i;

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
		row->wall_share = cell_divide(in.wall, cell_counted((double)report->facts->duration_ns),
					      100);
		if (report_fill_cells(report, row, &in) != 0)
			return -1;
	}
	return 0;
}
