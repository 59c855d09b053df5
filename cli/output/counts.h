/* SPDX-License-Identifier: MIT */
/* Counts line by line: a table that grows, and the formats of perf-stat(1), -x and -j. */
#ifndef CLI_OUTPUT_COUNTS_H
#define CLI_OUTPUT_COUNTS_H

#include <stdio.h>

#include "cli/analyze/report.h"

struct counts_style {
	enum { COUNTS_TABLE, COUNTS_CSV, COUNTS_JSON } form;
	const char *separator;       /* of COUNTS_CSV */
	bool utf8;
	bool headed;                 /* the table has its head */
	bool (*wanted)(const void *context, const char *name); /* of the events; NULL: all */
	const void *context;
};

/* interval_ns: when an interval ended; 0: it is the whole. */
void counts_write(FILE *file, struct counts_style *style, const struct report *report, u64 interval_ns);

#endif
