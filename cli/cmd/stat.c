/* SPDX-License-Identifier: MIT */
/* The command "stat": counts of a command, of what runs already or of the machine; nothing is loaded into it. */
#include <locale.h>
#include <string.h>

#include "cli/cmd/cached.h"
#include "cli/cmd/rounds.h"
#include "cli/cmd/stat_lines.h"
#include "cli/log.h"

struct stat_options {
	struct print_options print;
	const char *report;
	struct launch_asked asked;
	struct stat_scope scope;
	struct rounds_asked rounds;
	struct cached cached;
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
	STAT_SCOPE_ROWS(struct stat_options),
	LAUNCH_SCOPE_ROWS(struct stat_options),
	STAT_TIME_ROWS(struct stat_options),
	CACHED_ROWS(struct stat_options),
	ROUNDS_ROWS(struct stat_options),
	LAUNCH_REPORT_ROW(struct stat_options),
	STAT_LINES_ROWS(struct stat_options),
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
	{ "sparkctl stat --cache cold --cache-files data ./app", "a program that finds none of its files in memory" },
	{ "sparkctl stat -r 20 -w 1 -- ./app", "20 runs after one to warm up: medians and how they scatter" },
	{ "sparkctl stat --vs './new -x' -- ./old -x", "two commands by turns, and how many times faster one is" },
	{ "sparkctl stat -P threads 1 8 -- ./app -j {threads}", "one command with eight values of a parameter" },
	{ "sparkctl stat -p 1234 -I 1000", "a process that runs already, each second, until Ctrl-C" },
	{ "sparkctl stat -a --timeout 10", "the whole machine for 10 s" },
	{ "sparkctl stat --cgroup system.slice/app.service -- sleep 10", "a control group, as long as a command takes" },
	{ .line = NULL },
};

/* One run: what it counts and where that goes. */
struct stat_run {
	const struct stat_options *options;
	struct cached *cached;       /* NULL: not asked for */
	const struct event_list *events;
	const struct output *format;
	FILE *file;
	struct steer steer;
	struct count *count;         /* NULL: the command's tree */
	struct stat_lines lines;
};

static int stat_print(struct stat_run *run, const struct profile *profile, const struct session_facts *facts)
{
	const struct stat_scope *scope = &run->options->scope;

	if (scope->interval_ms && (scope->separator || scope->json))
		return run->lines.failed ? -1 : 0;
	if (!scope->interval_ms)
		launch_report_begin(run->file, run->options->report);
	if (scope->separator || scope->json)
		return stat_lines_whole(&run->lines, facts);
	return print_report(&run->options->print, run->format, run->file, profile, facts) || run->lines.failed ? -1 : 0;
}

/* The exit status, below 0 a signal. */
static int stat_command_run(struct stat_run *run, char **argv)
{
	const struct stat_options *o = run->options;
	bool steered = run->count || o->scope.interval_ms || o->scope.delay || o->scope.control;
	struct session_options so = {
		.argv = argv,
		.outside = true,
		.events = run->events,
		.count = run->count,
		.steer = steered ? &run->steer : NULL,
		.no_inherit = o->no_inherit,
		.follow = o->follow,
		.timeout_ns = o->timeout_ns,
	};
	struct session *session;
	enum session_end end;
	int status;

	if (run->cached) {
		so.storage = cached_storage(run->cached);
		so.cache = cached_cache(run->cached);
	}
	end = session_run(&session, &so);
	status = launch_status(end, session);
	if (end >= SESSION_ENDED && stat_print(run, session_profile(session), session_facts(session)))
		status = status ? status : STATUS_FAILURE;
	session_free(session);
	return status;
}

static int stat_running(struct stat_run *run)
{
	if (count_wait(run->count, &run->steer, run->options->timeout_ns))
		return STATUS_FAILURE;
	return stat_print(run, &run->lines.profile, count_facts(run->count)) ? STATUS_FAILURE : 0;
}

static int stat_run(struct stat_run *run, char **argv)
{
	const struct stat_options *o = run->options;
	struct count_options co = { .events = run->events, .nstandard = o->asked.nstandard, .no_inherit = o->no_inherit };
	int status = stat_scope_steer(&o->scope, &run->steer);

	if (status)
		return status;
	stat_lines_init(&run->lines, run->file, &o->scope, &o->print, run->events, &o->asked);
	run->steer.edge = stat_lines_edge;
	run->steer.context = &run->lines;
	if (o->scope.interval_ms && argv)
		launch_report_empty(run->file, o->report);
	else if (o->scope.interval_ms)
		launch_report_begin(run->file, o->report);
	if (stat_scope_counts(&o->scope))
		status = stat_scope_open(&o->scope, &co, &run->count);
	if (!status)
		status = argv ? stat_command_run(run, argv) : stat_running(run);
	count_free(run->count);
	stat_lines_free(&run->lines);
	steer_close(&run->steer);
	return status;
}

static int stat_repeated(const struct stat_run *run, char **argv)
{
	const struct stat_options *o = run->options;
	const struct rounds_way way = {
		.print = &o->print,
		.events = run->events,
		.report = o->report,
		.file = run->file,
		.timeout_ns = o->timeout_ns,
		.no_inherit = o->no_inherit,
		.storage = run->cached ? cached_storage(run->cached) : NULL,
		.cache = run->cached ? cached_cache(run->cached) : NULL,
	};

	return rounds_stat(&o->rounds, &way, argv);
}

static int stat_cached_check(struct stat_options *o, char **argv)
{
	if (!argv)
		return command_misused(&command_stat, "needs a command for --cache, --cache-files, --cache-drop and --io-model", NULL);
	return cached_parse(&o->cached, &command_stat);
}

static int stat_with(struct stat_options *o, char **argv)
{
	struct event_list events;
	struct stat_run run = { .options = o, .events = &events, .format = print_format(&command_stat, &o->print) };
	int status;

	if (!run.format || stat_scope_check(&o->scope, &o->print, argv))
		return STATUS_USAGE;
	if (cached_given(&o->cached)) {
		status = stat_cached_check(o, argv);
		if (status)
			return status;
		run.cached = &o->cached;
	}
	log_set_level(o->print.quiet ? LOG_LEVEL_QUIET : o->print.verbose);
	setlocale(LC_CTYPE, "");
	o->asked.all_calls = &o->print.all_calls;
	if (stat_scope_counts(&o->scope))
		o->asked.standard = stat_scope_standard(&o->asked);
	status = launch_events(&o->asked, &o->print, &events);
	if (!status && rounds_wanted(&o->rounds) && o->print.all_calls)
		status = command_misused(&command_stat, "repeats commands without --syscalls all: give it names", NULL);
	if (!status) {
		run.file = launch_report_open(o->report);
		if (!run.file)
			status = STATUS_FAILURE;
		else if (rounds_wanted(&o->rounds))
			status = stat_repeated(&run, argv);
		else
			status = stat_run(&run, argv);
	}
	event_list_free(&events);
	return launch_end(run.file, o->report, status);
}

static int stat_command(int argc, char **argv)
{
	struct stat_options o = { .print = { .format = "table", .totals_only = true }, .cached = { .asked = CACHED_NOT_GIVEN } };
	int status, first = command_parse(&command_stat, &o, argc, argv, &status);

	if (first >= 0 && o.wrap.n)
		status = command_misused(&command_stat, "loads nothing into the command, which --wrap needs: use sparkctl run", NULL);
	else if (first >= 0 && rounds_wanted(&o.rounds) && (o.follow || stat_scope_given(&o.scope)))
		status = command_misused(&command_stat, o.follow ? "repeats commands without --follow" :
			"repeats commands, and counts what runs already, in intervals or in lines, without that", NULL);
	else if (first >= 0 && !strcmp(o.print.format, "html") && (rounds_wanted(&o.rounds) || o.scope.interval_ms))
		status = command_misused(&command_stat, "makes no page of repeated runs or intervals: choose another --format", NULL);
	else if (first >= 0)
		status = stat_with(&o, first < argc ? argv + first : NULL);
	opt_list_free(&o.wrap);
	launch_asked_free(&o.asked);
	rounds_asked_free(&o.rounds);
	cached_free(&o.cached);
	opt_list_free(&o.scope.cgroups);
	print_options_free(&o.print);
	return status;
}

const struct command command_stat = {
	.name = "stat",
	.summary = "count what a command, a process or the machine takes, from outside",
	.usage = "[OPTION...] [[--] COMMAND [ARGUMENT...]]",
	.options = options,
	.examples = examples,
	.runs_command = true,
	.run = stat_command,
};
