/* SPDX-License-Identifier: MIT */
/* See field.h. */
#include "cli/output/field.h"

#include <string.h>

void field_csv(FILE *file, const char *text)
{
	bool quote = strpbrk(text, ",\" \r\n") != NULL;

	if (quote)
		fputc('"', file);
	for (; *text; text++)
		fputs(*text == '"' ? "\"\"" : (char[]){ *text, 0 }, file);
	if (quote)
		fputc('"', file);
}

void field_csv_number(FILE *file, bool known, double value)
{
	fputc(',', file);
	if (known)
		fprintf(file, "%.12g", value);
}

static void markdown_code(FILE *file, const char *text, bool table)
{
	fputc('`', file);
	for (; *text; text++)
		fputs(*text == '|' && table ? "\\|" : (char[]){ *text == '`' ? '\'' : *text, 0 }, file);
	fputc('`', file);
}

void field_markdown(FILE *file, const char *text)
{
	markdown_code(file, text, true);
}

void field_markdown_code(FILE *file, const char *text)
{
	markdown_code(file, text, false);
}

void field_markdown_words(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_[]<>|#~&!$@", *text))
			fputc('\\', file);
		fputc(*text == '\r' || *text == '\n' ? ' ' : *text, file);
	}
}
