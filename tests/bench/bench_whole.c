/* SPDX-License-Identifier: MIT */
/*
 * Whole runs of two commands, by turns:
 *
 *	bench_whole NAME N A [ARG...] -- B [ARG...]	the ratio is A's wall time to B's
 *
 * Their output goes to /dev/null.
 */
#include "bench.h"

#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

static double run_once(char **argv)
{
	posix_spawn_file_actions_t actions;
	uint64_t begin;
	int status;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	begin = bench_ns();
	errno = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	if (errno)
		bench_die(argv[0]);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			bench_die("waitpid");
	if (status) {
		fprintf(stderr, "bench: %s ended with %#x\n", argv[0], (unsigned int)status);
		exit(99);
	}
	posix_spawn_file_actions_destroy(&actions);
	return (double)(bench_ns() - begin) / 1000;
}

int main(int argc, char **argv)
{
	static double a[BENCH_ROUNDS_MAX], b[BENCH_ROUNDS_MAX], ratio;
	int n = bench_arg(argc, argv, 2, 40), split = 3;

	while (split < argc && strcmp(argv[split], "--"))
		split++;
	if (split + 1 >= argc || split == 3 || n < 1 || n > BENCH_ROUNDS_MAX) {
		fprintf(stderr, "usage: bench_whole NAME N A [ARG...] -- B [ARG...]\n");
		return 2;
	}
	argv[split] = NULL;
	run_once(argv + 3);
	run_once(argv + split + 1);
	for (int i = 0; i < n; i++) {
		a[i] = run_once(argv + 3);
		b[i] = run_once(argv + split + 1);
	}
	bench_value("other", bench_median(b, n));
	ratio = bench_median(a, n) / bench_median(b, n);
	bench_figure(argv[1], ratio, bench_median(a, n), "us");
	return 0;
}
