/* SPDX-License-Identifier: MIT */
/* The command "run": a session and its report. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cmd/cached.h"
#include "cli/cmd/launch.h"
#include "cli/cmd/limited.h"
#include "cli/cmd/marked.h"
#include "cli/cmd/passes.h"
#include "cli/cmd/portioned.h"
#include "cli/cmd/repeated.h"
#include "cli/cmd/sampled.h"
#include "cli/cmd/swept.h"
#include "cli/cmd/traced.h"
#include "cli/cmd/watch.h"
#include "cli/cmd/windowed.h"
#include "cli/cmd/wrap.h"
#include "cli/log.h"
#include "cli/store/history.h"

struct run_options {
	struct print_options print;
	const char *report;
	const char *record;
	const char *history;
	const char *trace;
	const char *markers;         /* folder of marker files */
	const char *note;
	char *define_lines;          /* for the recording */
	struct launch_asked asked;
	struct opt_list uprobes, sdt;
	struct probe_list probes;
	uint64_t timeout_ns;
	bool no_inherit;
	bool follow;
	bool cpu_clock;
	bool live;
	bool scaled;
	bool no_mux;
	struct repeated_asked repeated;
	struct sampled sampled;
	struct wrap wrap;
	struct marked marked;
	struct opt_list functions;
	unsigned long functions_depth;
	bool functions_off;
	bool off_cpu;
	bool block_io;
	struct session_functions instrumented;
	struct portioned portioned;
	struct cached cached;
	struct windowed windowed;
	struct limited limited;
};

#define OFFSET(member) offsetof(struct run_options, member)

static const struct opt options[] = {
	PRINT_CHOICE_ROWS(struct run_options, ", and read what they need at each marker", ""),
	PRINT_DEFINE_ROW(struct run_options),
	LAUNCH_ASKED_ROWS(struct run_options),
	{ "scaled", 0, OPT_FLAG, OFFSET(scaled), NULL, NULL,
	  "let more events than the CPU has counters take turns, and estimate what each missed, instead of leaving some out",
	  NULL, false },
	REPEATED_ROWS(struct run_options),
	{ "no-mux", 0, OPT_FLAG, OFFSET(no_mux), NULL, NULL,
	  "if an event of -e can't be counted exactly in regions, don't start", NULL, false },
	WRAP_ROWS(struct run_options),
	MARKED_ROW(struct run_options),
	{ "uprobe", 0, OPT_EACH, OFFSET(uprobes), "LIST", NULL,
	  "make functions regions from outside, FILE:SYMBOL or SYMBOL of the command, by probes of the kernel; some us for each call",
	  NULL, false },
	{ "sdt", 0, OPT_EACH, OFFSET(sdt), "PROBES", NULL,
	  "make regions of static probes of systemtap, [FILE:]PROVIDER:NAME or PROVIDER:BEGIN..END, by probes of the kernel", NULL, false },
	SAMPLED_ROWS(struct run_options),
	{ "off-cpu", 0, OPT_FLAG, OFFSET(off_cpu), NULL, NULL,
	  "tell where threads are when they are not on a CPU, and take each region's time apart by that", NULL, false },
	{ "block-io", 0, OPT_FLAG, OFFSET(block_io), NULL, NULL,
	  "tell what each block device did meanwhile: requests, latencies by direction, utilization", NULL, false },
	{ "instrumented", 0, OPT_LIST, OFFSET(functions), "PATTERNS", NULL,
	  "of the functions compiled with -finstrument-functions, make those regions whose names match; one with - in front leaves out", NULL,
	  false },
	{ "instrumented-depth", 0, OPT_UINT, OFFSET(functions_depth), "N", NULL,
	  "make such functions regions where they are within less than N others", NULL, false },
	{ "no-instrumented", 0, OPT_FLAG, OFFSET(functions_off), NULL, NULL,
	  "make no regions of such functions", NULL, false },
	LAUNCH_SCOPE_ROWS(struct run_options),
	PORTIONED_ROWS(struct run_options),
	CACHED_ROWS(struct run_options),
	WINDOWED_WHOLE_ROW(struct run_options, "the command"),
	WINDOWED_FILE_ROW(struct run_options),
	WINDOWED_PHASE_ROW(struct run_options),
	LIMITED_ROWS(struct run_options),
	{ "cpu-clock", 0, OPT_FLAG, OFFSET(cpu_clock), NULL, NULL,
	  "where switches cannot be detected, read the thread's CPU clock at each marker (about 1 us a pair) instead of leaving cpu out",
	  NULL, false },
	{ "output", 'o', OPT_STRING, OFFSET(record), "FILE", NULL,
	  "record the run in this file, for sparkctl report; %p is the process, %h the host, %r the rank", NULL, false },
	{ "history", 0, OPT_STRING, OFFSET(history), "FILE", NULL,
	  "add what the run has measured of each region to this file, for sparkctl history", NULL, false },
	{ "trace", 0, OPT_STRING, OFFSET(trace), "FILE", NULL,
	  "write there when each region began and ended, as trace events for Perfetto and the Firefox Profiler; - is standard output",
	  NULL, false },
	{ "samply-markers", 0, OPT_STRING, OFFSET(markers), "DIR", NULL,
	  "write there when each region was open, as a marker file of samply for each process: marker-PID.txt", NULL, false },
	{ "note", 0, OPT_STRING, OFFSET(note), "TEXT", NULL, "a note for the report and the recording", NULL, false },
	{ "live", 0, OPT_FLAG, OFFSET(live), NULL, NULL,
	  "while it runs, show on the terminal the time and the regions that it goes to", NULL, false },
	LAUNCH_REPORT_ROW(struct run_options),
	PRINT_SHAPE_ROWS(struct run_options),
	{ .name = NULL },
};

static const struct command_example examples[] = {
	{ "sparkctl run -- ./app", "regions, times and totals of a program, its output untouched" },
	{ "sparkctl run --report out.txt -- make -j2", "all processes of a build" },
	{ "sparkctl run --metrics 'wall*,minflt' ./app -x", "chosen columns; rusage is read at each marker" },
	{ "sparkctl run -e cycles:u,LLC-load-misses,syscalls:sys_enter_read ./app", "chosen events" },
	{ "sparkctl run --wrap '@io,libz*:*flate*' -- gzip -k file", "calls of library functions as regions, of any program" },
	{ "sparkctl run --markers auto -- ./app", "what is marked for LIKWID, PAPI or VTune, as regions" },
	{ "sparkctl run --uprobe parse,/lib/libz.so.1:deflate ./app", "functions as regions, nothing compiled in or loaded" },
	{ "sparkctl run --profile -- ./app", "the functions and lines that each region spends its time in" },
	{ "sparkctl run --off-cpu --profile -- ./app", "what each region waits for: disk, locks, sockets, a CPU" },
	{ "sparkctl run --trace out.json -- ./app", "a time line of the regions of each thread, for ui.perfetto.dev" },
	{ "sparkctl run -r 20 -w 1 -- ./app",
	  "medians of 20 runs, region by region, how they scatter, and whether they drift" },
	{ "sparkctl run -r 10 --passes timing,counting,profile -e faults -- ./app",
	  "times of runs in which nothing is counted, counts and samples of others" },
	{ "sparkctl run -r 10 --vs ./new -- ./app", "two programs by turns: which regions differ beyond noise" },
	{ "sparkctl run --phase '^== (.*) ==' make check | tee log", "what each phase took, by the headings that the command prints" },
	{ "sparkctl run -o out.spark -- ./app", "a recording, to be looked at again by sparkctl report" },
	{ "sparkctl run --format json --report - ./app", "for programs: schema spark-report/1" },
	{ .line = NULL },
};

#define RECORD_THREADS 4096        /* rows of their own in a recording; it must not grow with every thread of a long run */

/* The command is run again for events that had no counter. */
static bool counts_again(const struct run_options *o)
{
	return repeated_has_pass(&o->repeated, PASS_COUNTING);
}

static struct session_options session_options_of(struct run_options *o, const struct event_list *events, char **argv)
{
	struct session_options so = {
		.argv = argv,
		.group = (enum profile_group)o->print.group,
		.events = events,
		.sources = metric_select(o->print.metrics).sources | define_sources(&o->print.definitions),
		.no_inherit = o->no_inherit,
		.follow = o->follow,
		.cpu_clock = o->cpu_clock,
		.scaled = o->scaled,
		.no_mux = o->no_mux,
		.timeout_ns = o->timeout_ns,
		.probe_all = o->record != NULL,
		.objects = o->record || o->history,
		.note = o->note,
		.raw_names = o->sampled.raw_names,
		.trace = o->trace || o->markers,
		.probes = o->probes.n ? &o->probes : NULL,
		.sampling = o->sampled.profile ? &o->sampled.asked : NULL,
		.off_cpu = o->off_cpu,
		.block_io = o->block_io,
		.calls = o->wrap.calls,
		.markers = o->marked.markers,
		.cgroup = limited_group(&o->limited),
	};

	portioned_session(&o->portioned, &so);
	so.storage = cached_storage(&o->cached);
	so.cache = cached_cache(&o->cached);
	windowed_session(&o->windowed, &so);
	if (o->functions_off || o->functions.n || o->functions_depth)
		so.functions = &o->instrumented;
	/* Threads of several runs are not the same. */
	if (counts_again(o) && so.group == PROFILE_BY_THREAD)
		so.group = PROFILE_BY_PROCESS;
	/* By thread a recording has all that another grouping needs. */
	if (o->record && !counts_again(o) && so.group != PROFILE_BY_THREAD) {
		so.group = PROFILE_BY_THREAD;
		so.threads_most = RECORD_THREADS;
	}
	return so;
}

/* What is written beside the recording. */
struct files {
	FILE *report, *trace;
	struct samply_moment before; /* the start */
};

/* What a report needs while the command runs. */
struct run_now {
	const struct run_options *o;
	const struct output *format;
	const struct files *files;
	struct watch *watch;
};

/* What is written at the end, now. */
static u64 run_report_now(void *context, const struct profile *profile, const struct session_facts *facts)
{
	const struct run_now *now = context;

	launch_report_begin(now->files->report, now->o->report);
	watch_now_record(now->watch, profile, facts);
	print_report(&now->o->print, now->format, now->files->report, profile, facts);
	fflush(now->files->report);
	return 0;
}

/* Runs it and writes what there is to be written; the exit status, below 0 a signal. */
static int run_and_report(struct run_options *o, const struct event_list *events, const struct output *format,
			  const struct files *files, struct watch *watch, char **argv)
{
	struct session_options so = session_options_of(o, events, argv);
	struct run_now now = { o, format, files, watch };
	const struct session_watcher reporter = { run_report_now, &now };
	struct passes passes = { .n = 0 };
	struct session *session;
	enum session_end end;
	int status;

	input_keep(&passes.input);
	so.watcher = watch_watcher(watch);
	so.reporter = &reporter;
	end = session_run(&session, &so);
	status = launch_status(end, session);
	if (end >= SESSION_ENDED) {
		const struct profile *profile = session_profile(session);
		const struct session_facts *facts = session_facts(session);

		if (counts_again(o) && end == SESSION_ENDED && !session_interrupted(session) &&
		    (!status || o->repeated.ignore_failure) &&
		    passes_run(&passes, session, &so))
			status = status ? status : STATUS_FAILURE;
		launch_report_begin(files->report, o->report);
		if (watch_end(watch, profile, facts))
			status = status ? status : STATUS_FAILURE;
		/* A run that was interrupted is one, too: it is left out there. */
		if (o->history && store_history_add(o->history, profile, facts, o->print.metrics))
			status = status ? status : STATUS_FAILURE;
		if (traced_write(o->trace, files->trace, session) || marker_files_write(o->markers, &files->before, session))
			status = status ? status : STATUS_FAILURE;
		if (print_report(&o->print, format, files->report, profile, facts))
			status = status ? status : STATUS_FAILURE;
	}
	/* Their groups are within what the first one made for its own. */
	passes_free(&passes);
	session_free(session);
	return status;
}

static struct store_options store_options_of(const struct run_options *o)
{
	return (struct store_options){
		.report = { .metrics = o->print.metrics, .regions = o->print.regions, .sort_by = o->print.sort_by },
		.define = o->define_lines,
		.group = (enum profile_group)o->print.group,
	};
}

static int run_swept(struct run_options *o, const struct event_list *events, const struct files *files, char **argv)
{
	const struct session_options so = session_options_of(o, events, argv);
	const struct run_record record = { o->record, store_options_of(o), NULL };

	return swept_run(&o->limited, &so, &o->print, &record, files->report, o->report);
}

static int run_repeated(struct run_options *o, const struct event_list *events, const struct files *files, char **argv)
{
	const struct session_options so = session_options_of(o, events, argv);
	const struct run_record record = { o->record, store_options_of(o), o->history };
	const struct repeated_way way = { &so, &o->print, &record, o->report, files->report };

	return repeated_run(&o->repeated, &way);
}

/* Whatever it is called there. */
static bool names_one_file(const char *history, const char *other)
{
	struct stat a, b;

	if (!history || !other || !strcmp(other, "-"))
		return false;
	return !strcmp(history, other) ||
	       (stat(history, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

/* What is to be written, before the command starts. 0, or an exit status after a message. */
static int outputs_open(const struct run_options *o, struct watch *watch, struct files *files)
{
	const struct store_options recorded = store_options_of(o);
	int status;

	if (o->trace && o->report && !strcmp(o->trace, "-") && !strcmp(o->report, "-"))
		return command_misused(&command_run, "can't write both the trace and the report to standard output", NULL);
	if (names_one_file(o->history, o->trace) || names_one_file(o->history, o->report) ||
	    names_one_file(o->history, o->record))
		return command_misused(&command_run, "can't write anything else to the file of --history,", o->history);
	/* Several runs have a recording each. */
	status = 0;
	if (o->record && !o->limited.nsizes && !repeated_wanted(&o->repeated))
		status = watch_record(watch, o->record, &recorded);

	if (!status && o->history && store_history_check(o->history))
		status = STATUS_FAILURE;
	status = status ? status : traced_open(o->trace, &files->trace);
	status = status ? status : marker_files_open(o->markers, &files->before);
	if (status)
		return status;
	files->report = launch_report_open(o->report);
	if (o->live)
		live_open(&watch->live);
	return files->report ? 0 : STATUS_FAILURE;
}

/* What becomes regions without markers of ours. */
static int regions_prepare(struct run_options *o, const char *command)
{
	if (wrap_parse(&o->wrap) || wrap_look(&o->wrap, command) || wrap_encode(&o->wrap))
		return STATUS_USAGE;
	return marked_prepare(&o->marked, command);
}

static int functions_parse(struct run_options *o)
{
	if (o->functions_off && (o->functions.n || o->functions_depth))
		return command_misused(&command_run, "can't both leave out all instrumented functions and choose some", NULL);
	for (size_t i = 0; i < o->functions.n; i++)
		if (!o->functions.item[i][o->functions.item[i][0] == '-'])
			return command_misused(&command_run, "needs a pattern for --instrumented, not an empty text", NULL);
	o->instrumented = (struct session_functions){
		.off = o->functions_off, .depth = (u32)MIN(o->functions_depth, (unsigned long)UINT32_MAX),
		.patterns = o->functions.item, .npatterns = o->functions.n,
	};
	return 0;
}

#define AGAIN "can't run the command again, by -r, -w, --vs or --passes, "

/* Options that cannot be had together. */
static int together_check(const struct run_options *o)
{
	bool timed = portioned_in_time(&o->portioned), parts = timed || o->portioned.roi.n;
	bool repeated = repeated_wanted(&o->repeated), again = repeated || o->repeated.npasses;
	const struct {
		bool asked;
		const char *because;
	} never[] = {
		{ again && timed, AGAIN "with --delay or --control" },
		{ again && o->windowed.file, AGAIN "with --window-file" },
		{ again && o->windowed.phase, AGAIN "with --phase" },
		{ repeated && (o->trace || o->markers || o->live), AGAIN "with --trace, --samply-markers or --live" },
		{ repeated && !strcmp(o->print.format, "html"), "has no format html for several runs" },
		/* The lives of threads are whole. */
		{ o->off_cpu && parts, "tells the times of --off-cpu of whole runs, not with --delay, --control or --roi" },
		{ o->block_io && parts, "tells the figures of --block-io of whole runs, not with --delay, --control or --roi" },
		{ o->limited.sweep && o->windowed.file, "can't sweep with --window-file" },
		{ o->limited.sweep && o->windowed.phase, "can't sweep with --phase" },
		{ o->repeated.vs.n && o->history, "can't add the runs of --vs, which are of several commands, to one --history" },
		{ o->limited.sweep && o->history, "can't add the runs of a sweep, which differ, to a --history" },
		{ o->limited.sweep && (again || o->trace || o->markers || o->live || o->portioned.control),
		  "can't sweep with -r, -w, --vs, --passes, --trace, --samply-markers, --live or --control" },
		{ repeated && o->repeated.npasses && (o->sampled.profile || o->off_cpu || o->block_io) &&
		  !repeated_has_pass(&o->repeated, PASS_PROFILE),
		  "needs the pass profile in --passes with --profile, --off-cpu or --block-io" },
		{ repeated && o->repeated.npasses && o->history && !repeated_has_pass(&o->repeated, PASS_TIMING),
		  "needs the pass timing in --passes with --history" },
		{ repeated && o->repeated.npasses && launch_counts(&o->asked) && !counts_again(o),
		  "needs the pass counting in --passes with --events, --group or --syscalls" },
	};

	for (u32 i = 0; i < ARRAY_SIZE(never); i++)
		if (never[i].asked)
			return command_misused(&command_run, never[i].because, NULL);
	return 0;
}

static int run_with(struct run_options *o, char **argv)
{
	const struct output *format = print_format(&command_run, &o->print);
	struct watch watch = { .name = NULL };
	struct event_list events = { .n = 0 };
	struct files files = { .report = NULL };
	int status;

	if (!format)
		return STATUS_USAGE;
	log_set_level(o->print.quiet ? LOG_LEVEL_QUIET : o->print.verbose);
	setlocale(LC_CTYPE, "");
	status = repeated_parse(&o->repeated, &command_run);
	o->sampled.profile = o->sampled.profile || repeated_has_pass(&o->repeated, PASS_PROFILE);
	if (!status)
		status = sampled_parse(&o->sampled);
	if (!status)
		status = functions_parse(o);
	if (!status)
		status = together_check(o);
	if (!status)
		status = portioned_parse(&o->portioned, &command_run);
	if (!status)
		status = windowed_parse(&o->windowed, &command_run);
	if (!status)
		status = cached_parse(&o->cached, &command_run);
	if (!status)
		status = limited_parse(&o->limited, &command_run);
	/* A page is the memory of the group that reads it first. */
	if (!status && limited_memory(&o->limited) && o->cached.asked == CACHE_ASKED_WARM)
		status = command_misused(&command_run, "can't limit memory with --cache=warm: the files that it reads in "
					 "would be sparkctl's memory, not the command's", NULL);
	if (!status)
		status = launch_events(&o->asked, &o->print, &events);
	if (!status)
		status = regions_prepare(o, argv[0]);
	if (!status)
		status = launch_probes(&o->uprobes, &o->sdt, argv[0], &o->probes);
	o->define_lines = define_lines(&o->print.definitions);
	if (!status)
		status = outputs_open(o, &watch, &files);
	if (!status)
		status = o->limited.nsizes ? run_swept(o, &events, &files, argv) :
			 repeated_wanted(&o->repeated) ? run_repeated(o, &events, &files, argv) :
			 run_and_report(o, &events, format, &files, &watch, argv);
	if (traced_close(o->trace, files.trace))
		status = status ? status : STATUS_FAILURE;
	watch_close(&watch);
	event_list_free(&events);
	return launch_end(files.report, o->report, status);
}

static int run_command(int argc, char **argv)
{
	struct run_options o = { .print = { .format = "table" }, .cached = { .asked = CACHED_NOT_GIVEN },
				 .repeated = { .runs = REPEATED_USUAL } };
	int status, first = command_parse(&command_run, &o, argc, argv, &status);

	if (first >= argc)
		status = command_misused(&command_run, "needs a command to run", NULL);
	else if (first >= 0)
		status = run_with(&o, argv + first);
	launch_asked_free(&o.asked);
	opt_list_free(&o.uprobes);
	opt_list_free(&o.sdt);
	probe_list_free(&o.probes);
	print_options_free(&o.print);
	opt_list_free(&o.functions);
	portioned_free(&o.portioned);
	cached_free(&o.cached);
	windowed_free(&o.windowed);
	limited_free(&o.limited);
	repeated_free(&o.repeated);
	free(o.define_lines);
	wrap_free(&o.wrap);
	marked_free(&o.marked);
	return status;
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
