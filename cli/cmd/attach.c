/* SPDX-License-Identifier: MIT */
/* The command "attach": a session with processes that run already, from outside or with the agent loaded. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/portioned.h"
#include "cli/cmd/sampled.h"
#include "cli/cmd/stat_lines.h"
#include "cli/cmd/watch.h"
#include "cli/cmd/windowed.h"
#include "cli/cmd/wrap.h"
#include "cli/log.h"
#include "cli/session/attach.h"

struct attach_options {
	struct print_options print;
	const char *report;
	const char *record;
	const char *note;
	char *define_lines;          /* for the recording */
	struct launch_asked asked;
	struct stat_scope scope;     /* pids and interval_ms */
	struct sampled sampled;
	uint64_t duration_ns;
	bool no_inherit;
	struct portioned portioned;
	struct windowed windowed;
	bool off_cpu;
	bool inject;
	bool block_io;
	struct wrap wrap;
};

#define RECORD_THREADS 4096        /* as of run */

#define OFFSET(member) offsetof(struct attach_options, member)

static const struct opt options[] = {
	{ "pid", 'p', OPT_STRING, OFFSET(scope.pids), "PIDS", NULL,
	  "measure these processes, by numbers separated by commas: all threads, and what they start", NULL, false },
	PRINT_CHOICE_ROWS(struct attach_options, "", ""),
	PRINT_DEFINE_ROW(struct attach_options),
	LAUNCH_ASKED_ROWS(struct attach_options),
	SAMPLED_ROWS(struct attach_options),
	{ "block-io", 0, OPT_FLAG, OFFSET(block_io), NULL, NULL,
	  "tell what each block device did meanwhile: requests, latencies by direction, utilization", NULL, false },
	{ "off-cpu", 0, OPT_FLAG, OFFSET(off_cpu), NULL, NULL,
	  "tell where threads are when they are not on a CPU, and take the time apart by that", NULL, false },
	{ "no-inherit", 0, OPT_FLAG, OFFSET(no_inherit), NULL, NULL,
	  "measure the threads that are there, not what they start", NULL, false },
	PORTIONED_ROWS(struct attach_options),
	WINDOWED_WHOLE_ROW(struct attach_options, "all that is measured"),
	WINDOWED_FILE_ROW(struct attach_options),
	{ "inject", 0, OPT_FLAG, OFFSET(inject), NULL, NULL,
	  "load the agent into the processes, so that their markers make regions, and the calls of --wrap", NULL, false },
	WRAP_ROWS(struct attach_options),
	{ "interval-print", 'I', OPT_UINT, OFFSET(scope.interval_ms), "MS", NULL,
	  "print what was counted each time so many ms have passed", NULL, false },
	{ "duration", 0, OPT_SECONDS, OFFSET(duration_ns), "TIME", NULL,
	  "report after this time (s, ms, m), instead of when the processes have ended or at Ctrl-C", NULL, false },
	{ "output", 'o', OPT_STRING, OFFSET(record), "FILE", NULL,
	  "record it in this file, for sparkctl report; %p is the process, %h the host, %r the rank", NULL, false },
	{ "note", 0, OPT_STRING, OFFSET(note), "TEXT", NULL, "a note for the report and the recording", NULL, false },
	LAUNCH_REPORT_ROW(struct attach_options),
	PRINT_SHAPE_ROWS(struct attach_options),
	{ .name = NULL },
};

static const struct command_example examples[] = {
	{ "sparkctl attach -p 1234", "a process that runs already, until it ends or Ctrl-C" },
	{ "sparkctl attach -p 1234,1240 --duration 10", "two processes, for 10 s" },
	{ "sparkctl attach -p 1234 --inject --duration 10", "the regions of its markers, too" },
	{ "sparkctl attach -p 1234 --inject --roi request --duration 10", "what happens inside one of its regions" },
	{ "sparkctl attach -p 1234 -I 1000", "what it takes, each second" },
	{ "sparkctl attach -p 1234 --profile --duration 10", "the functions and lines that its time goes to" },
	{ "sparkctl attach -p 1234 --off-cpu --duration 10", "what its threads wait for: disk, locks, sockets, a CPU" },
	{ "sparkctl attach -p 1234 -e page-faults,cs --duration 10 -o out.spark", "chosen events, in a recording" },
	{ .line = NULL },
};

/* What it counts and where that goes. */
struct attach_run {
	struct attach_options *options;
	const struct event_list *events;
	struct event_list marked;    /* of them, those that were asked for */
	const struct output *format;
	FILE *file;
	struct count *count;
	struct print_options interval; /* of its lines: --metrics are of regions */
	struct stat_lines lines;
	struct watch watch;
	struct session_watcher reporter;
};

/* What is written at the end, now. Beside lines of intervals the recording alone. */
static u64 attach_report_now(void *context, const struct profile *profile, const struct session_facts *facts)
{
	struct attach_run *run = context;

	watch_now_record(&run->watch, profile, facts);
	if (run->options->scope.interval_ms)
		return 0;
	launch_report_begin(run->file, run->options->report);
	print_report(&run->options->print, run->format, run->file, profile, facts);
	fflush(run->file);
	return 0;
}

static struct session_options session_options_of(struct attach_run *run)
{
	struct attach_options *o = run->options;
	struct session_options so = {
		.outside = true,
		.group = (enum profile_group)o->print.group,
		.events = run->events,
		.marked = &run->marked,
		.sources = metric_select(o->print.metrics).sources | define_sources(&o->print.definitions),
		.count = run->count,
		.no_inherit = o->no_inherit,
		.inject = o->inject,
		.block_io = o->block_io,
		.calls = o->wrap.calls,
		.duration_ns = o->duration_ns,
		.objects = o->record != NULL,
		.note = o->note,
		.raw_names = o->sampled.raw_names,
		.sampling = o->sampled.profile ? &o->sampled.asked : NULL,
		.off_cpu = o->off_cpu,
		.watcher = watch_watcher(&run->watch),
		.reporter = &run->reporter,
	};

	windowed_session(&o->windowed, &so);
	portioned_session(&o->portioned, &so);
	/* Intervals are looked at by it, too. */
	so.steer = &o->portioned.steer;
	/* By thread a recording has all that another grouping needs. */
	if (o->record && so.group != PROFILE_BY_THREAD) {
		so.group = PROFILE_BY_THREAD;
		so.threads_most = RECORD_THREADS;
	}
	return so;
}

static int attach_write(struct attach_run *run, const struct session *session)
{
	const struct attach_options *o = run->options;
	const struct profile *profile = session_profile(session);
	const struct session_facts *facts = session_facts(session);
	bool failed;

	if (!o->scope.interval_ms)
		launch_report_begin(run->file, o->report);
	failed = watch_end(&run->watch, profile, facts);
	failed = print_report(&o->print, run->format, run->file, profile, facts) || failed;
	return failed || run->lines.failed ? STATUS_FAILURE : STATUS_OK;
}

static int attach_session(struct attach_run *run)
{
	struct session_options so = session_options_of(run);
	struct session *session;
	enum session_end end;
	int status;

	if (run->options->scope.interval_ms)
		launch_report_begin(run->file, run->options->report);
	end = session_attach(&session, &so);
	status = end == SESSION_FAILED ? STATUS_FAILURE : attach_write(run, session);
	session_free(session);
	return status;
}

static int attach_run(struct attach_run *run)
{
	struct attach_options *o = run->options;
	struct count_options co = { .events = run->events, .nstandard = o->asked.nstandard, .no_inherit = o->no_inherit,
				    .later = true, .dispensable = o->off_cpu };
	struct steer *steer = &o->portioned.steer;
	int status = portioned_parse(&o->portioned, &command_attach);

	if (status)
		return status;
	run->marked = *run->events;
	run->marked.event += o->asked.nstandard;
	run->marked.n -= o->asked.nstandard;
	run->reporter = (struct session_watcher){ attach_report_now, run };
	run->interval = (struct print_options){ .definitions = o->print.definitions };
	stat_lines_init(&run->lines, run->file, &o->scope, &run->interval, run->events, &o->asked);
	steer->interval_ns = o->scope.interval_ms * NSEC_PER_MSEC;
	steer->edge = stat_lines_edge;
	steer->context = &run->lines;
	status = stat_scope_open(&o->scope, &co, &run->count);
	if (!status)
		status = attach_session(run);
	count_free(run->count);
	stat_lines_free(&run->lines);
	return status;
}

/* What is to be written, before anything is measured. 0, or an exit status after a message. */
static int attach_outputs(struct attach_run *run)
{
	const struct attach_options *o = run->options;
	struct store_options recorded = {
		.report = { .metrics = o->print.metrics, .regions = o->print.regions, .sort_by = o->print.sort_by },
		.define = o->define_lines,
		.group = (enum profile_group)o->print.group,
	};
	int status = o->record ? watch_record(&run->watch, o->record, &recorded) : 0;

	if (status)
		return status;
	run->file = launch_report_open(o->report);
	return run->file ? 0 : STATUS_FAILURE;
}

/*
 * The rules are looked at for the program of the first process: those that follow are mostly the same. 0, or an exit
 * status after a message.
 */
static int attach_wrap(struct attach_options *o)
{
	char path[64];

	if (o->wrap.lists.n && !o->inject)
		return command_misused(&command_attach, "makes regions of calls with --inject alone", NULL);
	o->wrap.runs = true;
	snprintf(path, sizeof(path), "/proc/%lu/exe", strtoul(o->scope.pids, NULL, 10));
	return wrap_parse(&o->wrap) || wrap_look(&o->wrap, path) || wrap_encode(&o->wrap) ? STATUS_USAGE : 0;
}

/* What does not go together. 0, or an exit status after a message. */
static int attach_check(const struct attach_options *o)
{
	if (o->scope.interval_ms && strcmp(o->print.format, "table") != 0)
		return command_misused(&command_attach, "prints the lines of -I as a table, and in no other format", NULL);
	/* The lives of threads are whole. */
	if (o->off_cpu && (portioned_in_time(&o->portioned) || o->portioned.roi.n))
		return command_misused(&command_attach, "tells the times of --off-cpu of all of the time, not with --delay, --control or --roi",
				       NULL);
	if (o->block_io && (portioned_in_time(&o->portioned) || o->portioned.roi.n))
		return command_misused(&command_attach,
				       "tells the figures of --block-io of all the time, not with --delay, --control or --roi", NULL);
	if (o->portioned.roi.n && !o->inject)
		return command_misused(&command_attach, "measures inside regions, by --roi, with --inject alone: regions of a program come from the agent",
				       NULL);
	if (o->portioned.roi.n && o->scope.interval_ms)
		return command_misused(&command_attach, "prints by -I what whole processes take, not what regions of --roi do", NULL);
	return 0;
}

static int attach_with(struct attach_options *o)
{
	struct event_list events = { .n = 0 };
	struct attach_run run = { .options = o, .events = &events, .format = print_format(&command_attach, &o->print) };
	int status;

	if (!run.format || !stat_scope_interval_fits(&o->scope))
		return STATUS_USAGE;
	status = attach_check(o);
	if (status)
		return status;
	log_set_level(o->print.quiet ? LOG_LEVEL_QUIET : o->print.verbose);
	setlocale(LC_CTYPE, "");
	status = sampled_parse(&o->sampled);
	status = status ? status : attach_wrap(o);
	status = status ? status : windowed_parse(&o->windowed, &command_attach);
	o->asked.standard = stat_scope_standard(&o->asked);
	status = status ? status : launch_events(&o->asked, &o->print, &events);
	o->define_lines = define_lines(&o->print.definitions);
	status = status ? status : attach_outputs(&run);
	status = status ? status : attach_run(&run);
	watch_close(&run.watch);
	event_list_free(&events);
	return launch_end(run.file, o->report, status);
}

static int attach_command(int argc, char **argv)
{
	struct attach_options o = { .print = { .format = "table" } };
	int status, first = command_parse(&command_attach, &o, argc, argv, &status);

	if (first >= 0 && first < argc)
		status = command_misused(&command_attach, "measures what runs already, by -p, and starts no command", argv[first]);
	else if (first >= 0 && !o.scope.pids)
		status = command_misused(&command_attach, "needs to know which processes: -p PID", NULL);
	else if (first >= 0)
		status = attach_with(&o);
	launch_asked_free(&o.asked);
	print_options_free(&o.print);
	free(o.define_lines);
	portioned_free(&o.portioned);
	wrap_free(&o.wrap);
	windowed_free(&o.windowed);
	return status;
}

const struct command command_attach = {
	.name = "attach",
	.summary = "measure processes that run already",
	.usage = "-p PIDS [OPTION...]",
	.options = options,
	.examples = examples,
	.run = attach_command,
};
