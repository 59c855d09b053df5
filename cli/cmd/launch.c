/* SPDX-License-Identifier: MIT */
/* A launched program's report and exit status; see launch.h. */
#define _GNU_SOURCE
#include "cli/cmd/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cli/cmd/group.h"
#include "cli/log.h"

void launch_asked_free(struct launch_asked *asked)
{
	opt_list_free(&asked->events);
	opt_list_free(&asked->groups);
	opt_list_free(&asked->syscalls);
}

bool launch_counts(const struct launch_asked *asked)
{
	return asked->events.n || asked->groups.n || asked->syscalls.n;
}

static int launch_syscalls(struct launch_asked *asked, struct names_context *names, const char *text,
			   struct event_list *events)
{
	/* As strace -c would be used. */
	if (!strcmp(text, "--"))
		return error("--syscalls wants names%s before the --", asked->all_calls ? ", or all," : "");
	if (strcmp(text, "all") != 0)
		return names_syscalls(names, text, events);
	if (!asked->all_calls)
		return error("all calls of the system one by one are for sparkctl stat: give --syscalls names");
	*asked->all_calls = true;
	return names_syscalls_all(names, events);
}

int launch_events(struct launch_asked *asked, struct print_options *print, struct event_list *events)
{
	struct names_context names;
	struct caps_context caps;
	int err = 0;

	*events = (struct event_list){ .event = NULL };
	if (asked->events.n || asked->groups.n || asked->syscalls.n || asked->standard) {
		caps_init(&caps, "");
		names_init(&names, &caps);
		err = asked->standard ? names_parse(&names, asked->standard, events) : 0;
		asked->nstandard = events->n;
		for (size_t i = 0; !err && i < asked->events.n; i++)
			err = names_parse(&names, asked->events.item[i], events);
		for (size_t i = 0; !err && i < asked->syscalls.n; i++)
			err = launch_syscalls(asked, &names, asked->syscalls.item[i], events);
		err = err ? err : group_use_all(&asked->groups, &names, events, &print->definitions);
		err = err ? err : session_check_events(events);
		names_fini(&names);
	}
	err = err ? err : define_all(&print->definitions, &print->define, false, events);
	return err ? STATUS_USAGE : STATUS_OK;
}

int launch_probes(const struct opt_list *uprobes, const struct opt_list *sdt, const char *command,
		  struct probe_list *probes)
{
	struct session_program program;
	struct names_context names;
	struct caps_context caps;
	bool found;
	int err = 0;

	if (!uprobes->n && !sdt->n)
		return STATUS_OK;
	found = session_look(&program, command);
	caps_init(&caps, "");
	names_init(&names, &caps);
	for (size_t i = 0; !err && i < uprobes->n; i++)
		err = names_probes(&names, uprobes->item[i], found ? program.path : NULL, probes);
	for (size_t i = 0; !err && i < sdt->n; i++)
		err = names_sdt(&names, sdt->item[i], found ? program.path : NULL, probes);
	names_fini(&names);
	return err ? STATUS_USAGE : STATUS_OK;
}

FILE *launch_report_open(const char *path)
{
	FILE *f;
	int fd;

	if (!path)
		return stderr;
	if (!strcmp(path, "-"))
		return stdout;
	/* Tried before the run, emptied when there is a report: an older one may be in it. */
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		error("cannot write the report to %s: %s", path, strerror(errno));
	return f;
}

void launch_report_empty(FILE *file, const char *path)
{
	/* An earlier report may be in it. Fails, and does no harm, for what is no file. */
	if (path && file != stdout)
		rewind(file);
	if (path && file != stdout && ftruncate(fileno(file), 0) && errno != EINVAL)
		verbose(1, "cannot empty %s: %s", path, strerror(errno));
}

void launch_report_begin(FILE *file, const char *path)
{
	/* A reader that is gone or a limit must not end us: the status is the command's. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	launch_report_empty(file, path);
}

int launch_report_written(FILE *file, const char *path)
{
	if (fflush(file) == 0 && !ferror(file))
		return 0;
	/* A reader that is gone is no failure. */
	if (errno != EPIPE)
		error("cannot write to %s: %s", path, strerror(errno));
	else
		path = NULL;
	__fpurge(file);
	clearerr(file);
	return path ? -1 : 0;
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
	if (file && path && file != stdout && fclose(file)) {
		error("cannot write the report to %s: %s", path, strerror(errno));
		status = status ? status : STATUS_FAILURE;
	}
	return status < 0 ? die_as(-status) : status;
}
