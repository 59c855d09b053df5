/* SPDX-License-Identifier: MIT */
/* The table of single windows: when each was, what its threads' time was spent on, pressure, and what stands out. */
#include <stdlib.h>
#include <string.h>

#include "cli/output/format.h"
#include "cli/output/grid.h"
#include "cli/output/lines.h"

static const struct each_column {
	const char *title;
	u32 importance;
} each_columns[] = {
	{ "at", 90 }, { "lasted", 100 }, { "threads", 40 }, { "user", 70 }, { "kernel", 69 }, { "runq", 68 }, { "disk", 67 }, { "rest", 66 },
	{ "psi cpu", 30 }, { "psi mem", 29 }, { "psi io", 28 },
};

enum { EACH_PARTS = 3, EACH_PRESSURE = EACH_PARTS + WINDOW_PARTS };

static int each_share(struct grid *grid, size_t row, size_t column, const struct cell *part, double whole)
{
	struct cell share = cell_divide(*part, cell_counted(whole), 100);
	char text[FORMAT_SIZE];

	format_share(text, &share, 0, " %", true);
	return grid_set_cell(grid, row, column, text);
}

static int each_fill(const struct lines *lines, struct grid *grid, size_t i)
{
	const struct report_window *window = &lines->report->each[i];
	const struct window_fact *fact = window->fact;
	double wall = (double)(fact->to_ns - fact->from_ns);
	const struct cell *threads = &fact->cell[WINDOW_THREADS];
	bool group = cell_has_value(&fact->cell[WINDOW_GROUP_IO]);
	char *name = lines_name(fact->name, GRID_NAME_MAX), text[FORMAT_SIZE];
	int err = grid_set_name(grid, i, name ? name : "?", 0);
	u32 k;

	free(name);
	format_ns(text, (double)fact->begin_ns, lines->options->utf8);
	err = err || grid_set_cell(grid, i, 0, text);
	format_ns(text, (double)(fact->end_ns - fact->begin_ns), lines->options->utf8);
	err = err || grid_set_cell(grid, i, 1, fact->open && fact->end_ns <= fact->begin_ns ? "-" : text);
	format_ns(text, cell_has_value(threads) ? threads->value : 0, lines->options->utf8);
	err = err || grid_set_cell(grid, i, 2, cell_has_value(threads) ? text : "n/a");
	for (k = 0; k < WINDOW_PARTS; k++)
		err = err || each_share(grid, i, EACH_PARTS + k, &window->part[k], cell_has_value(threads) ? threads->value : wall);
	for (k = 0; k < 3; k++)
		err = err || each_share(grid, i, EACH_PRESSURE + k, &fact->cell[(group ? WINDOW_GROUP_CPU : WINDOW_PSI_CPU) + k], wall);
	return err ? -1 : 0;
}

static void each_sentence(const struct lines *lines, const struct report_window *window)
{
	const struct window_fact *fact = window->fact;
	char *name = lines_name(fact->name, lines_name_most(lines)), *text = window_sentence(window, lines->options->utf8);
	char *regions = window_regions_text(lines, fact);
	char from[FORMAT_SIZE], lasted[FORMAT_SIZE];

	format_ns(from, (double)(fact->from_ns - fact->begin_ns), lines->options->utf8);
	format_ns(lasted, (double)(fact->to_ns - fact->from_ns), lines->options->utf8);
	if (fact->marked && fact->to_ns == fact->from_ns)
		lines_print(lines, STYLE_PLAIN, name ? name : "?", "its measured part was never marked%s", fact->open ? "; it was never ended" : "");
	else if (fact->marked)
		lines_print(lines, STYLE_PLAIN, name ? name : "?", "%s; measured after %s, for %s%s", text ? text : "", from, lasted,
			    fact->open ? "; it was never ended" : "");
	else
		lines_print(lines, STYLE_PLAIN, name ? name : "?", "%s%s", text ? text : "",
			    fact->open && window->cause != WINDOW_BY_NOTHING ? "; it was never ended" : "");
	if (regions && *regions)
		lines_print(lines, STYLE_PLAIN, "", "in regions: %s", regions);
	free(name);
	free(text);
	free(regions);
}

/* Why nothing is known of those of some window. */
static void each_region_notes(const struct lines *lines)
{
	const struct report *report = lines->report;
	const char *why = NULL;
	bool known = false;
	size_t i;

	for (i = 0; i < report->neach; i++) {
		const struct cell *regions = &report->each[i].fact->cell[WINDOW_REGIONS];

		known |= report->each[i].fact->nregions != 0;
		if (!cell_has_value(regions) && !report->each[i].fact->open && report->each[i].fact->to_ns > report->each[i].fact->from_ns)
			why = regions->note;
	}
	if (known)
		lines_print(lines, STYLE_PLAIN, "regions", "of the time of all threads, what they spent in a region and not in one within it");
	if (why && report->has_regions)
		lines_print(lines, STYLE_PLAIN, known ? "" : "regions", "%s", why);
}

/* What the figures are of, and which of them are times of waiting. */
static void each_notes(const struct lines *lines)
{
	const struct report *report = lines->report;
	bool pressure = false;
	size_t i;

	for (i = 0; i < report->neach; i++)
		pressure |= cell_has_value(&report->each[i].part[WINDOW_DISK]) &&
			    !cell_has_value(&report->each[i].fact->cell[WINDOW_DELAY]);
	lines_print(lines, STYLE_PLAIN, "parts", "of the time of all threads that were there; only run queue and disk are times of waiting for "
		    "one cause, the rest is what the others leave");
	if (pressure)
		lines_print(lines, STYLE_PLAIN, "disk", "by pressure (PSI), since the kernel accounts no delays: it may overlap the run queue, "
			    "and waits of other processes count, too");
	each_region_notes(lines);
}

int table_windows_print(const struct lines *lines)
{
	const struct report *report = lines->report;
	struct grid grid;
	int err = grid_init(&grid, "window", report->neach, ARRAY_SIZE(each_columns));
	size_t i;

	for (i = 0; !err && i < ARRAY_SIZE(each_columns); i++) {
		err = grid_set_title(&grid, i, each_columns[i].title);
		grid.columns[i].importance = each_columns[i].importance;
	}
	for (i = 0; !err && i < report->neach; i++)
		err = each_fill(lines, &grid, i);
	if (!err && report->neach) {
		fputc('\n', lines->file);
		grid_print(lines->file, &grid, lines->options->width, lines->options->color);
	}
	grid_fini(&grid);
	fputc('\n', lines->file);
	if (err)
		return -1;
	for (i = 0; i < report->neach; i++)
		each_sentence(lines, &report->each[i]);
	if (!report->neach)
		lines_print(lines, STYLE_PLAIN, "windows", "there are none");
	else if (lines->options->verbose >= 0)
		each_notes(lines);
	return 0;
}
