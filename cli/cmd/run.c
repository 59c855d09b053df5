/* SPDX-License-Identifier: MIT */
/* The command "run": a session and its report. */
#define _GNU_SOURCE
#include "cli/cmd/cmd.h"

#include <locale.h>

#include "cli/cmd/launch.h"
#include "cli/log.h"

struct run_options {
	const char *metrics;
	const char *regions;
	const char *sort_by;
	const char *report;
	const char *format;
	enum profile_group group;
	enum color_mode color;
	uint64_t timeout_ns;
	bool no_inherit;
	bool follow;
	bool cpu_clock;
	int quiet;
	int verbose;
};

#define OFFSET(member) offsetof(struct run_options, member)

static const struct opt options[] = {
	{ "metrics", 0, OPT_STRING, OFFSET(metrics), "GLOBS", NULL,
	  "show these columns, and read what they need at each marker: names or patterns, separated by commas; see sparkctl list metrics",
	  "the usual ones", false },
	{ "regions", 0, OPT_STRING, OFFSET(regions), "GLOBS", NULL,
	  "show only regions whose name or path (a;b) matches", "all", false },
	{ "group-by", 0, OPT_ENUM, OFFSET(group), NULL, profile_group_words,
	  "a table for each process or thread, or regions merged over processes", "process", false },
	{ "sort-by", 0, OPT_STRING, OFFSET(sort_by), "METRIC", NULL, "order of regions beside each other, greatest first", "wall",
	  false },
	LAUNCH_SCOPE_ROWS(struct run_options),
	{ "cpu-clock", 0, OPT_FLAG, OFFSET(cpu_clock), NULL, NULL,
	  "where switches cannot be detected, read the thread's CPU clock at each marker (about 1 us a pair) instead of leaving cpu out",
	  NULL, false },
	LAUNCH_REPORT_ROWS(struct run_options),
	{ .name = NULL },
};

static const struct command_example examples[] = {
	{ "sparkctl run -- ./app", "regions, times and totals of a program, its output untouched" },
	{ "sparkctl run --report out.txt -- make -j2", "all processes of a build" },
	{ "sparkctl run --metrics 'wall*,minflt' ./app -x", "chosen columns; rusage is read at each marker" },
	{ "sparkctl run --format json --report - ./app", "for programs: schema spark-report/1" },
	{ .line = NULL },
};

static int run_command(int argc, char **argv)
{
	struct run_options o = { .format = "table" };
	struct session_options so;
	struct report_options ro;
	struct launch_look look;
	const struct output *format;
	struct session *session;
	enum session_end end;
	int first, status;
	FILE *file;

	first = command_parse(&command_run, &o, argc, argv, &status);
	if (first < 0)
		return status;
	if (first >= argc)
		return command_misused(&command_run, "needs a command to run", NULL);
	format = output_find(o.format);
	if (!format)
		return command_misused(&command_run, "knows the formats table and json, not", o.format);
	log_set_level(o.quiet ? LOG_LEVEL_QUIET : o.verbose);
	setlocale(LC_CTYPE, "");
	file = launch_report_open(o.report);
	if (!file)
		return STATUS_FAILURE;
	ro = (struct report_options){ .metrics = o.metrics, .regions = o.regions, .sort_by = o.sort_by };
	look = (struct launch_look){ .color = o.color, .verbose = o.quiet ? -1 : o.verbose };
	so = (struct session_options){
		.argv = argv + first,
		.group = o.group,
		.sources = metric_select(o.metrics).sources,
		.no_inherit = o.no_inherit,
		.follow = o.follow,
		.cpu_clock = o.cpu_clock,
		.timeout_ns = o.timeout_ns,
	};
	end = session_run(&session, &so);
	status = launch_status(end, session);
	if (end >= SESSION_ENDED && launch_report_print(&ro, &look, format, file, session) && status == 0)
		status = STATUS_FAILURE;
	session_free(session);
	return launch_end(file, o.report, status);
}

const struct command command_run = {
	.name = "run",
	.summary = "start a command and measure its regions",
	.usage = "[OPTION...] [--] COMMAND [ARGUMENT...]",
	.options = options,
	.examples = examples,
	.runs_command = true,
	.run = run_command,
};
