/* SPDX-License-Identifier: MIT */
/* Runs over time: what they are, and where something other than the figures changed; see history.h. */
#define _GNU_SOURCE
#include "cli/analyze/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/change.h"
#include "cli/analyze/diff_build.h"
#include "cli/analyze/history_build.h"
#include "cli/analyze/report_build.h"

/* Words of the database and of JSON; what people read; whether figures of both kinds are of two things. */
static const struct {
	const char *key, *word;
	bool parts;
} fields[HISTORY_ALL] = {
	[DIFF_CPU] = { "cpu", "CPU", true },
	[DIFF_CACHE] = { "cache", "page cache", true },
	[DIFF_HOST] = { "host", "host", false },
	[DIFF_KERNEL] = { "kernel", "kernel", true },
	[DIFF_ENVIRONMENT] = { "environment", "environment", false },
	[DIFF_COMMAND] = { "arguments", "arguments", false },
	[DIFF_LIBRARIES] = { "libraries", "libraries", false },
	[DIFF_SAMPLES] = { "samples", "samples", true },
	[DIFF_WAITS] = { "waits", "waits", true },
	[DIFF_SOURCES] = { "sources", "read at markers", true },
	[DIFF_PORTION] = { "portion", "measured", true },
	[DIFF_CLOCK] = { "clock", "clock", true },
	[DIFF_VERSION] = { "version", "sparkctl", true },
	[DIFF_LIMITS] = { "limits", "limits", true },
	[HISTORY_PROGRAM] = { "program", "program", false },
	[HISTORY_WAY] = { "way", "way of counting", true },
};

const char *history_field_key(u32 field)
{
	return fields[field].key;
}

const char *history_field_word(u32 field)
{
	return fields[field].word;
}

/* ---- the programs of a run ------------------------------------------------------------------------- */

/* The folder is no part of the name: each build may have its own. */
static char *program_line(const struct object_fact *object)
{
	const char *slash = strrchr(object->path, '/');
	char *name = diff_printable(slash ? slash + 1 : object->path), *line = NULL;

	if (name && asprintf(&line, "%s\t%s", name, object->build_id ? object->build_id : "") < 0)
		line = NULL;
	free(name);
	return line;
}

char *history_program(const struct session_facts *facts)
{
	const struct provenance *p = facts->provenance;
	size_t n = 0, most = p ? p->nobjects : 0, size;
	char **lines = calloc(most + 1, sizeof(*lines)), *text = NULL;
	FILE *f = lines ? open_memstream(&text, &size) : NULL;

	for (size_t i = 0; f && i < most; i++)
		if (p->objects[i].path && diff_is_image(facts, p->objects[i].path) && (lines[n] = program_line(&p->objects[i])))
			n++;
	diff_lines_write(f, lines, n);
	if (f && fclose(f)) {
		free(text);
		text = NULL;
	}
	return text;
}

/* ---- life ------------------------------------------------------------------------------------------ */

int history_init(struct history *history, u32 n)
{
	*history = (struct history){ .room = n, .of = calloc(n + 1, sizeof(*history->of)) };
	if (!history->of || diff_init(&history->runs, 1))
		return -1;
	history->runs.sides[0].runs = calloc(n + 1, sizeof(*history->runs.sides[0].runs));
	return history->runs.sides[0].runs ? 0 : -1;
}

static void history_free(struct history *history)
{
	for (u32 i = 0; i < (history->of && history->runs.nsides ? history_nruns(history) : 0); i++)
		free(history->of[i].program);
	free(history->of);
	free(history->command);
	free(history->turns);
	free(history->series);
	free(history->changes);
	diff_free(&history->runs);
}

void histories_free(struct histories *all)
{
	for (u32 i = 0; i < all->n; i++)
		history_free(&all->item[i]);
	free(all->item);
	all->item = NULL;
	all->n = 0;
}

/* ---- what is known --------------------------------------------------------------------------------- */

const char *history_field(const struct history *history, u32 run, u32 field)
{
	const char *text = field == HISTORY_PROGRAM ? history->of[run].program : history_at(history, run)->field[field];

	return text ? text : "";
}

double history_value(const struct history *history, const struct history_series *series, u32 run)
{
	u8 state;

	return history->of[run].left_out ? (double)NAN :
	       diff_value(history_at(history, run), series->kind, series->metric, series->row, &state);
}

u8 history_way(const struct history *history, const struct history_series *series, u32 run)
{
	u8 state;

	diff_value(history_at(history, run), series->kind, series->metric, series->row, &state);
	return (u8)((state & DIFF_USER) | ((state & DIFF_STATE) == CELL_ESTIMATE ? CELL_ESTIMATE : 0));
}

const char *history_path(const struct history *history, const struct history_series *series)
{
	const struct diff_row *row = &history->runs.tables[series->kind].rows[series->row];

	return series->kind == DIFF_REGIONS && row->parent == DIFF_NONE ? "[]" : row->text;
}

const char *history_metric(const struct history *history, const struct history_series *series)
{
	return series->kind == DIFF_TOTALS ? history_path(history, series) :
	       history->runs.tables[series->kind].metrics[series->metric].text;
}

/* ---- how runs ended, and under what ---------------------------------------------------------------- */

static bool ended_alike(const struct history_run *a, const struct history_run *b)
{
	return a->status == b->status && a->signal == b->signal && a->unfinished == b->unfinished;
}

/* Those that ended as most did are compared; of as many, those like the newest. */
static void ends_judge(struct history *h)
{
	u32 n = history_nruns(h), most = 0, like = 0;

	for (u32 i = n; i--;) {
		u32 alike = 0;

		for (u32 k = 0; k < n; k++)
			alike += ended_alike(&h->of[i], &h->of[k]);
		if (alike > most) {
			most = alike;
			like = i;
		}
	}
	for (u32 i = 0; i < n; i++) {
		h->of[i].left_out = !ended_alike(&h->of[i], &h->of[like]);
		h->nleft_out += h->of[i].left_out;
	}
}

u32 history_fields_between(const struct history *h, u32 a, u32 b)
{
	u32 mask = 0;

	for (u32 field = 0; field < HISTORY_FIELDS; field++)
		if (strcmp(history_field(h, a, field), history_field(h, b, field)) != 0)
			mask |= 1u << field;
	return mask;
}

bool history_fields_part(u32 mask)
{
	for (u32 field = 0; field < HISTORY_FIELDS; field++)
		if (mask & 1u << field && fields[field].parts)
			return true;
	return false;
}

/* That of the first run that is alike; first: those first runs. Left out runs have none. */
static int regimes_find(struct history *h)
{
	u32 n = history_nruns(h), *first = calloc(n + 1, sizeof(*first)), *count = calloc(n + 1, sizeof(*count));

	for (u32 i = 0; first && count && i < n; i++) {
		u32 r = 0;

		if (h->of[i].left_out)
			continue;
		while (r < h->nregimes && history_fields_part(history_fields_between(h, first[r], i)))
			r++;
		if (r == h->nregimes)
			first[h->nregimes++] = i;
		h->of[i].regime = r;
		count[r]++;
	}
	for (u32 r = 0; count && h->nregimes > 1 && r < h->nregimes; r++)
		h->nshort += count[r] < 2 * CHANGE_LEAST ? count[r] : 0;
	free(first);
	free(count);
	return first && count ? 0 : -1;
}

/* Runs that are left out are passed over: what they were made under is no matter. */
static int turns_find(struct history *h)
{
	u32 n = history_nruns(h), former = DIFF_NONE;

	h->turns = calloc(n + 1, sizeof(*h->turns));
	if (!h->turns)
		return -1;
	for (u32 i = 0; i < n; i++) {
		u32 mask = former == DIFF_NONE || h->of[i].left_out ? 0 : history_fields_between(h, former, i);
		bool parts = history_fields_part(mask);

		if (mask)
			h->turns[h->nturns++] = (struct history_turn){ i, mask, parts };
		h->nstretches += parts;
		h->of[i].stretch = h->nstretches;
		former = h->of[i].left_out ? former : i;
	}
	h->nstretches++;
	return regimes_find(h);
}

/* ---- rows ------------------------------------------------------------------------------------------ */

static bool row_wanted(const struct histories *all, const struct diff_table *table, enum diff_kind kind, u32 metric,
		       u32 row)
{
	const struct diff_row *r = &table->rows[row];

	if (kind == DIFF_TOTALS)
		return metric_glob(all->metrics, r->name);
	return metric_glob(all->metrics, table->metrics[metric].name) &&
	       (!all->regions || metric_glob(all->regions, r->name) || metric_glob(all->regions, r->text));
}

static int series_add(struct history *h, enum diff_kind kind, u32 metric, u32 row)
{
	struct history_series s = { .kind = kind, .metric = metric, .row = row }, *series;

	for (u32 i = 0; i < history_nruns(h); i++)
		if (!isnan(history_value(h, &s, i))) {
			s.mixed = s.mixed || (s.n && history_way(h, &s, i) != history_way(h, &s, s.newest));
			s.n++;
			s.newest = i;
		}
	if (!s.n)
		return 0;
	series = report_grow(h->series, h->nseries, sizeof(*series));
	if (!series)
		return -1;
	h->series = series;
	series[h->nseries++] = s;
	return 0;
}

static int series_find(const struct histories *all, struct history *h)
{
	static const enum diff_kind kinds[] = { DIFF_TOTALS, DIFF_REGIONS };

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		const struct diff_table *table = &h->runs.tables[kinds[k]];

		for (u32 m = 0; m < table->nmetrics; m++)
			for (u32 row = 0; row < table->nrows; row++)
				if (row_wanted(all, table, kinds[k], m, row) && series_add(h, kinds[k], m, row))
					return -1;
	}
	return 0;
}

const char *history_unknown_metric(const struct histories *all, char text[DIFF_NOTE])
{
	for (const char *globs = all->metrics; *globs;) {
		size_t len = strcspn(globs, ", ");
		bool known = !len;

		snprintf(text, DIFF_NOTE, "%.*s", (int)len, globs);
		for (u32 i = 0; i < all->n && !known; i++)
			known = !diff_unknown_metric(&(struct diff){ .metrics = text,
				.tables = { all->item[i].runs.tables[0], all->item[i].runs.tables[1] } }, (char[DIFF_NOTE]){ 0 });
		if (!known)
			return text;
		globs += len + (globs[len] != 0);
	}
	return NULL;
}

int history_judge(struct histories *all)
{
	for (u32 i = 0; i < all->n; i++) {
		ends_judge(&all->item[i]);
		if (turns_find(&all->item[i]) || series_find(all, &all->item[i]))
			return -1;
	}
	return history_changes_find(all);
}
