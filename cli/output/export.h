/* SPDX-License-Identifier: MIT */
/*
 * Formats in which the samples of a run go to other programs. Each is a row of a table: a name and a
 * function that writes them as it goes along, so that memory does not grow with the output.
 *
 * In formats that know stacks only, regions are frames around them: "[region] parse".
 */
#ifndef CLI_OUTPUT_EXPORT_H
#define CLI_OUTPUT_EXPORT_H

#include <stdio.h>

#include "cli/analyze/report.h"
#include "cli/analyze/samples.h"

enum export_weight { EXPORT_COUNT, EXPORT_TIME };

/* The words of --weight, in that order, NULL at the end. */
extern const char *const export_weight_words[];

struct export_options {
	enum profile_group group;    /* folded: the process, or the thread as well, is around all */
	enum export_weight weight;   /* folded: what is counted */
	bool no_regions;
};

/* What is written, and where. */
struct exporter {
	FILE *file;
	const struct samples *samples; /* events in the order of time */
	const struct session_facts *facts;
	const struct export_options *options;
};

struct export_format {
	const char *name;
	const char *meaning;
	bool binary;                 /* nothing for a terminal */
	bool folded;                 /* it has a choice of roots and weights */
	const char *report;          /* the format of reports that it is (output.h); NULL: it is of samples alone */
	int (*write)(const struct exporter *exporter); /* 0, or -1 after a message; NULL: not in this build */
};

/* Ends with a row without a name. */
extern const struct export_format export_formats[];

/* Their names, in the same order, NULL at the end: the words of --format. */
extern const char *const export_words[];

/* 0, or -1 after a message. Errors of the stream are the caller's to look for. */
int export_write(const struct export_format *format, const struct exporter *exporter);

#endif
