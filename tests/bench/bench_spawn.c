/* SPDX-License-Identifier: MIT */
/*
 * The agent's part of the start-up of a trivial program.
 *
 *	bench_spawn EMPTY [N]		under sparkctl run; EMPTY is an empty shared object
 *
 * Starts and reaps one program, itself, by turns with the preload that it was started with and
 * with EMPTY in its place.
 */
#include "bench.h"

#include <spawn.h>
#include <sys/wait.h>

#define SPAWNS_MAX 10000

extern char **environ;

/* The environment with another value of LD_PRELOAD. */
static char **environment_with(const char *preload)
{
	static char setting[4096];
	static char *list[1024];
	int n = 0;

	for (char **e = environ; *e && n < 1022; e++)
		if (strncmp(*e, "LD_PRELOAD=", 11))
			list[n++] = *e;
	snprintf(setting, sizeof(setting), "LD_PRELOAD=%s", preload);
	list[n++] = setting;
	list[n] = NULL;
	return list;
}

/* us from before the start until it is reaped. */
static double spawn_once(char **env)
{
	char self[] = "/proc/self/exe", word[] = "child";
	char *argv[] = { self, word, NULL };
	uint64_t begin = bench_ns();
	int status;
	pid_t pid;

	errno = posix_spawn(&pid, self, NULL, NULL, argv, env);
	if (errno)
		bench_die("posix_spawn");
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			bench_die("waitpid");
	if (status)
		fprintf(stderr, "bench: the child ended with %#x\n", (unsigned int)status);
	return (double)(bench_ns() - begin) / 1000;
}

int main(int argc, char **argv)
{
	static double with[SPAWNS_MAX], without[SPAWNS_MAX], added[SPAWNS_MAX];
	int n = bench_arg(argc, argv, 2, 300);
	char **replaced;

	if (argc > 1 && !strcmp(argv[1], "child"))
		return 0;
	if (argc < 2 || n < 1 || n > SPAWNS_MAX) {
		fprintf(stderr, "usage: bench_spawn EMPTY [N]\n");
		return 2;
	}
	replaced = environment_with(argv[1]);
	for (int i = 0; i < n; i++) {
		without[i] = spawn_once(replaced);
		with[i] = spawn_once(environ);
		added[i] = with[i] - without[i];
	}
	bench_value("start-without", bench_median(without, n));
	bench_value("start-with", bench_median(with, n));
	bench_figure("start-up", bench_median(added, n) / bench_median(without, n),
		     bench_median(added, n), "us");
	return 0;
}
