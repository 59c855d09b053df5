/* SPDX-License-Identifier: MIT */
/* The functions behind output_formats: one for each format, in a file of its own. */
#ifndef CLI_OUTPUT_FORMATS_H
#define CLI_OUTPUT_FORMATS_H

#include "cli/output/output.h"

/* Return 0, or -1 when memory is short; errors of the stream are the caller's to look for. */
int table_write(FILE *file, const struct report *report, const struct output_options *options);
int json_write(FILE *file, const struct report *report, const struct output_options *options);
int csv_write(FILE *file, const struct report *report, const struct output_options *options);
int html_write(FILE *file, const struct report *report, const struct output_options *options);

#endif
