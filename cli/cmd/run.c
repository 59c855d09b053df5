/* SPDX-License-Identifier: MIT */
/* The command "run": a session and its report. */
#define _GNU_SOURCE
#include "cli/cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/output/output.h"
#include "cli/session/session.h"
#include "cli/term.h"

enum { REPORT_UNREAD = 1 };

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
	{ "no-inherit", 0, OPT_FLAG, OFFSET(no_inherit), NULL, NULL, "measure the command alone, not what it starts", NULL, false },
	{ "follow", 0, OPT_FLAG, OFFSET(follow), NULL, NULL,
	  "wait for all descendants, daemons too, instead of the command alone", NULL, false },
	{ "timeout", 0, OPT_SECONDS, OFFSET(timeout_ns), "TIME", NULL,
	  "end the command after this time (s, ms, m) by SIGTERM, then SIGKILL; exit status 124", NULL, false },
	{ "cpu-clock", 0, OPT_FLAG, OFFSET(cpu_clock), NULL, NULL,
	  "where switches cannot be detected, read the thread's CPU clock at each marker (about 1 us a pair) instead of leaving cpu out",
	  NULL, false },
	{ "report", 0, OPT_STRING, OFFSET(report), "FILE", NULL, "write the report there; - is standard output", "standard error",
	  false },
	{ "format", 0, OPT_STRING, OFFSET(format), "FORMAT", NULL, "table or json", "table", false },
	{ "color", 0, OPT_ENUM, OFFSET(color), NULL, color_words, "colours and bold type", "auto", false },
	{ "quiet", 'q', OPT_COUNT, OFFSET(quiet), NULL, NULL, "the regions and what is missing only", NULL, false },
	{ "verbose", 'v', OPT_COUNT, OFFSET(verbose), NULL, NULL, "more, also about what sparkctl does", NULL, false },
	{ .name = NULL },
};

static const struct command_example examples[] = {
	{ "sparkctl run -- ./app", "regions, times and totals of a program, its output untouched" },
	{ "sparkctl run --report out.txt -- make -j2", "all processes of a build" },
	{ "sparkctl run --metrics 'wall*,minflt' ./app -x", "chosen columns; rusage is read at each marker" },
	{ "sparkctl run --format json --report - ./app", "for programs: schema spark-report/1" },
	{ .line = NULL },
};

static FILE *report_open(const struct run_options *o)
{
	FILE *f;
	int fd;

	if (!o->report)
		return stderr;
	if (!strcmp(o->report, "-"))
		return stdout;
	/* Tried before the run, emptied when there is a report: an older one may be in it. */
	fd = open(o->report, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		error("cannot write the report to %s: %s", o->report, strerror(errno));
	return f;
}

/* 0, REPORT_UNREAD when nobody reads it any more, -1 after a message. */
static int report_print(const struct run_options *o, const struct output *format, FILE *file, const struct session *session)
{
	struct report_options ro = { .metrics = o->metrics, .regions = o->regions, .sort_by = o->sort_by };
	struct output_options oo = {
		.width = term_width(fileno(file)),
		.color = color_wanted(file, o->color),
		.utf8 = output_utf8(),
		.verbose = o->quiet ? -1 : o->verbose,
	};
	struct report *report = report_build(session_profile(session), session_facts(session), &ro);
	int ret;

	if (!report)
		return -1;
	/* A reader that is gone or a limit must not end us: the status is the command's. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* Fails, and does no harm, for what is no file. */
	if (o->report && file != stdout && ftruncate(fileno(file), 0) && errno != EINVAL)
		verbose(1, "cannot empty %s: %s", o->report, strerror(errno));
	/* One write for all of it: standard error is not buffered. */
	if (file == stderr)
		setvbuf(file, NULL, _IOFBF, 1 << 16);
	ret = output_write(format, file, report, &oo);
	if (!ret && ferror(file))
		ret = REPORT_UNREAD;
	if (ret) { /* it was said: nothing more of it */
		__fpurge(file);
		clearerr(file);
	}
	report_free(report);
	return ret;
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

static int run_command(int argc, char **argv)
{
	struct run_options o = { .format = "table" };
	struct session_options so = { 0 };
	const struct output *format;
	struct session *session;
	enum session_end end;
	int first, status, printed = 0;
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
	file = report_open(&o);
	if (!file)
		return STATUS_FAILURE;
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
	status = end_status(end, session);
	if (end >= SESSION_ENDED)
		printed = report_print(&o, format, file, session);
	if (printed && status == 0)
		status = printed == REPORT_UNREAD ? -SIGPIPE : STATUS_FAILURE;
	session_free(session);
	if (o.report && file != stdout && fclose(file)) {
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
