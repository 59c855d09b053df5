/* SPDX-License-Identifier: MIT */
/* Repeated runs in all forms that they are printed in. Nothing is computed here but other units. */
#ifndef CLI_OUTPUT_RUNS_OUTPUT_H
#define CLI_OUTPUT_RUNS_OUTPUT_H

#include "cli/analyze/runs.h"
#include "cli/output/output.h"

/* Each returns 0, or -1 when memory is short; errors of the stream are the caller's to look for. */

/* For people: of up to three commands all totals side by side, of more the elapsed times. */
int runs_table(FILE *file, const struct runs *runs, const struct output_options *options);
/* The members that hyperfine's scripts read, and those of schema spark-repeat/1. */
int runs_json(FILE *file, const struct runs *runs, const struct output_options *options);
/* RFC 4180: hyperfine's columns, then median, MAD and ratio of each total; a line for each command. */
int runs_csv(FILE *file, const struct runs *runs, const struct output_options *options);
int runs_markdown(FILE *file, const struct runs *runs, const struct output_options *options);

/* "1.31 ± 0.04" */
void runs_ratio_text(char *out, size_t size, double ratio, double half, bool utf8);

#endif
