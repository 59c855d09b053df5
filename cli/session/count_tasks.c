/* SPDX-License-Identifier: MIT */
/* The threads of processes that run already; see count.h. */
#define _GNU_SOURCE
#include "cli/session/count_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/log.h"

#define TASKS_TRIES 20                 /* ms that an end may take */
#define TASKS_KERNEL 0x00200000UL      /* PF_KTHREAD of flags in /proc/PID/stat */
#define TASKS_EXITING 0x00000004UL     /* PF_EXITING */

/* ---- what /proc says ------------------------------------------------------------------------------- */

struct task_look {
	bool dead;                   /* this thread */
	bool ended;                  /* all of its process: the first thread may have ended before the others */
	bool exiting;                /* this thread, and no other is left */
	bool kernel;
	char name[32];
};

/* 0, or an errno: ESRCH, there is none. */
static int task_look(pid_t pid, struct task_look *look)
{
	unsigned long flags = 0, threads = 0;
	char text[512], *at, state;
	ssize_t len;

	len = process_read_file((u32)pid, "stat", text, sizeof(text));
	if (len < 0)
		return len == -ENOENT ? ESRCH : (int)-len;
	at = strrchr(text, ')');
	if (!at || sscanf(at + 1, " %c %*d %*d %*d %*d %*d %lu %*u %*u %*u %*u %*u %*u %*u %*u %*d %*d %lu", &state, &flags,
			  &threads) != 3)
		return EINVAL;
	look->dead = state == 'Z' || state == 'X';
	look->ended = look->dead && threads <= 1;
	look->exiting = flags & TASKS_EXITING && threads <= 1;
	look->kernel = flags & TASKS_KERNEL;
	*at = '\0';
	at = strchr(text, '(');
	snprintf(look->name, sizeof(look->name), "%.31s", at ? at + 1 : "?");
	return 0;
}

/* It has ended, or does so within some ms: the memory goes first, by which the kernel judges who may look. */
static bool task_gone(const struct count *count, pid_t id)
{
	const struct timespec nap = { 0, NSEC_PER_MSEC };
	struct task_look look;

	for (u32 try = 0; try < TASKS_TRIES; try++) {
		int err = task_look(id, &look);

		if (err == ESRCH || (!err && (look.exiting || (count->options->kind == COUNT_THREADS ? look.dead : look.ended))))
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

bool count_tasks_gone(const struct count *count)
{
	for (size_t i = 0; i < count->nwatched; i++)
		if (!task_gone(count, count->watch[i].id))
			return false;
	return true;
}

/* Not by /proc/TID/task/TID, which is there for any thread. */
static bool is_leader(pid_t tid)
{
	char text[1024], *at;

	if (process_read_file((u32)tid, "status", text, sizeof(text)) <= 0)
		return true;
	at = strstr(text, "\nTgid:");
	return !at || strtol(at + strlen("\nTgid:"), NULL, 10) == tid;
}

/* Those of the process now; each: 0 to go on. A main thread that has ended stays there until the others have. */
static int tasks_each(pid_t pid, int (*each)(struct count *count, pid_t pid, pid_t tid), struct count *count)
{
	struct task_look main_thread;
	char path[64];
	struct dirent *entry;
	bool ended;
	int err = 0;
	DIR *dir;

	ended = !task_look(pid, &main_thread) && main_thread.dead;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (!err && dir && (entry = readdir(dir))) {
		pid_t tid = (pid_t)atol(entry->d_name);

		if (tid && !(ended && tid == pid))
			err = each(count, pid, tid);
	}
	if (dir)
		closedir(dir);
	return err;
}

/* ---- what was asked for ---------------------------------------------------------------------------- */

static int tasks_bad_list(const struct count *count)
{
	bool processes = count->options->kind == COUNT_PROCESSES;

	error("'%s' is no list of %s, such as 1234 or 1234,1240", count->options->ids,
	      processes ? "process ids" : "thread ids");
	return -EINVAL;
}

static const char *tasks_word(const struct count *count)
{
	return count->options->kind == COUNT_PROCESSES ? "process" : "thread";
}

/* It is there, and it may be counted. */
static int tasks_check(const struct count *count, pid_t id, struct task_look *look)
{
	int err = task_look(id, look);
	char rule[160];

	if (err == ESRCH) {
		error("there is no %s %d", tasks_word(count), (int)id);
		return -EPERM;
	}
	if (err) {
		error("cannot look at %s %d: %s", tasks_word(count), (int)id, strerror(err));
		return -EPERM;
	}
	if (count->options->kind == COUNT_THREADS ? look->dead : look->ended) {
		error("%s %d (%s) has ended", tasks_word(count), (int)id, look->name);
		return -EPERM;
	}
	if (count->options->kind == COUNT_PROCESSES && !is_leader(id)) {
		error("%d (%s) is a thread of a process: -t %d counts it alone", (int)id, look->name, (int)id);
		return -EPERM;
	}
	if (look->kernel && !count->caps.may_perf) {
		error("%d (%s) is a kernel thread: to count it takes root or CAP_PERFMON", (int)id, look->name);
		return -EPERM;
	}
	if (!count->caps.may_perf && geteuid() != 0 && count_refused_by((u32)id, rule, sizeof(rule))) {
		if (task_gone(count, id)) {
			error("%s %d (%s) has ended", tasks_word(count), (int)id, look->name);
			return -EPERM;
		}
		error("%s %d (%s) %s: to count it takes root or CAP_PERFMON", tasks_word(count), (int)id, look->name, rule);
		return -EPERM;
	}
	return 0;
}

static int tasks_watch(struct count *count, pid_t id)
{
	struct count_watch *watch = realloc(count->watch, (count->nwatched + 1) * sizeof(*watch));

	if (!watch)
		return error("out of memory");
	count->watch = watch;
	watch[count->nwatched++] = (struct count_watch){ id, (int)syscall(SYS_pidfd_open, id, 0), false };
	return 0;
}

static int tasks_add(struct count *count, pid_t pid, pid_t tid)
{
	u32 part = 0;

	for (size_t i = 0; i < count->nplaces; i++)
		if (count->place[i].task == tid)
			return 0;
	if (count->options->apart) {
		char path[64], name[32];
		ssize_t len;

		snprintf(path, sizeof(path), "task/%d/comm", (int)tid);
		len = process_read_file((u32)pid, path, name, sizeof(name));
		name[len > 0 ? strcspn(name, "\n") : 0] = '\0';
		part = (u32)count->nparts;
		if (!count_add_part(count, (u32)tid, "%s", name))
			return -1;
	}
	return count_add_place(count, tid, -1, part);
}

static int tasks_one(struct count *count, pid_t id, struct task_look *look)
{
	int err = tasks_check(count, id, look);

	if (err)
		return err;
	for (size_t i = 0; i < count->nwatched; i++)
		if (count->watch[i].id == id)
			return 0;
	count->headless = look->dead ? id : count->headless;
	if (tasks_watch(count, id) ||
	    (count->options->kind == COUNT_PROCESSES ? tasks_each(id, tasks_add, count) : tasks_add(count, id, id)))
		return -EPERM;
	return 0;
}

/* The next number of a list; 0: it is none. */
static pid_t tasks_next(const char **at)
{
	char *end;
	long id = **at >= '0' && **at <= '9' ? strtol(*at, &end, 10) : 0;

	if (id <= 0 || id > INT_MAX || (*end && (*end != ',' || !end[1])))
		return 0;
	*at = *end ? end + 1 : end;
	return (pid_t)id;
}

int count_tasks(struct count *count)
{
	size_t len = 0, size = sizeof(count->target);
	const char *at = count->options->ids;
	struct task_look look;

	do {
		if (!tasks_next(&at))
			return tasks_bad_list(count);
	} while (*at);
	for (at = count->options->ids; *at;) {
		pid_t id = tasks_next(&at);
		int err = tasks_one(count, id, &look);

		if (err)
			return err;
		len += (size_t)snprintf(count->target + len, size - len, "%s %d (%s)", len ? "," : tasks_word(count),
					(int)id, look.name);
		len = MIN(len, size - 1);
	}
	if (count->nplaces)
		return 0;
	error("%s has ended", count->target);
	return -EPERM;
}

int count_tasks_each(struct count *count, int (*each)(struct count *count, pid_t pid, pid_t tid))
{
	int err = 0;

	for (size_t i = 0; !err && i < count->nwatched; i++)
		err = tasks_each(count->watch[i].id, each, count);
	return err;
}

pid_t count_task(const struct count *count, size_t i)
{
	return i < count->nplaces ? count->place[i].task : 0;
}

u32 count_watched(const struct count *count, size_t i)
{
	return i < count->nwatched ? (u32)count->watch[i].id : 0;
}

bool count_tasks_over(struct count *count)
{
	bool over = count->nwatched != 0;

	for (size_t i = 0; i < count->nwatched; i++) {
		struct count_watch *w = &count->watch[i];
		struct task_look look;

		if (!w->ended && (w->pidfd < 0 || count->options->kind == COUNT_THREADS)) {
			int err = task_look(w->id, &look);

			w->ended = err == ESRCH || (!err && (count->options->kind == COUNT_THREADS ? look.dead : look.ended));
		}
		over = over && w->ended;
	}
	return over;
}
