/* SPDX-License-Identifier: MIT */
/*
 * The format table: header, tree of regions, windows, and the lines that say what they rest on and
 * what is missing. Without --metrics cpu and off-CPU time are shown as shares of the row's wall.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/output/format.h"
#include "cli/output/formats.h"
#include "cli/output/grid.h"
#include "cli/output/lines.h"
#include "cli/text.h"

/* Processes without regions, and regions of one parent, listed before the rest is only counted. */
enum { TABLE_PLAIN_ROOTS = 8, TABLE_SIBLINGS = 40, TABLE_SHARE_IMPORTANCE = 90, TABLE_TITLE_MAX = 16 };

enum table_kind { TABLE_CELL, TABLE_WALL_SHARE, TABLE_CPU_SHARE, TABLE_OFF_SHARE };

struct table_column {
	enum table_kind kind;
	size_t column;               /* of the report */
};

struct table {
	const struct lines *lines;
	struct grid grid;
	struct table_column *columns;
	size_t ncolumns;
	const struct report_row *rows;
	size_t nrows;
	bool *folded;                /* left out: see table_fold() */
};

/* ---- columns --------------------------------------------------------------------------------------- */

static void table_add_column(struct table *table, enum table_kind kind, size_t column)
{
	table->columns[table->ncolumns++] = (struct table_column){ kind, column };
}

/* What makes no sense for a row is left blank: percentiles of a root, and those of a single call repeat its wall. */
static bool table_blank(const struct report *report, const struct report_row *row, size_t column)
{
	const struct cell *cell = &row->cells[column];

	if (cell->state == CELL_NOT_COUNTED && !cell->note)
		return true;
	return !report->options.metrics && row->calls == 1 && !strncmp(report->columns[column].metric->name, "wall.", 5);
}

/* Nothing stands in any row of the column. */
static bool table_column_empty(const struct table *table, size_t column)
{
	const struct report *report = table->lines->report;

	for (size_t i = 0; i < table->nrows; i++)
		if (!table_blank(report, &table->rows[i], column))
			return false;
	return !report->options.metrics;
}

static enum table_kind table_kind_of(const struct report *report, const struct metric *metric)
{
	if (report->options.metrics)
		return TABLE_CELL;
	if (!strcmp(metric->name, "cpu"))
		return TABLE_CPU_SHARE;
	return !strcmp(metric->name, "offcpu") ? TABLE_OFF_SHARE : TABLE_CELL;
}

static bool table_in_windows(const struct report_column *column, const struct report *report)
{
	if (report->options.metrics)
		return column->shown && column->metric->in_windows != METRIC_NEVER;
	return column->metric->in_windows == METRIC_ALWAYS && (!column->metric->windows_only || column->available);
}

/* The order of a table is not that of the catalog: shares beside the times, the maximum last. */
static void table_sort(struct table *table)
{
	const struct report_column *columns = table->lines->report->columns;
	struct table_column column;
	size_t i, k;

	for (i = 1; i < table->ncolumns; i++) {
		column = table->columns[i];
		for (k = i; k && columns[table->columns[k - 1].column].metric->place >
				 columns[column.column].metric->place; k--)
			table->columns[k] = table->columns[k - 1];
		table->columns[k] = column;
	}
}

/* Without --metrics the most telling ones; a region's row has no value of what is of windows alone. */
static bool table_wants(const struct report *report, const struct report_column *column, bool windows)
{
	return windows ? table_in_windows(column, report) : column->shown && !column->metric->windows_only;
}

static int table_choose(struct table *table, bool windows)
{
	const struct report *report = table->lines->report;
	const struct report_column *column;
	size_t i;

	table->columns = calloc(2 * report->ncolumns + 1, sizeof(*table->columns));
	if (!table->columns)
		return -1;
	for (i = 0; i < report->ncolumns; i++) {
		column = &report->columns[i];
		if (!table_wants(report, column, windows) || table_column_empty(table, i))
			continue;
		table_add_column(table, windows ? TABLE_CELL : table_kind_of(report, column->metric), i);
		if (!windows && !strcmp(column->metric->name, "wall"))
			table_add_column(table, TABLE_WALL_SHARE, i);
	}
	table_sort(table);
	return 0;
}

static int table_head(struct table *table)
{
	const struct report *report = table->lines->report;
	const struct table_column *column;
	const struct metric *metric;
	char title[4 * TABLE_TITLE_MAX + 8], escaped[256];
	size_t c;

	for (c = 0; c < table->ncolumns; c++) {
		column = &table->columns[c];
		metric = report->columns[column->column].metric;
		text_escape(escaped, sizeof(escaped), metric->title, strlen(metric->title));
		text_fit(title, sizeof(title), escaped, TABLE_TITLE_MAX);
		if (grid_set_title(&table->grid, c, column->kind == TABLE_WALL_SHARE ? "%" : title) != 0)
			return -1;
		table->grid.columns[c].importance = column->kind == TABLE_WALL_SHARE
			? TABLE_SHARE_IMPORTANCE : metric->importance;
	}
	return 0;
}

/* ---- cells ----------------------------------------------------------------------------------------- */

static void table_text(const struct table *table, const struct report_row *row,
		       const struct table_column *column, char out[FORMAT_SIZE])
{
	const struct report *report = table->lines->report;
	bool utf8 = table->lines->options->utf8;
	const struct cell *cell = &row->cells[column->column];

	if (column->kind == TABLE_WALL_SHARE)
		format_share(out, &row->wall_share, 1, "", utf8);
	else if (column->kind == TABLE_CPU_SHARE)
		format_share(out, &row->cpu_share, 0, " %", utf8);
	else if (column->kind == TABLE_OFF_SHARE)
		format_share(out, &row->off_share, 0, " %", utf8);
	else
		format_cell(out, cell, report->columns[column->column].metric, utf8);
	if (table_blank(report, row, column->column))
		out[0] = '\0';
}

static int table_fill(struct table *table, size_t i)
{
	char text[FORMAT_SIZE];
	size_t c;

	for (c = 0; c < table->ncolumns; c++) {
		table_text(table, &table->rows[i], &table->columns[c], text);
		if (grid_set_cell(&table->grid, i, c, text) != 0)
			return -1;
	}
	return 0;
}

/* ---- names ----------------------------------------------------------------------------------------- */

/* The lines of the tree: for each depth whether a row further down continues there. */
struct table_tree {
	bool *last;                  /* of each row: the last of its siblings */
	bool more[PROFILE_DEPTH_MAX + 4];
	size_t levels;               /* drawn; deeper rows give their depth as a number */
};

static int table_tree_init(struct table_tree *tree, const struct table *table)
{
	size_t width = table->lines->options->width, i;
	bool seen[ARRAY_SIZE(tree->more)] = { false };
	u32 depth, below = 0;

	memset(tree->more, 0, sizeof(tree->more));
	tree->levels = width ? MIN(MAX(width / 8, 3), GRID_NAME_MAX / 4) : GRID_NAME_MAX / 4;
	tree->last = calloc(table->nrows + 1, sizeof(*tree->last));
	if (!tree->last)
		return -1;
	for (i = table->nrows; i--;) {
		if (table->folded && table->folded[i])
			continue;
		depth = MIN(table->rows[i].depth, (u32)ARRAY_SIZE(seen) - 1);
		tree->last[i] = !seen[depth];
		seen[depth] = true;
		for (; below > depth; below--)
			seen[below] = false;
		below = depth;
	}
	return 0;
}

static void table_indent(struct table_tree *tree, const struct table *table, size_t i, char *out, size_t size)
{
	bool utf8 = table->lines->options->utf8;
	u32 depth = MIN(table->rows[i].depth, (u32)ARRAY_SIZE(tree->more) - 1), d;
	size_t len = 0;

	out[0] = '\0';
	tree->more[depth] = !tree->last[i];
	if (depth > tree->levels) {
		snprintf(out, size, "%s%u ", utf8 ? "…" : "..", depth);
		return;
	}
	for (d = 1; d < depth; d++)
		len += (size_t)snprintf(out + len, size - len, "%s",
					!tree->more[d] ? "  " : utf8 ? "│ " : "| ");
	if (depth)
		snprintf(out + len, size - len, "%s", tree->last[i] ? (utf8 ? "└ " : "`-") :
			 (utf8 ? "├ " : "|-"));
}

/* The file that has the function, unless that is the program's own, as anybody expects. */
static size_t table_library(const struct report *report, const struct report_row *row, char out[FORMAT_SIZE])
{
	const struct session_facts *facts = report->facts;
	const char *library = row->origin ? row->origin->library : NULL, *image, *slash;
	size_t of = row->process ? row->process - 1 : 0;

	out[0] = '\0';
	image = of < facts->nprocesses ? facts->processes[of].image : NULL;
	if (!library || (image && !strcmp(image, library)))
		return 0;
	slash = strchr(library, ':') ? NULL : strrchr(library, '/');
	out[0] = ' ';
	out[1] = '[';
	text_escape(out + 2, FORMAT_SIZE / 2, slash ? slash + 1 : library, strlen(slash ? slash + 1 : library));
	strcat(out, "]");
	return strlen(out);
}

/* What follows a name: the pid where there are several, the library, and open calls. */
static void table_suffix(const struct table *table, const struct report_row *row, char out[FORMAT_SIZE])
{
	const struct report *report = table->lines->report;
	bool many = report->facts->nprocesses > 1 && report->group != PROFILE_BY_REGION;
	bool whole = row->root || table->rows == report->windows;
	size_t len = table_library(report, row, out);

	if (many && whole && row->pid && !row->tid)
		snprintf(out + len, FORMAT_SIZE - len, " [%u]", row->pid);
	else if (row->open && !row->root && row->calls == 1)
		snprintf(out + len, FORMAT_SIZE - len, " (open)");
	else if (row->open && !row->root)
		snprintf(out + len, FORMAT_SIZE - len, " (%llu open)", (unsigned long long)row->open);
}

static void table_label(const struct report_row *row, char *out, size_t size)
{
	if (row->root && row->tid)
		snprintf(out, size, "thread %u", row->tid);
	else if (!row->len)
		snprintf(out, size, "\"\"");
	else
		text_escape(out, size, row->name, row->len);
}

static int table_name(struct table *table, struct table_tree *tree, size_t i)
{
	char label[4 * WIRE_NAME_MAX + 1], cut[4 * GRID_NAME_MAX + 8], suffix[FORMAT_SIZE], indent[256];
	char *whole;
	int err;

	table_indent(tree, table, i, indent, sizeof(indent));
	table_label(&table->rows[i], label, sizeof(label));
	table_suffix(table, &table->rows[i], suffix);
	text_fit(cut, sizeof(cut), label, GRID_NAME_MAX - MIN(text_width(indent) + text_width(suffix),
		 (size_t)GRID_NAME_MAX / 2));
	err = asprintf(&whole, "%s%s%s", indent, cut, suffix) < 0 ? -1 : 0;
	if (!err) {
		err = grid_set_name(&table->grid, i, whole, strlen(suffix));
		free(whole);
	}
	return err;
}

/* ---- rows ------------------------------------------------------------------------------------------ */

/*
 * Marks regions that are left out without -v: siblings beyond the first ones, with all that is
 * below them. Returns how many.
 */
static size_t table_fold(struct table *table)
{
	u32 seen[PROFILE_DEPTH_MAX + 4] = { 0 }, below = 0;
	size_t i, n = 0;
	bool folded = false;

	table->folded = calloc(table->nrows + 1, sizeof(*table->folded));
	if (!table->folded || table->lines->options->verbose > 0)
		return 0;
	for (i = 0; i < table->nrows; i++) {
		const struct report_row *row = &table->rows[i];
		u32 depth = MIN(row->depth, (u32)ARRAY_SIZE(seen) - 1);

		folded = folded && depth > below;
		if (!folded) {
			memset(seen + depth + 1, 0, sizeof(seen) - (depth + 1) * sizeof(seen[0]));
			folded = seen[depth]++ >= TABLE_SIBLINGS && !row->root;
			below = depth;
		}
		table->folded[i] = folded;
		n += folded;
	}
	return n;
}

/* A process without regions among many of them: a build has hundreds. */
static bool table_hidden(const struct table *table, size_t i, size_t *plain)
{
	const struct report_row *row = &table->rows[i];
	bool parent = i + 1 < table->nrows && table->rows[i + 1].depth > row->depth;

	if (table->rows != table->lines->report->rows || !row->root || row->depth || parent)
		return false;
	if (table->lines->options->verbose > 0)
		return false;
	return (*plain)++ >= TABLE_PLAIN_ROOTS;
}

static int table_fill_rows(struct table *table, size_t *hidden)
{
	struct table_tree tree;
	size_t i, plain = 0;
	int err = table_tree_init(&tree, table);

	for (i = 0; !err && i < table->nrows; i++) {
		if (table->folded && table->folded[i])
			continue;
		if (table_hidden(table, i, &plain)) {
			(*hidden)++;
			continue;
		}
		err = table_name(table, &tree, i) || table_fill(table, i) ? -1 : 0;
	}
	free(tree.last);
	return err;
}

static int table_print(const struct lines *lines, const char *title, const struct report_row *rows,
		       size_t nrows, bool windows)
{
	struct table table = { .lines = lines, .rows = rows, .nrows = nrows };
	size_t hidden = 0, folded = table_fold(&table);
	int err = table_choose(&table, windows);

	if (!err)
		err = grid_init(&table.grid, title, nrows, table.ncolumns);
	if (!err) {
		err = table_head(&table) || table_fill_rows(&table, &hidden) ? -1 : 0;
	}
	if (!err) {
		fputc('\n', lines->file);
		grid_print(lines->file, &table.grid, lines->options->width, lines->options->color);
	}
	if (!err && hidden)
		fprintf(lines->file, "and %zu more process%s without regions; -v shows all\n", hidden,
			hidden == 1 ? "" : "es");
	if (!err && folded)
		fprintf(lines->file, "and %zu more %s%s; -v shows all\n", folded, title, folded == 1 ? "" : "s");
	grid_fini(&table.grid);
	free(table.folded);
	free(table.columns);
	return err;
}

int table_write(FILE *file, const struct report *report, const struct output_options *options)
{
	const struct lines lines = { .file = file, .report = report, .options = options };

	lines_header(&lines);
	if (report->options.totals_only) {
		lines_storage(&lines);
		if (table_totals_print(&lines) != 0 || table_parts_print(&lines) != 0 ||
		    table_calls_print(&lines) != 0)
			return -1;
		fputc('\n', file);
		lines_missing(&lines);
		lines_total_notes(&lines);
		lines_notes(&lines);
		return 0;
	}
	lines_inside(&lines);
	lines_storage(&lines);
	if (report->options.each_window)
		return table_windows_print(&lines);
	if (report->options.profile.costs)
		return table_costs_print(&lines);
	if (table_print(&lines, "region", report->rows, report->nrows, false) != 0)
		return -1;
	if (report->nwindows && table_print(&lines, "window", report->windows, report->nwindows, true) != 0)
		return -1;
	fputc('\n', file);
	if (options->verbose >= 0)
		lines_totals(&lines);
	if (options->verbose >= 0)
		lines_windows(&lines);
	lines_group(&lines);
	lines_origin(&lines);
	lines_missing(&lines);
	lines_notes(&lines);
	lines_markers(&lines);
	lines_splits(&lines);
	if (table_block_print(&lines) != 0)
		return -1;
	if (!report->stacks)
		return 0;
	if (!report->options.profile.detail)
		lines_hot(&lines);
	else if (table_profile_print(&lines) != 0)
		return -1;
	lines_samples(&lines);
	return 0;
}
