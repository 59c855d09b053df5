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

/* Behind a bracket expression, in which a backslash is like others; p is behind its "[". */
static const char *bracket_end(const char *p)
{
	p += *p == '^';
	p += *p == ']';
	while (*p && *p != ']') {
		char kind = *p == '[' && p[1] && strchr(".:=", p[1]) ? p[1] : 0;

		p += kind ? 2 : 1;
		while (kind && *p && !(p[0] == kind && p[1] == ']'))
			p++;
		p += kind && *p ? 2 : 0;
	}
	return *p ? p + 1 : p;
}

/* POSIX's extended expressions have none; glibc's may take exponential time, in which the output would wait. */
static bool refers_back(const char *p)
{
	while (*p) {
		if (*p == '\\' && p[1] >= '1' && p[1] <= '9')
			return true;
		if (*p == '[')
			p = bracket_end(p + 1);
		else
			p += *p == '\\' && p[1] ? 2 : 1;
	}
	return false;
}

static int windowed_pattern(struct windowed *w, const struct command *command)
{
	char why[200];
	int code;

	if (!*w->phase)
		return command_misused(command, "needs a pattern for --phase, not an empty text", NULL);
	if (refers_back(w->phase)) {
		error("the pattern of --phase refers back to a group, which POSIX extended regular expressions do not");
		return STATUS_USAGE;
	}
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
