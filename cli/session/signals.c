/* SPDX-License-Identifier: MIT */
/* Signals while a command runs: read like any other event, and the child gets them as they were. */
#define _GNU_SOURCE
#include "cli/session/internal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

#include "cli/log.h"

void signals_spare(sigset_t *set)
{
	struct sigaction hangup;

	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler == SIG_IGN)
		sigdelset(set, SIGHUP);
}

int signals_open(struct inherited_signals *before, int *fd)
{
	static const int signals[] = { SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(&set, signals[i]);
	signals_spare(&set);
	/*
	 * Ignored SIGCHLD would lose the child's status; a reader that is gone or a limit must not
	 * end the run. The child gets them as they were.
	 */
	sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_DFL }, &before->child);
	sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, &before->pipe);
	sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, &before->fsize);
	if (sigprocmask(SIG_BLOCK, &set, &before->mask))
		return error("cannot block signals: %s", strerror(errno));
	*fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return *fd < 0 ? error("cannot read signals: %s", strerror(errno)) : 0;
}

void signals_close(const struct inherited_signals *before)
{
	sigaction(SIGXFSZ, &before->fsize, NULL);
	sigaction(SIGPIPE, &before->pipe, NULL);
	sigaction(SIGCHLD, &before->child, NULL);
	sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

/*
 * The child alone was stopped by job control: the shell shall see us stop as it would see the child. Not for
 * SIGSTOP: who sends that to the child will continue the child, and not us.
 */
void signals_stopped(pid_t child, int by)
{
	if (by != SIGTSTP && by != SIGTTIN && by != SIGTTOU)
		return;
	raise(SIGSTOP);
	kill(child, SIGCONT);
}

bool signals_ending(void)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	sigset_t pending;

	if (sigpending(&pending))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (sigismember(&pending, signals[i]) == 1)
			return true;
	return false;
}
