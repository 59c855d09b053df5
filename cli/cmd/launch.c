/* SPDX-License-Identifier: MIT */
/* A launched program's report and exit status; see launch.h. */
#define _GNU_SOURCE
#include "cli/cmd/launch.h"

#include <errno.h>
#include <signal.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cli/log.h"

FILE *launch_report_open(const char *path)
{
	FILE *f;

	if (!path)
		return stderr;
	if (!strcmp(path, "-"))
		return stdout;
	f = fopen(path, "we");
	if (!f)
		error("cannot write the report to %s: %s", path, strerror(errno));
	return f;
}

int launch_report_print(const struct report_options *options, const struct launch_look *look, const struct output *format,
			FILE *file, const struct session *session)
{
	struct output_options oo = {
		.width = term_width(fileno(file)),
		.color = color_wanted(file, look->color),
		.utf8 = output_utf8(),
		.verbose = look->verbose,
	};
	struct report *report = report_build(session_profile(session), session_facts(session), options);
	int ret;

	if (!report)
		return -1;
	/* One write for all of it: standard error is not buffered. */
	if (file == stderr)
		setvbuf(file, NULL, _IOFBF, 1 << 16);
	ret = output_write(format, file, report, &oo);
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

int launch_status(enum session_end end, const struct session *session)
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

int launch_end(FILE *file, const char *path, int status)
{
	if (path && file != stdout && fclose(file)) {
		error("cannot write the report to %s: %s", path, strerror(errno));
		status = status ? status : STATUS_FAILURE;
	}
	return status < 0 ? die_as(-status) : status;
}
