/* SPDX-License-Identifier: MIT */
/* Figures of repeated runs for people; see figures_output.h. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "cli/output/diff_output.h"
#include "cli/output/figures_output.h"
#include "cli/output/grid.h"
#include "cli/output/lines.h"
#include "cli/output/spread_grid.h"
#include "cli/text.h"

#define ROWS_MOST 40                 /* of a table, without -v */
#define FUNCTIONS_MOST 15
#define TEXT_SIZE 640

struct table {
	FILE *file;
	const struct figures *figures;
	const struct output_options *options;
	struct lines lines;
};

enum { COLUMN_OUTLIERS = SPREAD_COLUMNS, COLUMN_DRIFT, COLUMN_PASS, COLUMNS };

/* ---- one figure ------------------------------------------------------------------------------------ */

struct cell_of {
	struct diff_at at;
	const struct figure *figure;
};

static struct cell_of cell_at(const struct table *t, enum diff_kind kind, u32 metric, u32 row)
{
	return (struct cell_of){ { &t->figures->diff, 0, kind, metric, row, NULL },
				 figures_at(t->figures, kind, metric, row) };
}

static void cell_text(char out[FORMAT_SIZE], const void *what, double value, bool utf8)
{
	const struct cell_of *of = what;

	diff_value_text(out, &of->at, &of->figure->value, value, utf8);
}

static int name_set(struct grid *grid, size_t place, const struct cell_of *of)
{
	const char *path = diff_path(&of->at), *last = strrchr(path, ';');
	u32 depth = of->at.diff->tables[of->at.kind].rows[of->at.row].depth;

	return grid_set_name(grid, place, path, last && depth > 1 ? strlen(last) : 0);
}

static int figure_row(const struct table *t, struct grid *grid, size_t place, const struct cell_of *of)
{
	const struct figure *figure = of->figure;
	char text[FORMAT_SIZE];
	int err = name_set(grid, place, of) ||
		  spread_cells(grid, place, &figure->spread, &(struct spread_way){ cell_text, of, t->options->utf8 });

	snprintf(text, sizeof(text), "%zu", figure->spread.outliers);
	if (figure->spread.outliers && !err)
		err = grid_set_cell(grid, place, COLUMN_OUTLIERS, text);
	snprintf(text, sizeof(text), "%+.1f %%", (figure->drift.ratio - 1) * 100);
	if (comparison_drifts(&figure->drift) && !err)
		err = grid_set_cell(grid, place, COLUMN_DRIFT, text);
	if (t->figures->by_pass && !err)
		err = grid_set_cell(grid, place, COLUMN_PASS, figures_pass(t->figures, figure));
	return err;
}

/* ---- a metric -------------------------------------------------------------------------------------- */

struct ranking {
	const struct table *t;
	u32 metric;
};

static int more_first(const void *a, const void *b, void *context)
{
	const struct ranking *r = context;
	u32 i = *(const u32 *)a, k = *(const u32 *)b;
	double x = figures_at(r->t->figures, DIFF_FUNCTIONS, r->metric, i)->spread.median;
	double y = figures_at(r->t->figures, DIFF_FUNCTIONS, r->metric, k)->spread.median;

	return x > y ? -1 : x < y ? 1 : i < k ? -1 : i > k;
}

/* What is always 0 tells nothing among totals, nor what mostly is among functions. */
static bool row_wanted(const struct table *t, enum diff_kind kind, const struct figure *figure)
{
	double most = kind == DIFF_FUNCTIONS ? figure->spread.median : figure->spread.max;

	return figure->value.n && (kind == DIFF_REGIONS || most > 0 || t->options->verbose > 0);
}

/* The rows that have the metric, to be freed; of functions those with most first. NULL when memory is short. */
static u32 *rows_of(const struct table *t, enum diff_kind kind, u32 metric, u32 *n)
{
	const struct diff_table *table = &t->figures->diff.tables[kind];
	struct ranking ranking = { t, metric };
	u32 *rows = calloc(table->nrows + 1, sizeof(*rows));

	*n = 0;
	for (u32 row = 0; rows && row < table->nrows; row++)
		if (row_wanted(t, kind, figures_at(t->figures, kind, metric, row)))
			rows[(*n)++] = row;
	if (rows && kind == DIFF_FUNCTIONS)
		qsort_r(rows, *n, sizeof(*rows), more_first, &ranking);
	return rows;
}

static u32 rows_shown(const struct table *t, enum diff_kind kind, u32 n)
{
	u32 most = kind == DIFF_TOTALS || t->options->verbose > 0 ? n :
		   kind == DIFF_FUNCTIONS ? FUNCTIONS_MOST : ROWS_MOST;

	return MIN(n, most);
}

static int titles_set(const struct table *t, struct grid *grid)
{
	int err = spread_titles(grid) || grid_set_title(grid, COLUMN_OUTLIERS, "outliers") ||
		  grid_set_title(grid, COLUMN_DRIFT, "drift");

	grid->columns[COLUMN_OUTLIERS].importance = 3;
	grid->columns[COLUMN_DRIFT].importance = 4;
	if (t->figures->by_pass && !err) {
		err = grid_set_title(grid, COLUMN_PASS, "pass");
		grid->columns[COLUMN_PASS].importance = 10;
	}
	return err;
}

static int grid_show(const struct table *t, struct grid *grid, u32 left, int err)
{
	if (!err) {
		fputc('\n', t->file);
		grid_print(t->file, grid, t->options->width, t->options->color);
		if (left)
			fprintf(t->file, "and %u more; -v shows all\n", left);
	}
	grid_fini(grid);
	return err;
}

static int metric_print(const struct table *t, enum diff_kind kind, u32 metric)
{
	u32 n, shown, *rows = rows_of(t, kind, metric, &n);
	char title[200], name[180];
	struct grid grid;
	int err;

	if (!rows || !n) {
		free(rows);
		return rows ? 0 : -1;
	}
	shown = rows_shown(t, kind, n);
	text_fit(name, sizeof(name), t->figures->diff.tables[kind].metrics[metric].text, 40);
	if (kind == DIFF_TOTALS)
		snprintf(title, sizeof(title), "total");
	else
		snprintf(title, sizeof(title), "%s, %s", diff_kind_words[kind], name);
	err = grid_init(&grid, title, shown, t->figures->by_pass ? COLUMNS : COLUMN_PASS);
	err = err ? err : titles_set(t, &grid);
	for (u32 i = 0; i < shown && !err; i++) {
		struct cell_of of = cell_at(t, kind, metric, rows[i]);

		err = figure_row(t, &grid, i, &of);
	}
	free(rows);
	return grid_show(t, &grid, n - shown, err);
}

/* ---- medians of several metrics of regions --------------------------------------------------------- */

static bool is_wall(const struct diff_metric *m)
{
	return !strcmp(m->name, "wall");
}

/* With the pass of a row that has it; false: none has. */
static bool median_title(const struct table *t, u32 metric, char title[240])
{
	const struct diff_table *table = &t->figures->diff.tables[DIFF_REGIONS];

	for (u32 row = 0; row < table->nrows; row++) {
		const struct figure *figure = figures_at(t->figures, DIFF_REGIONS, metric, row);
		char name[180];

		if (!figure->value.n)
			continue;
		text_fit(name, sizeof(name), table->metrics[metric].text, 40);
		snprintf(title, 240, t->figures->by_pass ? "%s (%s)" : "%s", name, figures_pass(t->figures, figure));
		return true;
	}
	return false;
}

static int medians_column(const struct table *t, struct grid *grid, size_t column, u32 metric, u32 shown)
{
	char title[240], text[FORMAT_SIZE];
	int err = 0;

	if (median_title(t, metric, title))
		err = grid_set_title(grid, column, title);
	grid->columns[column].importance = (unsigned int)(100 - MIN(column, (size_t)90));
	for (u32 row = 0; row < shown && !err; row++) {
		struct cell_of of = cell_at(t, DIFF_REGIONS, metric, row);

		if (!of.figure->value.n)
			continue;
		cell_text(text, &of, of.figure->spread.median, t->options->utf8);
		err = (!grid->names[row] && name_set(grid, row, &of)) || grid_set_cell(grid, row, column, text);
	}
	return err;
}

static int medians_print(const struct table *t)
{
	const struct diff_table *table = &t->figures->diff.tables[DIFF_REGIONS];
	u32 shown = rows_shown(t, DIFF_REGIONS, table->nrows), n = 0;
	size_t column = 0;
	char title[240];
	struct grid grid;
	int err;

	for (u32 m = 0; m < table->nmetrics; m++)
		n += table->metrics[m].shown && !is_wall(&table->metrics[m]) && median_title(t, m, title);
	if (!n)
		return 0;
	err = grid_init(&grid, "region, medians", shown, n);
	for (u32 m = 0; m < table->nmetrics && !err; m++)
		if (table->metrics[m].shown && !is_wall(&table->metrics[m]) && median_title(t, m, title))
			err = medians_column(t, &grid, column++, m, shown);
	return grid_show(t, &grid, table->nrows - shown, err);
}

/* ---- all of it ------------------------------------------------------------------------------------- */

static int regions_print(const struct table *t)
{
	const struct diff_table *table = &t->figures->diff.tables[DIFF_REGIONS];
	bool chosen = t->figures->diff.metrics != NULL;
	int err = 0;

	for (u32 m = 0; m < table->nmetrics && !err; m++)
		if (table->metrics[m].shown && (chosen || is_wall(&table->metrics[m])))
			err = metric_print(t, DIFF_REGIONS, m);
	return err || chosen ? err : medians_print(t);
}

static void header_print(const struct table *t)
{
	const struct figures *f = t->figures;
	char text[TEXT_SIZE] = "", warm[48] = "", steady[64] = "";
	size_t len = 0;

	for (size_t i = 0; f->argv && f->argv[i] && len + 1 < sizeof(text); i++) {
		if (i)
			text[len++] = ' ';
		text_escape(text + len, sizeof(text) - len, f->argv[i], strlen(f->argv[i]));
		len += strlen(text + len);
	}
	lines_print(&t->lines, STYLE_ACCENT, "spark", "%s", text);
	if (f->warmups)
		snprintf(warm, sizeof(warm), ", %lu warm-up%s before", f->warmups, f->warmups == 1 ? "" : "s");
	if (f->steady.is && f->steady.after)
		snprintf(steady, sizeof(steady), "; times are steady after %zu", f->steady.after);
	else if (f->steady.is)
		snprintf(steady, sizeof(steady), "; times are steady from the first on");
	text[0] = '\0';
	for (u32 i = 0; i < f->diff.nsides; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u%s%s", i ? ", " : "",
			 f->diff.sides[i].nruns, f->by_pass ? " " : "",
			 f->by_pass ? figures_pass_words[f->pass[i]] : "");
	lines_print(&t->lines, STYLE_PLAIN, "runs", "%s%s%s%s", text, warm, steady,
		    f->stopped ? "; stopped early" : "");
	machine_text(&f->machine, text, sizeof(text));
	if (text[0])
		lines_print(&t->lines, STYLE_PLAIN, "machine", "%s", text);
}

/* One line for all that have the same reason. */
static void missing_print(const struct table *t)
{
	const struct figures *f = t->figures;

	for (size_t k = 0; k < f->nmissing; k++) {
		char names[TEXT_SIZE] = "", why[TEXT_SIZE];
		bool before = false;

		for (size_t i = 0; i < f->nmissing; i++) {
			if (strcmp(f->missing[i].why, f->missing[k].why) != 0)
				continue;
			before = before || i < k;
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", *names ? ", " : "",
				 f->missing[i].name);
		}
		text_escape(why, sizeof(why), f->missing[k].why, strlen(f->missing[k].why));
		if (!before)
			lines_print(&t->lines, STYLE_PLAIN, "not available", "%s: %s", names, why);
	}
}

int figures_table(FILE *file, const struct figures *figures, const struct output_options *options)
{
	const struct table t = { file, figures, options, { .file = file, .options = options } };
	const struct diff_table *functions = &figures->diff.tables[DIFF_FUNCTIONS];
	int err = 0;

	if (options->verbose >= 0)
		header_print(&t);
	for (u32 m = 0; m < figures->diff.tables[DIFF_TOTALS].nmetrics && !err; m++)
		err = metric_print(&t, DIFF_TOTALS, m);
	err = err ? err : regions_print(&t);
	/* The first one is what was taken in the function itself. */
	for (u32 m = 0; m < functions->nmetrics && !err && (!m || options->verbose > 0); m++)
		err = metric_print(&t, DIFF_FUNCTIONS, m);
	if (err)
		return err;
	if (figures->diff.nnotes || figures->nmissing)
		fputc('\n', file);
	for (u32 i = 0; i < figures->diff.nnotes; i++)
		lines_print(&t.lines, STYLE_PLAIN, "note", "%s", figures->diff.notes[i]);
	missing_print(&t);
	return 0;
}
