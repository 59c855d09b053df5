/* SPDX-License-Identifier: MIT */
/* Recognizing, before the start, programs that the agent cannot enter. */
#define _GNU_SOURCE
#include "cli/session/internal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* The loader that a 64-bit ELF file of this machine asks for; a static one asks for none. */
static const char *elf_obstacle(int fd, const Elf64_Ehdr *e)
{
	if (e->e_ident[EI_CLASS] != ELFCLASS64)
		return "is a 32-bit program: the agent cannot enter it";
	for (u32 i = 0; i < e->e_phnum; i++) {
		Elf64_Phdr p;

		if (pread(fd, &p, sizeof(p), (off_t)(e->e_phoff + i * sizeof(p))) != sizeof(p))
			return NULL;
		if (p.p_type == PT_INTERP)
			return NULL;
	}
	return "is statically linked: the agent cannot enter it";
}

const char *target_obstacle(const char *command)
{
	char path[PATH_MAX];
	const char *why = NULL;
	struct stat st;
	Elf64_Ehdr e;
	int fd;

	if (!command_path(command, path, sizeof(path)))
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == EACCES ? "may not be read by this user: the agent may not enter it" : NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		why = NULL;
	else if (geteuid() != 0 && st.st_mode & (S_ISUID | S_ISGID))
		why = "is set-user-ID: the loader leaves the agent out";
	else if (pread(fd, &e, sizeof(e), 0) == sizeof(e) && memcmp(e.e_ident, ELFMAG, SELFMAG) == 0)
		why = elf_obstacle(fd, &e);
	close(fd);
	return why;
}
