/* SPDX-License-Identifier: MIT */
/* Commands as text: taken apart by a shell's rules of quoting, and put together again. */
#ifndef CLI_CMD_WORDS_H
#define CLI_CMD_WORDS_H

#include <stddef.h>

/*
 * The words of a text by the rules of quoting of sh(1): blanks, '...', "..." and backslash; nothing is
 * expanded. NULL at the end; NULL after a message that begins with who. To be freed by words_free().
 */
char **words_split(const char *who, const char *text);
/* A copy of some words. NULL when memory is short. */
char **words_copy(char *const *words);
void words_free(char **words);
/* As a shell would read it again, or, plainly, with blanks between; to be freed. NULL when memory is short. */
char *words_join(char *const *words, int quoted);

/* The text with each {name} replaced; to be freed. NULL when memory is short. */
char *words_replace(const char *text, const char *name, const char *value);

#endif
