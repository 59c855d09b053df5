/* SPDX-License-Identifier: MIT */
/* A diff in all forms that it is printed in. Nothing is computed here but other units. */
#ifndef CLI_OUTPUT_DIFF_OUTPUT_H
#define CLI_OUTPUT_DIFF_OUTPUT_H

#include "cli/analyze/diff.h"
#include "cli/output/format.h"
#include "cli/output/output.h"

struct diff_options {
	struct output_options output;
	unsigned long top;           /* rows in a table; 0: all. For programs there are all */
};

/* Each returns 0, or -1 when memory is short; errors of the stream are the caller's to look for. */

/* For people: a table for each metric, those that differ first. */
int diff_table(FILE *file, const struct diff *diff, const struct diff_options *options);
/* Schema spark-diff/1. */
int diff_json(FILE *file, const struct diff *diff, const struct diff_options *options);
/* RFC 4180: a line for each row, metric and side. */
int diff_csv(FILE *file, const struct diff *diff, const struct diff_options *options);
/* For a pull request: gates, what differs, notes. */
int diff_markdown(FILE *file, const struct diff *diff, const struct diff_options *options);

/* ---- what they share: diff_format.c */

/* A result with its place. */
struct diff_at {
	const struct diff *diff;
	u32 side;
	enum diff_kind kind;
	u32 metric, row;
	const struct diff_result *result; /* NULL: it is not of a comparison */
};

struct diff_at diff_at(const struct diff *diff, u32 side, enum diff_kind kind, u32 metric, u32 row);

/* "parse;lookup", "[]" for the root. */
const char *diff_path(const struct diff_at *at);
/* The name of a total, or of the metric. */
const char *diff_name(const struct diff_at *at);
/* A value of it, with the marks of a state. */
void diff_value_text(char out[FORMAT_SIZE], const struct diff_at *at, const struct diff_value *state, double value,
		     bool utf8);
/* Its median on side 0 or 1, with the marks of its state. */
void diff_median(char out[FORMAT_SIZE], const struct diff_at *at, int side, bool utf8);
/* The fields kind, path, origin, metric, unit of a line of CSV. */
void diff_csv_row(FILE *file, const struct diff_at *at);
/* "+7.1 %", "x 12.3" from +900 % on, "" where there is none. */
void diff_change(char out[FORMAT_SIZE], const struct diff_at *at);
/* "+5.2 to +9.0 %" */
void diff_interval(char out[FORMAT_SIZE], const struct diff_at *at);
/* "0.003", "<0.0001"; "" where nothing was tested. */
void diff_p(char out[FORMAT_SIZE], const struct diff_at *at);
/* "more", "not comparable". */
const char *diff_verdict(const struct diff_at *at);
/* "FAILED: wall of parse +7.1 % (+5.2 to +9.0 %), p 0.003", of one side. */
void diff_gate_text(char *out, size_t size, const struct diff *diff, u32 gate, u32 side);
/* "3 of 1 204 figures differ beyond noise, 2 regions are new" */
void diff_summary(char *out, size_t size, const struct diff *diff, u32 side);

#endif
