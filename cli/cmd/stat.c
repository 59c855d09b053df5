/* SPDX-License-Identifier: MIT */
/* The command "stat": totals of a program from outside; nothing is loaded into it. */
#define _GNU_SOURCE
#include <locale.h>

#include "cli/cmd/launch.h"
#include "cli/log.h"

struct stat_options {
	const char *metrics;
	const char *report;
	const char *format;
	enum color_mode color;
	uint64_t timeout_ns;
	bool no_inherit;
	bool follow;
	int quiet;
	int verbose;
};

static const struct opt options[] = {
	{ "metrics", 0, OPT_STRING, offsetof(struct stat_options, metrics), "GLOBS", NULL,
	  "show these counters: names or patterns, separated by commas", "all", false },
	LAUNCH_SCOPE_ROWS(struct stat_options),
	LAUNCH_REPORT_ROWS(struct stat_options),
	{ .name = NULL },
};

static const struct command_example examples[] = {
	{ "sparkctl stat -- ./app", "time, memory, faults, switches and CPU counters of a program as it is" },
	{ "sparkctl stat --metrics 'elapsed,*faults' make", "chosen counters, of all processes of a build" },
	{ .line = NULL },
};

static int stat_command(int argc, char **argv)
{
	struct stat_options o = { .format = "table" };
	struct session_options so;
	struct report_options ro;
	struct launch_look look;
	const struct output *format;
	struct session *session;
	enum session_end end;
	int first, status;
	FILE *file;

	first = command_parse(&command_stat, &o, argc, argv, &status);
	if (first < 0)
		return status;
	if (first >= argc)
		return command_misused(&command_stat, "needs a command to run", NULL);
	format = output_find(o.format);
	if (!format)
		return command_misused(&command_stat, "knows the formats table and json, not", o.format);
	log_set_level(o.quiet ? LOG_LEVEL_QUIET : o.verbose);
	setlocale(LC_CTYPE, "");
	file = launch_report_open(o.report);
	if (!file)
		return STATUS_FAILURE;
	so = (struct session_options){
		.argv = argv + first,
		.outside = true,
		.no_inherit = o.no_inherit,
		.follow = o.follow,
		.timeout_ns = o.timeout_ns,
	};
	ro = (struct report_options){ .metrics = o.metrics, .totals_only = true };
	look = (struct launch_look){ .color = o.color, .verbose = o.quiet ? -1 : o.verbose };
	end = session_run(&session, &so);
	status = launch_status(end, session);
	if (end >= SESSION_ENDED && launch_report_print(&ro, &look, format, file, session) && status == 0)
		status = STATUS_FAILURE;
	session_free(session);
	return launch_end(file, o.report, status);
}

const struct command command_stat = {
	.name = "stat",
	.summary = "start a command and count what it takes, from outside",
	.usage = "[OPTION...] [--] COMMAND [ARGUMENT...]",
	.options = options,
	.examples = examples,
	.runs_command = true,
	.run = stat_command,
};
