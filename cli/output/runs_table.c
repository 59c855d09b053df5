/* SPDX-License-Identifier: MIT */
/* Repeated runs for people; see runs_output.h. */
#define _GNU_SOURCE
#include <string.h>

#include "cli/log.h"
#include "cli/output/format.h"
#include "cli/output/grid.h"
#include "cli/output/lines.h"
#include "cli/output/runs_output.h"
#include "cli/output/spread_grid.h"
#include "cli/text.h"

#define SIDE_BY_SIDE 3               /* commands whose totals fit beside each other */
#define TEXT_SIZE 400

struct table {
	FILE *file;
	const struct runs *runs;
	const struct output_options *options;
};

/* With the mark of what counts user mode alone. */
static int name_set(struct grid *grid, size_t row, const struct runs_series *s)
{
	const struct total_fact total = { .name = s->name, .cell = { .state = s->state, .note = s->note } };
	char name[TEXT_SIZE];

	snprintf(name, sizeof(name), "%s%s", s->name, format_total_side(&total));
	return grid_set_name(grid, row, name, 0);
}

static void value_text(char out[FORMAT_SIZE], const struct runs_series *s, double value, bool utf8)
{
	/* The middle of two counts is to look like a count. */
	double shown = !strcmp(s->unit, "count") ? (double)(s64)(value + 0.5) : value;
	struct total_fact total = { .name = s->name, .unit = s->unit, .cell = cell_counted(shown) };

	total.cell.state = s->state;
	format_total(out, &total, utf8);
}

static void missing_text(char out[FORMAT_SIZE], const struct runs_series *s)
{
	struct total_fact total = { .name = s->name, .unit = s->unit,
				    .cell = cell_absent(s->state > CELL_ESTIMATE ? s->state : CELL_UNAVAILABLE, NULL) };

	format_total(out, &total, false);
}

static void median_text(char out[FORMAT_SIZE], const struct runs_series *s, bool utf8)
{
	if (s->known)
		value_text(out, s, s->spread.median, utf8);
	else
		missing_text(out, s);
}

/* The MAD as a part of the median: "0.4 %". */
static void mad_text(char out[FORMAT_SIZE], const struct runs_series *s)
{
	out[0] = 0;
	if (s->known && s->spread.median > 0)
		format_percent(out, s->spread.mad / s->spread.median * 100);
}

void runs_ratio_text(char *out, size_t size, double ratio, double half, bool utf8)
{
	int digits = half >= 0.1 ? 1 : half >= 0.005 || half <= 0 ? 2 : half >= 0.0005 ? 3 : 4;

	snprintf(out, size, "%.*f %s %.*f", digits, ratio, utf8 ? "±" : "+-", digits, half);
}

static int ratio_digits(const struct comparison *c)
{
	double half = (c->high - c->low) / 2;

	return half >= 0.05 ? 2 : half >= 0.0005 || half <= 0 ? 3 : 4;
}

static void ratio_text(char out[FORMAT_SIZE], const struct comparison *c)
{
	if (c->known)
		snprintf(out, FORMAT_SIZE, "%.*f", ratio_digits(c), c->ratio);
	else
		snprintf(out, FORMAT_SIZE, "-");
}

static void interval_text(char out[FORMAT_SIZE], const struct comparison *c, bool utf8)
{
	int digits = ratio_digits(c);

	out[0] = 0;
	if (c->known && c->bounded)
		snprintf(out, FORMAT_SIZE, "%.*f %s %.*f", digits, c->low, utf8 ? "–" : "-", digits, c->high);
}

/* ---- one command: a total a line, with its spread */

static void one_text(char out[FORMAT_SIZE], const void *what, double value, bool utf8)
{
	value_text(out, what, value, utf8);
}

static int one_fill(struct grid *grid, size_t row, const struct runs_series *s, bool utf8)
{
	char text[FORMAT_SIZE];
	int err = name_set(grid, row, s);

	if (err || s->known)
		return err ? err : spread_cells(grid, row, &s->spread, &(struct spread_way){ one_text, s, utf8 });
	missing_text(text, s);
	return grid_set_cell(grid, row, SPREAD_MEDIAN, text);
}

static int one_make(struct grid *grid, const struct table *t)
{
	const struct runs_command *c = &t->runs->command[0];
	int err = grid_init(grid, "counter", c->nseries, SPREAD_COLUMNS);

	err = err ? err : spread_titles(grid);
	for (size_t k = 0; !err && k < c->nseries; k++)
		err = c->series[k].shown ? one_fill(grid, k, &c->series[k], t->options->utf8) : 0;
	return err;
}

/* ---- some commands: a total a line, the commands side by side */

static int column_add(struct grid *grid, size_t *at, const char *title, unsigned int importance)
{
	grid->columns[*at].importance = importance;
	return grid_set_title(grid, (*at)++, title);
}

static int some_titles(struct grid *grid, const struct runs *runs)
{
	const char *reference = runs->command[runs->reference].label;
	char title[2 * RUNS_LABEL + 8];
	size_t at = 0;
	int err = 0;

	for (size_t i = 0; !err && i < runs->n; i++) {
		const char *label = runs->command[i].label;

		err = column_add(grid, &at, label, 9) || column_add(grid, &at, "MAD", 6);
		if (err || i == runs->reference)
			continue;
		snprintf(title, sizeof(title), "%s / %s", label, reference);
		err = column_add(grid, &at, title, 8) || column_add(grid, &at, "95 %", 7);
	}
	return err;
}

static int some_fill(struct grid *grid, size_t row, const struct table *t)
{
	const struct runs *runs = t->runs;
	char cell[4][FORMAT_SIZE];
	size_t at = 0;
	int err = name_set(grid, row, &runs->command[0].series[row]);

	for (size_t i = 0; !err && i < runs->n; i++) {
		static const struct runs_series none = { .unit = (char *)(uintptr_t)"", .state = CELL_UNAVAILABLE };
		const struct runs_command *c = &runs->command[i];
		const struct runs_series *s = row < c->nseries ? &c->series[row] : &none;
		size_t n = i == runs->reference ? 2 : 4;

		median_text(cell[0], s, t->options->utf8);
		mad_text(cell[1], s);
		ratio_text(cell[2], &s->comparison);
		interval_text(cell[3], &s->comparison, t->options->utf8);
		for (size_t k = 0; !err && k < n; k++)
			err = grid_set_cell(grid, row, at++, cell[k]);
	}
	return err;
}

static int some_make(struct grid *grid, const struct table *t)
{
	const struct runs_command *first = &t->runs->command[0];
	int err = grid_init(grid, "counter", first->nseries, 4 * t->runs->n - 2);

	err = err ? err : some_titles(grid, t->runs);
	for (size_t k = 0; !err && k < first->nseries; k++)
		err = first->series[k].shown ? some_fill(grid, k, t) : 0;
	return err;
}

/* ---- many commands: one a line, with one total */

enum { MANY_MEDIAN, MANY_MAD, MANY_RATIO, MANY_INTERVAL, MANY_COLUMNS };

static int many_fill(struct grid *grid, size_t row, size_t series, const struct table *t)
{
	const struct runs_command *c = &t->runs->command[row];
	char cell[MANY_COLUMNS][FORMAT_SIZE] = { "" }, name[TEXT_SIZE], text[TEXT_SIZE];
	int err;

	text_escape(text, sizeof(text), c->text, strlen(c->text));
	snprintf(name, sizeof(name), "%s  %.380s", c->label, text);
	err = grid_set_name(grid, row, name, 0);
	if (series < c->nseries) {
		const struct runs_series *s = &c->series[series];

		median_text(cell[MANY_MEDIAN], s, t->options->utf8);
		mad_text(cell[MANY_MAD], s);
		if (row != t->runs->reference)
			ratio_text(cell[MANY_RATIO], &s->comparison);
		interval_text(cell[MANY_INTERVAL], &s->comparison, t->options->utf8);
	}
	for (size_t k = 0; k < MANY_COLUMNS && !err; k++)
		err = grid_set_cell(grid, row, k, cell[k]);
	return err;
}

static int many_make(struct grid *grid, const struct table *t, size_t series)
{
	const struct runs *runs = t->runs;
	char ratio[RUNS_LABEL + 8];
	size_t at = 0;
	int err = grid_init(grid, runs->command[0].series[series].name, runs->n, MANY_COLUMNS);

	snprintf(ratio, sizeof(ratio), "to %s", runs->command[runs->reference].label);
	err = err || column_add(grid, &at, "median", 9) || column_add(grid, &at, "MAD", 6) ||
	      column_add(grid, &at, ratio, 8) || column_add(grid, &at, "95 %", 7);
	for (size_t i = 0; !err && i < runs->n; i++)
		err = many_fill(grid, i, series, t);
	return err;
}

/* ---- all of it */

static int grid_show(const struct table *t, struct grid *grid, int err)
{
	if (!err) {
		fputc('\n', t->file);
		grid_print(t->file, grid, t->options->width, t->options->color);
	}
	grid_fini(grid);
	return err;
}

/* Of many commands the first total that is shown; with -v each. */
static int grids_show(const struct table *t)
{
	const struct runs_command *first = &t->runs->command[0];
	struct grid grid;
	int err = 0;

	if (t->runs->n == 1)
		return grid_show(t, &grid, one_make(&grid, t));
	if (t->runs->n <= SIDE_BY_SIDE)
		return grid_show(t, &grid, some_make(&grid, t));
	for (size_t k = 0; !err && k < first->nseries; k++) {
		if (!first->series[k].shown)
			continue;
		err = grid_show(t, &grid, many_make(&grid, t, k));
		if (t->options->verbose < 1)
			break;
	}
	return err;
}

/* "A is 1.31 ± 0.04 times faster than B", the greater by the lesser. */
static void sentence_print(const struct table *t, const struct lines *lines, size_t command, size_t series)
{
	const struct runs *runs = t->runs;
	const struct runs_series *s = &runs->command[command].series[series];
	const struct comparison *c = &s->comparison;
	bool less = c->ratio > 1, time = series == 0;
	const char *one = runs->command[runs->reference].label, *other = runs->command[command].label;
	double low = less ? c->low : 1 / c->high, high = less ? c->high : 1 / c->low, ratio = less ? c->ratio : 1 / c->ratio;
	char text[FORMAT_SIZE];

	runs_ratio_text(text, sizeof(text), ratio, MAX(high - ratio, ratio - low), t->options->utf8);
	lines_print(lines, STYLE_STRONG, time ? "result" : s->name, "%s %s %s times %s than %s", less ? one : other,
		    time ? "is" : "has", text, time ? "faster" : "less", less ? other : one);
}

/* The one with the least median; the first of several. */
static size_t fastest(const struct runs *runs)
{
	size_t best = runs->reference;

	for (size_t i = 0; i < runs->n; i++) {
		const struct runs_series *e = runs_elapsed(&runs->command[i]), *b = runs_elapsed(&runs->command[best]);

		if (e && b && e->known && e->spread.median < b->spread.median)
			best = i;
	}
	return best;
}

static void command_print(const struct table *t, const struct lines *lines, size_t i)
{
	const struct runs *runs = t->runs;
	const struct runs_command *c = &runs->command[i];

	for (size_t k = 0; k < c->nseries && (!k || t->options->verbose > 0 || runs->chosen); k++) {
		const struct comparison *ratio = &c->series[k].comparison;

		if (c->series[k].shown && comparison_differs(ratio))
			sentence_print(t, lines, i, k);
		else if (!k && c->series[k].shown && ratio->known && ratio->bounded)
			lines_print(lines, STYLE_STRONG, "result", "%s and %s: no difference beyond noise",
				    runs->command[runs->reference].label, c->label);
	}
}

/* Of many commands the table says it, and of one of them a sentence. */
static void results_print(const struct table *t, const struct lines *lines)
{
	const struct runs *runs = t->runs;
	size_t best = fastest(runs);

	for (size_t i = 0; i < runs->n; i++)
		if (i != runs->reference && (runs->n <= SIDE_BY_SIDE || i == best))
			command_print(t, lines, i);
	if (runs->n > SIDE_BY_SIDE)
		lines_print(lines, STYLE_PLAIN, "least median", "%s", runs->command[best].label);
}

/* What each run found; where that is not what was asked for, of which command. */
static void cache_print(const struct lines *lines, const struct runs *runs)
{
	const char *asked = cache_asked_words[runs->cache_asked];
	bool missed = false;

	for (size_t i = 0; i < runs->n; i++) {
		const struct runs_command *c = &runs->command[i];
		char because[CACHE_BECAUSE] = "", label[RUNS_LABEL + 4] = "";

		if (!c->cache_missed)
			continue;
		missed = true;
		if (c->cache_because)
			text_escape(because, sizeof(because), c->cache_because, strlen(c->cache_because));
		if (runs->n > 1)
			snprintf(label, sizeof(label), "%s: ", c->label);
		lines_print(lines, STYLE_BAD, "cache", "%s%s, not %s as asked, in %zu of %zu runs%s%s", label,
			    cache_regime_words[runs_regime(c)], asked, c->cache_missed, c->n, because[0] ? ": " : "", because);
	}
	if (!missed)
		lines_print(lines, STYLE_PLAIN, "cache", "%s, as asked, before each run", asked);
}

static void header_print(const struct table *t, const struct lines *lines)
{
	const struct runs *runs = t->runs;
	char text[TEXT_SIZE], warm[48] = "", count[48];
	size_t least = runs->command[0].n, most = least;

	if (runs->warmups)
		snprintf(warm, sizeof(warm), ", %lu warm-up%s before", runs->warmups, runs->warmups == 1 ? "" : "s");
	for (size_t i = 0; i < runs->n && runs->n <= SIDE_BY_SIDE; i++) {
		text_escape(text, sizeof(text), runs->command[i].text, strlen(runs->command[i].text));
		lines_print(lines, STYLE_ACCENT, runs->n > 1 ? runs->command[i].label : "spark", "%s", text);
	}
	for (size_t i = 0; i < runs->n; i++) {
		least = MIN(least, runs->command[i].n);
		most = MAX(most, runs->command[i].n);
	}
	/* What ended it did so within a round. */
	snprintf(count, sizeof(count), least < most ? "%zu to %zu" : "%zu", least, most);
	lines_print(lines, STYLE_PLAIN, "runs", "%s%s%s%s", count,
		    runs->n > 1 ? " of each, by turns" : "", warm, runs->stopped ? "; stopped early" : "");
	if (runs->cached)
		cache_print(lines, runs);
	lines_storage_of(lines, runs->storage, runs->cached);
}

static bool series_missing(const struct table *t, const struct runs_series *s)
{
	return !s->known && s->note && (s->shown || !t->runs->chosen);
}

/* It has a value of which something is to be said that no mark at its name says. */
static bool series_noted(const struct table *t, const struct runs_series *s)
{
	const struct cell cell = { .state = s->state, .note = s->note };
	bool split = !strcmp(s->name, "user") || !strcmp(s->name, "sys");

	return s->known && s->shown && s->note && !cell_of_user(&cell) && (!split || t->options->verbose > 0);
}

/* The notes of those that are to be told of; one line for all that have the same. */
static void notes_print(const struct table *t, const struct lines *lines, const char *label,
			bool (*told)(const struct table *t, const struct runs_series *s))
{
	const struct runs_command *c = &t->runs->command[0];
	char names[TEXT_SIZE];

	for (size_t k = 0; k < c->nseries; k++) {
		const struct runs_series *s = &c->series[k];
		bool before = false;
		size_t at = 0;

		if (!told(t, s))
			continue;
		for (size_t i = 0; i < c->nseries && at < sizeof(names); i++) {
			if (!told(t, &c->series[i]) || strcmp(c->series[i].note, s->note) != 0)
				continue;
			before = before || i < k;
			at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", at ? ", " : "", c->series[i].name);
		}
		if (!before)
			lines_print(lines, STYLE_PLAIN, label, "%s: %s", names, s->note);
	}
}

int runs_table(FILE *file, const struct runs *runs, const struct output_options *options)
{
	const struct table t = { file, runs, options };
	const struct lines lines = { .file = file, .options = options };

	if (options->verbose >= 0)
		header_print(&t, &lines);
	if (grids_show(&t))
		return -1;
	fputc('\n', file);
	results_print(&t, &lines);
	for (size_t i = 0; i < runs->nnotes; i++)
		lines_print(&lines, STYLE_PLAIN, "note", "%s", runs->notes[i]);
	notes_print(&t, &lines, "note", series_noted);
	notes_print(&t, &lines, "not available", series_missing);
	return 0;
}
