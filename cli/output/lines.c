/* SPDX-License-Identifier: MIT */
/* Laying out labelled lines; see lines.h. */
#include "cli/output/lines.h"

#include <stdarg.h>
#include <stdlib.h>

#include "cli/text.h"

enum { LINES_LABEL = 18, LINES_NARROW = 60, LINES_NARROW_INDENT = 2 };

static bool lines_narrow(const struct lines *lines)
{
	return lines->options->width && lines->options->width < LINES_NARROW;
}

/* Prints it; the column where the text begins: behind a long label two further on. */
static size_t lines_label(const struct lines *lines, enum term_style style, const char *label)
{
	size_t column = MAX((size_t)LINES_LABEL, text_width(label) + (text_width(label) < LINES_LABEL ? 0 : 2));

	fputs(term_style(lines->options->color, style), lines->file);
	if (lines_narrow(lines))
		fprintf(lines->file, "%s\n%*s", label, LINES_NARROW_INDENT, "");
	else
		text_pad(lines->file, label, column);
	fputs(term_style(lines->options->color, STYLE_PLAIN), lines->file);
	return lines_narrow(lines) ? LINES_NARROW_INDENT : column;
}

void lines_print(const struct lines *lines, enum term_style style, const char *label, const char *format, ...)
{
	char *text;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		return;
	text_wrap(lines->file, text, lines_label(lines, style, label), lines->options->width);
	free(text);
}

struct lines_row lines_begin(const struct lines *lines, const char *label, const char *gap)
{
	struct lines_row row = { .lines = lines, .gap = gap };

	if (label) {
		row.column = lines_label(lines, STYLE_PLAIN, label);
		row.indent = MIN(row.column, (size_t)LINES_LABEL);
	} else {
		row.indent = LINES_NARROW_INDENT;
	}
	return row;
}

void lines_piece(struct lines_row *row, const char *format, ...)
{
	size_t limit = row->lines->options->width, width;
	FILE *file = row->lines->file;
	char *text;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		return;
	width = text_width(text);
	if (row->begun && limit && row->column + text_width(row->gap) + width > limit) {
		fprintf(file, "\n%*s", (int)row->indent, "");
		row->column = row->indent;
	} else if (row->begun) {
		fputs(row->gap, file);
		row->column += text_width(row->gap);
	}
	fputs(text, file);
	row->column += width;
	row->begun = true;
	free(text);
}

void lines_end(struct lines_row *row)
{
	fputc('\n', row->lines->file);
}
