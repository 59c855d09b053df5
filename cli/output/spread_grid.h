/* SPDX-License-Identifier: MIT */
/* Columns of a table that tell where repeated measurements lie and how they scatter. */
#ifndef CLI_OUTPUT_SPREAD_GRID_H
#define CLI_OUTPUT_SPREAD_GRID_H

#include "cli/analyze/spread.h"
#include "cli/output/format.h"
#include "cli/output/grid.h"

enum { SPREAD_MEDIAN, SPREAD_MAD, SPREAD_MIN, SPREAD_MAX, SPREAD_INTERVAL, SPREAD_COLUMNS };

/* How a value of what is measured is written. */
struct spread_way {
	void (*text)(char out[FORMAT_SIZE], const void *what, double value, bool utf8);
	const void *what;
	bool utf8;
};

/* They are the first columns. Each returns 0, or -1 when memory is short. */
int spread_titles(struct grid *grid);
int spread_cells(struct grid *grid, size_t row, const struct spread *spread, const struct spread_way *way);

#endif
