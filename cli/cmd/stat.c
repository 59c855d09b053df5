/* SPDX-License-Identifier: MIT */
/* The command "stat": totals of a program from outside; nothing is loaded into it. */
#include <locale.h>

#include "cli/cmd/launch.h"
#include "cli/cmd/rounds.h"
#include "cli/log.h"

struct stat_options {
	struct print_options print;
	const char *report;
	struct launch_asked asked;
	struct rounds_asked rounds;
	uint64_t timeout_ns;
	bool no_inherit;
	bool follow;
	struct opt_list wrap;        /* taken in order to say why it is not */
};

static const struct opt options[] = {
	{ "metrics", 0, OPT_STRING, PRINT_OFFSET(struct stat_options, metrics), "GLOBS", NULL,
	  "show these counters: names or patterns, separated by commas", "all", false },
	PRINT_DEFINE_ROW(struct stat_options),
	LAUNCH_ASKED_ROWS(struct stat_options),
	LAUNCH_SCOPE_ROWS(struct stat_options),
	ROUNDS_ROWS(struct stat_options),
	LAUNCH_REPORT_ROW(struct stat_options),
	PRINT_SHAPE_ROWS(struct stat_options),
	{ "wrap", 0, OPT_EACH, offsetof(struct stat_options, wrap), "LIST", NULL, "make regions of calls", NULL, true },
	{ .name = NULL },
};

static const struct command_example examples[] = {
	{ "sparkctl stat -- ./app", "time, memory, faults, switches and CPU counters of a program as it is" },
	{ "sparkctl stat -e cycles:u,LLC-misses,cs ./app", "chosen events" },
	{ "sparkctl stat --metrics 'elapsed,*faults' make", "chosen counters, of all processes of a build" },
	{ "sparkctl stat --group CACHE ./app", "a group of events, and metrics made of them" },
	{ "sparkctl stat -e page-faults --define 'faults-per-ms = page-faults / task-clock * 1e6' ./app",
	  "a metric of one's own" },
	{ "sparkctl stat -r 20 -w 1 -- ./app", "20 runs after one to warm up: medians and how they scatter" },
	{ "sparkctl stat --vs './new -x' -- ./old -x", "two commands by turns, and how many times faster one is" },
	{ "sparkctl stat -P threads 1 8 -- ./app -j {threads}", "one command with eight values of a parameter" },
	{ .line = NULL },
};

/* The exit status, below 0 a signal. */
static int stat_and_report(const struct stat_options *o, const struct event_list *events, const struct output *format,
			   FILE *file, char **argv)
{
	struct session_options so = {
		.argv = argv,
		.outside = true,
		.events = events,
		.no_inherit = o->no_inherit,
		.follow = o->follow,
		.timeout_ns = o->timeout_ns,
	};
	struct session *session;
	enum session_end end = session_run(&session, &so);
	int status = launch_status(end, session);

	if (end >= SESSION_ENDED) {
		launch_report_begin(file, o->report);
		if (print_report(&o->print, format, file, session_profile(session), session_facts(session)))
			status = status ? status : STATUS_FAILURE;
	}
	session_free(session);
	return status;
}

static int stat_repeated(const struct stat_options *o, const struct event_list *events, FILE *file, char **argv)
{
	const struct rounds_way way = {
		.print = &o->print,
		.events = events,
		.report = o->report,
		.file = file,
		.timeout_ns = o->timeout_ns,
		.no_inherit = o->no_inherit,
	};

	return rounds_stat(&o->rounds, &way, argv);
}

static int stat_with(struct stat_options *o, char **argv)
{
	const struct output *format = print_format(&command_stat, &o->print);
	struct event_list events;
	FILE *file = NULL;
	int status;

	if (!format)
		return STATUS_USAGE;
	log_set_level(o->print.quiet ? LOG_LEVEL_QUIET : o->print.verbose);
	setlocale(LC_CTYPE, "");
	status = launch_events(&o->asked, &o->print, &events);
	if (!status) {
		file = launch_report_open(o->report);
		if (!file)
			status = STATUS_FAILURE;
		else if (rounds_wanted(&o->rounds))
			status = stat_repeated(o, &events, file, argv);
		else
			status = stat_and_report(o, &events, format, file, argv);
	}
	event_list_free(&events);
	return launch_end(file, o->report, status);
}

static int stat_command(int argc, char **argv)
{
	struct stat_options o = { .print = { .format = "table", .totals_only = true } };
	int status, first = command_parse(&command_stat, &o, argc, argv, &status);

	if (first >= argc)
		status = command_misused(&command_stat, "needs a command to run", NULL);
	else if (first >= 0 && o.wrap.n)
		status = command_misused(&command_stat, "loads nothing into the command, which --wrap needs: use sparkctl run", NULL);
	else if (first >= 0 && o.follow && rounds_wanted(&o.rounds))
		status = command_misused(&command_stat, "repeats commands without", "--follow");
	else if (first >= 0)
		status = stat_with(&o, argv + first);
	opt_list_free(&o.wrap);
	launch_asked_free(&o.asked);
	rounds_asked_free(&o.rounds);
	print_options_free(&o.print);
	return status;
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
