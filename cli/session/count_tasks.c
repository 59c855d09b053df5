/* SPDX-License-Identifier: MIT */
/* The threads of processes that run already; see count.h. */
#define _GNU_SOURCE
#include "cli/session/count_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/log.h"

#define TASKS_KERNEL 0x00200000UL      /* PF_KTHREAD of flags in /proc/PID/stat */

/* ---- what /proc says ------------------------------------------------------------------------------- */

struct task_look {
	char state;
	bool kernel;
	uid_t owner;
	char name[32];
};

/* 0, or an errno: ESRCH, there is none. */
static int task_look(pid_t pid, struct task_look *look)
{
	char path[64], text[512], *at;
	unsigned long flags = 0;
	struct stat st;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st))
		return errno == ENOENT ? ESRCH : errno;
	look->owner = st.st_uid;
	len = process_read_file((u32)pid, "stat", text, sizeof(text));
	if (len < 0)
		return len == -ENOENT ? ESRCH : (int)-len;
	at = strrchr(text, ')');
	if (!at || sscanf(at + 1, " %c %*d %*d %*d %*d %*d %lu", &look->state, &flags) != 2)
		return EINVAL;
	look->kernel = flags & TASKS_KERNEL;
	*at = '\0';
	at = strchr(text, '(');
	snprintf(look->name, sizeof(look->name), "%.31s", at ? at + 1 : "?");
	return 0;
}

static bool is_leader(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)tid, (int)tid);
	return access(path, F_OK) == 0;
}

static bool look_ended(const struct task_look *look)
{
	return look->state == 'Z' || look->state == 'X';
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

	ended = !task_look(pid, &main_thread) && look_ended(&main_thread);
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

static int tasks_stop(struct count *count, pid_t pid, pid_t tid)
{
	(void)count;
	(void)pid;
	(void)tid;
	return 1;
}

/* As a process: its main thread may have ended alone. */
static bool process_over(pid_t pid)
{
	return !tasks_each(pid, tasks_stop, NULL);
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

	if (err == ESRCH) {
		error("there is no %s %d", tasks_word(count), (int)id);
		return -EPERM;
	}
	if (err) {
		error("cannot look at %s %d: %s", tasks_word(count), (int)id, strerror(err));
		return -EPERM;
	}
	if (look_ended(look) && (count->options->kind == COUNT_THREADS || process_over(id))) {
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
	if (look->owner != geteuid() && !count->caps.may_perf && geteuid() != 0) {
		error("%s %d (%s) runs as user %u, or with other rights than yours: to count it takes root or "
		      "CAP_PERFMON", tasks_word(count), (int)id, look->name, (unsigned int)look->owner);
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
	count->headless = look_ended(look) ? id : count->headless;
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

static int tasks_count_late(struct count *count, pid_t pid, pid_t tid)
{
	(void)pid;
	for (size_t i = 0; i < count->nplaces; i++)
		if (count->place[i].task == tid)
			return 0;
	count->late++;
	return 0;
}

void count_tasks_late(struct count *count)
{
	for (size_t i = 0; i < count->nwatched; i++)
		tasks_each(count->watch[i].id, tasks_count_late, count);
}

bool count_tasks_over(struct count *count)
{
	bool over = count->nwatched != 0;

	for (size_t i = 0; i < count->nwatched; i++) {
		struct count_watch *w = &count->watch[i];
		struct task_look look;

		if (!w->ended && (w->pidfd < 0 || count->options->kind == COUNT_THREADS)) {
			int err = task_look(w->id, &look);

			w->ended = err == ESRCH || (!err && look_ended(&look) &&
						    (count->options->kind == COUNT_THREADS || process_over(w->id)));
		}
		over = over && w->ended;
	}
	return over;
}
