/* SPDX-License-Identifier: MIT */
/*
 * What a program's file tells before its start: whether the agent can enter it, and whether the
 * kernel lets an unprivileged user count in it. Follows scripts to the program that runs them.
 */
#define _GNU_SOURCE
#include "cli/session/internal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPTS_MOST 5u            /* one that runs another; the kernel takes no more (fs/exec.c) */
#define SCRIPT_LINE 256u

/* As execvp(3) looks: a name with a slash is a path. */
static bool command_path(const char *command, char *path, size_t size)
{
	const char *list = getenv("PATH"), *end;

	if (strchr(command, '/'))
		return snprintf(path, size, "%s", command) < (int)size;
	for (list = list ? list : "/bin:/usr/bin"; list; list = *end ? end + 1 : NULL) {
		end = strchrnul(list, ':');
		if (snprintf(path, size, "%.*s%s%s", (int)(end - list), list, end > list ? "/" : "", command) < (int)size &&
		    access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/* The last part of the loader's path that a 64-bit file asks for: "" where it asks for none. */
static void elf_loader(int fd, const Elf64_Ehdr *e, char *name, size_t size)
{
	char path[PATH_MAX];
	const char *slash;
	ssize_t n;

	name[0] = 0;
	for (u32 i = 0; i < e->e_phnum; i++) {
		Elf64_Phdr p;

		if (pread(fd, &p, sizeof(p), (off_t)(e->e_phoff + i * sizeof(p))) != sizeof(p))
			return;
		if (p.p_type != PT_INTERP)
			continue;
		n = pread(fd, path, MIN(p.p_filesz, sizeof(path) - 1), (off_t)p.p_offset);
		path[MAX(n, 0)] = 0;
		slash = strrchr(path, '/');
		snprintf(name, size, "%.*s", (int)size - 1, slash ? slash + 1 : path);
		return;
	}
}

/* Compared with sparkctl itself, which is what the agent is. */
static const char *elf_obstacle(int fd, const Elf64_Ehdr *e, const char *path)
{
	char loader[64], own_loader[64] = "";
	const char *base = strrchr(path, '/');
	int own = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr self = *e;

	if (own >= 0 && pread(own, &self, sizeof(self), 0) == sizeof(self))
		elf_loader(own, &self, own_loader, sizeof(own_loader));
	if (own >= 0)
		close(own);
	if (e->e_ident[EI_CLASS] != ELFCLASS64)
		return "is a 32-bit program: the agent cannot enter it";
	if (e->e_machine != self.e_machine)
		return "is a program for another machine: the agent cannot enter it";
	elf_loader(fd, e, loader, sizeof(loader));
	/* The loader as a command: it loads the agent into what it runs. */
	if (!loader[0])
		return strcmp(base ? base + 1 : path, own_loader) ? "is statically linked: the agent cannot enter it" :
								    NULL;
	if (own_loader[0] && strcmp(loader, own_loader))
		return "is linked to another C library: the agent cannot enter it";
	return NULL;
}

/* capabilities(7), execve(2): what gives a program more rights than its user has. */
static const char *rights_obstacle(int fd, const struct stat *st)
{
	struct statvfs fs;

	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 || (fstatvfs(fd, &fs) == 0 && fs.f_flag & ST_NOSUID))
		return NULL;
	if (st->st_mode & S_ISUID && st->st_uid != getuid())
		return "is set-user-ID: the loader leaves the agent out";
	if ((st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st->st_gid != getgid())
		return "is set-group-ID: the loader leaves the agent out";
	if (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "has file capabilities: the loader leaves the agent out";
	return NULL;
}

/* env(1), as most scripts name it, starts another program: the first plain word after it. */
static void interpreter_take(struct target *t, const char *path, const char *argument)
{
	const char *slash = strrchr(path, '/');

	argument += strspn(argument, " \t");
	if (!strcmp(slash ? slash + 1 : path, "env") && *argument && !strpbrk(argument, "-= \t") &&
	    command_path(argument, t->program, sizeof(t->program)))
		return;
	snprintf(t->program, sizeof(t->program), "%s", path);
}

/* "#!PATH ARGUMENT" (execve(2)). */
static bool script_interpreter(struct target *t, int fd, char *path, size_t size)
{
	const char *argument;
	char line[SCRIPT_LINE + 1], *at;
	ssize_t n = pread(fd, line, SCRIPT_LINE, 0);

	line[MAX(n, 0)] = 0;
	if (strncmp(line, "#!", 2))
		return false;
	line[strcspn(line, "\n")] = 0;
	at = line + 2 + strspn(line + 2, " \t");
	argument = at + strcspn(at, " \t");
	argument += *argument != 0;
	at[strcspn(at, " \t")] = 0;
	if (!*at || snprintf(path, size, "%s", at) >= (int)size)
		return false;
	interpreter_take(t, path, argument);
	return true;
}

static const char *file_look(struct target *t, int fd, const char *path, char *next, size_t size)
{
	const char *why;
	struct stat st;
	Elf64_Ehdr e;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return NULL;
	if (pread(fd, &e, sizeof(e), 0) != sizeof(e) || memcmp(e.e_ident, ELFMAG, SELFMAG)) {
		script_interpreter(t, fd, next, size);
		return NULL;
	}
	t->elf = true;
	why = rights_obstacle(fd, &st);
	t->guarded = t->guarded || why;
	return why ? why : elf_obstacle(fd, &e, path);
}

/* One file; next is the interpreter of a script, or "". */
static const char *path_look(struct target *t, const char *path, char *next, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *why;

	next[0] = 0;
	if (fd >= 0) {
		why = file_look(t, fd, path, next, size);
		close(fd);
		return why;
	}
	if (errno != EACCES)
		return NULL;
	t->guarded = geteuid() != 0;
	return "may not be read by this user: nobody knows whether the agent could enter it";
}

void target_look_file(struct target *t, const char *name, const char *path)
{
	char at[PATH_MAX], next[PATH_MAX];
	const char *why = NULL;
	u32 scripts = 0;

	snprintf(at, sizeof(at), "%s", path);
	while ((why = path_look(t, at, next, sizeof(next))) == NULL && next[0] && scripts < SCRIPTS_MOST) {
		scripts++;
		t->elf = false;
		memcpy(at, next, sizeof(at));
	}
	if (scripts)
		t->elf = false;
	if (why && scripts)
		snprintf(t->obstacle, sizeof(t->obstacle), "%.120s is run by %.120s, which %s", name, at, why);
	else if (why)
		snprintf(t->obstacle, sizeof(t->obstacle), "%.240s %s", name, why);
}

void target_look(struct target *t, const char *command)
{
	memset(t, 0, sizeof(*t));
	if (command_path(command, t->path, sizeof(t->path)))
		target_look_file(t, command, t->path);
	else
		t->path[0] = 0;
}

bool session_look(struct session_program *program, const char *command)
{
	struct target target;

	target_look(&target, command);
	*program = (struct session_program){ .script = target.program[0] != 0 };
	snprintf(program->obstacle, sizeof(program->obstacle), "%s", target.obstacle);
	/* The loader knows a program by its own name. */
	return target.path[0] && realpath(program->script ? target.program : target.path, program->path);
}
