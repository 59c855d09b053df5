/* SPDX-License-Identifier: MIT */
/* The part of the format table that a report of totals alone has: one counter a line. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "cli/log.h"
#include "cli/output/format.h"
#include "cli/output/grid.h"
#include "cli/output/lines.h"

enum { TOTALS_VALUE, TOTALS_RATIO, TOTALS_SOURCE, TOTALS_COLUMNS };

static int totals_fill(struct grid *grid, size_t row, const struct report *report, bool utf8)
{
	const struct total_fact *total = &report->totals[row];
	char value[FORMAT_SIZE], ratio[FORMAT_SIZE], *name;
	int err;

	format_total(value, total, utf8);
	format_ratio(ratio, &report->ratios[row], utf8);
	if (asprintf(&name, "%s%s", total->name, format_total_side(total)) < 0)
		return error("out of memory");
	err = grid_set_name(grid, row, name, 0);
	free(name);
	return err || grid_set_cell(grid, row, TOTALS_VALUE, value) ||
	       grid_set_cell(grid, row, TOTALS_RATIO, ratio) ||
	       grid_set_cell(grid, row, TOTALS_SOURCE, total->source) ? -1 : 0;
}

int table_totals_print(const struct lines *lines)
{
	static const struct { const char *title; unsigned int importance; } columns[TOTALS_COLUMNS] = {
		{ "value", 3 }, { "ratio", 2 }, { "source", 1 },
	};
	const struct report *report = lines->report;
	struct grid grid;
	int err = grid_init(&grid, "counter", report->nshown, TOTALS_COLUMNS);

	for (size_t c = 0; !err && c < TOTALS_COLUMNS; c++) {
		err = grid_set_title(&grid, c, columns[c].title);
		grid.columns[c].importance = columns[c].importance;
	}
	for (size_t i = 0; !err && i < report->nshown; i++)
		err = totals_fill(&grid, i, report, lines->options->utf8);
	if (!err) {
		fputc('\n', lines->file);
		grid_print(lines->file, &grid, lines->options->width, lines->options->color);
	}
	grid_fini(&grid);
	return err;
}
