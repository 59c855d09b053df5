/* SPDX-License-Identifier: MIT */
/* The table of regions, windows and totals in the HTML page: values, their texts, states and reasons. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/output/format.h"
#include "cli/output/page.h"

/* What may be asked for and has a value; of what has none anywhere, what tables show. */
static bool column_there(const struct report_column *column)
{
	return column->selected && (column->available || column->shown) && strcmp(column->metric->name, "calls") != 0;
}

static void page_columns(struct page *page)
{
	const struct report *report = page->report;
	const char *before = "";

	fputs(",\n\"columns\":[", page->file);
	for (size_t i = 0; i < report->ncolumns; i++) {
		const struct report_column *column = &report->columns[i];
		const struct metric *metric = column->metric;

		if (!column_there(column))
			continue;
		fprintf(page->file, "%s\n{\"name\":", before);
		page_word(page, metric->name);
		fputs(",\"title\":", page->file);
		page_word(page, metric->title && *metric->title ? metric->title : metric->name);
		fputs(",\"unit\":", page->file);
		page_word(page, metric->unit);
		fputs(",\"meaning\":", page->file);
		page_word(page, metric->meaning);
		fprintf(page->file, ",\"shown\":%s,\"windows\":%s,\"place\":%u}", column->shown ? "true" : "false",
			metric->in_windows == METRIC_ALWAYS ? "true" : "false", metric->place);
		before = ",";
	}
	fputs("]", page->file);
}

void page_cell(struct page *page, const char *text, const struct cell *cell, const char *unit)
{
	fputc('[', page->file);
	page_word(page, text);
	if (!cell_has_value(cell) || !isfinite(cell->value))
		fputs(",null", page->file);
	else
		fprintf(page->file, !strcmp(unit, "ns") ? ",%.0f" : ",%.15g", cell->value);
	if (cell->state != CELL_COUNTED || cell->note) {
		fprintf(page->file, ",%d,", (int)cell->state);
		page_number(page, cell->note);
	}
	fputc(']', page->file);
}

static void page_share(struct page *page, const struct cell *cell)
{
	char text[FORMAT_SIZE];

	format_share(text, cell, 1, " %", true);
	page_cell(page, text, cell, "%");
	fputc(',', page->file);
}

/* What the row's time was spent on, as cells in the order of report_part_names; null: not watched for. */
static void page_parts(struct page *page, const struct report_split *split)
{
	char text[FORMAT_SIZE];

	if (!split) {
		fputs("null", page->file);
		return;
	}
	for (u32 i = 0; i < REPORT_PARTS; i++) {
		const struct cell *cell = &split->part[i].cell;

		fputc(i ? ',' : '[', page->file);
		if (cell_has_value(cell))
			format_ns(text, cell->value, true);
		page_cell(page, cell_has_value(cell) ? text : "n/a", cell, "ns");
	}
	fputc(']', page->file);
}

/* How much of a process or thread was waiting for block devices, by the kernel's accounting; null: not watched for. */
static void page_delay(struct page *page, const struct report_row *row)
{
	const struct cell *cell = row->split && row->root ? &row->split->disk_delay.cell : NULL;
	char text[FORMAT_SIZE];

	if (!cell) {
		fputs(",null", page->file);
		return;
	}
	fputc(',', page->file);
	if (cell_has_value(cell))
		format_ns(text, cell->value, true);
	page_cell(page, cell_has_value(cell) ? text : "n/a", cell, "ns");
}

static void page_row(struct page *page, const struct report_row *row)
{
	const struct report *report = page->report;
	char text[FORMAT_SIZE];
	const char *before = "";

	/* Numbers of rows begin with 1, so that 0 is none. */
	fprintf(page->file, "[%u,%u,", row->parent == PROFILE_NONE ? 0 : row->parent + 1, row->depth);
	page_text(page, row->name, row->len);
	fprintf(page->file, ",%u,%u,%" PRIu64 ",%" PRIu64 ",%d,", row->pid, row->tid, row->calls, row->open,
		row->root | row->context << 1);
	page_number(page, row->origin ? row->origin->kind : NULL);
	fputc(',', page->file);
	page_share(page, &row->wall_share);
	page_share(page, &row->cpu_share);
	page_share(page, &row->off_share);
	fputc('[', page->file);
	for (size_t i = 0; i < report->ncolumns; i++) {
		const struct metric *metric = report->columns[i].metric;

		if (!column_there(&report->columns[i]))
			continue;
		format_cell(text, &row->cells[i], metric, true);
		fputs(before, page->file);
		page_cell(page, text, &row->cells[i], metric->unit);
		before = ",";
	}
	fputs("],", page->file);
	page_parts(page, row->split);
	page_delay(page, row);
	fputc(']', page->file);
}

static void page_list(struct page *page, const char *key, const struct report_row *rows, size_t n)
{
	fprintf(page->file, ",\n\"%s\":[", key);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ",\n" : "\n", page->file);
		page_row(page, &rows[i]);
	}
	fputs("]", page->file);
}

static void page_totals(struct page *page)
{
	const struct report *report = page->report;
	char text[FORMAT_SIZE];

	fputs(",\n\"totals\":[", page->file);
	for (size_t i = 0; i < report->ntotals; i++) {
		const struct total_fact *total = &report->totals[i];

		fputs(i ? ",\n[" : "\n[", page->file);
		page_word(page, total->name);
		fputc(',', page->file);
		format_total(text, total, true);
		page_cell(page, text, &total->cell, total->unit ? total->unit : "");
		fputc(',', page->file);
		page_word(page, total->source);
		fputc(',', page->file);
		format_ratio(text, &report->ratios[i], true);
		page_word(page, text);
		fputs("]", page->file);
	}
	fputs("]", page->file);
}

static void page_part_names(struct page *page)
{
	fputs(",\n\"parts\":[", page->file);
	for (u32 i = 0; i < REPORT_PARTS; i++) {
		fputs(i ? "," : "", page->file);
		page_word(page, report_part_names[i]);
	}
	fputs("]", page->file);
}

void page_rows(struct page *page)
{
	page_part_names(page);
	page_columns(page);
	page_list(page, "rows", page->report->rows, page->report->nrows);
	page_list(page, "windows", page->report->windows, page->report->nwindows);
	page_totals(page);
}
