/* SPDX-License-Identifier: MIT */
/* See field.h. */
#include "cli/output/field.h"

#include <stdbool.h>
#include <string.h>

void field_csv(FILE *file, const char *text)
{
	bool quote = strpbrk(text, ",\" ") != NULL;

	if (quote)
		fputc('"', file);
	for (; *text; text++)
		fputs(*text == '"' ? "\"\"" : (char[]){ *text, 0 }, file);
	if (quote)
		fputc('"', file);
}

void field_markdown(FILE *file, const char *text)
{
	fputc('`', file);
	for (; *text; text++)
		fputs(*text == '|' ? "\\|" : (char[]){ *text == '`' ? '\'' : *text, 0 }, file);
	fputc('`', file);
}

void field_markdown_words(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_[]<>|#~&", *text))
			fputc('\\', file);
		fputc(*text, file);
	}
}
