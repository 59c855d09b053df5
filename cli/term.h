/* SPDX-License-Identifier: MIT */
/* What is known of the terminal behind a stream: its width, and whether colour is wanted. */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum color_mode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* The words of --color, in the order of enum color_mode; NULL ends the list. */
extern const char *const color_words[];

/* With COLOR_AUTO: a terminal that is not dumb, and NO_COLOR is unset or empty. */
bool color_wanted(FILE *file, enum color_mode mode);

/* The stream is about to become a pipe to a program that shows it on the terminal. */
void term_paged(FILE *file);

/*
 * The columns of the terminal at fd, at least 20: the kernel's figure, else $COLUMNS, else 80;
 * 0, meaning no limit, if fd is no terminal and $COLUMNS says nothing.
 */
size_t term_width(int fd);

enum term_style { STYLE_PLAIN, STYLE_STRONG, STYLE_ACCENT, STYLE_BAD };

/* The sequence that switches to a style, or "" where colour is not wanted. */
const char *term_style(bool color, enum term_style style);

#endif
