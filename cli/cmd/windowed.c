/* SPDX-License-Identifier: MIT */
/* Windows that are opened from outside; see windowed.h. */
#define _GNU_SOURCE
#include "cli/cmd/windowed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/session/steer.h"
#include "cli/session/windows.h"

/* "FIFO[,ACK]" is "fifo:FIFO[,ACK]" for short. */
static int windowed_open(struct windowed *w)
{
	bool whole = !strncmp(w->file, "fifo:", 5) || !strncmp(w->file, "fd:", 3);
	char *text = NULL;
	int err;

	if (asprintf(&text, "%s%s", whole ? "" : "fifo:", w->file) < 0)
		return error("out of memory"), STATUS_FAILURE;
	err = channel_open("--window-file", text, &w->windows.control, &w->windows.ack);
	free(text);
	return err == -EINVAL ? STATUS_USAGE : err ? STATUS_FAILURE : 0;
}

static int windowed_pattern(struct windowed *w, const struct command *command)
{
	char why[200];
	int code;

	if (!*w->phase)
		return command_misused(command, "needs a pattern for --phase, not an empty text", NULL);
	code = regcomp(&w->pattern, w->phase, REG_EXTENDED);
	if (code) {
		regerror(code, &w->pattern, why, sizeof(why));
		error("the pattern of --phase is no POSIX extended regular expression: %s", why);
		return STATUS_USAGE;
	}
	w->windows.phase = &w->pattern;
	return 0;
}

int windowed_parse(struct windowed *w, const struct command *command)
{
	w->windows = (struct session_windows){ .whole = w->whole, .control = -1, .ack = -1 };
	w->opened = true;
	if (w->whole && !*w->whole)
		return command_misused(command, "needs a name for --window, not an empty text", NULL);
	if (w->whole && strlen(w->whole) > WINDOW_NAME_MOST)
		return command_misused(command, "takes names of windows of up to 1024 bytes", NULL);
	if (w->phase && windowed_pattern(w, command))
		return STATUS_USAGE;
	return w->file ? windowed_open(w) : 0;
}

void windowed_session(struct windowed *w, struct session_options *options)
{
	if (w->whole || w->file || w->phase)
		options->windows = &w->windows;
}

void windowed_free(struct windowed *w)
{
	if (!w->opened)
		return;
	if (w->windows.phase)
		regfree(&w->pattern);
	if (w->windows.control >= 0)
		close(w->windows.control);
	if (w->windows.ack >= 0)
		close(w->windows.ack);
}
