/* SPDX-License-Identifier: MIT */
/* Names of groups, and what is left of sparkctls that were killed; see cgroup_own.h. */
#define _GNU_SOURCE
#include "cli/session/cgroup_own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/log.h"

#define NAME_FORMAT "spark-%lu-%d-%llu-%u"

unsigned long long cgroup_name_start(const char *stat)
{
	enum { FIELD_START = 22, FIELD_STATE = 3 };
	const char *at = strrchr(stat, ')');

	/* Behind the command, which may contain anything: proc_pid_stat(5). */
	for (int i = FIELD_STATE; at && i <= FIELD_START; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

static unsigned long long process_start(int pid)
{
	char directory[32], text[1024];

	snprintf(directory, sizeof(directory), "/proc/%d", pid);
	return cgroup_file_read(directory, "stat", text, sizeof(text)) > 0 ? cgroup_name_start(text) : 0;
}

/* Pids of others mean nothing to us. */
static unsigned long pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : (unsigned long)st.st_ino;
}

void cgroup_name_next(char name[CGROUP_NAME_SIZE])
{
	static unsigned int serial;
	int pid = (int)getpid();

	snprintf(name, CGROUP_NAME_SIZE, NAME_FORMAT, pid_namespace(), pid, process_start(pid), ++serial);
}

bool cgroup_name_parse(const char *name, struct cgroup_name *parts)
{
	char again[CGROUP_NAME_SIZE];

	if (sscanf(name, NAME_FORMAT, &parts->namespace_id, &parts->pid, &parts->start, &parts->serial) != 4)
		return false;
	/* Nothing but that. */
	snprintf(again, sizeof(again), NAME_FORMAT, parts->namespace_id, parts->pid, parts->start, parts->serial);
	return parts->pid > 0 && !strcmp(again, name);
}

/* /proc may hide others' processes, which a signal finds all the same. */
static bool owner_is_dead(const struct cgroup_name *parts)
{
	unsigned long long start = process_start(parts->pid);

	if (start)
		return parts->start && start != parts->start;
	return kill(parts->pid, 0) && errno == ESRCH;
}

void cgroup_sweep_stale(const char *directory)
{
	unsigned long ours = pid_namespace();
	const struct dirent *entry;
	struct cgroup_name parts;
	DIR *dir = opendir(directory);

	while (dir && ours && (entry = readdir(dir)))
		/* The kernel keeps those that have processes, or groups in them. */
		if (cgroup_name_parse(entry->d_name, &parts) && parts.namespace_id == ours && owner_is_dead(&parts) &&
		    !unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR))
			verbose(1, "removed the control group %s/%s, whose sparkctl has ended", directory, entry->d_name);
	if (dir)
		closedir(dir);
}
