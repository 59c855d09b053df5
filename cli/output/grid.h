/* SPDX-License-Identifier: MIT */
/*
 * A table of text: a left column of names, and right-aligned columns, the least important of which
 * are left out where the terminal is too narrow.
 */
#ifndef CLI_OUTPUT_GRID_H
#define CLI_OUTPUT_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define GRID_NAME_MAX 60             /* columns of a name that are shown */

struct grid_column {
	char *title;
	unsigned int importance;
	size_t width;
	bool dropped;
};

struct grid {
	const char *name_title;
	struct grid_column *columns;
	size_t ncolumns;
	char **names;
	size_t *tails;               /* bytes at the end of a name that are never cut off */
	char **cells;                /* nrows x ncolumns */
	size_t nrows;
};

/* Returns 0, or -1 when memory is short (grid_fini is due all the same). */
int grid_init(struct grid *grid, const char *name_title, size_t nrows, size_t ncolumns);
/* These copy the text. tail: bytes at the end of the name that stay where the rest is cut. */
int grid_set_title(struct grid *grid, size_t column, const char *text);
int grid_set_name(struct grid *grid, size_t row, const char *text, size_t tail);
int grid_set_cell(struct grid *grid, size_t row, size_t column, const char *text);
/* Prints all rows but those without a name; then one line on the columns that were dropped. */
void grid_print(FILE *file, struct grid *grid, size_t width, bool color);
void grid_fini(struct grid *grid);

#endif
