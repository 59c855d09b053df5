/* SPDX-License-Identifier: MIT */
/* What table_profile.c and profile_tree.c share. */
#ifndef CLI_OUTPUT_PROFILE_TREE_H
#define CLI_OUTPUT_PROFILE_TREE_H

#include "cli/output/grid.h"
#include "cli/output/lines.h"

/* Both return 0, or -1 when memory is short. */

/* The name of a function behind some text; others: the width of the other columns. */
int profile_name(const struct lines *lines, struct grid *grid, size_t row, const char *indent, size_t others,
		 u32 function);

/* A table of the calls. */
int profile_tree_print(const struct lines *lines, const struct stacks_scope *scope, const char *title,
		       const struct stacks_sum *of);

#endif
