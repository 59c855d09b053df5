/* SPDX-License-Identifier: MIT */
/* What the commands share that start a program and end as it does: option rows, report, exit status. */
#ifndef CLI_CMD_LAUNCH_H
#define CLI_CMD_LAUNCH_H

#include "cli/cmd/cmd.h"
#include "cli/output/output.h"
#include "cli/session/session.h"
#include "cli/term.h"

/* Rows for a struct with members of these names: no_inherit, follow, timeout_ns. */
#define LAUNCH_SCOPE_ROWS(type) \
	{ "no-inherit", 0, OPT_FLAG, offsetof(type, no_inherit), NULL, NULL, \
	  "measure the command alone, not what it starts", NULL, false }, \
	{ "follow", 0, OPT_FLAG, offsetof(type, follow), NULL, NULL, \
	  "wait for all descendants, daemons too, instead of the command alone", NULL, false }, \
	{ "timeout", 0, OPT_SECONDS, offsetof(type, timeout_ns), "TIME", NULL, \
	  "end the command after this time (s, ms, m) by SIGTERM, then SIGKILL; exit status 124", NULL, false }

/* The same: report, format, color, quiet, verbose. */
#define LAUNCH_REPORT_ROWS(type) \
	{ "report", 0, OPT_STRING, offsetof(type, report), "FILE", NULL, \
	  "write the report there; - is standard output", "standard error", false }, \
	{ "format", 0, OPT_STRING, offsetof(type, format), "FORMAT", NULL, "table or json", "table", false }, \
	{ "color", 0, OPT_ENUM, offsetof(type, color), NULL, color_words, "colours and bold type", "auto", false }, \
	{ "quiet", 'q', OPT_COUNT, offsetof(type, quiet), NULL, NULL, "the figures and what is missing only", NULL, false }, \
	{ "verbose", 'v', OPT_COUNT, offsetof(type, verbose), NULL, NULL, "more, also about what sparkctl does", NULL, false }

struct launch_look {
	enum color_mode color;
	int verbose;                 /* as struct output_options */
};

/* The file of --report, or standard error without it. NULL after a message. */
FILE *launch_report_open(const char *path);
/* Returns 0, or -1 after a message. */
int launch_report_print(const struct report_options *options, const struct launch_look *look, const struct output *format,
			FILE *file, const struct session *session);
/* The exit status for the way a session ended; negative: of a command that was killed by this signal. */
int launch_status(enum session_end end, const struct session *session);
/* Closes the file of launch_report_open(). Returns the exit status, or dies of the command's signal. */
int launch_end(FILE *file, const char *path, int status);

#endif
