/* SPDX-License-Identifier: MIT */
/* What repeated runs mean: spreads, comparisons, and what makes them doubtful; see runs.h. */
#define _GNU_SOURCE
#include "cli/analyze/runs.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define FLOOR_TIMES 5.0              /* a command that takes less is mostly the start of a program */
#define OUTLIERS_PART 20             /* one in so many is what most machines have */

static void note_add(struct runs *runs, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note_add(struct runs *runs, const char *format, ...)
{
	va_list list;

	if (runs->nnotes >= RUNS_NOTES_MOST)
		return;
	va_start(list, format);
	vsnprintf(runs->notes[runs->nnotes++], RUNS_NOTE, format, list);
	va_end(list);
}

static bool series_known(const struct runs_series *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isnan(s->value[i]))
			return false;
	return n > 0;
}

static void command_judge(struct runs *runs, struct runs_command *c, double *scratch)
{
	const struct runs_command *reference = &runs->command[runs->reference];

	for (size_t k = 0; k < c->nseries; k++) {
		struct runs_series *s = &c->series[k];

		s->known = series_known(s, c->n);
		if (s->known)
			spread_of(&s->spread, s->value, c->n, scratch);
		if (c != reference && k < reference->nseries)
			compare_rounds(&s->comparison, reference->series[k].value, s->value, MIN(c->n, reference->n),
				       SPREAD_95, scratch);
		else if (c != reference)
			s->comparison.why = "there is no run of the other command";
	}
}

/* Of a single command with nothing between its runs the name says nothing. */
static const char *named(const struct runs *runs, const struct runs_command *c, char text[RUNS_LABEL + 4])
{
	snprintf(text, RUNS_LABEL + 4, "%s: ", c->label);
	return runs->n > 1 ? text : "";
}

/* The first value lies above all others, and is none of their scatter. */
static bool note_first(struct runs *runs, const struct runs_command *c, const struct runs_series *e)
{
	char label[RUNS_LABEL + 4];

	if (runs->steadied || c->n < SPREAD_LEAST || e->value[0] < e->spread.max ||
	    !spread_far(&e->spread, e->value[0]))
		return false;
	note_add(runs, "%sthe first run took %.4g ms, the others %.4g: %s", named(runs, c, label), e->value[0] / 1e6,
		 e->spread.median / 1e6,
		 runs->warmups ? "more warm-up (-w) may help" : runs->cached ? "-w 1 lets it warm up" :
		 "-w 1 lets it warm up, --prepare or --cache cold makes every run cold");
	return true;
}

/* Outliers that are told of as cold runs. */
static size_t cold_outliers(const struct runs *runs, const struct runs_command *c, const struct runs_series *e)
{
	size_t n = 0;

	for (size_t i = 0; i < MIN(runs->cold, c->n); i++)
		n += spread_far(&e->spread, e->value[i]);
	return n;
}

/* told: so many of the outliers have been told of. */
static void note_scatter(struct runs *runs, const struct runs_command *c, const struct spread *s, size_t told)
{
	size_t outliers = s->outliers - told;
	char label[RUNS_LABEL + 4];

	if (s->clusters)
		note_add(runs, "%stwo clusters: runs took up to %.4g ms, or %.4g ms and more, and nothing between; a median "
			 "or mean tells of neither", named(runs, c, label), s->below / 1e6, s->above / 1e6);
	else if (s->n >= SPREAD_LEAST && outliers * OUTLIERS_PART > s->n)
		note_add(runs, "%soutliers: %zu of %zu runs, up to %.4g ms; something else may be running here",
			 named(runs, c, label), outliers, s->n, s->max / 1e6);
}

static void note_drift(struct runs *runs, const struct runs_command *c, const struct runs_series *e, double *scratch)
{
	struct comparison drift;
	char label[RUNS_LABEL + 4];

	compare_drift(&drift, e->value, c->n, scratch);
	if (comparison_drifts(&drift))
		note_add(runs, "%sdrift of %+.1f %% from the first run to the last: %s", named(runs, c, label),
			 (drift.ratio - 1) * 100,
			 runs->n > 1 ? "the ratios are free of it, since commands take turns" :
							    "the median is one of a moving figure");
}

static bool too_short(const struct runs *runs, const struct spread *s)
{
	return cell_has_value(&runs->floor) && s->median < FLOOR_TIMES * runs->floor.value;
}

/* Figures of runs that found another page cache are compared, but not without a word. */
static void note_cache(struct runs *runs)
{
	const struct runs_command *reference = &runs->command[runs->reference];
	char label[RUNS_LABEL + 4];

	for (size_t i = 0; i < runs->n; i++) {
		const struct runs_command *c = &runs->command[i];

		if (!c->n || !reference->n)
			continue;
		if (runs_regime(c) == CACHE_MIXED && c->cache_missed < c->n)
			note_add(runs, "%snot all runs found the same page cache", named(runs, c, label));
		if (runs_regime(c) != runs_regime(reference))
			note_add(runs, "%s and %s found different page caches, %s and %s: they are not alike to compare", reference->label,
				 c->label, cache_regime_words[runs_regime(reference)], cache_regime_words[runs_regime(c)]);
	}
}

static void notes_make(struct runs *runs, double *scratch)
{
	size_t few = 0, brief = 0;
	char label[RUNS_LABEL + 4];

	for (size_t i = 0; i < runs->n; i++) {
		const struct runs_command *c = &runs->command[i];
		const struct runs_series *e = runs_elapsed(c);

		few += c->n < SPREAD_LEAST;
		if (c->failed)
			note_add(runs, "%s%zu of %zu runs failed", named(runs, c, label), c->failed, c->n);
		if (!e || !e->known)
			continue;
		note_scatter(runs, c, &e->spread, note_first(runs, c, e) + cold_outliers(runs, c, e));
		note_drift(runs, c, e, scratch);
		brief += too_short(runs, &e->spread);
	}
	if (runs->cached)
		note_cache(runs);
	if (brief)
		note_add(runs, "too short: a program that does nothing takes %.3g ms here; most of the time of %s is the start",
			 runs->floor.value / 1e6, runs->n == 1 ? "this one" : brief == runs->n ? "all of these" : "some of these");
	if (few)
		note_add(runs, "no intervals: they need %d runs", SPREAD_LEAST);
	if (runs->missed > 0)
		note_add(runs, "less precise than asked for: %.2g %% by now, not %.2g; more runs or more time (--max-time) may help",
			 runs->missed * 100, runs->target * 100);
}

void runs_note(struct runs *runs, const char *text)
{
	note_add(runs, "%s", text);
}

int runs_judge(struct runs *runs)
{
	size_t most = 1;
	double *scratch;

	for (size_t i = 0; i < runs->n; i++)
		most = MAX(most, runs->command[i].n);
	scratch = calloc(most, sizeof(*scratch));
	if (!scratch)
		return -1;
	runs->nnotes = 0;
	for (size_t i = 0; i < runs->n; i++)
		command_judge(runs, &runs->command[i], scratch);
	notes_make(runs, scratch);
	free(scratch);
	return 0;
}
