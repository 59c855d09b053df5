/* SPDX-License-Identifier: MIT */
/*
 * The processes of the tree, one entry for each image: known by their hello, by the segment they
 * inherited by fork, or because sparkctl started them. Pids repeat; the serial does not.
 */
#define _GNU_SOURCE
#include "cli/session/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/log.h"

struct process *process_add(struct processes *all, u32 pid, u32 ppid, u64 start_ns)
{
	struct process *p, *parent = ppid ? process_find(all, ppid) : NULL;

	if (all->count == all->room) {
		size_t room = all->room ? all->room * 2 : 64;
		struct process **list = realloc(all->list, room * sizeof(*list)), **live;

		if (list)
			all->list = list;
		live = realloc(all->live, room * sizeof(*live));
		if (live)
			all->live = live;
		if (!list || !live) {
			error("out of memory");
			return NULL;
		}
		all->room = room;
	}
	p = calloc(1, sizeof(*p));
	if (!p) {
		error("out of memory");
		return NULL;
	}
	all->list[all->count++] = p;
	all->live[all->nlive++] = p;
	p->older = all->by_pid[pid % PROCESS_BUCKETS];
	all->by_pid[pid % PROCESS_BUCKETS] = p;
	p->facts.id = (u32)all->count;
	p->facts.pid = pid;
	p->facts.parent = parent ? parent->facts.id : 0;
	p->facts.start_ns = start_ns;
	p->alive = true;
	p->pidfd = descriptor_keep((int)syscall(SYS_pidfd_open, pid, 0));
	p->io_fd = -1;
	return p;
}

struct process **processes_live(struct processes *all, size_t *count)
{
	size_t n = 0;

	for (size_t i = 0; i < all->nlive; i++)
		if (all->live[i]->alive)
			all->live[n++] = all->live[i];
	all->nlive = *count = n;
	return all->live;
}

void process_join(struct process *p, struct segment *g)
{
	p->segment = g;
	p->sibling = g->processes;
	g->processes = p;
}

struct process *process_find(const struct processes *all, u32 pid)
{
	for (struct process *p = all->by_pid[pid % PROCESS_BUCKETS]; p; p = p->older)
		if (p->facts.pid == pid && p->alive && !p->unwatched)
			return p;
	return NULL;
}

void process_unwatch(struct process *p)
{
	if (p->pidfd >= 0)
		close(p->pidfd);
	p->pidfd = -1;
	p->unwatched = true;
}

void process_confirm(struct process *p)
{
	if (!p->unwatched || !p->alive)
		return;
	p->unwatched = false;
	p->pidfd = descriptor_keep((int)syscall(SYS_pidfd_open, p->facts.pid, 0));
	p->segment->live++;
}

void process_kill(const struct process *p, int n)
{
	if (p->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, p->pidfd, n, NULL, 0);
}

struct process *process_find_at(const struct processes *all, u32 pid, u64 ns)
{
	for (struct process *p = all->by_pid[pid % PROCESS_BUCKETS]; p; p = p->older)
		if (p->facts.pid == pid && p->facts.start_ns <= ns && (p->alive || ns <= p->facts.end_ns))
			return p;
	return NULL;
}

ssize_t process_read_file(u32 pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	text[MAX(n, 0)] = 0;
	return n;
}

void process_describe(struct process *p)
{
	char text[4096], path[64];
	ssize_t n = process_read_file(p->facts.pid, "cmdline", text, sizeof(text));

	if (n > 0) {
		for (ssize_t i = 0; i + 1 < n; i++)
			if (!text[i])
				text[i] = ' ';
		free(p->command);
		p->command = strdup(text);
	}
	snprintf(path, sizeof(path), "/proc/%u/exe", p->facts.pid);
	n = readlink(path, text, sizeof(text) - 1);
	if (n > 0) {
		text[n] = 0;
		free(p->image);
		p->image = strdup(text);
	}
	p->facts.command = p->command;
	p->facts.image = p->image;
}

void process_name(struct process *p, char **argv)
{
	size_t size = 0, at = 0;

	for (char **word = argv; *word; word++)
		size += strlen(*word) + 1;
	p->command = calloc(1, size + 1);
	for (char **word = argv; p->command && *word; word++)
		at += (size_t)sprintf(p->command + at, "%s%s", at ? " " : "", *word);
	p->facts.command = p->command;
}

void process_inherit(struct process *p, const struct process *parent)
{
	p->facts.parent = parent->facts.id;
	if (p->command || p->image)
		return;
	p->command = parent->command ? strdup(parent->command) : NULL;
	p->image = parent->image ? strdup(parent->image) : NULL;
	p->facts.command = p->command;
	p->facts.image = p->image;
}

u32 process_parent(u32 pid)
{
	char text[1024], *at;

	if (process_read_file(pid, "stat", text, sizeof(text)) <= 0 || !(at = strrchr(text, ')')) || !at[1])
		return 0;
	return (u32)strtoul(at + 3, NULL, 10);
}

static void process_close(struct process *p)
{
	if (p->pidfd >= 0)
		close(p->pidfd);
	if (p->io_fd >= 0)
		close(p->io_fd);
	p->pidfd = p->io_fd = -1;
}

void process_end(struct process *p, enum process_end how, u64 end_ns)
{
	p->alive = false;
	p->facts.ended = how;
	p->facts.end_ns = end_ns;
	process_close(p);
}

void processes_free(struct processes *all)
{
	for (size_t i = 0; i < all->count; i++) {
		struct process *p = all->list[i];

		process_close(p);
		free(p->command);
		free(p->image);
		free(p);
	}
	free(all->list);
	free(all->live);
}
