/* SPDX-License-Identifier: MIT */
/* Runs under different limits of memory, written. */
#ifndef CLI_OUTPUT_SWEEP_H
#define CLI_OUTPUT_SWEEP_H

#include "cli/analyze/sweep.h"
#include "cli/output/output.h"

/* 0, or -1 when memory is short. */
int sweep_table(FILE *file, const struct sweep *sweep, const struct output_options *options);
int sweep_json(FILE *file, const struct sweep *sweep);
int sweep_csv(FILE *file, const struct sweep *sweep);
int sweep_html(FILE *file, const struct sweep *sweep);
/* A cell of it as a text; what came of the run, "exit 0". */
void sweep_cell_text(char *text, const struct sweep_row *row, size_t cell, bool utf8);
void sweep_ended(char *text, size_t size, const struct sweep_row *row);
/* "32M": of bytes, as --memory-sweep takes it. */
void sweep_size(char *text, size_t size, u64 bytes);

#endif
