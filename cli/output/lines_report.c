/* SPDX-License-Identifier: MIT */
/* The lines of the table format: the header, totals, what is missing and why, notes. */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/calls.h"
#include "cli/output/format.h"
#include "cli/output/lines.h"
#include "cli/text.h"

enum { LINES_NOTES_MAX = 12, LINES_COMMAND_MAX = 60, LINES_SURVIVORS_MAX = 8 };

/* Bytes made printable and cut to some columns; to be freed. */
static char *lines_escaped(const char *bytes, size_t len, size_t columns)
{
	char *whole = malloc(4 * len + 1), *cut = malloc(4 * columns + 8);

	if (whole && cut) {
		text_escape(whole, 4 * len + 1, bytes, len);
		text_fit(cut, 4 * columns + 8, whole, columns);
	}
	free(whole);
	if (!whole) {
		free(cut);
		return NULL;
	}
	return cut;
}

char *lines_name(const char *text, size_t columns)
{
	return lines_escaped(text, strlen(text), columns);
}

size_t lines_name_most(const struct lines *lines)
{
	size_t width = lines->options->width;

	return width ? MIN((size_t)LINES_COMMAND_MAX, MAX(width / 2, (size_t)12)) : LINES_COMMAND_MAX;
}

/* ---- header ---------------------------------------------------------------------------------------- */

static char *lines_command(const struct session_facts *facts, size_t columns)
{
	size_t i, len = 1;
	char *all, *text;

	if (!facts->argv)
		return facts->target ? lines_name(facts->target, columns) : NULL;
	for (i = 0; facts->argv && facts->argv[i]; i++)
		len += strlen(facts->argv[i]) + 1;
	all = calloc(1, len);
	for (i = 0; all && facts->argv && facts->argv[i]; i++) {
		strcat(all, i ? " " : "");
		strcat(all, facts->argv[i]);
	}
	text = all ? lines_name(all, columns) : NULL;
	free(all);
	return text;
}

static void lines_exit(struct lines_row *row, const struct session_facts *facts)
{
	if (!facts->argv)
		return;
	if (facts->timeout)
		lines_piece(row, "ended by --timeout");
	else if (facts->alive)
		lines_piece(row, facts->unfinished ? "unfinished" : "still running");
	else if (facts->signal)
		lines_piece(row, "killed by signal %d", facts->signal);
	else
		lines_piece(row, "exit %d", facts->status);
}

static const char *lines_plural(u64 n)
{
	return n == 1 ? "" : "s";
}

static void lines_counts(struct lines_row *row, const struct report *report)
{
	u64 processes = report->facts->nprocesses, threads = report->all_threads;

	if (!processes)
		return;
	if (threads)
		lines_piece(row, "%llu process%s, %llu thread%s", (unsigned long long)processes,
			    processes == 1 ? "" : "es", (unsigned long long)threads,
			    lines_plural(threads));
	else
		lines_piece(row, "%llu process%s", (unsigned long long)processes,
			    processes == 1 ? "" : "es");
}

static void lines_host(const struct lines *lines)
{
	static const char *const detectors[] = { "none", "rseq", "page", "clock" };
	const struct report *report = lines->report;
	const struct session_facts *facts = report->facts;
	struct lines_row row = lines_begin(lines, NULL, "  ");
	const char *const words[] = { facts->host, facts->kernel, facts->cpu };
	char *text;
	size_t i, kinds = 0;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		text = words[i] ? lines_name(words[i], LINES_COMMAND_MAX) : NULL;
		if (text)
			lines_piece(&row, "%s", text);
		free(text);
	}
	if (facts->clock)
		lines_piece(&row, "clock %s", facts->clock);
	for (i = 0; i < ARRAY_SIZE(detectors); i++)
		kinds += report->detectors[i] != 0;
	for (i = 0; i < ARRAY_SIZE(detectors); i++)
		if (report->detectors[i] && kinds == 1)
			lines_piece(&row, "switches by %s", detectors[i]);
		else if (report->detectors[i])
			lines_piece(&row, "switches by %s: %llu thread%s", detectors[i],
				    (unsigned long long)report->detectors[i],
				    lines_plural(report->detectors[i]));
	lines_end(&row);
}

void lines_header(const struct lines *lines)
{
	const struct report *report = lines->report;
	size_t width = lines->options->width;
	char wall[FORMAT_SIZE], cpu[FORMAT_SIZE], share[FORMAT_SIZE];
	struct lines_row row = lines_begin(lines, NULL, "  ");
	char *command = lines_command(report->facts, width ? MAX(width / 2, 16) : LINES_COMMAND_MAX);

	fprintf(lines->file, "%sspark%s", term_style(lines->options->color, STYLE_STRONG),
		term_style(lines->options->color, STYLE_PLAIN));
	row.begun = true;
	row.column = 5;
	lines_piece(&row, "%s", command ? command : "");
	free(command);
	lines_exit(&row, report->facts);
	format_ns(wall, (double)report->facts->duration_ns, lines->options->utf8);
	lines_piece(&row, "%s wall", wall);
	lines_measured(&row, report->facts, lines->options->utf8);
	if (report->facts->nprocesses && cell_has_value(&report->cpu) && cell_has_value(&report->cpu_share)) {
		format_ns(cpu, report->cpu.value, lines->options->utf8);
		format_share(share, &report->cpu_share, 0, " %", lines->options->utf8);
		lines_piece(&row, "%s cpu (%s)", cpu, share);
	}
	lines_counts(&row, report);
	lines_end(&row);
	if (report->facts->argv && report->facts->target)
		lines_print(lines, STYLE_PLAIN, "counted", "%s", report->facts->target);
	if (lines->options->verbose >= 0)
		lines_host(lines);
}

/* ---- totals ---------------------------------------------------------------------------------------- */

/* What the header or the line on markers says already. */
static bool lines_total_shown(const struct total_fact *total)
{
	static const char *const elsewhere[] = { "elapsed", "markers", "marker-cost" };

	for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++)
		if (!strcmp(elsewhere[i], total->name))
			return true;
	return !strncmp(CALLS_PAIR, total->name, strlen(CALLS_PAIR)) || lines_of_group(total);
}

/* The kernel's accounting stands in for an event that it refused or took away. */
static bool lines_stood_in(const struct total_fact *total)
{
	return total->cell.state == CELL_COUNTED && total->cell.note && !strcmp(total->source, "wait4");
}

void lines_totals(const struct lines *lines)
{
	const struct report *report = lines->report;
	char value[FORMAT_SIZE];
	struct lines_row row;
	bool any = false;
	size_t i;

	for (i = 0; i < report->nshown; i++) {
		if (lines_total_shown(&report->totals[i]) || !cell_has_value(&report->totals[i].cell))
			continue;
		if (!any)
			row = lines_begin(lines, report->facts->argv ? "tree, from exec" : "threads", "   ");
		any = true;
		format_total(value, &report->totals[i], lines->options->utf8);
		lines_piece(&row, "%s%s %s%s", report->totals[i].name, format_total_side(&report->totals[i]), value,
			    lines_stood_in(&report->totals[i]) ? " (wait4)" : "");
	}
	if (any)
		lines_end(&row);
}

/* ---- what is missing ------------------------------------------------------------------------------- */

/* Things that are missing for one reason make one line. */
struct lines_gap {
	const char *name;
	const char *because;
	int len;                     /* of because, as far as it is told */
	const struct report_row *row; /* the only one that lacks it; NULL: all do, or it is a total */
	size_t rows;                 /* that lack it for this reason, where others have it */
	bool done;
};

static const char *lines_because(const struct cell *cell)
{
	return cell->note && *cell->note ? cell->note : cell_state_name(cell->state);
}

/* An event that was not counted has a reason to tell; a percentile of no calls has not. */
static bool lines_lacks(const struct report *report, const struct report_row *row, size_t column)
{
	const struct cell *cell = &row->cells[column];

	return cell->state == CELL_UNAVAILABLE || cell->state == CELL_LOST ||
	       (cell->state == CELL_NOT_COUNTED && cell->note && !strcmp(report->columns[column].metric->source, "pmu"));
}

/* A column's gap: the reason of the first row that should have had a value, regions before roots. */
static bool lines_column_gap(const struct report *report, size_t column, struct lines_gap *gap)
{
	const struct report_row *first = NULL;
	bool others = false;
	size_t i;

	for (i = 0; i < report->nrows; i++) {
		const struct report_row *row = &report->rows[i];

		if (!lines_lacks(report, row, column))
			others = others || cell_has_value(&row->cells[column]);
		else if (!first || (first->root && !row->root))
			first = row;
	}
	if (!first)
		return false;
	*gap = (struct lines_gap){ .name = report->columns[column].metric->name,
				   .because = lines_because(&first->cells[column]) };
	for (i = 0; others && i < report->nrows; i++)
		gap->rows += lines_lacks(report, &report->rows[i], column) &&
			     !strcmp(lines_because(&report->rows[i].cells[column]), gap->because);
	gap->row = gap->rows == 1 ? first : NULL;
	return true;
}

/* What no window has: one that is still open lacks all. */
static bool lines_window_gap(const struct report *report, size_t column, struct lines_gap *gap)
{
	const struct metric *metric = report->columns[column].metric;
	bool wanted = report->options.metrics ? report->columns[column].shown : metric->in_windows == METRIC_ALWAYS;

	if (!metric->windows_only || !wanted || !report->nwindows || report->columns[column].available ||
	    report->windows[0].cells[column].state == CELL_NOT_COUNTED)
		return false;
	*gap = (struct lines_gap){ .name = metric->name, .because = lines_because(&report->windows[0].cells[column]) };
	return true;
}

/* An event that cannot be had has neither a total nor a column. */
static bool lines_gap_told(const struct lines_gap *gaps, size_t n, const struct lines_gap *gap)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(gaps[i].name, gap->name) && !strcmp(gaps[i].because, gap->because))
			return true;
	return false;
}

/* "needs cycles: no PMU" is "needs cycles" where cycles themselves have told of that. */
static void lines_cut_gap(const struct lines_gap *gaps, size_t n, struct lines_gap *gap)
{
	const char *colon = strncmp(gap->because, "needs ", 6) ? NULL : strstr(gap->because, ": ");

	gap->len = (int)strlen(gap->because);
	for (size_t i = 0; colon && i < n; i++)
		if (!strcmp(gaps[i].because, colon + 2))
			gap->len = (int)(colon - gap->because);
}

static size_t lines_collect_gaps(const struct report *report, struct lines_gap *gaps)
{
	size_t i, n = 0;
	bool fail = false;

	for (i = 0; i < report->nshown; i++) {
		bool of_call = table_calls_fail(report, &report->totals[i]);

		/* Those of all calls are missing for one reason. */
		if (cell_has_value(&report->totals[i].cell) || (of_call && fail))
			continue;
		fail = fail || of_call;
		gaps[n++] = (struct lines_gap){ .name = of_call ? "errors" : report->totals[i].name,
						.because = lines_because(&report->totals[i].cell) };
	}
	for (i = 0; i < report->ncolumns; i++)
		if ((report->columns[i].shown && lines_column_gap(report, i, &gaps[n])) || lines_window_gap(report, i, &gaps[n]))
			n += !lines_gap_told(gaps, n, &gaps[n]);
	return n;
}

/* "cpu", or "cpu of parse", or "cpu of 3 rows". */
static char *lines_gap_name(const struct lines *lines, const struct lines_gap *gap)
{
	char *metric = lines_name(gap->name, lines_name_most(lines)), *row = NULL, *text = NULL;

	if (gap->row)
		row = lines_name(gap->row->len ? gap->row->name : "\"\"", lines_name_most(lines));
	if (row ? asprintf(&text, "%s of %s", metric ? metric : "", row) < 0 :
	    gap->rows ? asprintf(&text, "%s of %zu rows", metric ? metric : "", gap->rows) < 0 :
			asprintf(&text, "%s", metric ? metric : "") < 0)
		text = NULL;
	free(metric);
	free(row);
	return text;
}

/* Names of all gaps with the reason of gaps[first], joined; to be freed. */
static char *lines_join_gaps(const struct lines *lines, struct lines_gap *gaps, size_t n, size_t first)
{
	char *all = NULL, *longer, *name;
	size_t i;

	for (i = first; i < n; i++) {
		if (gaps[i].done || gaps[i].len != gaps[first].len ||
		    strncmp(gaps[i].because, gaps[first].because, (size_t)gaps[i].len) != 0)
			continue;
		gaps[i].done = true;
		name = lines_gap_name(lines, &gaps[i]);
		if (asprintf(&longer, "%s%s%s", all ? all : "", all ? ", " : "", name ? name : "") < 0)
			longer = NULL;
		free(name);
		free(all);
		all = longer;
	}
	return all;
}

static void lines_print_gaps(const struct lines *lines, const char *label, struct lines_gap *gaps, size_t n)
{
	char *names;
	size_t i;

	for (i = 0; i < n; i++)
		lines_cut_gap(gaps, n, &gaps[i]);
	for (i = 0; i < n; i++) {
		if (gaps[i].done)
			continue;
		names = lines_join_gaps(lines, gaps, n, i);
		lines_print(lines, STYLE_PLAIN, label, "%s: %.*s", names ? names : "", gaps[i].len, gaps[i].because);
		free(names);
	}
}

static void lines_gaps(const struct lines *lines)
{
	const struct report *report = lines->report;
	struct lines_gap *gaps = calloc(report->nshown + report->ncolumns + 1, sizeof(*gaps));

	if (gaps)
		lines_print_gaps(lines, "not available", gaps, lines_collect_gaps(report, gaps));
	free(gaps);
}

void lines_total_notes(const struct lines *lines)
{
	const struct report *report = lines->report;
	struct lines_gap *gaps = calloc(report->nshown + 1, sizeof(*gaps));
	size_t i, n = 0;

	for (i = 0; gaps && i < report->nshown; i++) {
		const struct cell *cell = &report->totals[i].cell;

		/* Of an estimate the value's mark is enough without -v. */
		if (cell_has_value(cell) && cell->note && (cell->state != CELL_ESTIMATE || lines->options->verbose > 0))
			gaps[n++] = (struct lines_gap){ .name = report->totals[i].name, .because = cell->note };
	}
	lines_print_gaps(lines, "note", gaps, n);
	free(gaps);
}

/* A total that is missing for the same reason has a line with all of it. */
static bool lines_said(const struct report *report, const char *because)
{
	for (size_t i = 0; i < report->nshown; i++) {
		const struct cell *cell = &report->totals[i].cell;

		if (!cell_has_value(cell) && cell->note && because && !strncmp(cell->note, because, strlen(because)))
			return true;
	}
	return false;
}

static void lines_capabilities(const struct lines *lines)
{
	const struct session_facts *facts = lines->report->facts;
	const struct capability_fact *fact;
	size_t i;

	/* Chosen totals say themselves what they lack. */
	if (lines->report->options.totals_only && lines->report->options.metrics)
		return;
	for (i = 0; i < facts->ncapabilities; i++) {
		fact = &facts->capabilities[i];
		if (fact->available || !fact->asked || lines_said(lines->report, fact->because))
			continue;
		lines_print(lines, STYLE_PLAIN, "not available", "%s: %s%s%s", fact->name,
			    fact->because ? fact->because : "not here",
			    fact->remedy && *fact->remedy ? "; " : "", fact->remedy ? fact->remedy : "");
	}
}

static void lines_no_regions(const struct lines *lines)
{
	const struct session_facts *facts = lines->report->facts;

	if (facts->not_preloaded)
		lines_print(lines, STYLE_PLAIN, "not preloaded", "%s: totals come from outside, no regions%s", facts->not_preloaded,
			    lines->report->has_regions ? " of its own" : "");
	lines_without_agent(lines);
	if (facts->not_preloaded || facts->partial || facts->ninside || lines->report->has_regions || lines->report->options.regions ||
	    lines->report->options.totals_only)
		return;
	lines_no_marker(lines);
}

void lines_missing(const struct lines *lines)
{
	const struct report *report = lines->report;
	char count[FORMAT_SIZE], *text;
	size_t i;

	lines_no_regions(lines);
	if (report->facts->uncounted && !lines_said(report, report->facts->uncounted))
		lines_print(lines, STYLE_PLAIN, "not counted", "%s", report->facts->uncounted);
	lines_gaps(lines);
	lines_capabilities(lines);
	for (i = 0; i < report->nunknown; i++) {
		text = lines_name(report->unknown[i], 4 * lines_name_most(lines));
		lines_print(lines, STYLE_PLAIN, "not found", "%s", text ? text : "");
		free(text);
	}
	for (i = 0; i < report->nlosses; i++) {
		format_count(count, (double)report->losses[i].count);
		lines_print(lines, STYLE_BAD, "lost", "%s %s", count, report->losses[i].text);
	}
}

/* ---- notes ----------------------------------------------------------------------------------------- */

static void lines_diagnosis(const struct lines *lines, const struct report_diagnosis *diagnosis)
{
	char count[FORMAT_SIZE];
	char *name = diagnosis->region ? lines_escaped(diagnosis->region, diagnosis->len,
						       lines_name_most(lines)) : NULL;

	format_count(count, (double)diagnosis->count);
	lines_print(lines, STYLE_PLAIN, "note", "%s%s%s (%s time%s)", name ? name : "", name ? ": " : "",
		    diagnosis->text, count, lines_plural(diagnosis->count));
	free(name);
}

static void lines_survivors(const struct lines *lines)
{
	const struct session_facts *facts = lines->report->facts;
	struct lines_row row;
	size_t i, n = 0;
	char *name;

	/* What was running before is expected to go on. */
	for (i = 0; facts->argv && i < facts->nprocesses; i++) {
		if (facts->processes[i].ended != PROCESS_ALIVE || n++ >= LINES_SURVIVORS_MAX)
			continue;
		if (n == 1)
			row = lines_begin(lines, "still running", ", ");
		name = facts->processes[i].command ? lines_name(facts->processes[i].command, 24) : NULL;
		lines_piece(&row, "%u %s", facts->processes[i].pid, name ? name : "?");
		free(name);
	}
	if (n > LINES_SURVIVORS_MAX)
		lines_piece(&row, "%zu more", n - LINES_SURVIVORS_MAX);
	if (!n)
		return;
	lines_piece(&row, "measured until now; --follow waits");
	lines_end(&row);
}

void lines_notes(const struct lines *lines)
{
	const struct report *report = lines->report;
	size_t i, shown = lines->options->verbose > 0 ? report->ndiagnostics
			: MIN(report->ndiagnostics, (size_t)LINES_NOTES_MAX);

	for (i = 0; i < shown; i++)
		if (strcmp(report->diagnostics[i].kind, "unfinished") != 0) /* lines_origin() says it */
			lines_diagnosis(lines, &report->diagnostics[i]);
	if (shown < report->ndiagnostics)
		lines_print(lines, STYLE_PLAIN, "note", "%zu more such lines with -v",
			    report->ndiagnostics - shown);
	lines_survivors(lines);
}
