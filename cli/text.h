/* SPDX-License-Identifier: MIT */
/*
 * Text from strangers (names, paths, arguments) made fit for a terminal: escaped, measured in
 * columns, cut, wrapped. Output is always valid UTF-8, whatever the locale. Pure functions, used
 * by everything in cli/ that prints.
 */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Decodes one character of s (at most len bytes, len > 0). Returns its length in bytes, or 0 when
 * s does not begin with valid UTF-8 (overlong forms, surrogates and anything above U+10FFFF are
 * invalid).
 */
size_t text_decode(const char *s, size_t len, unsigned int *code);

/*
 * Writes len bytes of s to out so that nothing in it can steer a terminal: a newline, a tab and a
 * backslash as \n \t \\, other control characters, characters that reorder or break lines, and
 * invalid bytes as \xNN, byte by byte; the rest as it is. The form can be reversed. At most size
 * bytes are written, terminated (size > 0) and never cut inside a character or an escape. Returns
 * the length of the whole result, as snprintf does.
 */
size_t text_escape(char *out, size_t size, const char *s, size_t len);

/* The columns that s takes on a terminal: East Asian wide characters two, combining ones none. */
size_t text_width(const char *s);

/*
 * Writes s to out, cut to at most the given columns; a cut is marked by an ellipsis in the last
 * one. Columns 0 gives the empty string. Returns the columns used.
 */
size_t text_fit(char *out, size_t size, const char *s, size_t columns);

/*
 * Prints s broken at blanks to lines of at most width columns (0: no limit); the cursor stands at
 * column indent, where further lines begin too. A word that is too long is not broken. Ends with a
 * newline.
 */
void text_wrap(FILE *file, const char *s, size_t indent, size_t width);

/* Prints a word as a shell would read it again: in quotes where it needs them. */
void text_quote(FILE *file, const char *word);

/* Prints s and blanks up to the given columns. */
void text_pad(FILE *file, const char *s, size_t columns);

/* The number of single-character edits between two words; for "did you mean". */
unsigned int text_distance(const char *a, const char *b);

#endif
