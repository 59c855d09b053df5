/* SPDX-License-Identifier: MIT */
/* See figures.h. */
#include "cli/analyze/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/report_build.h"
#include "cli/log.h"

int figures_init(struct figures *f, const enum run_pass *passes, u32 n)
{
	int err;

	*f = (struct figures){ .by_pass = n > 0 };
	err = diff_init(&f->diff, MAX(n, 1u));
	f->diff.every = true;
	for (u32 i = 0; i < n; i++)
		f->pass[i] = passes[i];
	/* Without passes all is armed in the one that there is. */
	if (!n)
		f->pass[0] = PASS_COUNTING;
	err = runs_init(&f->elapsed, 1) ? -1 : err;
	f->elapsed.steadied = true;
	return err;
}

void figures_free(struct figures *f)
{
	for (u32 kind = 0; kind < DIFF_KINDS; kind++)
		free(f->figure[kind]);
	for (size_t i = 0; i < f->nmissing; i++) {
		free(f->missing[i].name);
		free(f->missing[i].why);
	}
	free(f->missing);
	free(f->times);
	runs_free(&f->elapsed);
	diff_free(&f->diff);
	*f = (struct figures){ .times = NULL };
}

int figures_time(struct figures *f, double ns)
{
	double *times = report_grow(f->times, f->ntimes, sizeof(*times));

	if (!times)
		return -1;
	f->times = times;
	times[f->ntimes++] = ns;
	return 0;
}

/* Totals without a value, of the first run of a pass; a later one may have it. */
static int missing_add(struct figures *f, const struct session_facts *facts)
{
	for (size_t i = 0; i < facts->ntotals; i++) {
		const struct total_fact *total = &facts->totals[i];
		struct figures_missing *missing;

		if (cell_has_value(&total->cell) || !total->cell.note)
			continue;
		missing = report_grow(f->missing, f->nmissing, sizeof(*missing));
		if (!missing)
			return -1;
		f->missing = missing;
		missing[f->nmissing] = (struct figures_missing){ strdup(total->name), strdup(total->cell.note) };
		f->nmissing++;
		if (!missing[f->nmissing - 1].name || !missing[f->nmissing - 1].why)
			return -1;
	}
	return 0;
}

int figures_add(struct figures *f, u32 side, const char *path, struct profile *profile,
		const struct session_facts *facts, int status)
{
	const struct total_fact elapsed = { .name = "elapsed", .unit = "ns",
					    .cell = cell_counted((double)facts->duration_ns) };

	if (!f->diff.sides[side].nruns && missing_add(f, facts))
		return error("out of memory");
	if (!side && (figures_time(f, elapsed.cell.value) || runs_add(&f->elapsed.command[0], &elapsed, 1, status)))
		return error("out of memory");
	return diff_add(&f->diff, side, path, profile, facts);
}

/* ---- judging --------------------------------------------------------------------------------------- */

static bool is_timed(const struct diff_table *table, enum diff_kind kind, u32 metric, u32 row)
{
	return kind == DIFF_TOTALS ? table->rows[row].timed : kind == DIFF_REGIONS && table->metrics[metric].timed;
}

static void figure_judge(struct figures *f, enum diff_kind kind, u32 metric, u32 row, double *scratch[2])
{
	const struct diff_table *table = &f->diff.tables[kind];
	struct figure *figure = &f->figure[kind][(size_t)row * table->nmetrics + metric];
	bool timed = is_timed(table, kind, metric, row);

	for (u32 rank = 0; rank < PASSES && !figure->value.n; rank++)
		for (u32 side = 0; side < f->diff.nsides; side++)
			if (pass_rank(f->pass[side], timed) == rank) {
				figure->side = side;
				diff_values(&f->diff.sides[side], kind, metric, row, scratch[0], &figure->value);
			}
	if (!figure->value.n)
		return;
	spread_of(&figure->spread, scratch[0], figure->value.n, scratch[1]);
	compare_drift(&figure->drift, scratch[0], figure->value.n, scratch[1]);
}

static int table_judge(struct figures *f, enum diff_kind kind, double *scratch[2])
{
	const struct diff_table *table = &f->diff.tables[kind];

	f->figure[kind] = calloc((size_t)table->nrows * table->nmetrics + 1, sizeof(*f->figure[kind]));
	for (u32 row = 0; f->figure[kind] && row < table->nrows; row++)
		for (u32 m = 0; m < table->nmetrics; m++)
			figure_judge(f, kind, m, row, scratch);
	return f->figure[kind] ? 0 : -1;
}

/* What a later pass has is not missing. */
static void missing_judge(struct figures *f)
{
	const struct diff_table *table = &f->diff.tables[DIFF_TOTALS];
	size_t n = 0;

	for (size_t i = 0; i < f->nmissing; i++) {
		struct figures_missing *missing = &f->missing[i];
		bool had = false;

		for (u32 row = 0; row < table->nrows && !had; row++)
			had = !strcmp(table->rows[row].name, missing->name);
		/* The last pass says it last, and has asked for it. */
		for (size_t k = i + 1; k < f->nmissing && !had; k++)
			had = !strcmp(f->missing[k].name, missing->name);
		if (had) {
			free(missing->name);
			free(missing->why);
		} else {
			f->missing[n++] = *missing;
		}
	}
	f->nmissing = n;
}

void figures_note_steady(struct diff *diff, const char *of, const struct steady *s, size_t n, unsigned long warmups)
{
	const char *counted = warmups ? ", warm-ups counted" : "";

	if (s->known && !s->is && s->tried)
		diff_note(diff, "%sthe times have not become steady within %zu of %zu runs%s", of, s->tried, n, counted);
	else if (s->known && !s->is)
		diff_note(diff, "%sthe times are not steady: they drift over all %zu runs%s", of, n, counted);
	else if (!s->known && s->cold > warmups)
		diff_note(diff, "%sthe first %zu run%s took another time than what follows: -w %zu leaves %s out", of,
			  s->cold, s->cold == 1 ? "" : "s", s->cold, s->cold == 1 ? "it" : "them");
	else if (s->is && s->after > warmups)
		diff_note(diff, "%sthe times are steady only after %zu run%s: -w %zu leaves %s out", of, s->after,
			  s->after == 1 ? "" : "s", s->after, s->after == 1 ? "it" : "them");
}

static void failed_note(struct figures *f)
{
	for (u32 i = 1; i < f->diff.nsides; i++) {
		const struct diff_side *side = &f->diff.sides[i];
		u32 failed = 0;

		for (u32 run = 0; run < side->nruns; run++)
			failed += side->runs[run].failed;
		if (failed)
			diff_note(&f->diff, "%u of %u runs of the %s pass failed", failed, side->nruns,
				  pass_words[f->pass[i]]);
	}
}

/* The state of the page cache that runs found, if any was asked for. */
static void cache_note(struct figures *f)
{
	const char *first = NULL, *other = NULL;

	for (u32 i = 0; i < f->diff.nsides; i++)
		for (u32 run = 0; run < f->diff.sides[i].nruns; run++) {
			const char *is = f->diff.sides[i].runs[run].field[DIFF_CACHE];

			first = first ? first : is;
			other = other || !strcmp(first, is) ? other : is;
		}
	if (other)
		diff_note(&f->diff, "page cache: %s in some runs, %s in others: their figures are of two things",
			  first, other);
	else if (first && *first)
		diff_note(&f->diff, "page cache: %s in all runs", first);
}

static u32 total_row(const struct diff *diff, const char *name)
{
	const struct diff_table *table = &diff->tables[DIFF_TOTALS];
	u32 row = 0;

	while (row < table->nrows && strcmp(table->rows[row].name, name) != 0)
		row++;
	return row < table->nrows ? row : DIFF_NONE;
}

/* Cycles for each ns of a run; NAN: they are not of the same time, as those of user mode alone. */
static double clock_rate(const struct diff_run *run, u32 cycles, u32 clock)
{
	u8 counted, timed;
	double count = diff_value(run, DIFF_TOTALS, 0, cycles, &counted);
	double ns = diff_value(run, DIFF_TOTALS, 0, clock, &timed);

	if ((counted & DIFF_USER) != (timed & DIFF_USER) || ((counted | timed) & DIFF_STATE) != CELL_COUNTED)
		return NAN;
	return count / ns;
}

/* Both of the same runs, whatever they did. */
static void clock_note(struct figures *f, double *rates, double *scratch)
{
	u32 cycles = total_row(&f->diff, "cycles"), clock = total_row(&f->diff, "task-clock");
	struct comparison drift;
	size_t n = 0;

	for (u32 i = 0; cycles != DIFF_NONE && clock != DIFF_NONE && i < f->diff.nsides && !n; i++)
		for (u32 run = 0; run < f->diff.sides[i].nruns; run++) {
			double rate = clock_rate(&f->diff.sides[i].runs[run], cycles, clock);

			if (isfinite(rate))
				rates[n++] = rate;
		}
	compare_drift(&drift, rates, n, scratch);
	if (comparison_drifts(&drift))
		diff_note(&f->diff, "the clock rate of the CPUs, cycles for each ns, changed by %+.1f %% from the first "
			  "run to the last", (drift.ratio - 1) * 100);
}

static int notes_make(struct figures *f, double *scratch[2])
{
	size_t cold;

	steady_find(&f->steady, f->times, f->ntimes, scratch[0]);
	cold = f->steady.is ? f->steady.after : f->steady.cold;
	f->elapsed.cold = cold > f->warmups ? cold - f->warmups : 0;
	if (f->elapsed.command[0].n && runs_judge(&f->elapsed))
		return -1;
	figures_note_steady(&f->diff, "", &f->steady, f->ntimes, f->warmups);
	for (size_t i = 0; i < f->elapsed.nnotes; i++)
		diff_note(&f->diff, "%s", f->elapsed.notes[i]);
	failed_note(f);
	cache_note(f);
	clock_note(f, scratch[0], scratch[1]);
	return 0;
}

int figures_judge(struct figures *f)
{
	size_t most = f->ntimes + 1;
	double *scratch[2];
	int err;

	for (u32 i = 0; i < f->diff.nsides; i++)
		most = MAX(most, f->diff.sides[i].nruns);
	scratch[0] = calloc(most, sizeof(double));
	scratch[1] = calloc(most, sizeof(double));
	err = scratch[0] && scratch[1] ? 0 : -1;
	for (u32 kind = 0; kind < DIFF_KINDS && !err; kind++)
		err = table_judge(f, kind, scratch);
	missing_judge(f);
	err = err ? err : notes_make(f, scratch);
	free(scratch[0]);
	free(scratch[1]);
	return err;
}
