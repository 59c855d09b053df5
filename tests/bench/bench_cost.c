/* SPDX-License-Identifier: MIT */
/*
 * What a command costs, with all processes that it leaves behind:
 *
 *	bench_cost SECONDS COMMAND [ARG...]	at most so long
 *
 * Values: used, its CPU time; wall; done, when it ended (of the command itself, both); memory, in KiB,
 * of the largest process; status.
 */
#include "bench.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

static pid_t child;

static void late(int signal)
{
	(void)signal;
	kill(-child, SIGKILL);
}

static double seconds_ns(struct timeval t)
{
	return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

int main(int argc, char **argv)
{
	uint64_t begin = bench_ns(), end = 0;
	struct rusage used;
	int status, result = 0;
	pid_t pid;

	if (argc < 3)
		return 2;
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	child = fork();
	if (child < 0)
		bench_die("fork");
	if (!child) {
		setpgid(0, 0);
		execvp(argv[2], argv + 2);
		bench_die(argv[2]);
	}
	setpgid(child, child);
	signal(SIGALRM, late);
	alarm((unsigned int)atoi(argv[1]));
	while ((pid = wait(&status)) > 0 || errno == EINTR) {
		if (pid != child)
			continue;
		end = bench_ns();
		result = status;
	}
	getrusage(RUSAGE_CHILDREN, &used);
	bench_value("used", seconds_ns(used.ru_utime) + seconds_ns(used.ru_stime));
	bench_value("wall", (double)(end - begin));
	bench_value("done", (double)end);
	bench_value("memory", (double)used.ru_maxrss);
	bench_value("status", result);
	return 0;
}
