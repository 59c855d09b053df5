/* SPDX-License-Identifier: MIT */
/*
 * What sparkctl itself has to say: one line on standard error, each by one write(2), so that
 * lines of several processes don't mix. Control characters and invalid bytes in the finished text
 * are escaped (text_escape), so callers pass names and paths as they are, and no newline.
 */
#ifndef CLI_LOG_H
#define CLI_LOG_H

#include <stddef.h>
#include <stdbool.h>

enum log_level {
	LOG_LEVEL_QUIET = -1,	/* -q: errors only */
	LOG_LEVEL_NORMAL = 0,
	LOG_LEVEL_VERBOSE = 1,	/* -v; -v -v is 2, and so on */
};

void log_set_level(int level);
int log_level(void);

/* Prints "sparkctl: ..." and returns -1, for `return error("...")`. Keeps errno. */
int error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From here on error() puts what it has to say into text; NULL: it prints again. */
void log_capture(char *text, size_t size);
/* Whether error() and warning() say nothing, for what is only tried. Returns what it was. */
bool log_hush(bool hushed);

/* Prints "sparkctl: warning: ..." unless quiet. Keeps errno. */
void warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "sparkctl: ..." if the level is at least the given one. Keeps errno. */
void verbose(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
