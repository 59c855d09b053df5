/* SPDX-License-Identifier: MIT */
/* The command "run": a session and its report. */
#define _GNU_SOURCE
#include "cli/cmd/print.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cli/cmd/watch.h"
#include "cli/log.h"

struct run_options {
	struct print_options print;
	const char *report;
	const char *record;
	const char *note;
	const char *events;
	uint64_t timeout_ns;
	bool no_inherit;
	bool follow;
	bool cpu_clock;
	bool live;
};

#define OFFSET(member) offsetof(struct run_options, member)

static const struct opt options[] = {
	PRINT_CHOICE_ROWS(struct run_options, ", and read what they need at each marker"),
	{ "events", 'e', OPT_STRING, OFFSET(events), "LIST", NULL,
	  "count these events for all processes together, by perf's names, those of sysfs or of libpfm; see EVENTS in sparkctl(1)",
	  "cycles, instructions, branches, branch-misses", false },
	{ "no-inherit", 0, OPT_FLAG, OFFSET(no_inherit), NULL, NULL, "measure the command alone, not what it starts", NULL, false },
	{ "follow", 0, OPT_FLAG, OFFSET(follow), NULL, NULL,
	  "wait for all descendants, daemons too, instead of the command alone", NULL, false },
	{ "timeout", 0, OPT_SECONDS, OFFSET(timeout_ns), "TIME", NULL,
	  "end the command after this time (s, ms, m) by SIGTERM, then SIGKILL; exit status 124", NULL, false },
	{ "cpu-clock", 0, OPT_FLAG, OFFSET(cpu_clock), NULL, NULL,
	  "where switches cannot be detected, read the thread's CPU clock at each marker (about 1 us a pair) instead of leaving cpu out",
	  NULL, false },
	{ "output", 'o', OPT_STRING, OFFSET(record), "FILE", NULL,
	  "record the run in this file, for sparkctl report; %p is the process, %h the host, %r the rank", NULL, false },
	{ "note", 0, OPT_STRING, OFFSET(note), "TEXT", NULL, "a note for the report and the recording", NULL, false },
	{ "live", 0, OPT_FLAG, OFFSET(live), NULL, NULL,
	  "while it runs, show on the terminal the time and the regions that it goes to", NULL, false },
	{ "report", 0, OPT_STRING, OFFSET(report), "FILE", NULL, "write the report there; - is standard output", "standard error",
	  false },
	PRINT_SHAPE_ROWS(struct run_options),
	{ .name = NULL },
};

static const struct command_example examples[] = {
	{ "sparkctl run -- ./app", "regions, times and totals of a program, its output untouched" },
	{ "sparkctl run --report out.txt -- make -j2", "all processes of a build" },
	{ "sparkctl run --metrics 'wall*,minflt' ./app -x", "chosen columns; rusage is read at each marker" },
	{ "sparkctl run -e cycles:u,LLC-load-misses,syscalls:sys_enter_read ./app", "chosen events" },
	{ "sparkctl run -o out.spark -- ./app", "a recording, to be looked at again by sparkctl report" },
	{ "sparkctl run --format json --report - ./app", "for programs: schema spark-report/1" },
	{ .line = NULL },
};

static FILE *report_open(const struct run_options *o)
{
	FILE *f;

	if (!o->report)
		return stderr;
	if (!strcmp(o->report, "-"))
		return stdout;
	f = fopen(o->report, "we");
	if (!f)
		error("cannot write the report to %s: %s", o->report, strerror(errno));
	return f;
}

/* Ends as the command did, so that whoever waits for us sees the same. */
static int die_as(int signal_number)
{
	sigset_t set;

	command_end_output(STATUS_OK);
	/* The core is the command's; RLIMIT_CORE would not hold back one that is piped (core(5)). */
	prctl(PR_SET_DUMPABLE, 0);
	signal(signal_number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, signal_number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(signal_number);
	return 128 + signal_number;
}

static int end_status(enum session_end end, const struct session *session)
{
	const struct session_facts *facts = session_facts(session);

	switch (end) {
	case SESSION_FAILED:
		return STATUS_FAILURE;
	case SESSION_NOT_FOUND:
		return STATUS_NOT_FOUND;
	case SESSION_NOT_EXECUTABLE:
		return STATUS_NOT_EXECUTABLE;
	case SESSION_TIMEOUT:
		return STATUS_TIMEOUT;
	case SESSION_INTERRUPTED:
		return 128 + SIGINT;
	default:
		return facts->signal ? -facts->signal : facts->status;
	}
}

#define RECORD_THREADS 4096        /* rows of their own in a recording; it must not grow with every thread of a long run */

static struct session_options session_options_of(const struct run_options *o, const struct event_list *events, char **argv)
{
	struct session_options so = {
		.argv = argv,
		.group = (enum profile_group)o->print.group,
		.events = events,
		.sources = metric_select(o->print.metrics).sources,
		.no_inherit = o->no_inherit,
		.follow = o->follow,
		.cpu_clock = o->cpu_clock,
		.timeout_ns = o->timeout_ns,
		.probe_all = o->record || strcmp(o->print.format, "table") != 0,
		.objects = o->record != NULL,
		.note = o->note,
	};

	/* By thread a recording has all that another grouping needs. */
	if (o->record && so.group != PROFILE_BY_THREAD) {
		so.group = PROFILE_BY_THREAD;
		so.threads_most = RECORD_THREADS;
	}
	return so;
}

/* Runs it and writes what there is to be written; the exit status, below 0 a signal. */
static int run_and_report(const struct run_options *o, const struct event_list *events, const struct output *format,
			  FILE *file, struct watch *watch, char **argv)
{
	struct session_options so = session_options_of(o, events, argv);
	struct session *session;
	enum session_end end;
	int status;

	so.watcher = watch_watcher(watch);
	end = session_run(&session, &so);
	status = end_status(end, session);
	if (end >= SESSION_ENDED) {
		const struct profile *profile = session_profile(session);
		const struct session_facts *facts = session_facts(session);

		if (watch_end(watch, profile, facts))
			status = status ? status : STATUS_FAILURE;
		if (print_report(&o->print, format, file, profile, facts))
			status = status ? status : STATUS_FAILURE;
	}
	session_free(session);
	return status;
}

/* What is to be written, before the command starts. 0, or an exit status after a message. */
static int outputs_open(const struct run_options *o, struct watch *watch, FILE **file)
{
	struct store_options recorded = {
		.report = { o->print.metrics, o->print.regions, o->print.sort_by },
		.group = (enum profile_group)o->print.group,
	};
	int status = o->record ? watch_record(watch, o->record, &recorded) : 0;

	if (status)
		return status;
	*file = report_open(o);
	if (o->live)
		live_open(&watch->live);
	return *file ? 0 : STATUS_FAILURE;
}

/* The events that were asked for. 0, or an exit status after a message. */
static int events_parse(const struct run_options *o, struct event_list *events)
{
	struct names_context names;
	struct caps_context caps;
	int err;

	if (!o->events)
		return 0;
	caps_init(&caps, "");
	names_init(&names, &caps);
	err = names_parse(&names, o->events, events) || session_check_events(events);
	names_fini(&names);
	return err ? STATUS_USAGE : 0;
}

static int run_command(int argc, char **argv)
{
	struct run_options o = { .print = { .format = "table" } };
	struct event_list events = { .event = NULL };
	struct watch watch = { .name = NULL };
	const struct output *format;
	FILE *file = NULL;
	int first, status;

	first = command_parse(&command_run, &o, argc, argv, &status);
	if (first < 0)
		return status;
	if (first >= argc)
		return command_misused(&command_run, "needs a command to run", NULL);
	format = print_format(&command_run, &o.print);
	if (!format)
		return STATUS_USAGE;
	log_set_level(o.print.quiet ? LOG_LEVEL_QUIET : o.print.verbose);
	setlocale(LC_CTYPE, "");
	status = events_parse(&o, &events);
	if (!status)
		status = outputs_open(&o, &watch, &file);
	if (!status)
		status = run_and_report(&o, &events, format, file, &watch, argv + first);
	watch_close(&watch);
	event_list_free(&events);
	if (file && o.report && file != stdout && fclose(file)) {
		error("cannot write the report to %s: %s", o.report, strerror(errno));
		status = status ? status : STATUS_FAILURE;
	}
	return status < 0 ? die_as(-status) : status;
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
