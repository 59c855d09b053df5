/* SPDX-License-Identifier: MIT */
/* Pieces of text of a history; see history_output.h. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/output/history_output.h"
#include "cli/text.h"

enum { SHOWN = 40, BUILD_SHOWN = 8 };

void history_format(char out[FORMAT_SIZE], const struct history *history, const struct history_series *series,
		    double value, bool utf8)
{
	const char *unit = diff_unit(&history->runs, series->kind, series->metric, series->row);
	const struct diff_metric *m = &history->runs.tables[series->kind].metrics[series->metric];
	struct cell cell = { .value = value };

	/* The middle of two counts is to look like a count. */
	if (!strcmp(unit, "count") && value >= 0 && value < 9e15)
		cell.value = (double)(s64)(value + 0.5);
	if (series->kind == DIFF_TOTALS)
		format_total(out, &(struct total_fact){ .name = history_path(history, series), .unit = unit, .cell = cell }, utf8);
	else
		format_cell(out, &cell, &(struct metric){ .format = m->format, .unit = m->unit }, utf8);
}

void history_ratio(char out[FORMAT_SIZE], double before, double after)
{
	double percent = before > 0 ? (after / before - 1) * 100 : 0, size = percent < 0 ? -percent : percent;

	if (!(before > 0))
		snprintf(out, FORMAT_SIZE, after > before ? "more" : "less");
	else if (percent >= 900)
		snprintf(out, FORMAT_SIZE, "x %.3g", after / before);
	else
		snprintf(out, FORMAT_SIZE, "%+.*f %%", size >= 100 ? 0 : size >= 1 ? 1 : 2, percent);
}

void history_time(char *out, size_t size, u64 time_ns)
{
	time_t seconds = (time_t)(time_ns / NSEC_PER_SEC);
	struct tm tm;

	out[0] = '\0';
	if (gmtime_r(&seconds, &tm))
		strftime(out, size, "%Y-%m-%d %H:%M", &tm);
}

void history_run_name(char *out, size_t size, const struct history *history, u32 run)
{
	char time[64];

	history_time(time, sizeof(time), history_at(history, run)->started_ns);
	snprintf(out, size, "run %llu, %s", (unsigned long long)history->before + run + 1, time);
}

/* ---- what changed ---------------------------------------------------------------------------------- */

static size_t line_len(const char *text)
{
	return strcspn(text, "\n");
}

static int line_compare(const char *a, const char *b)
{
	size_t n = line_len(a), m = line_len(b);
	int order = memcmp(a, b, MIN(n, m));

	return order ? order : n < m ? -1 : n > m;
}

/* The first lines in which two sorted lists of "name\tbuild id" differ; "" at the end of one. */
static void lists_differ(const char **a, const char **b)
{
	while (**a && **b && !line_compare(*a, *b)) {
		*a += line_len(*a) + 1;
		*b += line_len(*b) + 1;
	}
}

/* The last part of the name in a line, and some of the build id. */
static void line_take(const char *line, char name[64], char build[BUILD_SHOWN + 1])
{
	const char *from = line, *tab = line + strcspn(line, "\t\n");
	char text[256];

	for (const char *at = line; at < tab; at++)
		if (*at == '/')
			from = at + 1;
	/* The file may be anybody's. */
	text_escape(text, sizeof(text), from, (size_t)(tab - from));
	text_fit(name, 64, text, SHOWN);
	snprintf(build, BUILD_SHOWN + 1, "%.*s", *tab == '\t' ? (int)strspn(tab + 1, "0123456789abcdef") : 0, tab + 1);
}

static void list_between(FILE *f, const char *what, const char *a, const char *b, const char *arrow)
{
	char name[64], other[64], build[BUILD_SHOWN + 1], later[BUILD_SHOWN + 1];

	lists_differ(&a, &b);
	line_take(*a ? a : b, name, build);
	line_take(*b ? b : a, other, later);
	if (*a && *b && !strcmp(name, other) && *build && *later)
		fprintf(f, "another build of %s%s: %s %s %s", what, name, build, arrow, later);
	else if (*a && (!*b || line_compare(a, b) < 0))
		fprintf(f, "without %s%s, or another build", what, name);
	else
		fprintf(f, "with %s%s, or another build", what, other);
}

static const char *shown(const char *text, char out[64])
{
	char escaped[256];

	text_escape(escaped, sizeof(escaped), text, strlen(text));
	text_fit(out, 64, *text ? escaped : "none", SHOWN);
	return out;
}

static void field_between(FILE *f, u32 field, const char *a, const char *b, const char *arrow)
{
	char x[64], y[64];

	if (field == HISTORY_PROGRAM)
		list_between(f, "", a, b, arrow);
	else if (field == DIFF_LIBRARIES)
		list_between(f, "the library ", a, b, arrow);
	else if (field == DIFF_ENVIRONMENT)
		fputs("another environment", f);
	else
		fprintf(f, "%s: %s %s %s", history_field_word(field), shown(a, x), arrow, shown(b, y));
}

void history_between(char *out, size_t size, const struct history *history, u32 a, u32 b, u32 fields, bool utf8)
{
	const char *gap = "";
	FILE *f;

	out[0] = '\0';
	f = fmemopen(out, size, "w");
	if (!f)
		return;
	/* What the program is comes first; it is the last one of the fields. */
	for (u32 i = 0; i < HISTORY_ALL; i++) {
		u32 field = i < HISTORY_FIELDS ? (i + HISTORY_PROGRAM) % HISTORY_FIELDS : i;

		if (!(fields & 1u << field))
			continue;
		fputs(gap, f);
		if (field == HISTORY_WAY)
			fputs("another way of counting: user mode alone, or an estimate, on one side", f);
		else
			field_between(f, field, history_field(history, a, field), history_field(history, b, field), utf8 ? "→" : "->");
		gap = ", ";
	}
	fclose(f);
	out[size - 1] = '\0';
}

/* Some run has another text. */
static bool field_varies(const struct history *history, u32 field, u32 run)
{
	for (u32 i = 0; i < history_nruns(history); i++)
		if (!history->of[i].left_out && strcmp(history_field(history, i, field), history_field(history, run, field)) != 0)
			return true;
	return false;
}

void history_regime(char *out, size_t size, const struct history *history, u32 run)
{
	const char *gap = "";
	char text[64];
	FILE *f;

	out[0] = '\0';
	f = history->nregimes > 1 ? fmemopen(out, size, "w") : NULL;
	if (!f)
		return;
	for (u32 field = 0; field < HISTORY_FIELDS; field++)
		if (history_fields_part(1u << field) && field_varies(history, field, run)) {
			fprintf(f, "%s%s: %s", gap, history_field_word(field), shown(history_field(history, run, field), text));
			gap = ", ";
		}
	fclose(f);
	out[size - 1] = '\0';
}
