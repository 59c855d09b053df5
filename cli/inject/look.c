/* SPDX-License-Identifier: MIT */
/*
 * See look.h. What a process is and may do is told by proc(5), before anything is tried; the words name the rule, so
 * that it is known whom to ask.
 */
#define _GNU_SOURCE
#include "cli/inject/look.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cli/symbols/elf_file.h"

#define STATUS_ROOM (64u << 10)      /* of /proc/PID/status: one may be in many groups */

enum inject_end inject_say(struct inject *j, enum inject_end end, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(j->why, sizeof(j->why), format, ap);
	va_end(ap);
	return end;
}

/* A file of /proc as text; its length, or -1. */
static ssize_t file_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;

	if (fd >= 0)
		close(fd);
	text[MAX(n, 0)] = 0;
	return n;
}

ssize_t look_read(pid_t pid, const char *name, char *text, size_t size)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/%d/%.80s", (int)pid, name);
	return file_read(path, text, size);
}

/* The text behind a key of /proc/PID/status; "" if it is not there. */
static const char *status_text(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at ? at + strlen(key) + strspn(at + strlen(key), " \t") : "";
}

static unsigned long status_number(const char *status, const char *key)
{
	return strtoul(status_text(status, key), NULL, 10);
}

void look_name(pid_t pid, char *name, size_t size)
{
	if (look_read(pid, "comm", name, size) <= 0)
		snprintf(name, size, "?");
	name[strcspn(name, "\n")] = 0;
}

/* A filter may kill for system calls that it does not expect, and nobody can ask it. */
static bool filtered(pid_t pid)
{
	char path[96], status[STATUS_ROOM];
	struct dirent *entry;
	bool found = false;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && !found && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.') {
			snprintf(path, sizeof(path), "task/%.20s/status", entry->d_name);
			found = look_read(pid, path, status, sizeof(status)) > 0 &&
				(strlen(status) + 1 == sizeof(status) || status_number(status, "\nSeccomp:") != 0);
		}
	if (tasks)
		closedir(tasks);
	return found;
}

pid_t look_owner(const struct places *p)
{
	struct dirent *process, *file;
	pid_t owner = 0;
	char path[300];
	struct stat st;
	DIR *all = opendir("/proc"), *files;

	while (all && !owner && (process = readdir(all))) {
		pid_t pid = atoi(process->d_name);

		if (pid <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
		files = opendir(path);
		while (files && !owner && (file = readdir(files))) {
			snprintf(path, sizeof(path), "/proc/%d/fd/%.20s", (int)pid, file->d_name);
			if (stat(path, &st) == 0 && st.st_ino == p->segment && major(st.st_dev) == p->segment_major &&
			    minor(st.st_dev) == p->segment_minor)
				owner = pid;
		}
		if (files)
			closedir(files);
	}
	if (all)
		closedir(all);
	return owner;
}

/* What the program's file tells. */
static enum inject_end look_file(struct inject *j)
{
	Elf64_Ehdr own, e;
	char path[64];
	int fd, self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	bool have;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)j->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	have = fd >= 0 && self >= 0 && pread(fd, &e, sizeof(e), 0) == sizeof(e) && pread(self, &own, sizeof(own), 0) == sizeof(own);
	if (fd >= 0)
		close(fd);
	if (self >= 0)
		close(self);
	if (have && e.e_ident[EI_CLASS] != ELFCLASS64)
		return inject_say(j, INJECT_REFUSED, "is a 32-bit program: the agent cannot enter it");
	if (have && e.e_machine != own.e_machine)
		return inject_say(j, INJECT_REFUSED, "is a program for another machine: the agent cannot enter it");
	return INJECT_DONE;
}

/* It names a loader, which brings the C library. */
static bool names_loader(pid_t pid)
{
	struct elf_file elf;
	bool found = false;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && elf_file_open(&elf, fd) == 0) {
		for (size_t i = 0; i < elf.nsegments; i++)
			found |= elf.segments[i].type == PT_INTERP;
		elf_file_close(&elf);
	}
	if (fd >= 0)
		close(fd);
	return found;
}

/* What is not there may come with the loader in a moment. */
static enum inject_end look_library(struct inject *j, struct places *p)
{
	int ret = places_find(p, j->pid);

	if (ret == -EACCES || ret == -EPERM)
		return look_refused(j, -ret);
	if (ret)
		return inject_say(j, INJECT_GONE, "has ended");
	if (p->other)
		return inject_say(j, INJECT_REFUSED, "is linked to another C library: the agent cannot enter it");
	if (!p->library && (p->loader || names_loader(j->pid)))
		return inject_say(j, INJECT_FAILED, "has no C library: the agent cannot enter it");
	if (!p->library)
		return inject_say(j, INJECT_REFUSED, "is statically linked: the agent cannot enter it");
	if (!p->open || !p->find || !p->why || !p->errno_location)
		return inject_say(j, INJECT_FAILED, "has no dlopen(3): its C library is older than 2.34, and libdl.so.2 is not loaded");
	if (!p->gadgets.system_call || !p->gadgets.back)
		return inject_say(j, INJECT_FAILED, "has a C library without the instructions that are needed to come back");
	return INJECT_DONE;
}

/* In the line of what is on, not in that of what is locked (Documentation/arch/x86/shstk.rst). */
static bool shadow_stack(const char *status)
{
	const char *on = status_text(status, "\nx86_Thread_features:"), *found = strstr(on, "shstk");

	return found && found < on + strcspn(on, "\n");
}

enum inject_end look_status(struct inject *j, const char *status)
{
	char state = *status_text(status, "\nState:"), name[32];
	pid_t tracer = (pid_t)status_number(status, "\nTracerPid:");

	if (state == 'Z' && status_number(status, "\nThreads:") > 1)
		return inject_say(j, INJECT_REFUSED, "goes on without its first thread: with that, its mappings can be read no longer");
	if (state == 'Z' || state == 'X')
		return inject_say(j, INJECT_GONE, "has ended: it is a zombie");
	if (status_number(status, "\nKthread:") || !strstr(status, "\nVmSize:"))
		return inject_say(j, INJECT_REFUSED, "is a thread of the kernel: the agent cannot enter it");
	if (j->pid == 1)
		return inject_say(j, INJECT_REFUSED, "is init: nothing is loaded into that, since the system ends with it");
	if (j->pid == getpid())
		return inject_say(j, INJECT_REFUSED, "is this sparkctl: it cannot hold itself");
	if (tracer) {
		look_name(tracer, name, sizeof(name));
		return inject_say(j, INJECT_REFUSED, "is traced by process %d (%s), and only one can: see ptrace(2)", (int)tracer, name);
	}
	if (shadow_stack(status))
		return inject_say(j, INJECT_REFUSED, "has a shadow stack, which forbids the returns that loading takes");
	return INJECT_DONE;
}

enum inject_end look_process(struct inject *j, struct places *p)
{
	char status[STATUS_ROOM], name[32];
	enum inject_end end;
	pid_t owner;

	if (!arch_available())
		return inject_say(j, INJECT_REFUSED, "runs on a machine for which loading into processes is not there");
	image_take(&p->image, j->pid);
	if (look_read(j->pid, "status", status, sizeof(status)) <= 0)
		return inject_say(j, INJECT_GONE, "does not exist");
	end = look_status(j, status);
	if (end == INJECT_DONE && filtered(j->pid))
		end = inject_say(j, INJECT_REFUSED,
				 "has a seccomp filter, which may kill it for the system calls that loading takes: see seccomp(2)");
	if (end == INJECT_DONE)
		end = look_file(j);
	if (end == INJECT_DONE)
		end = look_library(j, p);
	if (end != INJECT_DONE || !p->segment)
		return end;
	owner = look_owner(p);
	if (!owner)
		return INJECT_DONE;
	look_name(owner, name, sizeof(name));
	return inject_say(j, INJECT_BUSY, "is being measured by process %d (%s)", (int)owner, name);
}

/* The second number of "Uid:". */
static unsigned long effective_user(const char *status)
{
	const char *at = status_text(status, "\nUid:");

	at += strcspn(at, "\t ");
	return strtoul(at, NULL, 10);
}

enum inject_end look_rule(struct inject *j, int err, const char *status, const char *own, const char *yama)
{
	unsigned long uid = status_number(status, "\nUid:"), user = effective_user(own);

	if (yama[0] == '3')
		return inject_say(j, INJECT_REFUSED, "may not be traced by anybody: kernel.yama.ptrace_scope is 3");
	if (strtoull(status_text(own, "\nCapEff:"), NULL, 16) >> 19 & 1) /* CAP_SYS_PTRACE */
		return inject_say(j, INJECT_REFUSED,
				  "may not be traced from here (%s): see ptrace(2), and the rules of a security module",
				  strerror(err));
	if (uid != user && user == 0)
		return inject_say(j, INJECT_REFUSED,
				  "belongs to user %lu, and root has no CAP_SYS_PTRACE here, as in a container without it", uid);
	if (uid != user)
		return inject_say(j, INJECT_REFUSED, "belongs to user %lu: only that user and root may trace it", uid);
	if (yama[0] == '2')
		return inject_say(j, INJECT_REFUSED, "may be traced by root alone: kernel.yama.ptrace_scope is 2");
	if (yama[0] == '1')
		return inject_say(j, INJECT_REFUSED, "may be traced by its ancestors and root alone: kernel.yama.ptrace_scope is 1");
	return inject_say(j, INJECT_REFUSED, "may not be traced: it is not dumpable, has changed its user, or has rights "
			  "that this user lacks (ptrace(2))");
}

enum inject_end look_refused(struct inject *j, int err)
{
	char status[STATUS_ROOM] = "", own[STATUS_ROOM] = "", yama[16];

	if (err == ESRCH)
		return inject_say(j, INJECT_GONE, "has ended");
	look_read(j->pid, "status", status, sizeof(status));
	file_read("/proc/self/status", own, sizeof(own));
	file_read("/proc/sys/kernel/yama/ptrace_scope", yama, sizeof(yama));
	return look_rule(j, err, status, own, yama);
}
