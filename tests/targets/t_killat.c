/* SPDX-License-Identifier: MIT */
/*
 * t_killat US PROGRAM...: becomes PROGRAM, and a child kills it US microseconds later, so also
 * while the loader or the agent's constructor is at work.
 */
#include <signal.h>

#include "target.h"

int main(int argc, char **argv)
{
	int64_t us = target_arg(argc, argv, 1, 0);
	pid_t victim = getpid();

	if (argc < 3)
		return 2;
	if (fork() == 0) {
		usleep((useconds_t)us);
		if (getppid() == victim)
			kill(victim, SIGKILL);
		_exit(0);
	}
	execv(argv[2], argv + 2);
	target_die(argv[2]);
}
