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

static int totals_fill(struct grid *grid, size_t row, const char *indent, const struct total_fact *total,
		       const struct report_ratio *of, bool utf8)
{
	char value[FORMAT_SIZE], ratio[FORMAT_SIZE], *name;
	int err;

	format_total(value, total, utf8);
	format_ratio(ratio, of, utf8);
	if (asprintf(&name, "%s%s%s", indent, total->name, format_total_side(total)) < 0)
		return error("out of memory");
	err = grid_set_name(grid, row, name, 0);
	free(name);
	return err || grid_set_cell(grid, row, TOTALS_VALUE, value) ||
	       grid_set_cell(grid, row, TOTALS_RATIO, ratio) ||
	       grid_set_cell(grid, row, TOTALS_SOURCE, total->source) ? -1 : 0;
}

static int totals_head(struct grid *grid, const char *title, size_t rows)
{
	static const struct { const char *title; unsigned int importance; } columns[TOTALS_COLUMNS] = {
		{ "value", 3 }, { "ratio", 2 }, { "source", 1 },
	};
	int err = grid_init(grid, title, rows, TOTALS_COLUMNS);

	for (size_t c = 0; !err && c < TOTALS_COLUMNS; c++) {
		err = grid_set_title(grid, c, columns[c].title);
		grid->columns[c].importance = columns[c].importance;
	}
	return err;
}

/* "worker (1234)", made printable. */
static int parts_name(struct grid *grid, size_t row, const struct part_fact *part)
{
	char *name = lines_name(part->name, GRID_NAME_MAX - 16), *text = NULL;
	int err;

	if (!name || (part->tid ? asprintf(&text, "%s (%u)", name, part->tid) : asprintf(&text, "%s", name)) < 0) {
		free(name);
		return error("out of memory");
	}
	err = grid_set_name(grid, row, text, 0);
	free(name);
	free(text);
	return err;
}

/* The part, and below it the counters that have a value. */
static int parts_fill(struct grid *grid, size_t *row, const struct report_part *part, bool utf8)
{
	int err = parts_name(grid, (*row)++, part->fact);

	for (size_t i = 0; !err && i < part->ntotals; i++)
		if (cell_has_value(&part->totals[i].cell))
			err = totals_fill(grid, (*row)++, "  ", &part->totals[i], &part->ratios[i], utf8);
	return err;
}

int table_parts_print(const struct lines *lines)
{
	const struct report *report = lines->report;
	size_t rows = 0, row = 0;
	struct grid grid;
	int err;

	for (size_t i = 0; i < report->nby_part; i++)
		rows += 1 + report->by_part[i].ntotals;
	/* A single group is the whole. */
	if (!rows || (report->nby_part == 1 && !report->by_part[0].fact->tid))
		return 0;
	err = totals_head(&grid, report->by_part[0].fact->tid ? "thread" : "control group", rows);
	for (size_t i = 0; !err && i < report->nby_part; i++)
		err = parts_fill(&grid, &row, &report->by_part[i], lines->options->utf8);
	if (!err) {
		fputc('\n', lines->file);
		grid_print(lines->file, &grid, lines->options->width, lines->options->color);
	}
	grid_fini(&grid);
	return err;
}

int table_totals_print(const struct lines *lines)
{
	const struct report *report = lines->report;
	struct grid grid;
	int err = totals_head(&grid, "counter", report->nshown);

	for (size_t i = 0; !err && i < report->nshown; i++)
		if (!table_calls_have(report, &report->totals[i]) && !table_calls_fail(report, &report->totals[i]))
			err = totals_fill(&grid, i, "", &report->totals[i], &report->ratios[i],
					  lines->options->utf8);
	if (!err) {
		fputc('\n', lines->file);
		grid_print(lines->file, &grid, lines->options->width, lines->options->color);
	}
	grid_fini(&grid);
	return err;
}
