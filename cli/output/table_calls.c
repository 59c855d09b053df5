/* SPDX-License-Identifier: MIT */
/* Calls of the system in the format table, as strace -c has them but for the time. */
#include <stdio.h>
#include <string.h>

#include "cli/output/format.h"
#include "cli/output/grid.h"
#include "cli/output/lines.h"

enum { CALLS_COUNT, CALLS_SHARE, CALLS_ERRORS, CALLS_COLUMNS };

bool table_calls_have(const struct report *report, const struct total_fact *total)
{
	return report->ncalls && cell_has_value(&total->cell) && !strncmp(total->name, "syscalls.", 9);
}

bool table_calls_fail(const struct report *report, const struct total_fact *total)
{
	size_t len = strlen(total->name);

	return report->ncalls && !strncmp(total->name, "syscalls.", 9) && len > 7 && !strcmp(total->name + len - 7, ".errors");
}

static void calls_number(char out[FORMAT_SIZE], const struct cell *cell, bool utf8)
{
	const struct total_fact total = { .name = "", .unit = "count", .cell = *cell };

	/* Most calls never fail: what did stands out. */
	if (cell->state == CELL_COUNTED && cell->value == 0)
		out[0] = '\0';
	else
		format_total(out, &total, utf8);
}

static int calls_fill(struct grid *grid, size_t row, const struct report_calls *call, bool utf8)
{
	char count[FORMAT_SIZE], share[FORMAT_SIZE], errors[FORMAT_SIZE];

	calls_number(count, &call->calls, utf8);
	calls_number(errors, &call->errors, utf8);
	format_share(share, &call->share, 1, "", utf8);
	if (grid_set_name(grid, row, call->name, 0) || grid_set_cell(grid, row, CALLS_COUNT, count) ||
	    grid_set_cell(grid, row, CALLS_SHARE, share))
		return -1;
	return grid->ncolumns > CALLS_ERRORS ? grid_set_cell(grid, row, CALLS_ERRORS, errors) : 0;
}

int table_calls_print(const struct lines *lines)
{
	static const struct { const char *title; unsigned int importance; } columns[CALLS_COLUMNS] = {
		{ "calls", 3 }, { "%", 1 }, { "errors", 2 },
	};
	const struct report *report = lines->report;
	struct grid grid;
	size_t n;
	int err;

	if (!report->ncalls)
		return 0;
	/* Where errors cannot be had there is no column of n/a, but a line with the reason. */
	n = report->calls[0].errors.state == CELL_UNAVAILABLE ? CALLS_ERRORS : CALLS_COLUMNS;
	err = grid_init(&grid, "system call", report->ncalls, n);
	for (size_t c = 0; !err && c < n; c++) {
		err = grid_set_title(&grid, c, columns[c].title);
		grid.columns[c].importance = columns[c].importance;
	}
	for (size_t i = 0; !err && i < report->ncalls; i++)
		err = calls_fill(&grid, i, &report->calls[i], lines->options->utf8);
	if (!err) {
		fputc('\n', lines->file);
		grid_print(lines->file, &grid, lines->options->width, lines->options->color);
	}
	grid_fini(&grid);
	return err;
}
