/* SPDX-License-Identifier: MIT */
/*
 * Descendants that live on and were never heard of: forked without exec and without a marker since.
 * They have our invitation in their environment (proc(5), /proc/PID/environ).
 */
#define _GNU_SOURCE
#include "cli/session/internal.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENVIRON_MOST (1u << 20)

static bool carries_invitation(const struct session *s, u32 pid, char *text)
{
	char path[64];
	size_t size = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/environ", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (size < ENVIRON_MOST && (n = read(fd, text + size, ENVIRON_MOST - size)) > 0)
		size += (size_t)n;
	close(fd);
	return memmem(text, size, s->server.invitation, strlen(s->server.invitation)) != NULL;
}

void survivors_find(struct session *s)
{
	DIR *dir = opendir("/proc");
	char *text = malloc(ENVIRON_MOST);
	struct dirent *e;

	while (dir && text && (e = readdir(dir))) {
		u32 pid = (u32)strtoul(e->d_name, NULL, 10);
		struct process *p;

		if (!isdigit((unsigned char)e->d_name[0]) || pid == (u32)getpid() || process_find(&s->processes, pid) ||
		    !carries_invitation(s, pid, text))
			continue;
		p = process_add(&s->processes, pid, 0, session_now() - s->start_ns);
		if (p)
			process_describe(p);
	}
	free(text);
	if (dir)
		closedir(dir);
}
