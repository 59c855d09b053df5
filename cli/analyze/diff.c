/* SPDX-License-Identifier: MIT */
/* Taking recordings into a diff; see diff.h. */
#define _GNU_SOURCE
#include "cli/analyze/diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/diff_build.h"
#include "cli/analyze/report_build.h"
#include "cli/log.h"

#define DIFF_METRICS "calls,wall,wall.excl" /* of regions, where nothing else is asked for */

const char *const diff_kind_words[DIFF_KINDS] = {
	[DIFF_TOTALS] = "total", [DIFF_REGIONS] = "region", [DIFF_FUNCTIONS] = "function",
};

const char *const diff_verdict_words[DIFF_VERDICTS] = {
	[DIFF_MORE] = "more", [DIFF_LESS] = "less", [DIFF_NEW] = "new", [DIFF_GONE] = "gone",
	[DIFF_REFUSED] = "not_comparable", [DIFF_FEW] = "few_runs", [DIFF_NOISE] = "noise", [DIFF_EQUAL] = "equal",
	[DIFF_MISSING] = "missing",
};

int diff_init(struct diff *diff, u32 sides)
{
	*diff = (struct diff){ .sides = calloc(sides, sizeof(*diff->sides)), .nsides = sides, .rate = 0.05 };
	if (!diff->sides)
		diff->nsides = 0;
	for (u32 i = 0; i < diff->nsides; i++)
		snprintf(diff->sides[i].label, DIFF_LABEL, i < 26 ? "%c" : "%c%u", (char)('A' + i % 26), i / 26 % 1000);
	return diff->sides ? 0 : -1;
}

static void table_free(struct diff_table *table)
{
	for (u32 i = 0; i < table->nmetrics; i++) {
		free(table->metrics[i].name);
		free(table->metrics[i].text);
		free(table->metrics[i].unit);
	}
	for (u32 i = 0; i < table->nrows; i++) {
		free(table->rows[i].name);
		free(table->rows[i].origin);
		free(table->rows[i].text);
		free(table->rows[i].unit);
	}
	free(table->metrics);
	free(table->rows);
	free(table->slots);
}

static void run_free(struct diff_run *run)
{
	for (u32 kind = 0; kind < DIFF_KINDS; kind++) {
		for (u32 m = 0; m < run->ncolumns[kind]; m++) {
			free(run->columns[kind][m].value);
			free(run->columns[kind][m].state);
		}
		free(run->columns[kind]);
	}
	free(run->regions.value);
	free(run->regions.state);
	free(run->within.value);
	free(run->within.state);
	for (u32 i = 0; i < DIFF_FIELDS; i++)
		free(run->field[i]);
	free(run->path);
}

static void side_free(struct diff_side *side)
{
	for (u32 i = 0; i < side->nruns; i++)
		run_free(&side->runs[i]);
	free(side->runs);
	for (u32 kind = 0; kind < DIFF_KINDS; kind++) {
		free(side->results[kind]);
		free(side->order[kind]);
	}
}

void diff_free(struct diff *diff)
{
	for (u32 i = 0; i < diff->nsides; i++)
		side_free(&diff->sides[i]);
	for (u32 i = 0; i < DIFF_KINDS; i++)
		table_free(&diff->tables[i]);
	for (u32 i = 0; i < diff->ngates; i++) {
		free(diff->gates[i].metric);
		free(diff->gates[i].regions);
		free(diff->gates[i].results);
	}
	free(diff->gates);
	free(diff->sides);
	free(diff->notes);
	*diff = (struct diff){ .sides = NULL };
}

/* ---- what is wanted -------------------------------------------------------------------------------- */

static bool gates_name(const struct diff *diff, const char *metric)
{
	for (u32 i = 0; i < diff->ngates; i++)
		if (!strcmp(diff->gates[i].metric, metric))
			return true;
	return false;
}

bool diff_wanted(const struct diff *diff, const char *metric)
{
	return !diff->metrics || metric_glob(diff->metrics, metric) || gates_name(diff, metric);
}

/* What markers cost is no figure of the program's. */
static bool total_wanted(const struct diff *diff, const struct total_fact *total)
{
	if (!diff->every && (diff->metrics || gates_name(diff, total->name)))
		return diff_wanted(diff, total->name);
	return strcmp(total->name, "markers") && strcmp(total->name, "marker-cost");
}

static bool is_total(const struct session_facts *facts, const char *name)
{
	for (size_t i = 0; i < facts->ntotals; i++)
		if (!strcmp(facts->totals[i].name, name))
			return true;
	return false;
}

/* Nothing else that has the name has a column; the program's own metrics may have any. */
static bool only_total(const struct session_facts *facts, const struct profile *profile, const char *name)
{
	bool is = is_total(facts, name) && !profile->nvalues && !metric_find(name);

	for (u32 i = 0; i < profile->nevents && is; i++)
		is = strcmp(profile->events[i].name, name) != 0;
	return is;
}

/*
 * The globs of columns, to be freed. What was defined is wanted, too, if nothing was asked for; a gate without brackets
 * is on the total, where there is one.
 */
static char *columns_wanted(const struct diff *diff, const struct session_facts *facts)
{
	char *globs = NULL, *more;
	size_t size;
	FILE *f = open_memstream(&globs, &size);

	if (!f)
		return NULL;
	fputs(diff->metrics ? diff->metrics : DIFF_METRICS, f);
	if (!diff->metrics && diff->also)
		fprintf(f, ",%s", diff->also);
	for (size_t i = 0; !diff->metrics && diff->definitions && i < diff->definitions->n; i++)
		fprintf(f, ",%s", diff->definitions->item[i].formula.name);
	for (u32 i = 0; i < diff->ngates; i++)
		if (diff->gates[i].regions || !is_total(facts, diff->gates[i].metric))
			fprintf(f, ",%s", diff->gates[i].metric);
	more = fclose(f) ? NULL : globs;
	if (!more)
		free(globs);
	return more;
}

/* All of them are names of the catalog, which need no other columns, or of what has none. */
static bool columns_plain(const char *globs, const struct profile *profile, const struct session_facts *facts)
{
	char name[128];

	while (*globs) {
		size_t len = strcspn(globs, ", ");
		const struct metric *metric;

		snprintf(name, sizeof(name), "%.*s", (int)len, globs);
		metric = len ? metric_find(name) : NULL;
		if (len && (!metric || !metric->value) && !only_total(facts, profile, name))
			return false;
		globs += len + (globs[len] != 0);
	}
	return true;
}

const char *diff_unknown_metric(const struct diff *diff, char text[DIFF_NOTE])
{
	const char *globs = diff->metrics ? diff->metrics : "";

	while (*globs) {
		size_t len = strcspn(globs, ", ");
		bool known = !len;

		snprintf(text, DIFF_NOTE, "%.*s", (int)len, globs);
		for (u32 kind = 0; kind < DIFF_KINDS && !known; kind++)
			for (u32 m = 0; m < diff->tables[kind].nmetrics && !known; m++)
				known = kind != DIFF_TOTALS && metric_glob(text, diff->tables[kind].metrics[m].name);
		for (u32 i = 0; i < diff->tables[DIFF_TOTALS].nrows && !known; i++)
			known = metric_glob(text, diff->tables[DIFF_TOTALS].rows[i].text);
		if (!known)
			return text;
		globs += len + (globs[len] != 0);
	}
	return NULL;
}

/* ---- a run ----------------------------------------------------------------------------------------- */

/* What the kernel accounts anyway perturbs nothing, whoever asks it. */
static bool total_diagnostic(const struct report *report, const struct total_fact *total)
{
	static const char *const accounted[] = { "task-clock", "cpu-clock", "page-faults", "minor-faults", "major-faults",
						 "context-switches", "cpu-migrations" };
	const struct metric *metric = metric_find(total->name);

	for (size_t i = 0; i < report->nderived && !metric; i++)
		if (!strcmp(report->derived[i].metric.name, total->name))
			metric = &report->derived[i].metric;
	if (metric)
		return strcmp(metric->class_name, "quantitative") != 0;
	for (size_t i = 0; i < ARRAY_SIZE(accounted); i++)
		if (!strcmp(accounted[i], total->name))
			return false;
	return !strcmp(total->source ? total->source : "", "perf") && strncmp(total->name, "syscalls", 8) != 0;
}

static int add_totals(struct diff *diff, struct diff_run *run, const struct report *report)
{
	for (size_t i = 0; i < report->ntotals; i++) {
		const struct total_fact *total = &report->totals[i];
		struct diff_row *as;
		u32 metric, row;

		if (!total_wanted(diff, total) || !cell_has_value(&total->cell))
			continue;
		metric = diff_metric(diff, DIFF_TOTALS, "value", "", METRIC_PLAIN, false);
		row = diff_row(diff, DIFF_TOTALS, DIFF_NONE, total->name, strlen(total->name), "");
		if (metric == DIFF_NONE || row == DIFF_NONE)
			return -1;
		as = &diff->tables[DIFF_TOTALS].rows[row];
		if (!as->unit) {
			as->unit = diff_printable(total->unit);
			as->diagnostic = total_diagnostic(report, total);
			as->timed = true;
		}
		as->timed = as->timed && total->source && strcmp(total->source, "perf") != 0;
		as->units = as->units || (as->unit && !diff_same_unit(as->unit, total->unit));
		if (!as->unit || diff_put(diff, run, DIFF_TOTALS, metric, row, &total->cell))
			return -1;
	}
	return 0;
}

static void metric_is(struct diff_metric *as, const struct report_column *column)
{
	as->timed = !strcmp(column->metric->source, "time");
	as->shown = as->shown || column->shown;
}

/* The metric of each column, to be freed; DIFF_NONE: it is not compared. NULL when memory is short. */
static u32 *map_columns(struct diff *diff, const struct report *report)
{
	u32 *metrics = calloc(report->ncolumns + 1, sizeof(*metrics));

	for (size_t c = 0; metrics && c < report->ncolumns; c++) {
		const struct metric *m = report->columns[c].metric;

		metrics[c] = DIFF_NONE;
		if (!report->columns[c].selected || m->windows_only)
			continue;
		metrics[c] = diff_metric(diff, DIFF_REGIONS, m->name, m->unit, m->format,
					 strcmp(m->class_name, "quantitative") != 0);
		if (metrics[c] == DIFF_NONE) {
			free(metrics);
			return NULL;
		}
		metric_is(&diff->tables[DIFF_REGIONS].metrics[metrics[c]], &report->columns[c]);
	}
	return metrics;
}

static int add_cells(struct diff *diff, struct diff_run *run, const struct report_row *from, size_t n, const u32 *metrics,
		     u32 row, bool renamed)
{
	for (size_t c = 0; c < n; c++)
		if (metrics[c] != DIFF_NONE && diff_put(diff, run, DIFF_REGIONS, metrics[c], row, &from->cells[c]))
			return -1;
	return diff_put_region(diff, run, row, renamed);
}

static int add_regions(struct diff *diff, struct diff_run *run, const struct report *report)
{
	u32 *rows = calloc(report->nrows + 1, sizeof(*rows)), *metrics = map_columns(diff, report);
	int err = rows && metrics ? 0 : -1;

	for (size_t i = 0; i < report->nrows && !err; i++) {
		const struct report_row *from = &report->rows[i];
		size_t len = from->root ? 0 : from->len;
		const char *name = from->root ? "" : diff_renamed(diff, run, from->name, &len);

		rows[i] = diff_row(diff, DIFF_REGIONS, from->root ? DIFF_NONE : rows[from->parent], name, len,
				   from->origin ? from->origin->kind : "");
		err = rows[i] == DIFF_NONE ? -1 : 0;
		if (!err && !from->context)
			err = add_cells(diff, run, from, report->ncolumns, metrics, rows[i],
					!from->root && name != from->name);
	}
	free(rows);
	free(metrics);
	return err;
}

static int add_report(struct diff *diff, struct diff_run *run, const struct profile *profile,
		      const struct session_facts *facts, const char *columns)
{
	struct report_options options = { .metrics = diff->every ? diff->metrics : columns, .regions = diff->regions,
					  .definitions = diff->definitions,
					  .lean = !diff->every && columns_plain(columns, profile, facts) };
	struct session_facts own = *facts;
	struct report *report;
	int err;

	/* Those are looked at apart. */
	own.samples = NULL;
	report = report_build(profile, &own, &options);
	if (!report)
		return -1;
	err = add_totals(diff, run, report) || add_regions(diff, run, report) || diff_add_functions(diff, run, facts) ?
		error("out of memory for the difference") : 0;
	report_free(report);
	return err;
}

/* By region, merged over processes and threads. */
static int add_profile(struct diff *diff, struct diff_run *run, struct profile *profile, const struct session_facts *facts,
		       const char *columns)
{
	struct profile grouped;
	int err = -1;

	if (profile->group == PROFILE_BY_REGION || profile_group_alone(profile))
		return add_report(diff, run, profile, facts, columns);
	profile_init(&grouped, PROFILE_BY_REGION);
	if (!profile_merge(&grouped, profile))
		err = add_report(diff, run, &grouped, facts, columns);
	profile_fini(&grouped);
	return err;
}

/* 0, or -1 when memory is short. */
static int run_begin(struct diff_side *s, const char *path, const struct profile *profile,
		     const struct session_facts *facts)
{
	struct diff_run *runs = report_grow(s->runs, s->nruns, sizeof(*runs));

	if (!runs)
		return -1;
	s->runs = runs;
	return diff_regime_read(&runs[s->nruns], profile, facts) || !(runs[s->nruns].path = strdup(path)) ? -1 : 0;
}

int diff_add_pass(struct diff *diff, u32 side, u32 run, enum run_pass pass, const char *path, struct profile *profile,
		  const struct session_facts *facts)
{
	struct diff_side *s = &diff->sides[side];
	char *columns = columns_wanted(diff, facts);
	bool first = run >= s->nruns;
	int err;

	if (!columns || (first && run_begin(s, path, profile, facts))) {
		free(columns);
		return error("out of memory for the difference");
	}
	run = MIN(run, s->nruns);
	diff->pass = pass;
	if (!first)
		s->runs[run].failed |= facts->status || facts->signal;
	err = add_profile(diff, &s->runs[run], profile, facts, columns);
	free(columns);
	s->nruns += first;
	return err;
}

int diff_add(struct diff *diff, u32 side, const char *path, struct profile *profile, const struct session_facts *facts)
{
	return diff_add_pass(diff, side, diff->sides[side].nruns, PASSES, path, profile, facts);
}
