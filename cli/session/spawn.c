/* SPDX-License-Identifier: MIT */
/*
 * The main child: forked, held until the counters are on it, then exec'd with the agent preloaded.
 */
#define _GNU_SOURCE
#include "cli/session/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/log.h"

extern char **environ;

static void spawn_streams(const struct spawn *spawn)
{
	if (spawn->input >= 0)
		dup2(spawn->input, STDIN_FILENO);
	if (spawn->output >= 0) {
		dup2(spawn->output, STDOUT_FILENO);
		dup2(spawn->output, STDERR_FILENO);
	}
	for (int i = 0; i < 2; i++)
		if (spawn->relayed && spawn->relayed[i] >= 0)
			dup2(spawn->relayed[i], STDOUT_FILENO + i);
}

/* In the child: as sparkctl was started, but for the preload. */
static void spawn_child(const struct spawn *spawn, int go, int err, char **argv, const char *elf, char **env,
			const struct inherited_limits *limits, const struct inherited_signals *signals)
{
	char byte;
	ssize_t n;
	int failed;

	spawn_streams(spawn);
	do {
		n = read(go, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(125); /* sparkctl is gone, or does not start it after all */
	setrlimit(RLIMIT_NOFILE, &limits->nofile);
	setrlimit(RLIMIT_FSIZE, &limits->fsize);
	signals_close(signals);
	if (elf)
		execve(elf, argv, env);
	else
		execvpe(argv[0], argv, env);
	failed = errno;
	if (write(err, &failed, sizeof(failed)) < 0)
		_exit(125);
	_exit(127);
}

int spawn_start(struct spawn *spawn, char **argv, const char *elf, char **env, const struct inherited_limits *limits,
		const struct inherited_signals *signals)
{
	int go[2], err[2];

	if (pipe2(go, O_CLOEXEC))
		return error("cannot make a pipe: %s", strerror(errno));
	if (pipe2(err, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return error("cannot make a pipe: %s", strerror(errno));
	}
	spawn->pid = fork();
	if (spawn->pid == 0) {
		close(go[1]);
		spawn_child(spawn, go[0], err[1], argv, elf, env, limits, signals);
	}
	close(go[0]);
	close(err[1]);
	spawn->go = go[1];
	spawn->error = err[0];
	if (spawn->pid > 0)
		return 0;
	close(go[1]);
	close(err[0]);
	return error("cannot fork: %s", strerror(errno));
}

/* The child runs in our memory, and we wait: it changes nothing of it but what is marked so. */
static pid_t __attribute__((noinline)) spawn_vfork(const struct spawn *spawn, char **argv, const char *elf,
						   const struct inherited_signals *signals, volatile u64 *start_ns,
						   volatile int *failed)
{
	pid_t pid = vfork();

	if (pid)
		return pid;
	spawn_streams(spawn);
	signals_close(signals);
	*start_ns = session_now();
	if (elf)
		execve(elf, argv, environ);
	else
		execvpe(argv[0], argv, environ);
	*failed = errno;
	_exit(127);
}

int spawn_now(struct spawn *spawn, char **argv, const char *elf, const struct inherited_signals *signals, u64 *start_ns)
{
	volatile u64 start = 0;
	volatile int failed = 0;

	spawn->pid = spawn_vfork(spawn, argv, elf, signals, &start, &failed);
	*start_ns = start;
	return spawn->pid < 0 ? error("cannot fork: %s", strerror(errno)) : failed;
}

int spawn_go(struct spawn *spawn)
{
	int failed = 0;
	ssize_t n;

	if (write(spawn->go, "", 1) != 1)
		failed = errno;
	close(spawn->go);
	spawn->go = -1;
	do {
		n = read(spawn->error, &failed, sizeof(failed));
	} while (n < 0 && errno == EINTR);
	close(spawn->error);
	return failed;
}

void spawn_drop(struct spawn *spawn)
{
	if (spawn->pid <= 0)
		return;
	if (spawn->go >= 0)
		close(spawn->go);
	spawn->go = -1;
	while (waitpid(spawn->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

enum session_end spawn_failed(const char *command, int failed)
{
	if (failed == ENOENT) {
		error("%s: command not found", command);
		return SESSION_NOT_FOUND;
	}
	error("cannot execute %s: %s", command, strerror(failed));
	return SESSION_NOT_EXECUTABLE;
}
