/* SPDX-License-Identifier: MIT */
/* The rows, metrics and values of a diff: found by name, whatever the run; see diff_build.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/diff_build.h"
#include "cli/analyze/report_build.h"
#include "cli/opt.h"
#include "cli/text.h"

char *diff_printable(const char *bytes)
{
	size_t len = strlen(bytes), size = 4 * len + 1;
	char *text = malloc(size);

	if (text)
		text_escape(text, size, bytes, len);
	return text;
}

bool diff_same_unit(const char *unit, const char *bytes)
{
	char *text = strcmp(unit, bytes) ? diff_printable(bytes) : NULL;
	bool same = !text || !strcmp(unit, text);

	free(text);
	return same;
}

u32 diff_metric(struct diff *diff, enum diff_kind kind, const char *name, const char *unit, enum metric_format format,
		bool diagnostic)
{
	struct diff_table *table = &diff->tables[kind];
	struct diff_metric *metrics, *added;

	for (u32 m = 0; m < table->nmetrics; m++)
		if (!strcmp(table->metrics[m].name, name)) {
			table->metrics[m].units = table->metrics[m].units || !diff_same_unit(table->metrics[m].unit, unit);
			return m;
		}
	metrics = report_grow(table->metrics, table->nmetrics, sizeof(*metrics));
	if (!metrics)
		return DIFF_NONE;
	table->metrics = metrics;
	added = &metrics[table->nmetrics];
	*added = (struct diff_metric){ .name = strdup(name), .text = diff_printable(name),
				       .unit = diff_printable(unit), .format = format, .diagnostic = diagnostic };
	if (!added->name || !added->text || !added->unit) {
		free(added->name);
		free(added->text);
		free(added->unit);
		return DIFF_NONE;
	}
	return table->nmetrics++;
}

/* FNV-1a. */
static u64 row_hash(u32 parent, const char *name, size_t len, const char *origin)
{
	u64 hash = 0xcbf29ce484222325ULL ^ parent;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3ULL;
	for (; *origin; origin++)
		hash = (hash ^ (unsigned char)*origin) * 0x100000001b3ULL;
	return hash ^ hash >> 29;
}

static int table_index(struct diff_table *table)
{
	u32 n = table->nslots ? table->nslots * 2 : 64;
	u32 *slots;

	if (table->nrows * 2 < table->nslots)
		return 0;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return -1;
	for (u32 i = 0; i < table->nrows; i++) {
		u32 at = (u32)table->rows[i].hash & (n - 1);

		while (slots[at])
			at = (at + 1) & (n - 1);
		slots[at] = i + 1;
	}
	free(table->slots);
	table->slots = slots;
	table->nslots = n;
	return 0;
}

/* "a;b" of a region, printable. */
static char *row_text(const struct diff_table *table, enum diff_kind kind, const struct diff_row *row)
{
	const char *outer = row->parent == DIFF_NONE || table->rows[row->parent].parent == DIFF_NONE ? "" :
			    table->rows[row->parent].text;
	size_t before = strlen(outer), size = before + 4 * row->len + 2;
	char *text = malloc(size);

	if (!text)
		return NULL;
	if (kind == DIFF_REGIONS && row->parent == DIFF_NONE) {
		strcpy(text, "");
		return text;
	}
	memcpy(text, outer, before);
	if (before)
		text[before++] = ';';
	text_escape(text + before, size - before, row->name, row->len);
	return text;
}

static u32 row_new(struct diff_table *table, enum diff_kind kind, const struct diff_row *as)
{
	struct diff_row *row;

	if (table->nrows == table->rows_room) {
		u32 room = table->rows_room ? table->rows_room * 2 : 64;
		struct diff_row *rows = realloc(table->rows, room * sizeof(*rows));

		if (!rows)
			return DIFF_NONE;
		table->rows = rows;
		table->rows_room = room;
	}
	row = &table->rows[table->nrows];
	*row = *as;
	row->name = malloc(as->len + 1);
	row->origin = strdup(as->origin);
	row->text = row->name && row->origin ? (memcpy(row->name, as->name, as->len), row->name[as->len] = '\0',
						row_text(table, kind, row)) : NULL;
	if (row->text)
		return table->nrows++;
	free(row->name);
	free(row->origin);
	return DIFF_NONE;
}

u32 diff_row(struct diff *diff, enum diff_kind kind, u32 parent, const char *name, size_t len, const char *origin)
{
	struct diff_table *table = &diff->tables[kind];
	u64 hash = row_hash(parent, name, len, origin);
	u32 at, row;

	if (table_index(table))
		return DIFF_NONE;
	for (at = (u32)hash & (table->nslots - 1); table->slots[at]; at = (at + 1) & (table->nslots - 1)) {
		const struct diff_row *is = &table->rows[table->slots[at] - 1];

		if (is->hash == hash && is->parent == parent && is->len == len && !memcmp(is->name, name, len) &&
		    !strcmp(is->origin, origin))
			return table->slots[at] - 1;
	}
	row = row_new(table, kind, &(struct diff_row){
		.parent = parent, .name = (char *)(uintptr_t)name, .len = len, .origin = (char *)(uintptr_t)origin,
		.hash = hash,
		.depth = parent == DIFF_NONE ? 0 : table->rows[parent].depth + 1 });
	if (row != DIFF_NONE)
		table->slots[at] = row + 1;
	return row;
}

const char *diff_renamed(const struct diff *diff, const struct diff_run *run, const char *name, size_t *len)
{
	const struct diff_side *first = &diff->sides[0];

	for (size_t i = 0; run == &first->runs[first->nruns] && diff->renames && i < diff->renames->n; i++) {
		const char *rename = diff->renames->item[i], *to = strchr(rename, '=');

		if (to && (size_t)(to - rename) == *len && !memcmp(rename, name, *len)) {
			*len = strlen(to + 1);
			return to + 1;
		}
	}
	return name;
}

const char *diff_rename_clash(const struct diff *diff, char text[DIFF_NOTE])
{
	if (!diff->clash)
		return NULL;
	text_fit(text, DIFF_NOTE, diff->tables[DIFF_REGIONS].rows[diff->clash - 1].text, 70);
	return text;
}

/* ---- values ---------------------------------------------------------------------------------------- */

static int run_columns(struct diff_run *run, enum diff_kind kind, u32 n)
{
	struct diff_column *columns;

	if (n <= run->ncolumns[kind])
		return 0;
	columns = realloc(run->columns[kind], n * sizeof(*columns));
	if (!columns)
		return -1;
	memset(columns + run->ncolumns[kind], 0, (n - run->ncolumns[kind]) * sizeof(*columns));
	run->columns[kind] = columns;
	run->ncolumns[kind] = n;
	return 0;
}

/* For a row and all that the table has room for. */
static int column_room(struct diff_column *column, const struct diff_table *table, u32 row)
{
	u32 n = table->rows_room;
	double *value;
	u8 *state;

	if (row < column->n)
		return 0;
	value = realloc(column->value, n * sizeof(*value));
	if (!value)
		return -1;
	column->value = value;
	state = realloc(column->state, n);
	if (!state)
		return -1;
	column->state = state;
	memset(state + column->n, 0, n - column->n);
	for (u32 i = column->n; i < n; i++)
		value[i] = NAN;
	column->n = n;
	return 0;
}

/*
 * Times are of one pass alone, where nothing else disturbs them. What is counted is of the best pass that has it, since
 * of what is sampled or seen at switches a counting pass knows nothing.
 */
static bool pass_has(struct diff *diff, enum diff_kind kind, u32 metric, u32 row, bool there, bool has)
{
	struct diff_table *table = &diff->tables[kind];
	bool timed = kind == DIFF_TOTALS ? table->rows[row].timed : table->metrics[metric].timed, best = true;
	u32 *pass = kind == DIFF_TOTALS ? &table->rows[row].pass : &table->metrics[metric].pass;

	if (!diff->npasses)
		return true;
	for (u32 i = 0; i < diff->npasses; i++)
		best = best && pass_rank(diff->pass, timed) <= pass_rank(diff->passes[i], timed);
	if (timed ? !best : there && !(best && has))
		return false;
	if (has && (best || !*pass))
		*pass = (u32)diff->pass + 1;
	return true;
}

const char *diff_pass(const struct diff *diff, enum diff_kind kind, u32 metric, u32 row)
{
	const struct diff_table *table = &diff->tables[kind];
	u32 pass = kind == DIFF_TOTALS ? table->rows[row].pass : table->metrics[metric].pass;

	return pass ? pass_words[pass - 1] : "";
}

int diff_put(struct diff *diff, struct diff_run *run, enum diff_kind kind, u32 metric, u32 row, const struct cell *cell)
{
	struct diff_column *column;

	if (run_columns(run, kind, diff->tables[kind].nmetrics))
		return -1;
	column = &run->columns[kind][metric];
	if (column_room(column, &diff->tables[kind], row))
		return -1;
	if (!pass_has(diff, kind, metric, row, column->state[row] && !isnan(column->value[row]), cell_has_value(cell)))
		return 0;
	column->value[row] = cell_has_value(cell) ? cell->value : NAN;
	column->state[row] = (u8)(cell->state | DIFF_PRESENT | (cell_of_user(cell) ? DIFF_USER : 0));
	return 0;
}

int diff_put_region(struct diff *diff, struct diff_run *run, u32 row, bool renamed)
{
	u8 *state;

	if (column_room(&run->regions, &diff->tables[DIFF_REGIONS], row))
		return -1;
	state = &run->regions.state[row];
	if (*state && (renamed || *state > 1) && !diff->clash)
		diff->clash = row + 1;
	*state = renamed || *state > 1 ? 2 : 1;
	return 0;
}

bool diff_has_region(const struct diff_run *run, u32 row)
{
	return row < run->regions.n && run->regions.state[row];
}

int diff_put_within(struct diff *diff, struct diff_run *run, u32 row, double weight)
{
	struct diff_column *within = &run->within;

	if (column_room(within, &diff->tables[DIFF_FUNCTIONS], row))
		return -1;
	within->value[row] = weight + (within->state[row] ? within->value[row] : 0);
	within->state[row] = 1;
	return 0;
}

double diff_value(const struct diff_run *run, enum diff_kind kind, u32 metric, u32 row, u8 *state)
{
	const struct diff_column *column = metric < run->ncolumns[kind] ? &run->columns[kind][metric] : NULL;

	*state = column && row < column->n ? column->state[row] : 0;
	if (*state)
		return column->value[row];
	/* No sample in it is a figure, too. */
	if (kind != DIFF_FUNCTIONS || !run->sampled)
		return NAN;
	*state = CELL_ESTIMATE | DIFF_PRESENT;
	return 0;
}
