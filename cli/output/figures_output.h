/* SPDX-License-Identifier: MIT */
/* Figures of repeated runs in all forms that they are printed in. Nothing is computed here but other units. */
#ifndef CLI_OUTPUT_FIGURES_OUTPUT_H
#define CLI_OUTPUT_FIGURES_OUTPUT_H

#include "cli/analyze/figures.h"
#include "cli/output/output.h"

/* Each returns 0, or -1 when memory is short; errors of the stream are the caller's to look for. */

/* For people: totals, times of regions, the medians of all else; where metrics were asked for, a table of each. */
int figures_table(FILE *file, const struct figures *figures, const struct output_options *options);
/* Schema spark-runs/1. */
int figures_json(FILE *file, const struct figures *figures, const struct output_options *options);
/* RFC 4180: a line for each row and metric. */
int figures_csv(FILE *file, const struct figures *figures, const struct output_options *options);

#endif
