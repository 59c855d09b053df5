/* SPDX-License-Identifier: MIT */
/*
 * t_launch [ARGUMENT...]: a statically linked program in the place of a shell. Says its arguments;
 * with "run COMMAND..." it runs the command instead and waits for it. Exits with 3.
 */
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv)
{
	pid_t pid;
	int i;

	if (argc > 2 && !strcmp(argv[1], "run")) {
		if (posix_spawn(&pid, argv[2], NULL, NULL, argv + 2, environ))
			return 99;
		waitpid(pid, NULL, 0);
		return 3;
	}
	for (i = 1; i < argc; i++)
		printf("%s\n", argv[i]);
	return 3;
}
