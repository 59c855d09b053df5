/* SPDX-License-Identifier: MIT */
/* Who descends from whom, by /proc alone, and what becomes of orphans that sparkctl has for children. */
#define _GNU_SOURCE
#include "cli/session/internal.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

bool offspring_reap(pid_t but)
{
	for (;;) {
		siginfo_t info = { .si_pid = 0 };

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT))
			return false;
		if (!info.si_pid || info.si_pid == but)
			return true;
		waitpid(info.si_pid, NULL, 0);
	}
}

bool offspring_includes(u32 pid)
{
	/* Pids may be taken anew while we look: no chain is that long. */
	for (u32 i = 0; pid > 1 && i < 1024; i++) {
		pid = process_parent(pid);
		if (pid == (u32)getpid())
			return true;
	}
	return false;
}

/* One who has ended has no children any more. */
static bool has_ended(const struct process_stat *stat)
{
	return (stat->state == 'Z' || stat->state == 'X') && stat->threads <= 1;
}

static int offspring_add(struct offspring *all, u32 pid, u32 parent)
{
	struct descendant *list = all->list;

	if (all->n == all->room) {
		all->room = all->room ? 2 * all->room : 256;
		list = realloc(list, all->room * sizeof(*list));
		if (!list)
			return -1;
		all->list = list;
	}
	list[all->n++] = (struct descendant){ .pid = pid, .parent = parent };
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct descendant *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static struct descendant *offspring_at(const struct offspring *all, u32 pid)
{
	const struct descendant key = { .pid = pid };

	return all->n ? bsearch(&key, all->list, all->n, sizeof(*all->list), by_pid) : NULL;
}

/* All processes there are. */
static int processes_list(struct offspring *all)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	int err = dir ? 0 : -1;

	while (!err && (e = readdir(dir))) {
		u32 pid = (u32)strtoul(e->d_name, NULL, 10);
		struct process_stat stat;

		if (isdigit((unsigned char)e->d_name[0]) && process_stat(pid, &stat) && !has_ended(&stat))
			err = offspring_add(all, pid, stat.parent);
	}
	if (dir)
		closedir(dir);
	if (all->n)
		qsort(all->list, all->n, sizeof(*all->list), by_pid);
	return err;
}

/* Marks the next generation; whether there is one. */
static bool generation_mark(struct offspring *all, pid_t of, const struct offspring *without)
{
	bool more = false;

	for (size_t i = 0; i < all->n; i++) {
		struct descendant *d = &all->list[i], *parent = offspring_at(all, d->parent);

		if (d->ours || !(d->parent == (u32)of || (parent && parent->ours)) || offspring_at(without, d->pid))
			continue;
		d->ours = more = true;
	}
	return more;
}

int offspring_find(struct offspring *found, pid_t of, const struct offspring *without)
{
	size_t n = 0;
	int err;

	found->n = 0;
	err = processes_list(found);
	while (generation_mark(found, of, without))
		;
	for (size_t i = 0; i < found->n; i++)
		if (found->list[i].ours)
			found->list[n++] = found->list[i];
	found->n = n;
	return err;
}

void offspring_kill(const struct offspring *all, int n, pid_t but)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct descendant *d = &all->list[i];
		int fd;

		if (d->pid == (u32)but)
			continue;
		fd = (int)syscall(SYS_pidfd_open, d->pid, 0);
		/* Its pid may be another one's by now; a child's is its own until we wait for it. */
		if (fd >= 0 && offspring_includes(d->pid))
			syscall(SYS_pidfd_send_signal, fd, n, NULL, 0);
		else if (fd < 0 && d->parent == (u32)getpid())
			kill((pid_t)d->pid, n);
		if (fd >= 0)
			close(fd);
	}
}

void offspring_free(struct offspring *all)
{
	free(all->list);
	*all = (struct offspring){ .list = NULL };
}
