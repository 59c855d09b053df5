/* SPDX-License-Identifier: MIT */
/* Fields of tables that are text: of CSV and of Markdown. What is handed over is printable (text_escape()). */
#ifndef CLI_OUTPUT_FIELD_H
#define CLI_OUTPUT_FIELD_H

#include <stdbool.h>
#include <stdio.h>

/* Quoted where RFC 4180 asks for it. */
void field_csv(FILE *file, const char *text);
/* A comma, and behind it a number, unless there is none. */
void field_csv_number(FILE *file, bool known, double value);
/* As code, within a table. */
void field_markdown(FILE *file, const char *text);
/* As code, elsewhere: there a bar needs no backslash. */
void field_markdown_code(FILE *file, const char *text);
/* As words: nothing in it is taken for markup, nor for HTML. */
void field_markdown_words(FILE *file, const char *text);

#endif
