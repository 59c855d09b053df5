/* SPDX-License-Identifier: MIT */
/* Collecting what repeated runs have measured; see runs.h. */
#define _GNU_SOURCE
#include "cli/analyze/runs.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int runs_init(struct runs *runs, size_t commands)
{
	*runs = (struct runs){ .command = calloc(commands, sizeof(*runs->command)), .n = commands };
	runs->floor = cell_absent(CELL_UNAVAILABLE, NULL);
	if (!runs->command)
		runs->n = 0;
	/* A to Z, then A1 and so on. */
	for (size_t i = 0; i < runs->n; i++)
		snprintf(runs->command[i].label, RUNS_LABEL, i < 26 ? "%c" : "%c%zu", (char)('A' + i % 26), i / 26 % 10000);
	return runs->command ? 0 : -1;
}

static void command_free(struct runs_command *c)
{
	for (size_t k = 0; k < c->nseries; k++) {
		free(c->series[k].name);
		free(c->series[k].unit);
		free(c->series[k].value);
		free(c->series[k].note);
	}
	for (size_t k = 0; k < c->nparameters; k++) {
		free(c->parameters[k].name);
		free(c->parameters[k].value);
	}
	free(c->series);
	free(c->parameters);
	free(c->text);
	free(c->status);
	free(c->cache);
	free(c->cache_because);
}

void runs_free(struct runs *runs)
{
	for (size_t i = 0; i < runs->n; i++)
		command_free(&runs->command[i]);
	free(runs->command);
	*runs = (struct runs){ .command = NULL };
}

static int series_make(struct runs_command *c, const struct total_fact *totals, size_t n)
{
	c->series = calloc(n, sizeof(*c->series));
	if (!c->series)
		return -1;
	for (size_t k = 0; k < n; k++) {
		struct runs_series *s = &c->series[k];

		c->nseries++;
		s->name = strdup(totals[k].name);
		s->unit = strdup(totals[k].unit);
		s->shown = true;
		if (!s->name || !s->unit)
			return -1;
	}
	return 0;
}

static int command_room(struct runs_command *c)
{
	size_t room = c->room ? c->room * 2 : 32;
	int *status;

	if (c->n < c->room)
		return 0;
	status = realloc(c->status, room * sizeof(*status));
	if (!status)
		return -1;
	c->status = status;
	for (size_t k = 0; k < c->nseries; k++) {
		double *value = realloc(c->series[k].value, room * sizeof(*value));

		if (!value)
			return -1;
		c->series[k].value = value;
	}
	c->room = room;
	return 0;
}

static int series_add(struct runs_series *s, size_t run, const struct cell *cell)
{
	s->value[run] = cell_has_value(cell) ? cell->value : NAN;
	if (run && cell->state <= s->state && (s->note || !cell->note))
		return 0;
	/* The note is the run's, and ends with it. */
	if (!s->note || !cell->note || strcmp(s->note, cell->note)) {
		free(s->note);
		s->note = cell->note ? strdup(cell->note) : NULL;
		if (cell->note && !s->note)
			return -1;
	}
	if (!run || cell->state > s->state)
		s->state = cell->state;
	return 0;
}

int runs_add(struct runs_command *c, const struct total_fact *totals, size_t ntotals, int status)
{
	if ((!c->series && series_make(c, totals, ntotals)) || command_room(c))
		return -1;
	for (size_t k = 0; k < c->nseries; k++)
		if (series_add(&c->series[k], c->n, &totals[k].cell))
			return -1;
	c->status[c->n++] = status;
	c->failed += status != 0;
	return 0;
}

/* Of all files; -1: of one it is not known. */
static s64 cache_pages(s64 sum, s64 of_file)
{
	return sum < 0 || of_file < 0 ? -1 : sum + of_file;
}

int runs_add_cache(struct runs_command *c, const struct cache_fact *cache)
{
	bool as_asked = !strcmp(cache_asked_words[cache->asked], cache_regime_words[cache->regime]);
	struct runs_cache *all = realloc(c->cache, c->room * sizeof(*all)), *one;

	if (!all)
		return -1;
	c->cache = all;
	one = &all[c->n - 1];
	*one = (struct runs_cache){ .regime = cache->regime };
	for (size_t i = 0; i < cache->nfiles; i++) {
		one->pages += cache->files[i].pages;
		one->start = cache_pages(one->start, cache->files[i].start);
		one->end = cache_pages(one->end, cache->files[i].end);
	}
	if (cache->because && (!c->cache_because || (!as_asked && !c->cache_missed))) {
		free(c->cache_because);
		c->cache_because = strdup(cache->because);
		if (!c->cache_because)
			return -1;
	}
	c->cache_missed += !as_asked;
	return 0;
}

enum cache_regime runs_regime(const struct runs_command *c)
{
	for (size_t i = 1; i < c->n; i++)
		if (c->cache[i].regime != c->cache[0].regime)
			return CACHE_MIXED;
	return c->n ? c->cache[0].regime : CACHE_UNKNOWN;
}

static bool pattern_match(const char *patterns, const char *name)
{
	char pattern[256];

	while (*patterns) {
		size_t len = strcspn(patterns, ",");

		snprintf(pattern, sizeof(pattern), "%.*s", (int)len, patterns);
		if (!fnmatch(pattern, name, 0))
			return true;
		patterns += len + (patterns[len] == ',');
	}
	return false;
}

/* What no run of any command has, or has always 0, is left out unless it is asked for. */
static bool series_useful(const struct runs *runs, size_t k)
{
	for (size_t i = 0; i < runs->n; i++) {
		const struct runs_command *c = &runs->command[i];

		for (size_t run = 0; k < c->nseries && run < c->n; run++)
			if (c->series[k].value[run] > 0)
				return true;
	}
	return false;
}

void runs_show(struct runs *runs, const char *patterns)
{
	runs->chosen = patterns != NULL;
	for (size_t i = 0; i < runs->n; i++)
		for (size_t k = 0; k < runs->command[i].nseries; k++) {
			struct runs_series *s = &runs->command[i].series[k];

			s->shown = patterns ? pattern_match(patterns, s->name) : series_useful(runs, k);
		}
}

const struct runs_series *runs_find(const struct runs_command *c, const char *name)
{
	for (size_t k = 0; k < c->nseries; k++)
		if (!strcmp(c->series[k].name, name))
			return &c->series[k];
	return NULL;
}

const struct runs_series *runs_elapsed(const struct runs_command *c)
{
	return c->nseries ? &c->series[0] : NULL;
}

double runs_precision(const struct runs *runs)
{
	const struct runs_command *reference = &runs->command[runs->reference];
	double *scratch = reference->n ? calloc(reference->n, sizeof(*scratch)) : NULL, worst = 0;

	for (size_t i = 0; scratch && i < runs->n && worst >= 0; i++) {
		const struct runs_command *c = &runs->command[i];
		struct comparison comparison;
		struct spread spread;
		double is;

		if (c->n < reference->n)
			worst = -1;
		else if (runs->n > 1 && c != reference) {
			compare_rounds(&comparison, reference->series->value, c->series->value, reference->n, SPREAD_95,
				       scratch);
			is = comparison_precision(&comparison);
			worst = is < 0 ? -1 : is > worst ? is : worst;
		} else if (runs->n == 1) {
			spread_of(&spread, c->series->value, c->n, scratch);
			worst = spread_precision(&spread);
		}
	}
	if (!scratch)
		worst = -1;
	free(scratch);
	return worst;
}
