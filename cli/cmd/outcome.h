/* SPDX-License-Identifier: MIT */
/* How doctor and list print the outcome of an attempt: whether it is here, why, what would help. */
#ifndef CLI_CMD_OUTCOME_H
#define CLI_CMD_OUTCOME_H

#include "cli/caps/caps.h"

/* On a narrow terminal the texts stand below the name. */
struct outcome_layout {
	size_t name;			/* columns of the name */
	size_t width;			/* of the terminal, 0: no limit */
	size_t indent;			/* where texts stand */
	bool color;
};

/* For standard output; name is the width of the longest name. */
void outcome_layout_init(struct outcome_layout *layout, size_t name, bool color);
/* The heading, with what the names are names of. */
void outcome_print_head(const struct outcome_layout *layout, const char *what);
void outcome_print_row(const struct outcome_layout *layout, const char *name,
	const struct outcome *outcome);
/*
 * One cause may stop many: where the texts are those of an earlier row, and there is a remedy,
 * they become "as" and that row's name. Compare with the first such row first.
 */
void outcome_shorten(struct outcome *outcome, const struct outcome *earlier, const char *name);
/* The reason and the remedy from column indent on, ended by a newline. */
void outcome_print_texts(const struct outcome_layout *layout, const struct outcome *outcome);

#endif
