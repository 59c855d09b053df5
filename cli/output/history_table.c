/* SPDX-License-Identifier: MIT */
/* Histories for people; see history_output.h. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/change.h"
#include "cli/output/grid.h"
#include "cli/output/history_output.h"
#include "cli/output/lines.h"
#include "cli/text.h"

#define TEXT_SIZE 1024
/* Columns beside the name and the trend: "8.71 us" and "+12.3 %", with gaps. */
enum { BESIDE = 20, NAME_LEAST = 12, TREND_LEAST = 6, TURNS_SHOWN = 5, FIGURES_SHOWN = 3 };

enum { COLUMN_NEWEST, COLUMN_TREND, COLUMN_CHANGE, COLUMNS };

struct table {
	FILE *file;
	const struct histories *all;
	const struct history *history;
	const struct history_options *options;
	struct lines lines;
};

/* ---- tables ---------------------------------------------------------------------------------------- */

/* The newest change of a row; NULL: none. */
static const struct history_change *newest_change(const struct history *h, u32 series)
{
	const struct history_change *newest = NULL;

	for (u32 i = 0; h->series[series].nchanges && i < h->nchanges; i++)
		if (h->changes[i].series == series)
			newest = &h->changes[i];
	return newest;
}

static double size_of(const struct history_change *c)
{
	double ratio = c->before > 0 && c->after > 0 ? c->after / c->before : 1e9;

	return ratio < 1 ? 1 / ratio : ratio;
}

struct place {
	u32 series;
	double change, value;        /* change: 0: none */
};

/* What changed most in front, then what takes most. */
static int place_order(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->change != y->change)
		return x->change < y->change ? 1 : -1;
	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return (x->series > y->series) - (x->series < y->series);
}

static struct place *places_of(const struct history *h, u32 first, u32 n)
{
	struct place *places = calloc(n + 1, sizeof(*places));

	for (u32 i = 0; places && i < n; i++) {
		const struct history_series *s = &h->series[first + i];
		const struct history_change *c = newest_change(h, first + i);

		places[i] = (struct place){ first + i, c ? size_of(c) : 0, history_value(h, s, s->newest) };
	}
	if (places)
		qsort(places, n, sizeof(*places), place_order);
	return places;
}

static size_t trend_columns(const struct table *t)
{
	size_t width = t->options->output.width, name = MAX(width / 4, (size_t)NAME_LEAST);

	return !width ? HISTORY_TREND_MOST :
	       width > name + BESIDE + TREND_LEAST ? MIN(width - name - BESIDE, (size_t)HISTORY_TREND_MOST) : TREND_LEAST;
}

static int table_row(const struct table *t, struct grid *grid, size_t at, u32 series)
{
	const struct history *h = t->history;
	const struct history_series *s = &h->series[series];
	const struct history_change *c = newest_change(h, series);
	const char *path = history_path(h, s), *last = strrchr(path, ';');
	char newest[FORMAT_SIZE], trend[HISTORY_TREND_SIZE], change[FORMAT_SIZE] = "";

	history_format(newest, h, s, history_value(h, s, s->newest), t->options->output.utf8);
	history_trend(trend, h, series, trend_columns(t), t->options->output.utf8);
	if (c)
		history_ratio(change, c->before, c->after);
	return grid_set_name(grid, at, path, last ? strlen(last) : 0) || grid_set_cell(grid, at, COLUMN_NEWEST, newest) ||
	       grid_set_cell(grid, at, COLUMN_TREND, trend) || grid_set_cell(grid, at, COLUMN_CHANGE, change) ? -1 : 0;
}

static int table_titles(struct grid *grid)
{
	static const struct { const char *title; unsigned int importance; } columns[COLUMNS] = {
		[COLUMN_NEWEST] = { "newest", 2 }, [COLUMN_TREND] = { "trend", 3 }, [COLUMN_CHANGE] = { "change", 4 },
	};
	int err = 0;

	for (size_t c = 0; c < COLUMNS && !err; c++) {
		err = grid_set_title(grid, c, columns[c].title);
		grid->columns[c].importance = columns[c].importance;
	}
	return err;
}

/* Of the rows of one metric, or of all totals. */
static int table_print(const struct table *t, u32 first, u32 n)
{
	const struct history *h = t->history;
	unsigned long top = t->options->top;
	size_t shown = top && top < n && h->series[first].kind != DIFF_TOTALS ? top : n;
	struct place *places = places_of(h, first, n);
	char title[200], name[180];
	struct grid grid;
	int err;

	text_fit(name, sizeof(name), history_metric(h, &h->series[first]), 40);
	snprintf(title, sizeof(title), "%s", h->series[first].kind == DIFF_TOTALS ? "total" : name);
	err = grid_init(&grid, title, shown, COLUMNS) || !places || table_titles(&grid) ? -1 : 0;
	for (size_t i = 0; i < shown && !err; i++)
		err = table_row(t, &grid, i, places[i].series);
	if (!err) {
		fputc('\n', t->file);
		grid_print(t->file, &grid, t->options->output.width, t->options->output.color);
		if (n > shown)
			fprintf(t->file, "and %zu more; --top 0 shows all\n", n - shown);
	}
	grid_fini(&grid);
	free(places);
	return err;
}

static int tables_print(const struct table *t)
{
	const struct history *h = t->history;
	u32 n;
	int err = 0;

	for (u32 first = 0; first < h->nseries && !err; first += n) {
		const struct history_series *s = &h->series[first];

		for (n = 1; first + n < h->nseries && s[n].kind == s->kind && s[n].metric == s->metric;)
			n++;
		err = table_print(t, first, n);
	}
	return err;
}

/* ---- lines ----------------------------------------------------------------------------------------- */

static int change_order(const void *a, const void *b)
{
	double x = size_of(*(const struct history_change *const *)a), y = size_of(*(const struct history_change *const *)b);

	return (x < y) - (x > y);
}

/* "wall of parse +5.1 %, 381 to 400 us, p 0.0002" */
static void figure_print(const struct table *t, FILE *f, const struct history_change *c)
{
	const struct history *h = t->history;
	const struct history_series *s = &h->series[c->series];
	char before[FORMAT_SIZE], after[FORMAT_SIZE], ratio[FORMAT_SIZE], path[128];

	history_format(before, h, s, c->before, t->options->output.utf8);
	history_format(after, h, s, c->after, t->options->output.utf8);
	history_ratio(ratio, c->before, c->after);
	text_fit(path, sizeof(path), history_path(h, s), 40);
	if (s->kind == DIFF_REGIONS)
		fprintf(f, "%s of ", history_metric(h, s));
	fprintf(f, "%s %s, %s to %s, p %s%.*f", path, ratio, before, after, c->p < 0.0001 ? "<" : "", 4,
		c->p < 0.0001 ? 0.0001 : c->p);
}

/* All changes that begin with one run, the greatest first. */
static void changes_line(const struct table *t, const struct history_change **of, u32 n)
{
	char run[128], text[TEXT_SIZE], between[TEXT_SIZE];
	FILE *f = fmemopen(text, sizeof(text), "w");
	u32 fields = 0;

	if (!f)
		return;
	qsort(of, n, sizeof(*of), change_order);
	history_run_name(run, sizeof(run), t->history, of[0]->run);
	fprintf(f, "from %s: ", run);
	for (u32 i = 0; i < n && i < FIGURES_SHOWN; i++) {
		fputs(i ? "; " : "", f);
		figure_print(t, f, of[i]);
	}
	if (n > FIGURES_SHOWN)
		fprintf(f, "; and %u more", n - FIGURES_SHOWN);
	for (u32 i = 0; i < n; i++)
		fields |= of[i]->fields;
	history_between(between, sizeof(between), t->history, of[0]->former, of[0]->run, of[0]->fields,
			t->options->output.utf8);
	if (!fields)
		fputs("; nothing else is known to have changed there", f);
	else
		fprintf(f, "; with %s", between);
	history_regime(between, sizeof(between), t->history, of[0]->run);
	if (!of[0]->outside && *between)
		fprintf(f, "; among runs of %s", between);
	fclose(f);
	text[sizeof(text) - 1] = '\0';
	lines_print(&t->lines, of[0]->outside ? STYLE_PLAIN : STYLE_STRONG, of[0]->outside ? "not comparable" : "change", "%s",
		    text);
}

static int changes_print(const struct table *t)
{
	const struct history *h = t->history;
	const struct history_change **of = calloc(h->nchanges + 1, sizeof(*of));

	for (u32 run = 0; of && run < history_nruns(h); run++)
		for (int outside = 0; outside <= 1; outside++) {
			u32 n = 0;

			for (u32 i = 0; i < h->nchanges; i++)
				if (h->changes[i].run == run && h->changes[i].outside == outside)
					of[n++] = &h->changes[i];
			if (n)
				changes_line(t, of, n);
		}
	free(of);
	return of ? 0 : -1;
}

/* The host and the environment may be others each time; they are told where something changed with them. */
static u32 turn_shown(const struct history_turn *turn, int verbose)
{
	return verbose > 0 ? turn->fields : turn->fields & ~(1u << DIFF_HOST | 1u << DIFF_ENVIRONMENT | 1u << DIFF_LIBRARIES);
}

static bool regime_is_new(const struct history *h, u32 run)
{
	u32 first = 0;

	while (h->of[first].left_out || h->of[first].regime != h->of[run].regime)
		first++;
	return first == run;
}

static void turns_print(const struct table *t)
{
	const struct history *h = t->history;
	u32 n = 0, skip;

	for (u32 i = 0; i < h->nturns; i++)
		n += turn_shown(&h->turns[i], t->options->output.verbose) != 0;
	skip = n > TURNS_SHOWN && t->options->output.verbose <= 0 ? n - TURNS_SHOWN : 0;
	if (skip)
		lines_print(&t->lines, STYLE_PLAIN, "provenance", "%u turns before these; -v shows them", skip);
	for (u32 i = 0; i < h->nturns; i++) {
		u32 fields = turn_shown(&h->turns[i], t->options->output.verbose), run = h->turns[i].run, former = run - 1;
		char name[128], between[TEXT_SIZE];

		if (!fields)
			continue;
		if (skip) {
			skip--;
			continue;
		}
		while (former && h->of[former].left_out)
			former--;
		history_run_name(name, sizeof(name), h, run);
		history_between(between, sizeof(between), h, former, run, fields, t->options->output.utf8);
		lines_print(&t->lines, STYLE_PLAIN, "provenance", "from %s: %s%s", name, between,
			    !h->turns[i].parts ? "" : regime_is_new(h, run) ? "; not compared with the runs before" :
			    "; compared with earlier runs of that kind alone");
	}
}

static void header_print(const struct table *t)
{
	const struct history *h = t->history;
	u32 n = history_nruns(h);
	char command[200], from[64], to[64], escaped[800];

	text_escape(escaped, sizeof(escaped), h->command, strlen(h->command));
	text_fit(command, sizeof(command), escaped, 60);
	history_time(from, sizeof(from), history_at(h, 0)->started_ns);
	history_time(to, sizeof(to), history_at(h, n - 1)->started_ns);
	lines_print(&t->lines, STYLE_ACCENT, "history", "%s: %u run%s, %s%s%s UTC", command, n, n == 1 ? "" : "s", from,
		    n > 1 ? " to " : "", n > 1 ? to : "");
}

static void mixed_print(const struct table *t)
{
	u32 n = 0;

	for (u32 i = 0; i < t->history->nseries; i++)
		n += t->history->series[i].mixed;
	if (n)
		lines_print(&t->lines, STYLE_PLAIN, "mixed", "%u row%s with values of user mode alone, or estimates, in some runs: those "
			    "are not compared with the others", n, n == 1 ? "" : "s");
}

static int history_print(const struct table *t)
{
	const struct history *h = t->history;
	int err;

	header_print(t);
	if (!h->nseries)
		lines_print(&t->lines, STYLE_PLAIN, "no rows", "no run has a value of that metric and region");
	err = tables_print(t);
	fputc('\n', t->file);
	err = err ? err : changes_print(t);
	turns_print(t);
	if (h->nshort)
		lines_print(&t->lines, STYLE_PLAIN, "too few", "%u of %u runs have less than %d of their like, too few to be judged by "
			    "themselves", h->nshort, history_nruns(h) - h->nleft_out, 2 * CHANGE_LEAST);
	mixed_print(t);
	if (h->nleft_out)
		lines_print(&t->lines, STYLE_PLAIN, "left out", "%u run%s that ended in another way than most", h->nleft_out,
			    h->nleft_out == 1 ? "" : "s");
	if (h->before)
		lines_print(&t->lines, STYLE_PLAIN, "older", "%llu runs; --last shows more", (unsigned long long)h->before);
	return err;
}

static void rule_print(const struct table *t)
{
	lines_print(&t->lines, STYLE_PLAIN, "rule",
		    "a change is told by the ranks of its runs, from the fourth of them on; where nothing changed, less than 1 in "
		    "%.0f such reports tells of one", 1 / t->all->rate);
}

int history_table(FILE *file, const struct histories *all, const struct history_options *options)
{
	struct table t = { .file = file, .all = all, .options = options,
			   .lines = { .file = file, .options = &options->output } };
	int err = 0;

	if (!all->n)
		lines_print(&t.lines, STYLE_PLAIN, "no runs", "run --history FILE adds them");
	for (u32 i = 0; i < all->n && !err; i++) {
		if (i)
			fputc('\n', file);
		t.history = &all->item[i];
		err = history_print(&t);
	}
	if (all->n && options->output.verbose >= 0)
		rule_print(&t);
	return err;
}
