/* SPDX-License-Identifier: MIT */
/*
 * The main child: forked, held until the counters are on it, then exec'd with the agent preloaded.
 */
#define _GNU_SOURCE
#include "cli/session/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
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

/* "NAME=value" in a new environment; value may be NULL: left out. */
static char *variable(const char *name, const char *value, const char *rest)
{
	char *text;

	return asprintf(&text, "%s=%s%s%s", name, value, rest && *rest ? ":" : "", rest ? rest : "") < 0 ? NULL : text;
}

/*
 * The agent by a name that suits all programs of the tree (agent/preload.sh makes the folder). ld.so puts
 * its own machine for $PLATFORM (ld.so(8)): a 32-bit one finds an empty library. musl's, which knows no
 * such thing, finds no file; both say nothing. And the runtime of the address sanitizer refuses to start
 * behind another library, but for one whose path has its own name in it; linked statically it refuses
 * files of that name, so the link's name has it and the file's has not.
 */
static bool preload_folder(const char *agent, char *folder, size_t size)
{
	const char *platform = (const char *)(uintptr_t)getauxval(AT_PLATFORM);
	char file[PATH_MAX];
	int n = snprintf(folder, size, "%.*s/" SERVER_FOLDER_LINK, (int)(strrchr(agent, '/') - agent), agent);

	return platform && n < (int)size &&
	       snprintf(file, sizeof(file), "%s/%s%s", folder, platform, strrchr(agent, '/')) < (int)sizeof(file) &&
	       access(file, R_OK) == 0;
}

/* ld.so splits LD_PRELOAD at colons and blanks (ld.so(8)): a path with one goes through a link in our directory. */
static const char *preload_path(const char *agent, const char *dir, char *path, size_t size)
{
	bool split = strpbrk(agent, ": \t") != NULL;
	char folder[PATH_MAX], link[160];

	if (preload_folder(agent, folder, sizeof(folder))) {
		snprintf(link, sizeof(link), "%s/" SERVER_FOLDER_LINK, dir);
		if (split && symlink(folder, link))
			return NULL;
		snprintf(path, size, "%s/$PLATFORM%s", split ? link : folder, strrchr(agent, '/'));
		return path;
	}
	if (!split)
		return agent;
	snprintf(path, size, "%s/" SERVER_AGENT_LINK, dir);
	return symlink(agent, path) ? NULL : path;
}

/* The user's own preloads, without an agent of ours that a session around this one put there. NULL: none. */
static char *preload_others(const char *agent)
{
	const char *old = getenv("LD_PRELOAD"), *base = strrchr(agent, '/');
	char *list = old ? calloc(1, strlen(old) + 1) : NULL;
	size_t at = 0;

	if (list && !strstr(old, base))
		return strcpy(list, old);

	for (old = list ? old : ""; *old;) {
		size_t n = strcspn(old, ": \t"), tail = strlen(base);
		bool ours = n >= tail && !strncmp(old + n - tail, base, tail);

		if (n && !ours)
			at += (size_t)sprintf(list + at, "%s%.*s", at ? ":" : "", (int)n, old);
		old += n + (old[n] != 0);
	}
	return list;
}

char **target_environment(const char *agent, const char *invitation, const char *dir)
{
	static char path[PATH_MAX + 64];
	size_t n = 0, at = 0;
	char **env, *others = preload_others(agent);

	while (environ[n])
		n++;
	env = calloc(n + 3, sizeof(*env));
	agent = preload_path(agent, dir, path, sizeof(path));
	if (!env || !agent) {
		error("cannot prepare the environment: %s", strerror(errno));
		free(env);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "LD_PRELOAD=", 11) && strncmp(environ[i], WIRE_ENV "=", sizeof(WIRE_ENV)))
			env[at++] = environ[i];
	env[at] = variable("LD_PRELOAD", agent, others);
	env[at + 1] = variable(WIRE_ENV, invitation, NULL);
	free(others);
	if (env[at] && env[at + 1])
		return env;
	error("out of memory");
	free(env);
	return NULL;
}

/* The last two were made here; the others are our own environment. */
void target_environment_free(char **env)
{
	size_t n = 0;

	while (env[n])
		n++;
	free(env[n - 1]);
	free(env[n - 2]);
	free(env);
}
