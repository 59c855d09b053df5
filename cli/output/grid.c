/* SPDX-License-Identifier: MIT */
/* Laying out a table; see grid.h. */
#include "cli/output/grid.h"

#include <stdlib.h>
#include <string.h>

#include "cli/term.h"
#include "cli/text.h"
#include "common/base.h"

enum { GRID_GAP = 2, GRID_NAME_LEAST = 12 };

int grid_init(struct grid *grid, const char *name_title, size_t nrows, size_t ncolumns)
{
	*grid = (struct grid){ .name_title = name_title, .nrows = nrows, .ncolumns = ncolumns };
	grid->columns = calloc(ncolumns + 1, sizeof(*grid->columns));
	grid->names = calloc(nrows + 1, sizeof(*grid->names));
	grid->cells = calloc(nrows * ncolumns + 1, sizeof(*grid->cells));
	grid->tails = calloc(nrows + 1, sizeof(*grid->tails));
	return grid->columns && grid->names && grid->tails && grid->cells ? 0 : -1;
}

int grid_set_title(struct grid *grid, size_t column, const char *text)
{
	grid->columns[column].title = strdup(text);
	return grid->columns[column].title ? 0 : -1;
}

int grid_set_name(struct grid *grid, size_t row, const char *text, size_t tail)
{
	grid->tails[row] = tail;
	grid->names[row] = strdup(text);
	return grid->names[row] ? 0 : -1;
}

int grid_set_cell(struct grid *grid, size_t row, size_t column, const char *text)
{
	char **cell = &grid->cells[row * grid->ncolumns + column];

	*cell = strdup(text);
	return *cell ? 0 : -1;
}

/* Widths of all columns; returns that of the names. */
static size_t grid_measure(struct grid *grid)
{
	size_t name = text_width(grid->name_title), i, c;

	for (c = 0; c < grid->ncolumns; c++)
		grid->columns[c].width = text_width(grid->columns[c].title);
	for (i = 0; i < grid->nrows; i++) {
		if (!grid->names[i])
			continue;
		name = MAX(name, text_width(grid->names[i]));
		for (c = 0; c < grid->ncolumns; c++)
			if (grid->cells[i * grid->ncolumns + c])
				grid->columns[c].width = MAX(grid->columns[c].width,
					text_width(grid->cells[i * grid->ncolumns + c]));
	}
	return MIN(name, (size_t)GRID_NAME_MAX);
}

static size_t grid_rest(const struct grid *grid)
{
	size_t sum = 0, c;

	for (c = 0; c < grid->ncolumns; c++)
		if (!grid->columns[c].dropped)
			sum += GRID_GAP + grid->columns[c].width;
	return sum;
}

/* The last of the least important columns that are left; NULL when one is left only. */
static struct grid_column *grid_least(struct grid *grid)
{
	struct grid_column *least = NULL;
	size_t c, left = 0;

	for (c = 0; c < grid->ncolumns; c++) {
		if (grid->columns[c].dropped)
			continue;
		left++;
		if (!least || grid->columns[c].importance <= least->importance)
			least = &grid->columns[c];
	}
	return left > 1 ? least : NULL;
}

/* Drops columns until names of a readable width fit beside them; returns the width for names. */
static size_t grid_fit(struct grid *grid, size_t width)
{
	size_t name = grid_measure(grid), least = MIN(name, MAX(width / 4, (size_t)GRID_NAME_LEAST));
	struct grid_column *column;

	if (!width)
		return name;
	while (least + grid_rest(grid) > width && (column = grid_least(grid)))
		column->dropped = true;
	return width > least + grid_rest(grid) ? MIN(name, width - grid_rest(grid)) : least;
}

/* Prints a name, its tail whole if there is room for more than that; returns the columns used. */
static size_t grid_print_name(FILE *file, const char *name, size_t tail, size_t width)
{
	char cut[4 * GRID_NAME_MAX + 8], *head;
	size_t used, tail_width = text_width(name + strlen(name) - tail);

	if (text_width(name) <= width || tail_width + GRID_NAME_LEAST / 2 > width)
		tail_width = tail = 0;
	head = strndup(name, strlen(name) - tail);
	used = text_fit(cut, sizeof(cut), head ? head : name, width - tail_width);
	free(head);
	fprintf(file, "%s%s", cut, name + strlen(name) - tail);
	return used + tail_width;
}

static void grid_print_row(FILE *file, const struct grid *grid, const char *name, size_t tail, char *const *cells,
			   size_t name_width)
{
	size_t c, pending = name_width - grid_print_name(file, name, tail, name_width);
	const char *text;

	for (c = 0; c < grid->ncolumns; c++) {
		if (grid->columns[c].dropped)
			continue;
		text = cells ? cells[c] : grid->columns[c].title;
		text = text ? text : "";
		pending += GRID_GAP + grid->columns[c].width - text_width(text);
		if (*text) {
			fprintf(file, "%*s%s", (int)pending, "", text);
			pending = 0;
		}
	}
}

static void grid_print_dropped(FILE *file, const struct grid *grid, size_t width)
{
	char text[512] = "";
	size_t c, len = 0;

	for (c = 0; c < grid->ncolumns && len < sizeof(text); c++)
		if (grid->columns[c].dropped)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", len ? ", " : "",
						grid->columns[c].title);
	if (!len)
		return;
	fputs("too narrow for: ", file);
	text_wrap(file, text, 16, width);
}

void grid_print(FILE *file, struct grid *grid, size_t width, bool color)
{
	size_t name_width = grid_fit(grid, width), i;

	fputs(term_style(color, STYLE_ACCENT), file);
	grid_print_row(file, grid, grid->name_title, 0, NULL, name_width);
	fprintf(file, "%s\n", term_style(color, STYLE_PLAIN));
	for (i = 0; i < grid->nrows; i++) {
		if (!grid->names[i])
			continue;
		grid_print_row(file, grid, grid->names[i], grid->tails[i], grid->cells + i * grid->ncolumns, name_width);
		fputc('\n', file);
	}
	grid_print_dropped(file, grid, width);
}

void grid_fini(struct grid *grid)
{
	size_t i;

	for (i = 0; grid->names && i < grid->nrows; i++)
		free(grid->names[i]);
	for (i = 0; grid->cells && i < grid->nrows * grid->ncolumns; i++)
		free(grid->cells[i]);
	for (i = 0; grid->columns && i < grid->ncolumns; i++)
		free(grid->columns[i].title);
	free(grid->columns);
	free(grid->names);
	free(grid->tails);
	free(grid->cells);
}
