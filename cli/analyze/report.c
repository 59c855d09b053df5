/* SPDX-License-Identifier: MIT */
/* Building a report: columns, totals, and the order of the steps.  See report.h. */
#include "cli/analyze/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/report_build.h"
#include "cli/log.h"
#include "cli/text.h"

/* A program that makes up names for its values must not make a table of ten thousand columns. */
enum { REPORT_CLIENT_MAX = 64 };

const char *report_text(struct report *report, const char *format, ...)
{
	struct report_text *text;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	text = len < 0 ? NULL : malloc(sizeof(*text) + (size_t)len + 1);
	if (!text)
		return NULL;
	va_start(args, format);
	vsnprintf(text->text, (size_t)len + 1, format, args);
	va_end(args);
	text->next = report->texts;
	report->texts = text;
	return text->text;
}

const char *report_name(struct report *report, const struct profile_name *name)
{
	char text[4 * WIRE_NAME_MAX + 1];

	text_escape(text, sizeof(text), name->bytes, name->len);
	return report_text(report, "%s", text);
}

void *report_grow(void *array, size_t count, size_t size)
{
	char *grown = array;

	/* Room doubles: it is full whenever the count is a power of two. */
	if ((count & (count - 1)) == 0)
		grown = realloc(array, (count ? count * 2 : 1) * size);
	if (grown)
		memset(grown + count * size, 0, size);
	return grown;
}

int report_add_unknown(struct report *report, const char *text)
{
	const char **unknown = report_grow(report->unknown, report->nunknown, sizeof(*unknown));

	if (!unknown)
		return -1;
	report->unknown = unknown;
	unknown[report->nunknown++] = text;
	return text ? 0 : -1;
}

const char *report_process_end(struct report *report, const struct process_facts *process)
{
	switch (process->ended) {
	case PROCESS_ALIVE:
		return "its process was still running";
	case PROCESS_EXIT:
		return "its process exited";
	case PROCESS_SIGNAL:
		return report_text(report, "its process was killed by signal %d", process->signal);
	case PROCESS_EXEC:
		return "its process executed another program";
	default:
		return "its process ended";
	}
}

/* ---- columns --------------------------------------------------------------------------------------- */

int report_add_column(struct report *report, const struct metric *metric)
{
	const char *globs = report->options.metrics;
	struct report_column *columns = report_grow(report->columns, report->ncolumns, sizeof(*columns));

	if (!columns)
		return -1;
	report->columns = columns;
	columns[report->ncolumns++] = (struct report_column){
		.metric = metric,
		.selected = !globs || metric_glob(globs, metric->name),
		.shown = globs ? metric_glob(globs, metric->name) : metric->shown,
	};
	return 0;
}

/* A metric "x" makes a column "x.min", which the program may have as a metric, too: the first is kept. */
static int report_add_client(struct report *report, const struct metric *metric)
{
	size_t i;

	for (i = 0; i < report->ncolumns; i++)
		if (!strcmp(report->columns[i].metric->name, metric->name))
			return report_add_unknown(report, report_text(report,
				"%s: two metrics have this name, one is left out", metric->name));
	return report_add_column(report, metric);
}

/* Names of client metrics in the order in which they were met; *left_out: values under names beyond the first. */
static size_t report_client_names(const struct profile *profile, u32 *names, u64 *left_out)
{
	size_t n = 0, k;
	u32 i;

	*left_out = 0;
	for (i = 0; i < profile->nvalues; i++) {
		for (k = 0; k < n && names[k] != profile->values[i].name; k++)
			;
		if (k == n && n < REPORT_CLIENT_MAX)
			names[n++] = profile->values[i].name;
		else if (k == n)
			*left_out += profile->values[i].count;
	}
	return n;
}

/* Before the program's own metrics: of two columns with one name the first is kept. */
static int report_add_events(struct report *report, const struct profile *profile)
{
	report->events = calloc(profile->nevents + 1, sizeof(*report->events));
	if (!report->events)
		return -1;
	for (; report->nevents < profile->nevents; report->nevents++)
		if (metric_event_init(&report->events[report->nevents], profile, (u32)report->nevents) != 0 ||
		    report_add_client(report, &report->events[report->nevents]) != 0)
			return -1;
	return 0;
}

/* Columns of windows where there are none would be a third of all. */
static bool report_wants(const struct report *report, const struct profile *profile, const struct metric *metric)
{
	if (report->options.lean)
		return metric_glob(report->options.metrics, metric->name) || !strcmp(metric->name, "wall");
	return !metric->windows_only || profile->nwindows ||
	       (report->options.metrics && metric_glob(report->options.metrics, metric->name));
}

static int report_add_columns(struct report *report, const struct profile *profile)
{
	u32 names[REPORT_CLIENT_MAX];
	size_t i, n = report_client_names(profile, names, &report->client_left_out), ntable;
	const struct metric *table = metric_table(&ntable);

	for (i = 0; i < ntable; i++)
		if (report_wants(report, profile, &table[i]) && report_add_column(report, &table[i]) != 0)
			return -1;
	if (report->options.lean)
		return 0;
	if (report_add_events(report, profile) != 0)
		return -1;
	report->client = calloc(n * METRIC_CLIENT_COLUMNS + 1, sizeof(*report->client));
	if (!report->client)
		return -1;
	for (i = 0; i < n; i++) {
		if (metric_client_init(report->client + report->nclient, profile, names[i]) != 0)
			return -1;
		report->nclient += METRIC_CLIENT_COLUMNS;
	}
	for (i = 0; i < report->nclient; i++)
		if (report_add_client(report, &report->client[i]) != 0)
			return -1;
	return report_add_derived_columns(report);
}

static bool report_glob_known(const struct report *report, const char *glob)
{
	size_t i;

	for (i = 0; i < report->ncolumns; i++)
		if (metric_glob(glob, report->columns[i].metric->name))
			return true;
	for (size_t k = 0; report->options.totals_only && k < report->facts->nparts; k++)
		for (i = 0; i < report->facts->parts[k].ntotals; i++)
			if (metric_glob(glob, report->facts->parts[k].totals[i].name))
				return true;
	for (i = 0; report->options.totals_only && i < report->facts->ntotals; i++)
		if (metric_glob(glob, report->facts->totals[i].name))
			return true;
	for (i = 0; report->options.totals_only && i < report->nderived; i++)
		if (metric_glob(glob, report->derived[i].metric.name))
			return true;
	return false;
}

/* Says which globs of --metrics named nothing. */
static int report_check_globs(struct report *report)
{
	const char *what = report->options.totals_only ? "no counter has such a name, see man sparkctl" :
							 "no metric has such a name, see sparkctl list metrics";
	char *copy, *glob, *rest;
	int err = 0;

	if (!report->options.metrics)
		return 0;
	copy = strdup(report->options.metrics);
	if (!copy)
		return -1;
	for (glob = strtok_r(copy, ", ", &rest); glob; glob = strtok_r(NULL, ", ", &rest))
		if (!err && !report_glob_known(report, glob))
			err = report_add_unknown(report, report_text(report, "%s: %s", glob, what));
	free(copy);
	return err;
}

/* A column without one value in it has no place in a table, unless it was asked for. */
static void report_judge_columns(struct report *report)
{
	size_t c, i;

	for (c = 0; c < report->ncolumns; c++) {
		struct report_column *column = &report->columns[c];

		for (i = 0; i < report->nrows && !column->available; i++)
			column->available = cell_has_value(&report->rows[i].cells[c]);
		for (i = 0; i < report->nwindows && !column->available; i++)
			column->available = cell_has_value(&report->windows[i].cells[c]);
		if (!report->options.metrics && !column->available &&
		    (!strcmp(column->metric->source, "client") || (column->derived && column->derived->row)))
			column->shown = false;
	}
}

/* CPU time of the whole tree as wait4 gave it, else the sum of what is known of the processes. */
static void report_add_cpu(struct report *report)
{
	const struct total_fact *totals = report->facts->totals;
	struct cell wall = cell_counted((double)report->facts->duration_ns);
	struct cell part;
	bool found = false;
	size_t i;

	if (report->facts->partial) {
		wall = cell_counted((double)report->facts->measured_ns);
		report->cpu = cell_absent(CELL_UNAVAILABLE, NULL);
		for (i = 0; i < report->facts->ntotals; i++)
			if (!strcmp(totals[i].name, "task-clock"))
				report->cpu = totals[i].cell;
		report->cpu_share = cell_divide(report->cpu, wall, 100);
		return;
	}
	for (i = 0; i < report->facts->ntotals; i++) {
		if (strcmp(totals[i].name, "user") && strcmp(totals[i].name, "sys"))
			continue;
		part = totals[i].cell;
		/* The shares are estimates, not their sum. */
		if (part.state == CELL_ESTIMATE)
			part = cell_counted(part.value);
		report->cpu = cell_add(report->cpu, part);
		found = true;
	}
	for (i = 0; !found && i < report->facts->nprocesses; i++)
		report->cpu = cell_add(report->cpu, report->facts->processes[i].usage.cpu);
	report->cpu_share = cell_divide(report->cpu, wall, 100);
}

static void report_add_threads(struct report *report, const struct profile *profile)
{
	const struct session_facts *facts = report->facts;
	bool known = facts->nprocesses > 0;
	size_t k;
	const struct profile_thread *thread;
	u32 i;

	for (i = 0; i < profile->nthreads; i++) {
		thread = &profile->threads[i];
		report->threads += thread->threads;
		if (thread->detector < ARRAY_SIZE(report->detectors))
			report->detectors[thread->detector] += thread->threads;
	}
	for (k = 0; k < facts->nprocesses; k++) {
		known = known && facts->processes[k].threads;
		report->all_threads += facts->processes[k].threads;
	}
	if (!known)
		report->all_threads = 0;
}

/* What is known region by region. */
static int report_add_regions(struct report *report, const struct profile *profile)
{
	return report_add_columns(report, profile) || report_add_origins(report, profile) || report_add_rows(report, profile) ||
	       report_add_windows(report, profile) || report_add_diagnostics(report, profile) ||
	       report_add_markers(report, profile) ? -1 : 0;
}

struct report *report_build(const struct profile *profile, const struct session_facts *facts,
			    const struct report_options *options)
{
	struct report *report = calloc(1, sizeof(*report));

	if (!report) {
		error("out of memory for the report");
		return NULL;
	}
	report->facts = facts;
	report->options = *options;
	report->group = profile->group;
	report_add_threads(report, profile);
	report_add_cpu(report);
	if (report_init_derived(report) || (!options->totals_only && report_add_regions(report, profile)) ||
	    report_add_profile(report) || report_add_splits(report) || report_add_costs(report) ||
	    report_check_globs(report) || report_add_losses(report, profile) || report_add_totals(report)) {
		report_free(report);
		error("out of memory for the report");
		return NULL;
	}
	report_judge_columns(report);
	return report;
}

struct report *report_totals(const struct session_facts *facts, const struct definitions *definitions)
{
	struct report *report = calloc(1, sizeof(*report));

	if (report) {
		report->facts = facts;
		report->options = (struct report_options){ .totals_only = true, .steady = true, .definitions = definitions };
		if (!report_init_derived(report) && !report_add_totals(report))
			return report;
		report_free(report);
	}
	error("out of memory for the report");
	return NULL;
}

void report_free(struct report *report)
{
	struct report_text *text, *next;
	size_t i;

	if (!report)
		return;
	report_free_splits(report);
	report_free_costs(report);
	for (i = 0; i < report->nrows; i++)
		free(report->rows[i].cells);
	for (i = 0; i < report->nwindows; i++)
		free(report->windows[i].cells);
	for (i = 0; i < report->nevents; i++)
		metric_event_fini(&report->events[i]);
	free(report->events);
	for (i = 0; i < report->nclient; i += METRIC_CLIENT_COLUMNS)
		metric_client_fini(report->client + i);
	for (text = report->texts; text; text = next) {
		next = text->next;
		free(text);
	}
	free(report->columns);
	free(report->rows);
	report_free_origins(report);
	free(report->windows);
	free(report->each);
	for (i = 0; i < report->nby_part; i++) {
		free(report->by_part[i].totals);
		free(report->by_part[i].ratios);
	}
	free(report->by_part);
	free(report->calls);
	free(report->totals);
	free(report->ratios);
	free(report->losses);
	free(report->diagnostics);
	free(report->unknown);
	report_free_derived(report);
	free(report->client);
	stacks_free(report->stacks);
	free(report->parts);
	free(report);
}
