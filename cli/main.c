/* SPDX-License-Identifier: MIT */
/*
 * sparkctl: finds the command and runs it. No locale is set, so that numbers, sorting and messages
 * are the same everywhere; text.h brings its own knowledge of UTF-8.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd/cmd.h"
#include "cli/log.h"
#include "cli/pager.h"

/*
 * A descriptor of ours must never become 0, 1 or 2. A standard one that came closed is filled
 * with a file that fails the wrong use (as a closed one would) and is closed again by exec, so
 * that a target finds it as it was.
 */
static int main_hold_standard(void)
{
	int fd, held;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		held = open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
		if (held != fd)
			return -1;
	}
	return 0;
}

/* What it does at a limit on the size of files: an error that we tell. What we start has it as it was. */
static struct sigaction size_limit;

static int main_run(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		command_print_overview(stderr);
		return STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		command_print_overview(stdout);
		return STATUS_OK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("sparkctl " PACKAGE_VERSION);
		return STATUS_OK;
	}
	if (argv[1][0] == '-') {
		error("there is no option '%s' before the command; see sparkctl --help", argv[1]);
		return STATUS_USAGE;
	}
	command = command_find(argv[1]);
	if (!command)
		return STATUS_USAGE;
	if (command->runs_command)
		sigaction(SIGXFSZ, &size_limit, NULL);
	return command->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	int status;

	if (main_hold_standard())
		return STATUS_FAILURE;
	sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, &size_limit);
	status = command_end_output(main_run(argc, argv));
	pager_end();
	return status;
}
