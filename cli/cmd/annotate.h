/* SPDX-License-Identifier: MIT */
/* What the files of the command "annotate" share. */
#ifndef CLI_CMD_ANNOTATE_H
#define CLI_CMD_ANNOTATE_H

#include <stdio.h>

#include "cli/analyze/stacks.h"
#include "cli/term.h"

struct annotate_source;

struct annotate {
	struct stacks *stacks;
	const struct samples *samples;
	const char *function;
	struct stacks_sum all;       /* of which shares are */
	struct annotate_source *sources;
	FILE *file;
	size_t width;
	bool color, utf8, verbose;
};

/* All return 0, or -1 when memory is short. */

/*
 * One line: shares of samples (both NULL: a heading; without samples: blank), a place ("2104", "4a10") of so many
 * columns, text of strangers.
 */
int annotate_print(const struct annotate *annotate, const struct stacks_sum *self, const struct stacks_sum *total,
		   const char *place, int place_width, const char *text);
/* A line that stands for those left out. */
void annotate_gap(const struct annotate *annotate, int place_width);

/* Which of n lines are shown, those set in show: all around those with samples. */
void annotate_around(bool *show, const bool *hot, size_t n, size_t around);

/* annotate_source.c */

/* A line of a source file, to be freed; NULL where there is none. */
char *annotate_source_line(struct annotate *annotate, const char *path, u32 line);
int annotate_print_source(struct annotate *annotate);
void annotate_free_sources(struct annotate *annotate);

/* annotate_code.c */
int annotate_print_code(struct annotate *annotate);

#endif
