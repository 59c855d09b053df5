/* SPDX-License-Identifier: MIT */
/*
 * The format csv, RFC 4180: a line for each region and window, a value and its state for each column.
 * Numbers are unscaled and have no locale; an empty field is a value that there is not.
 */
#include <string.h>

#include "cli/output/field.h"
#include "cli/output/formats.h"
#include "cli/text.h"

struct csv_writer {
	FILE *file;
	const struct report *report;
};

static void csv_quoted(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', file);
		fputc(*text, file);
	}
}

/* Bytes of a stranger, with control characters escaped, quoted where RFC 4180 asks for it. */
static void csv_bytes(FILE *file, const char *bytes, size_t len)
{
	char text[4 * WIRE_NAME_MAX + 256];

	text_escape(text, sizeof(text), bytes, len);
	field_csv(file, text);
}

static void csv_text(FILE *file, const char *text)
{
	csv_bytes(file, text, strlen(text));
}

/* Names from below the root down, joined by semicolons, one field. */
static void csv_path(FILE *file, const struct report_row *rows, const struct report_row *row)
{
	const struct report_row *chain[PROFILE_DEPTH_MAX + 1];
	char text[4 * WIRE_NAME_MAX + 1];
	size_t n = 0;

	for (; !row->root && n < ARRAY_SIZE(chain); row = &rows[row->parent]) {
		chain[n++] = row;
		if (row->parent == PROFILE_NONE)
			break;
	}
	fputc('"', file);
	while (n--) {
		text_escape(text, sizeof(text), chain[n]->name, chain[n]->len);
		csv_quoted(file, text);
		if (n)
			fputc(';', file);
	}
	fputc('"', file);
}

static void csv_number(FILE *file, u64 number)
{
	fprintf(file, ",%llu", (unsigned long long)number);
}

/* As JSON has it: ns without a fraction, else what tells the number apart. */
static void csv_cell(FILE *file, const struct cell *cell, const char *unit)
{
	fputc(',', file);
	if (cell_has_value(cell))
		fprintf(file, !strcmp(unit, "ns") ? "%.0f" : "%.15g", cell->value);
	fprintf(file, ",%s", cell_state_name(cell->state));
}

static void csv_head(const struct csv_writer *writer)
{
	const struct report *report = writer->report;
	size_t i;

	fputs("kind,command,process,thread,path,calls,open,origin,library,callers", writer->file);
	if (report->facts->cache)
		fputs(",cache,cache.because", writer->file);
	for (i = 0; i < report->ncolumns; i++) {
		const char *name = report->columns[i].metric->name;

		if (!report->columns[i].selected || !strcmp(name, "calls"))
			continue;
		fputc(',', writer->file);
		csv_text(writer->file, name);
		fputc(',', writer->file);
		csv_text(writer->file, name);
		fputs(".state", writer->file);
	}
	fputs("\r\n", writer->file);
}

static const char *csv_command(const struct report *report, u32 process)
{
	size_t i;

	for (i = 0; i < report->facts->nprocesses; i++)
		if (report->facts->processes[i].id == process)
			return report->facts->processes[i].command;
	return NULL;
}

/* A root is of no kind, nor is a window. */
static void csv_origin(FILE *file, const struct report_row *row, bool of_region)
{
	const struct report_origin *origin = row->origin;
	char text[4 * WIRE_NAME_MAX + 256];

	fprintf(file, ",%s,", !of_region ? "" : origin ? origin->kind : report_kind_words[0]);
	if (origin && origin->library)
		csv_text(file, origin->library);
	fputs(",\"", file);
	for (size_t i = 0; origin && i < origin->ncallers; i++) {
		text_escape(text, sizeof(text), origin->callers[i], strlen(origin->callers[i]));
		fputs(i ? ":" : "", file);
		csv_quoted(file, text);
	}
	fputc('"', file);
}

/* The page cache that the command found, the same for all. */
static void csv_cache(FILE *file, const struct cache_fact *cache)
{
	fprintf(file, ",%s,", cache_regime_words[cache->regime]);
	if (cache->because)
		csv_text(file, cache->because);
}

static void csv_row(const struct csv_writer *writer, const char *kind, const struct report_row *rows,
		    const struct report_row *row)
{
	const struct report *report = writer->report;
	const char *command = csv_command(report, row->process);
	size_t i;

	fprintf(writer->file, "%s,", kind);
	csv_text(writer->file, command ? command : "");
	if (row->pid)
		csv_number(writer->file, row->pid);
	else
		fputc(',', writer->file);
	if (row->tid)
		csv_number(writer->file, row->tid);
	else
		fputc(',', writer->file);
	fputc(',', writer->file);
	csv_path(writer->file, rows, row);
	csv_number(writer->file, row->calls);
	csv_number(writer->file, row->open);
	csv_origin(writer->file, row, rows == report->rows && !row->root);
	if (report->facts->cache)
		csv_cache(writer->file, report->facts->cache);
	for (i = 0; i < report->ncolumns; i++)
		if (report->columns[i].selected && strcmp(report->columns[i].metric->name, "calls") != 0)
			csv_cell(writer->file, &row->cells[i], report->columns[i].metric->unit);
	fputs("\r\n", writer->file);
}

/* part: whose they are; NULL: there are no parts. */
static void csv_total_rows(const struct csv_writer *writer, const char *part, const struct total_fact *totals, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct total_fact *total = &totals[i];

		if (part) {
			csv_text(writer->file, part);
			fputc(',', writer->file);
		}
		csv_text(writer->file, total->name);
		fputc(',', writer->file);
		if (cell_has_value(&total->cell))
			fprintf(writer->file, "%.15g", total->cell.value);
		fprintf(writer->file, ",%s,%s,%s\r\n", total->unit, cell_state_name(total->cell.state),
			total->source ? total->source : "");
	}
}

static void csv_totals(const struct csv_writer *writer)
{
	const struct report *report = writer->report;
	char name[512];

	fprintf(writer->file, "%sname,value,unit,state,source\r\n", report->nby_part ? "part," : "");
	csv_total_rows(writer, report->nby_part ? "" : NULL, report->totals, report->ntotals);
	for (size_t i = 0; i < report->nby_part; i++) {
		const struct report_part *part = &report->by_part[i];

		if (part->fact->tid)
			snprintf(name, sizeof(name), "%s-%u", part->fact->name, part->fact->tid);
		else
			snprintf(name, sizeof(name), "%s", part->fact->name);
		csv_total_rows(writer, name, part->totals, part->ntotals);
	}
}

int csv_write(FILE *file, const struct report *report, const struct output_options *options)
{
	struct csv_writer writer = { .file = file, .report = report };
	size_t i;

	(void)options;
	if (report->options.totals_only) {
		csv_totals(&writer);
		return 0;
	}
	csv_head(&writer);
	for (i = 0; i < report->nrows; i++)
		csv_row(&writer, "region", report->rows, &report->rows[i]);
	for (i = 0; i < report->nwindows; i++)
		csv_row(&writer, "window", report->windows, &report->windows[i]);
	return 0;
}
