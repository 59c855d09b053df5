/* SPDX-License-Identifier: MIT */
/* run -r, -w, --passes and --vs: several runs of one command, or of some by turns, and one report of all. */
#ifndef CLI_CMD_REPEATED_H
#define CLI_CMD_REPEATED_H

#include <limits.h>

#include "cli/analyze/figures.h"
#include "cli/cmd/cmd.h"
#include "cli/cmd/print.h"
#include "cli/cmd/run_file.h"

#define REPEATED_USUAL ULONG_MAX /* none were asked for */

struct repeated_asked {
	unsigned long runs;          /* REPEATED_USUAL; of repeated_parse() on, 0: not given */
	unsigned long warmups;
	struct opt_list passes;
	struct opt_list vs;
	bool ignore_failure;
	enum run_pass pass[PASSES];
	u32 npasses;
};

/* Rows for a struct with a member repeated. */
#define REPEATED_ROWS(type) \
	{ "runs", 'r', OPT_UINT, offsetof(type, repeated.runs), "N", NULL, \
	  "run the command so often and report medians, how they scatter and how precise they are; with --vs 10 " \
	  "times", "1", false }, \
	{ "warmup", 'w', OPT_UINT, offsetof(type, repeated.warmups), "N", NULL, \
	  "run it so often before, uncounted", "0", false }, \
	{ "passes", 0, OPT_LIST, offsetof(type, repeated.passes), "PASSES", NULL, \
	  "run it in passes of their own: timing, counting, profile, with commas between; counting alone runs the " \
	  "command again for events that the CPU has no counters for", NULL, false }, \
	{ "vs", 0, OPT_EACH, offsetof(type, repeated.vs), "COMMANDLINE", NULL, \
	  "compare with this command region by region, quoted as for a shell; all take turns", NULL, false }, \
	{ "ignore-failure", 0, OPT_FLAG, offsetof(type, repeated.ignore_failure), NULL, NULL, \
	  "with several runs, go on after one that failed, and end with status 0", NULL, false }

/* The words of --passes. 0, or the exit status after a message. */
int repeated_parse(struct repeated_asked *asked, const struct command *command);
bool repeated_has_pass(const struct repeated_asked *asked, enum run_pass pass);
/* There is more than one report's run, or a report of another kind: all but counting passes alone. */
bool repeated_wanted(const struct repeated_asked *asked);
void repeated_free(struct repeated_asked *asked);

struct repeated_way {
	const struct session_options *options; /* of a run in which all is armed */
	const struct print_options *print;
	const struct run_record *record;
	const char *report;
	FILE *file;
};

/* Runs, and reports. The exit status, below 0 a signal. */
int repeated_run(const struct repeated_asked *asked, const struct repeated_way *way);

#endif
