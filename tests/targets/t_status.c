/* SPDX-License-Identifier: MIT */
/*
 * t_status FILE COMMAND...: runs the command and writes how it ended, "exit N" or "signal N",
 * which a shell's $? can't tell apart.
 */
#include <sys/wait.h>

#include "target.h"

int main(int argc, char **argv)
{
	int status = 0, fd;
	pid_t pid;

	if (argc < 3)
		return 2;
	fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		target_die(argv[1]);
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		target_die(argv[2]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		target_die("waitpid");
	if (WIFSIGNALED(status))
		dprintf(fd, "signal %d\n", WTERMSIG(status));
	else
		dprintf(fd, "exit %d\n", WEXITSTATUS(status));
	return 0;
}
