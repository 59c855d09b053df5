/* SPDX-License-Identifier: MIT */
/*
 * Which rule keeps us from counting another process: those by which the kernel lets somebody read its memory
 * (ptrace_may_access() in kernel/ptrace.c, PTRACE_MODE_READ_REALCREDS), which perf_event_open(2) asks as well.
 */
#define _GNU_SOURCE
#include "cli/session/count_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CAP_OF_PTRACE 19             /* CAP_SYS_PTRACE */
#define STATUS_ROOM 4096

struct rights {
	u32 uid[3], gid[3];          /* real, effective, saved */
	u64 permitted, effective;    /* capabilities */
	bool ended;                  /* the first thread: its memory tells nothing of the others */
};

/* Of a line of /proc/PID/status. */
static bool rights_ids(const char *text, const char *name, u32 *ids)
{
	const char *at = strstr(text, name);

	return at && sscanf(at + strlen(name), "%u %u %u", &ids[0], &ids[1], &ids[2]) == 3;
}

static u64 rights_caps(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 16) : 0;
}

static bool rights_read(u32 pid, struct rights *r)
{
	char text[STATUS_ROOM];

	if (process_read_file(pid, "status", text, sizeof(text)) <= 0)
		return false;
	r->permitted = rights_caps(text, "\nCapPrm:");
	r->ended = strstr(text, "\nState:\tZ");
	r->effective = rights_caps(text, "\nCapEff:");
	return rights_ids(text, "\nUid:", r->uid) && rights_ids(text, "\nGid:", r->gid);
}

/* The first that is not ours. */
static const u32 *rights_other(const u32 *ids, u32 own)
{
	for (u32 i = 0; i < 3; i++)
		if (ids[i] != own)
			return &ids[i];
	return NULL;
}

/* The files of /proc, but not the folder, belong to root where a process is not to be read by its user. */
static bool rights_guarded(u32 pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	return stat(path, &st) == 0 && st.st_uid != geteuid();
}

bool count_refused_by(u32 pid, char *rule, size_t size)
{
	struct rights theirs, ours;
	const u32 *id;

	if (!rights_read(pid, &theirs) || !rights_read((u32)getpid(), &ours) || ours.effective & 1ull << CAP_OF_PTRACE)
		return false;
	if ((id = rights_other(theirs.uid, ours.uid[0])))
		snprintf(rule, size, "runs as user %u, not as you", *id);
	else if ((id = rights_other(theirs.gid, ours.gid[0])))
		snprintf(rule, size, "runs with group %u, not with yours", *id);
	else if (!theirs.ended && rights_guarded(pid))
		snprintf(rule, size, "is not dumpable: it had other rights, its file may not be read, or it asked for that "
			 "(prctl(2), PR_SET_DUMPABLE)");
	else if (theirs.permitted & ~ours.permitted)
		snprintf(rule, size, "has capabilities that you have not");
	else
		return false;
	return true;
}
