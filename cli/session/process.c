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
	p->pidfd = descriptor_keep((int)syscall(SYS_pidfd_open, pid, 0), DESCRIPTORS_SPARE);
	p->io_fd = -1;
	p->clocked = all->clocked;
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
	p->pidfd = descriptor_keep((int)syscall(SYS_pidfd_open, p->facts.pid, 0), DESCRIPTORS_SPARE);
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

static u64 apart(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

struct process *process_begun(const struct processes *all, u32 pid, u64 ns, u64 within_ns)
{
	struct process *found = NULL;

	for (struct process *p = all->by_pid[pid % PROCESS_BUCKETS]; p; p = p->older)
		if (p->facts.pid == pid && apart(p->facts.start_ns, ns) <= within_ns &&
		    (!found || apart(p->facts.start_ns, ns) < apart(found->facts.start_ns, ns)))
			found = p;
	return found;
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

bool process_describe(struct process *p)
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
	return n > 0;
}

void process_replaced(struct process *p, const char *name)
{
	struct target target = { .elf = false };
	char path[64];

	p->facts.agent = false;
	free(p->no_agent);
	p->no_agent = NULL;
	free(p->command);
	free(p->image);
	p->command = p->image = NULL;
	process_describe(p);
	if (!p->command)
		p->command = strdup(name);
	p->facts.command = p->command;
	snprintf(path, sizeof(path), "/proc/%u/exe", p->facts.pid);
	if (p->image)
		target_look_file(&target, "", path);
	if (target.obstacle[0])
		p->no_agent = strdup(target.obstacle + 1); /* without the blank behind the name */
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
	p->facts.agent = parent->facts.agent;
	if (p->command || p->image)
		return;
	p->command = parent->command ? strdup(parent->command) : NULL;
	p->image = parent->image ? strdup(parent->image) : NULL;
	p->facts.command = p->command;
	p->facts.image = p->image;
}

/* proc(5): fields behind the command, which may contain anything but ends with the last ')'. */
enum { STAT_PARENT = 1, STAT_MINFLT = 7, STAT_CMINFLT = 8, STAT_MAJFLT = 9, STAT_CMAJFLT = 10, STAT_UTIME = 11,
       STAT_STIME = 12, STAT_CUTIME = 13, STAT_CSTIME = 14, STAT_THREADS = 17, STAT_DELAY = 39, STAT_EXIT = 49 };

bool process_stat_parse(char *text, struct process_stat *stat)
{
	u64 field[STAT_EXIT + 1] = { 0 };
	char *at = strrchr(text, ')'), *word, *rest;

	if (!at || !(word = strtok_r(at + 1, " ", &rest)))
		return false;
	stat->state = word[0];
	for (u32 i = 1; i <= STAT_EXIT && (word = strtok_r(NULL, " ", &rest)); i++)
		field[i] = strtoull(word, NULL, 10);
	stat->parent = (u32)field[STAT_PARENT];
	stat->minflt = field[STAT_MINFLT];
	stat->children_minflt = field[STAT_CMINFLT];
	stat->majflt = field[STAT_MAJFLT];
	stat->utime = field[STAT_UTIME];
	stat->stime = field[STAT_STIME];
	stat->children_majflt = field[STAT_CMAJFLT];
	stat->children_utime = field[STAT_CUTIME];
	stat->children_stime = field[STAT_CSTIME];
	stat->delay = field[STAT_DELAY];
	stat->threads = field[STAT_THREADS];
	stat->exit = (int)field[STAT_EXIT];
	return true;
}

bool process_stat(u32 pid, struct process_stat *stat)
{
	char text[1024];

	return process_read_file(pid, "stat", text, sizeof(text)) > 0 && process_stat_parse(text, stat);
}

bool process_thread_stat(u32 pid, u32 tid, struct process_stat *stat)
{
	char name[48], text[1024];

	snprintf(name, sizeof(name), "task/%u/stat", tid);
	return process_read_file(pid, name, text, sizeof(text)) > 0 && process_stat_parse(text, stat);
}

u64 process_ticks_ns(u64 ticks)
{
	return ticks * (NSEC_PER_SEC / (u64)sysconf(_SC_CLK_TCK));
}

u32 process_parent(u32 pid)
{
	struct process_stat stat;

	return process_stat(pid, &stat) ? stat.parent : 0;
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
		free(p->no_agent);
		free(p->attached);
		thread_history_free(&p->history);
		thread_uses_free(p->uses);
		free(p);
	}
	free(all->list);
	free(all->live);
}
