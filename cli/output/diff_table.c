/* SPDX-License-Identifier: MIT */
/* A diff for people; see diff_output.h. */
#define _GNU_SOURCE
#include <string.h>

#include "cli/output/diff_output.h"
#include "cli/output/grid.h"
#include "cli/output/lines.h"
#include "cli/text.h"

#define TEXT_SIZE 640

struct table {
	FILE *file;
	const struct diff *diff;
	const struct diff_options *options;
	struct lines lines;
};

enum { COLUMN_A, COLUMN_B, COLUMN_CHANGE, COLUMN_INTERVAL, COLUMN_P, COLUMN_VERDICT, COLUMN_ALSO,
       COLUMNS = COLUMN_ALSO + 2 };

/* ---- one metric of one side */

struct part {
	const struct table *t;
	u32 side, metric, rows;      /* rows: that are shown */
	enum diff_kind kind;
	bool warned;                 /* some row was compared by force */
	size_t pass;                 /* the place of the column pass, behind that of the warning */
};

static struct diff_at part_at(const struct part *part, u32 place)
{
	const struct diff *diff = part->t->diff;
	u32 nrows = diff->tables[part->kind].nrows;

	return diff_at(diff, part->side, part->kind, part->metric,
		       diff->sides[part->side].order[part->kind][(size_t)part->metric * nrows + place]);
}

/* How many rows have something to show, all in front of the others. */
static u32 part_rows(struct part *part)
{
	u32 nrows = part->t->diff->tables[part->kind].nrows, n = 0, unequal = 0;

	for (; n < nrows; n++) {
		struct diff_at at = part_at(part, n);

		if (at.result->verdict == DIFF_MISSING)
			break;
		unequal += at.result->verdict != DIFF_EQUAL;
		part->warned = part->warned || at.result->why;
	}
	part->rows = n;
	if (part->t->options->top && part->t->options->top < n && part->kind != DIFF_TOTALS)
		part->rows = (u32)part->t->options->top;
	/* A table of what is the same tells no more than the summary. */
	return unequal || part->kind == DIFF_TOTALS ? n : 0;
}

static int part_titles(const struct part *part, struct grid *grid)
{
	const struct diff_side *sides = part->t->diff->sides;
	const struct { const char *title; unsigned int importance; } columns[COLUMNS] = {
		{ sides[0].label, 5 }, { sides[part->side].label, 6 }, { "change", 9 }, { "95 %", 4 }, { "p adj.", 3 },
		{ "", 10 },
		{ part->warned ? "warning" : "pass", 8 }, { "pass", 4 },
	};
	int err = 0;

	for (size_t c = 0; !err && c < grid->ncolumns; c++) {
		err = grid_set_title(grid, c, columns[c].title);
		grid->columns[c].importance = columns[c].importance;
	}
	return err;
}

static int part_row(const struct part *part, struct grid *grid, u32 place)
{
	struct diff_at at = part_at(part, place);
	const struct diff_row *row = &part->t->diff->tables[part->kind].rows[at.row];
	const char *path = diff_path(&at), *last = strrchr(path, ';');
	bool utf8 = part->t->options->output.utf8;
	char cell[COLUMN_ALSO][FORMAT_SIZE];
	int err = grid_set_name(grid, place, path, last && row->depth > 1 ? strlen(last) : 0);

	diff_median(cell[COLUMN_A], &at, 0, utf8);
	diff_median(cell[COLUMN_B], &at, 1, utf8);
	diff_change(cell[COLUMN_CHANGE], &at);
	diff_interval(cell[COLUMN_INTERVAL], &at);
	diff_p(cell[COLUMN_P], &at);
	snprintf(cell[COLUMN_VERDICT], FORMAT_SIZE, "%s", diff_verdict(&at));
	for (size_t c = 0; c < COLUMN_ALSO && !err; c++)
		err = grid_set_cell(grid, place, c, cell[c]);
	if (part->warned && !err)
		err = grid_set_cell(grid, place, COLUMN_ALSO, at.result->why ? at.result->why : "");
	if (at.diff->npasses && !err)
		err = grid_set_cell(grid, place, part->pass, diff_pass(at.diff, part->kind, part->metric, at.row));
	return err;
}

static int part_print(const struct table *t, u32 side, enum diff_kind kind, u32 metric)
{
	struct part part = { .t = t, .side = side, .kind = kind, .metric = metric };
	u32 all = part_rows(&part);
	char title[200], name[180];
	struct grid grid;
	int err;

	if (!all)
		return 0;
	text_fit(name, sizeof(name), t->diff->tables[kind].metrics[metric].text, 40);
	if (kind == DIFF_TOTALS)
		snprintf(title, sizeof(title), "total");
	else
		snprintf(title, sizeof(title), "%s, %s", diff_kind_words[kind], name);
	part.pass = COLUMN_ALSO + part.warned;
	err = grid_init(&grid, title, part.rows, part.pass + (t->diff->npasses > 0));
	err = err ? err : part_titles(&part, &grid);
	for (u32 i = 0; i < part.rows && !err; i++)
		err = part_row(&part, &grid, i);
	if (!err) {
		fputc('\n', t->file);
		grid_print(t->file, &grid, t->options->output.width, t->options->output.color);
		if (all > part.rows)
			fprintf(t->file, "and %u more; --top 0 shows all\n", all - part.rows);
	}
	grid_fini(&grid);
	return err;
}

/* ---- all of it */

static void side_header(const struct table *t, u32 i)
{
	const struct diff_side *side = &t->diff->sides[i];
	char text[TEXT_SIZE], first[200];

	if (side->command) {
		text_escape(text, sizeof(text), side->command, strlen(side->command));
		lines_print(&t->lines, STYLE_ACCENT, side->label, "%s, %u run%s", text, side->nruns,
			    side->nruns == 1 ? "" : "s");
		return;
	}
	text_escape(first, sizeof(first), side->runs[0].path, strlen(side->runs[0].path));
	snprintf(text, sizeof(text), "%s", first);
	if (side->nruns > 1) {
		const char *last = side->runs[side->nruns - 1].path;

		text_escape(first, sizeof(first), last, strlen(last));
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " to %s, %u runs", first, side->nruns);
	}
	lines_print(&t->lines, STYLE_ACCENT, side->label, "%s", text);
}

static void gates_print(const struct table *t, u32 side)
{
	for (u32 i = 0; i < t->diff->ngates; i++) {
		const struct diff_gate *gate = &t->diff->gates[i];
		char text[TEXT_SIZE];

		diff_gate_text(text, sizeof(text), t->diff, i, side);
		lines_print(&t->lines, gate->results[side].end == DIFF_PASSED ? STYLE_PLAIN : STYLE_BAD, gate->text, "%s",
			    text);
	}
}

static int side_print(const struct table *t, u32 side)
{
	const struct diff *diff = t->diff;
	const struct diff_side *s = &diff->sides[side];
	char text[TEXT_SIZE];
	int err = 0;

	if (s->refused[0] && !diff->force) {
		lines_print(&t->lines, STYLE_BAD, "not comparable",
			    "A and %s: %s; --force compares them, with this warning in each row", s->label, s->refused);
		return 0;
	}
	for (u32 kind = 0; kind < DIFF_KINDS; kind++)
		for (u32 m = 0; m < diff->tables[kind].nmetrics && !err; m++)
			err = part_print(t, side, kind, m);
	fputc('\n', t->file);
	diff_summary(text, sizeof(text), diff, side);
	lines_print(&t->lines, STYLE_STRONG, "result", "%s", text);
	gates_print(t, side);
	return err;
}

int diff_table(FILE *file, const struct diff *diff, const struct diff_options *options)
{
	const struct table t = { file, diff, options, { .file = file, .options = &options->output } };
	int err = 0;

	for (u32 i = 0; i < diff->nsides && options->output.verbose >= 0; i++)
		side_header(&t, i);
	for (u32 i = 1; i < diff->nsides && !err; i++)
		err = side_print(&t, i);
	for (u32 i = 0; i < diff->nnotes; i++)
		lines_print(&t.lines, STYLE_PLAIN, "note", "%s", diff->notes[i]);
	return err;
}
