/* SPDX-License-Identifier: MIT */
/* Histories in all forms that they are printed in. Nothing is computed here but units and how trends are drawn. */
#ifndef CLI_OUTPUT_HISTORY_OUTPUT_H
#define CLI_OUTPUT_HISTORY_OUTPUT_H

#include "cli/analyze/history.h"
#include "cli/output/format.h"
#include "cli/output/output.h"

struct history_options {
	struct output_options output;
	unsigned long top;           /* rows in a table; 0: all. For programs there are all */
};

/* Each returns 0, or -1 when memory is short; errors of the stream are the caller's to look for. */

/* For people: a table for each metric, and lines on what changed. */
int history_table(FILE *file, const struct histories *all, const struct history_options *options);
/* Schema spark-history/1. */
int history_json(FILE *file, const struct histories *all, const struct history_options *options);
/* RFC 4180: a line for each run, row and metric. */
int history_csv(FILE *file, const struct histories *all, const struct history_options *options);

/* ---- what they share */

#define HISTORY_TREND_MOST 60
#define HISTORY_TREND_SIZE (4 * 2 * HISTORY_TREND_MOST + 1)

/*
 * history_trend.c: a row's values over all runs in so many columns at most, the newest at the right: bars of eight
 * heights, in ASCII the digits 1 to 8; a blank where there is no value; a line in front of a change, a broken one where
 * it is not of the program alone. The whole height is 10 % of the value at least, so that noise looks like noise.
 */
void history_trend(char out[HISTORY_TREND_SIZE], const struct history *history, u32 series, size_t columns, bool utf8);

/* history_text.c: "8.71 µs" */
void history_format(char out[FORMAT_SIZE], const struct history *history, const struct history_series *series,
		    double value, bool utf8);
/* "+5.1 %" */
void history_ratio(char out[FORMAT_SIZE], double before, double after);
/* "run 21, 2026-11-14 10:00": they are counted from the first one in the file. */
void history_run_name(char *out, size_t size, const struct history *history, u32 run);
void history_time(char *out, size_t size, u64 time_ns);
/* What changed from a run to another: "kernel: 6.1 -> 6.2, another build of app: 1a2b -> 3c4d"; fields of the mask. */
/* What runs have in common with this one and not with all: "kernel: 6.18, CPU: Some CPU"; "" where all are alike. */
void history_regime(char *out, size_t size, const struct history *history, u32 run);
void history_between(char *out, size_t size, const struct history *history, u32 a, u32 b, u32 fields, bool utf8);

#endif
