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

enum { COLUMN_OUTLIERS = SPREAD_COLUMNS, COLUMN_DRIFT, COLUMNS_ALWAYS };

/* Columns that a table may have, too; 0: it has not. */
struct also {
	size_t pass, runs, n;        /* n: of all columns */
};

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

/* Not every run of its pass has it: what is shown is of those that have. */
static bool some_runs(const struct table *t, const struct figure *figure)
{
	return figure->value.n && figure->value.n < t->figures->diff.sides[figure->side].nruns;
}

static int runs_set(const struct table *t, struct grid *grid, size_t place, size_t column, const struct figure *figure)
{
	char text[32];

	snprintf(text, sizeof(text), "%u/%u", figure->value.n, t->figures->diff.sides[figure->side].nruns);
	return grid_set_cell(grid, place, column, text);
}

static int figure_row(const struct table *t, struct grid *grid, size_t place, const struct cell_of *of,
		      const struct also *also)
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
	if (also->pass && !err)
		err = grid_set_cell(grid, place, also->pass, figures_pass(t->figures, figure));
	if (also->runs && some_runs(t, figure) && !err)
		err = runs_set(t, grid, place, also->runs, figure);
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

static int titles_set(struct grid *grid, const struct also *also)
{
	int err = spread_titles(grid) || grid_set_title(grid, COLUMN_OUTLIERS, "outliers") ||
		  grid_set_title(grid, COLUMN_DRIFT, "drift");

	grid->columns[COLUMN_OUTLIERS].importance = 3;
	grid->columns[COLUMN_DRIFT].importance = 4;
	if (also->pass && !err) {
		err = grid_set_title(grid, also->pass, "pass");
		grid->columns[also->pass].importance = 10;
	}
	if (also->runs && !err) {
		err = grid_set_title(grid, also->runs, "runs");
		grid->columns[also->runs].importance = 11;
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

static struct also also_of(const struct table *t, enum diff_kind kind, u32 metric, const u32 *rows, u32 n)
{
	struct also also = { .n = COLUMNS_ALWAYS };

	if (t->figures->by_pass)
		also.pass = also.n++;
	for (u32 i = 0; i < n && !also.runs; i++)
		if (some_runs(t, figures_at(t->figures, kind, metric, rows[i])))
			also.runs = also.n++;
	return also;
}

static int metric_print(const struct table *t, enum diff_kind kind, u32 metric)
{
	u32 n, shown, *rows = rows_of(t, kind, metric, &n);
	char title[200], name[180];
	struct also also;
	struct grid grid;
	int err;

	if (!rows || !n) {
		free(rows);
		return rows ? 0 : -1;
	}
	shown = rows_shown(t, kind, n);
	also = also_of(t, kind, metric, rows, shown);
	text_fit(name, sizeof(name), t->figures->diff.tables[kind].metrics[metric].text, 40);
	if (kind == DIFF_TOTALS)
		snprintf(title, sizeof(title), "total");
	else
		snprintf(title, sizeof(title), "%s, %s", diff_kind_words[kind], name);
	err = grid_init(&grid, title, shown, also.n);
	err = err ? err : titles_set(&grid, &also);
	for (u32 i = 0; i < shown && !err; i++) {
		struct cell_of of = cell_at(t, kind, metric, rows[i]);

		err = figure_row(t, &grid, i, &of, &also);
	}
	free(rows);
	return grid_show(t, &grid, n - shown, err);
}

/* ---- medians of several metrics of regions --------------------------------------------------------- */

static bool is_wall(const struct diff_metric *m)
{
	return !strcmp(m->name, "wall");
}

static bool of_side(const struct figure *figure, u32 side)
{
	return figure->value.n && figure->side == side;
}

/* With the pass, of which some row has it; false: none has. */
static bool median_title(const struct table *t, u32 metric, u32 side, char title[240])
{
	const struct diff_table *table = &t->figures->diff.tables[DIFF_REGIONS];
	char name[180];

	if (!table->metrics[metric].shown || is_wall(&table->metrics[metric]))
		return false;
	for (u32 row = 0; row < table->nrows; row++) {
		if (!of_side(figures_at(t->figures, DIFF_REGIONS, metric, row), side))
			continue;
		text_fit(name, sizeof(name), table->metrics[metric].text, 40);
		snprintf(title, 240, t->figures->by_pass ? "%s (%s)" : "%s", name,
			 pass_words[t->figures->pass[side]]);
		return true;
	}
	return false;
}

/* A column for each pass that rows have the metric of. */
struct median {
	u32 metric, side;
	size_t column;
};

static int medians_column(const struct table *t, struct grid *grid, const struct median *m, const char *title, u32 shown)
{
	int err = grid_set_title(grid, m->column, title);
	char text[FORMAT_SIZE];

	grid->columns[m->column].importance = (unsigned int)(100 - MIN(m->column, (size_t)90));
	for (u32 row = 0; row < shown && !err; row++) {
		struct cell_of of = cell_at(t, DIFF_REGIONS, m->metric, row);

		if (!of_side(of.figure, m->side))
			continue;
		cell_text(text, &of, of.figure->spread.median, t->options->utf8);
		err = (!grid->names[row] && name_set(grid, row, &of)) || grid_set_cell(grid, row, m->column, text);
	}
	return err;
}

/* Of the row's medians that of fewest runs; NULL: all have all. */
static const struct figure *fewest_runs(const struct table *t, u32 row)
{
	const struct diff_table *table = &t->figures->diff.tables[DIFF_REGIONS];
	const struct figure *fewest = NULL;

	for (u32 m = 0; m < table->nmetrics; m++) {
		const struct figure *figure = figures_at(t->figures, DIFF_REGIONS, m, row);

		if (table->metrics[m].shown && !is_wall(&table->metrics[m]) && some_runs(t, figure) &&
		    (!fewest || figure->value.n < fewest->value.n))
			fewest = figure;
	}
	return fewest;
}

static int medians_runs(const struct table *t, struct grid *grid, size_t column, u32 shown)
{
	int err = grid_set_title(grid, column, "runs");

	grid->columns[column].importance = 101;
	for (u32 row = 0; row < shown && !err; row++)
		if (fewest_runs(t, row))
			err = runs_set(t, grid, row, column, fewest_runs(t, row));
	return err;
}

static int medians_print(const struct table *t)
{
	const struct diff_table *table = &t->figures->diff.tables[DIFF_REGIONS];
	u32 shown = rows_shown(t, DIFF_REGIONS, table->nrows), nsides = t->figures->diff.nsides, n = 0;
	struct median m = { .column = 0 };
	char title[240];
	struct grid grid;
	bool some = false;
	int err;

	for (u32 k = 0; k < table->nmetrics * nsides; k++)
		n += median_title(t, k / nsides, k % nsides, title);
	if (!n)
		return 0;
	for (u32 row = 0; row < shown && !some; row++)
		some = fewest_runs(t, row) != NULL;
	err = grid_init(&grid, "region, medians", shown, n + some);
	for (m.metric = 0; m.metric < table->nmetrics && !err; m.metric++)
		for (m.side = 0; m.side < nsides && !err; m.side++)
			if (median_title(t, m.metric, m.side, title)) {
				err = medians_column(t, &grid, &m, title, shown);
				m.column++;
			}
	if (some && !err)
		err = medians_runs(t, &grid, m.column, shown);
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
			 f->by_pass ? pass_words[f->pass[i]] : "");
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
