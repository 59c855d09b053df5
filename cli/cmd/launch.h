/* SPDX-License-Identifier: MIT */
/* What the commands share that start a program and end as it does: option rows, report, exit status. */
#ifndef CLI_CMD_LAUNCH_H
#define CLI_CMD_LAUNCH_H

#include "cli/cmd/print.h"
#include "cli/session/session.h"

/* Rows for a struct with members of these names: no_inherit, follow, timeout_ns. */
#define LAUNCH_SCOPE_ROWS(type) \
	{ "no-inherit", 0, OPT_FLAG, offsetof(type, no_inherit), NULL, NULL, \
	  "measure the command alone, not what it starts", NULL, false }, \
	{ "follow", 0, OPT_FLAG, offsetof(type, follow), NULL, NULL, \
	  "wait for all descendants, daemons too, instead of the command alone", NULL, false }, \
	{ "timeout", 0, OPT_SECONDS, offsetof(type, timeout_ns), "TIME", NULL, \
	  "end the command after this time (s, ms, m) by SIGTERM, then SIGKILL; exit status 124", NULL, false }

/* What is to be counted. */
struct launch_asked {
	struct opt_list events;
	struct opt_list groups;
	struct opt_list syscalls;
	const char *standard;        /* events that are counted in any case, in front of those; NULL: none */
	size_t nstandard;            /* of the list */
	bool *all_calls;             /* set by --syscalls all; NULL: that cannot be had */
};

/* The same: asked, a struct launch_asked. */
#define LAUNCH_ASKED_ROWS(type) \
	{ "events", 'e', OPT_EACH, offsetof(type, asked.events), "LIST", NULL, \
	  "count these events, by names of perf, sysfs or libpfm4; see spark-events(7)", \
	  "cycles, instructions, branches and branch-misses", false }, \
	{ "group", 0, OPT_EACH, offsetof(type, asked.groups), "GROUP", NULL, \
	  "count the events of a group and show its metrics: a name of sparkctl list groups, or a file", NULL, false }, \
	{ "syscalls", 0, OPT_EACH, offsetof(type, asked.syscalls), "NAMES", NULL, \
	  "count system calls: all together, and those of these names, such as read,write,futex", NULL, false }

/* The same: report. */
#define LAUNCH_REPORT_ROW(type) \
	{ "report", 0, OPT_STRING, offsetof(type, report), "FILE", NULL, \
	  "write the report there; - is standard output", "standard error", false }

/*
 * The events of all that was asked for, to be freed, and in print the metrics of groups and of --define.
 * 0, or the exit status after a message.
 */
int launch_events(struct launch_asked *asked, struct print_options *print, struct event_list *events);
/* Any events were asked for. */
bool launch_counts(const struct launch_asked *asked);
void launch_asked_free(struct launch_asked *asked);
/* The functions of --uprobe, for a command. 0, or the exit status after a message. */
int launch_probes(const struct opt_list *uprobes, const struct opt_list *sdt, const char *command, struct probe_list *probes);
/* The file of --report, or standard error without it. NULL after a message. */
FILE *launch_report_open(const char *path);
/* Before the report is written: empties the file; from here on a reader that is gone or a limit does not end us. */
void launch_report_begin(FILE *file, const char *path);
/* The first of it alone, before a command starts that is to have its signals as they were. */
void launch_report_empty(FILE *file, const char *path);
/* All was written, errno being 0 before. 0, or -1 after a message with what it is called. */
int launch_report_written(FILE *file, const char *called);
/* The exit status for the way a session ended; negative: of a command that was killed by this signal. */
int launch_status(enum session_end end, const struct session *session);
/* Closes the file of launch_report_open(), if it was opened. Returns the exit status, or dies of the command's signal. */
int launch_end(FILE *file, const char *path, int status);

#endif
