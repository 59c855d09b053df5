/* SPDX-License-Identifier: MIT */
/* Options of windows that are opened from outside: the whole command as one, and those of a script. */
#ifndef CLI_CMD_WINDOWED_H
#define CLI_CMD_WINDOWED_H

#include "cli/cmd/cmd.h"
#include "cli/session/session.h"

struct windowed {
	const char *whole, *file, *phase;
	regex_t pattern;             /* of phases */
	struct session_windows windows;
	bool opened;
};

/* Rows for a struct with a member of this name: windowed. */
#define WINDOWED_WHOLE_ROW(type, what) \
	{ "window", 0, OPT_OPTIONAL, offsetof(type, windowed.whole), "NAME", NULL, \
	  "make " what " one window, of this name: what the time of its threads was spent on, and what the system did", what, false }
#define WINDOWED_FILE_ROW(type) \
	{ "window-file", 0, OPT_STRING, offsetof(type, windowed.file), "FIFO", NULL, \
	  "open and close windows by lines that a script writes to this fifo: begin NAME, end NAME; FIFO,ACK answers", NULL, false }

#define WINDOWED_PHASE_ROW(type) \
	{ "phase", 0, OPT_STRING, offsetof(type, windowed.phase), "REGEX", NULL, \
	  "make windows of phases: each begins when the command prints a line that matches, is named by its first group, and ends the " \
	  "one before", NULL, false }

/* 0, or the exit status after a message; windowed_free() in any case. */
int windowed_parse(struct windowed *windowed, const struct command *command);
/* For the session, which it must outlive. */
void windowed_session(struct windowed *windowed, struct session_options *options);
void windowed_free(struct windowed *windowed);

#endif
