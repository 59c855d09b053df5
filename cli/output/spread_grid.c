/* SPDX-License-Identifier: MIT */
/* See spread_grid.h. */
#include "cli/output/spread_grid.h"

#include <stdio.h>

int spread_titles(struct grid *grid)
{
	static const struct { const char *title; unsigned int importance; } columns[SPREAD_COLUMNS] = {
		{ "median", 9 }, { "MAD", 8 }, { "min", 5 }, { "max", 6 }, { "95 % of median", 7 },
	};
	int err = 0;

	for (size_t k = 0; !err && k < SPREAD_COLUMNS; k++) {
		err = grid_set_title(grid, k, columns[k].title);
		grid->columns[k].importance = columns[k].importance;
	}
	return err;
}

int spread_cells(struct grid *grid, size_t row, const struct spread *s, const struct spread_way *way)
{
	char cell[SPREAD_COLUMNS][FORMAT_SIZE + 32] = { "" }, low[FORMAT_SIZE], high[FORMAT_SIZE];
	int err = 0;

	way->text(cell[SPREAD_MEDIAN], way->what, s->median, way->utf8);
	way->text(cell[SPREAD_MIN], way->what, s->min, way->utf8);
	way->text(cell[SPREAD_MAX], way->what, s->max, way->utf8);
	/* As a part of the median: "0.4 %". */
	if (s->median > 0)
		format_percent(cell[SPREAD_MAD], s->mad / s->median * 100);
	if (s->bounded) {
		way->text(low, way->what, s->low, way->utf8);
		way->text(high, way->what, s->high, way->utf8);
		snprintf(cell[SPREAD_INTERVAL], sizeof(cell[0]), "%.40s %s %.40s", low, way->utf8 ? "–" : "-", high);
	}
	for (size_t c = 0; c < SPREAD_COLUMNS && !err; c++)
		err = grid_set_cell(grid, row, c, cell[c]);
	return err;
}
