/* SPDX-License-Identifier: MIT */
/* See pager.h. */
#include "cli/pager.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/term.h"

static pid_t pager_pid;

static void pager_run(const char *pager, const int ends[2])
{
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	close(ends[1]);
	/* Colours as they are; and no pager for what fits the screen. */
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
	_exit(127);
}

void pager_start(void)
{
	const char *pager = getenv("PAGER");
	char width[16];
	int ends[2];

	if (!pager || !*pager || !strcmp(pager, "cat") || !isatty(STDOUT_FILENO) || pipe(ends))
		return;
	snprintf(width, sizeof(width), "%zu", term_width(STDOUT_FILENO));
	pager_pid = fork();
	if (pager_pid == 0)
		pager_run(pager, ends);
	if (pager_pid > 0) {
		term_paged(stdout);
		setenv("COLUMNS", width, 1);
		dup2(ends[1], STDOUT_FILENO);
	}
	close(ends[0]);
	close(ends[1]);
}

void pager_end(void)
{
	if (pager_pid <= 0)
		return;
	/* Ctrl-C is for the pager. */
	signal(SIGINT, SIG_IGN);
	fflush(stdout);
	close(STDOUT_FILENO);
	while (waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
		;
}
