/* SPDX-License-Identifier: MIT */
/*
 * Formats of a report. Each is a row of a table: a name and a function that prints finished rows
 * and computes nothing, so that two formats cannot disagree.
 */
#ifndef CLI_OUTPUT_OUTPUT_H
#define CLI_OUTPUT_OUTPUT_H

#include <stdio.h>

#include "cli/analyze/report.h"

struct output_options {
	size_t width;                /* columns of the terminal; 0: no limit */
	bool color;
	bool utf8;                   /* else ASCII; output_utf8() */
	int verbose;                 /* -1: -q: the regions and what is missing only */
};

struct output {
	const char *name;
	const char *meaning;
	int (*write)(FILE *file, const struct report *report, const struct output_options *options);
};

/* Ends with a row without a name. */
extern const struct output output_formats[];

/* Their names, in the same order, NULL at the end: the words of --format. */
extern const char *const output_words[];

/* NULL if there is no such format. */
const struct output *output_find(const char *name);

/* Whether the locale that was set (setlocale) writes UTF-8. */
bool output_utf8(void);

/* Returns 0, or -1 after a message when it could not be written.  A closed pipe is no error. */
int output_write(const struct output *output, FILE *file, const struct report *report,
		 const struct output_options *options);

#endif
