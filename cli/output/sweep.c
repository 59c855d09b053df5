/* SPDX-License-Identifier: MIT */
/* A table of runs under different limits of memory, with a plot in plain characters; see sweep.h. */
#include "cli/output/sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/format.h"
#include "cli/output/grid.h"

#define PLOT_BAR 18                    /* columns: all fits in 40 */

static const char *const titles[] = {
	[SWEEP_WALL] = "wall", [SWEEP_MAJFLT] = "majflt", [SWEEP_REFAULTS] = "refaults",
	[SWEEP_PRESSURE] = "pressure", [SWEEP_PEAK] = "peak",
};

void sweep_size(char *text, size_t size, u64 bytes)
{
	static const char units[][2] = { "", "K", "M", "G", "T" };
	u32 n = 0;

	while (n < 4 && bytes && bytes % 1024 == 0) {
		bytes /= 1024;
		n++;
	}
	snprintf(text, size, "%" PRIu64 "%s", bytes, units[n]);
}

void sweep_ended(char *text, size_t size, const struct sweep_row *row)
{
	if (sweep_killed(row))
		snprintf(text, size, "out of memory");
	else if (row->timeout)
		snprintf(text, size, "timeout");
	else if (row->signal)
		snprintf(text, size, "signal %d", row->signal);
	else
		snprintf(text, size, "exit %d", row->status);
}

void sweep_cell_text(char *out, const struct sweep_row *row, size_t i, bool utf8)
{
	struct total_fact total = { .name = sweep_cell_names[i], .unit = sweep_cell_units[i], .cell = row->cells[i] };

	format_total(out, &total, utf8);
}

static int grid_fill(struct grid *grid, const struct sweep *sweep, bool utf8)
{
	static const size_t columns = ARRAY_SIZE(titles);
	char text[FORMAT_SIZE];
	int err = 0;

	for (size_t k = 0; k < columns; k++) {
		err |= grid_set_title(grid, k, titles[k]);
		grid->columns[k].importance = (unsigned int)k;
	}
	err |= grid_set_title(grid, columns, "ended");
	for (size_t i = 0; i < sweep->nrows; i++) {
		sweep_size(text, sizeof(text), sweep->rows[i].limit);
		err |= grid_set_name(grid, i, text, 0);
		for (size_t k = 0; k < columns; k++) {
			sweep_cell_text(text, &sweep->rows[i], k, utf8);
			err |= grid_set_cell(grid, i, k, text);
		}
		sweep_ended(text, sizeof(text), &sweep->rows[i]);
		err |= grid_set_cell(grid, i, columns, text);
	}
	return err;
}

/* The walls, the longest as wide as there is room. */
static void plot(FILE *file, const struct sweep *sweep, bool utf8)
{
	double longest = 0;

	for (size_t i = 0; i < sweep->nrows; i++)
		if (sweep->rows[i].cells[SWEEP_WALL].value > longest)
			longest = sweep->rows[i].cells[SWEEP_WALL].value;
	for (size_t i = 0; i < sweep->nrows; i++) {
		const struct sweep_row *row = &sweep->rows[i];
		int n = longest > 0 ? (int)(row->cells[SWEEP_WALL].value / longest * PLOT_BAR + 0.5) : 0;
		char size[24], wall[FORMAT_SIZE];

		sweep_size(size, sizeof(size), row->limit);
		sweep_cell_text(wall, row, SWEEP_WALL, utf8);
		fprintf(file, "%6s |%.*s %s%s\n", size, n, "##################", sweep_killed(row) ? "killed" : wall,
			row == sweep->knee ? "  <- knee" : "");
	}
}

int sweep_table(FILE *file, const struct sweep *sweep, const struct output_options *options)
{
	struct grid grid;
	int err = grid_init(&grid, "memory.max", sweep->nrows, ARRAY_SIZE(titles) + 1) || grid_fill(&grid, sweep, options->utf8);
	char size[24];

	if (!err) {
		grid_print(file, &grid, options->width, options->color);
		fputc('\n', file);
		plot(file, sweep, options->utf8);
	}
	grid_fini(&grid);
	if (err)
		return -1;
	if (sweep->knee) {
		sweep_size(size, sizeof(size), sweep->knee->limit);
		fprintf(file, "\nknee: %s; below, pages were taken\nand read again, or memory ran out\n", size);
	} else {
		fprintf(file, "\nno knee: %s\n", sweep->why);
	}
	return 0;
}
