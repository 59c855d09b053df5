/* SPDX-License-Identifier: MIT */
/*
 * What threads of a process that was attached to have used, where /proc has it of each thread alone: switches and
 * the scheduler's times. The sums keep what a thread had when it was seen last, so that they never shrink.
 */
#define _GNU_SOURCE
#include "cli/session/internal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/proc.h"

#define USES_EACH_TICK 64            /* threads that are looked at each time; of more the first and last time */
#define STATUS_ROOM 4096

enum { USE_VOLUNTARY, USE_INVOLUNTARY, USE_SWITCHES };

static const char uses_ended[] = "of threads that ended: what they had up to 0.1 s before, if they were seen at all";
static const char uses_many[] = "of threads that ended: what they had when they were attached to";

struct thread_use {
	u32 tid;
	bool seen;                   /* this time */
	u64 switches[USE_SWITCHES];
	u64 sched[SCHED_CELLS];
};

struct thread_uses {
	struct thread_use *list;
	size_t n, room;
	u64 absent;                  /* why the scheduler's figures could not be read; 0: they could */
	bool ended;                  /* some thread has */
	bool missed;                 /* not every look was taken */
};

struct thread_uses *thread_uses_new(void)
{
	return calloc(1, sizeof(struct thread_uses));
}

void thread_uses_free(struct thread_uses *uses)
{
	if (uses)
		free(uses->list);
	free(uses);
}

bool thread_uses_parse(const char *status, u64 *voluntary, u64 *involuntary)
{
	const char *own = strstr(status, "\nvoluntary_ctxt_switches:"), *other = strstr(status, "\nnonvoluntary_ctxt_switches:");

	if (!own || !other)
		return false;
	*voluntary = strtoull(strchr(own, ':') + 1, NULL, 10);
	*involuntary = strtoull(strchr(other, ':') + 1, NULL, 10);
	return true;
}

/* False: it is gone. */
static bool use_read(u32 pid, struct thread_use *use, u64 *absent)
{
	char name[48], text[STATUS_ROOM];
	u64 sched[SCHED_CELLS];
	ssize_t n;

	snprintf(name, sizeof(name), "task/%u/status", use->tid);
	n = process_read_file(pid, name, text, sizeof(text));
	if (n <= 0 || !thread_uses_parse(text, &use->switches[USE_VOLUNTARY], &use->switches[USE_INVOLUNTARY]))
		return false;
	snprintf(name, sizeof(name), "task/%u/schedstat", use->tid);
	n = process_read_file(pid, name, text, PROC_SCHEDSTAT_ROOM);
	if (n < 0)
		proc_fill_absent(sched, SCHED_CELLS, proc_absent((int)-n));
	else
		proc_parse_schedstat(text, (size_t)n, sched);
	if (wire_absent(sched[0]))
		*absent = sched[0];
	else
		memcpy(use->sched, sched, sizeof(sched));
	return true;
}

/* The entry of a thread; a number that comes again is another thread's, if its figures are less. NULL: no memory. */
static struct thread_use *use_add(struct thread_uses *uses, const struct thread_use *now)
{
	for (size_t i = uses->n; i--;) {
		struct thread_use *use = &uses->list[i];

		if (use->tid != now->tid)
			continue;
		if (use->switches[USE_VOLUNTARY] > now->switches[USE_VOLUNTARY] || use->sched[0] > now->sched[0])
			break;
		*use = *now;
		return use;
	}
	if (uses->n == uses->room) {
		size_t room = uses->room ? 2 * uses->room : 32;
		struct thread_use *list = realloc(uses->list, room * sizeof(*list));

		if (!list)
			return NULL;
		uses->list = list;
		uses->room = room;
	}
	uses->list[uses->n] = *now;
	return &uses->list[uses->n++];
}

static void uses_read(struct thread_uses *uses, u32 pid)
{
	char path[64];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	for (size_t i = 0; i < uses->n; i++)
		uses->list[i].seen = false;
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		struct thread_use now = { .tid = (u32)atol(e->d_name), .seen = true };

		if (isdigit((unsigned char)e->d_name[0]) && use_read(pid, &now, &uses->absent))
			use_add(uses, &now);
	}
	for (size_t i = 0; dir && i < uses->n; i++)
		uses->ended = uses->ended || !uses->list[i].seen;
	if (dir)
		closedir(dir);
}

static struct cell uses_cell(const struct thread_uses *uses, u64 sum)
{
	struct cell cell = cell_counted((double)sum);

	cell.state = CELL_ESTIMATE;
	if (uses->ended)
		cell.note = uses->missed ? uses_many : uses_ended;
	return cell;
}

void thread_uses_look(struct process *p, u64 threads, bool always)
{
	struct thread_uses *uses = p->uses;
	struct cell *switches = &p->last.cell[source_first_cell(SOURCE_ALL, SOURCE_rusage)];
	struct cell *sched = &p->last.cell[source_first_cell(SOURCE_ALL, SOURCE_sched)];
	u64 sums[USE_SWITCHES] = { 0 }, times[SCHED_CELLS] = { 0 };

	if (threads <= USES_EACH_TICK || always)
		uses_read(uses, p->facts.pid);
	else
		uses->missed = true;
	for (size_t i = 0; i < uses->n; i++) {
		for (u32 k = 0; k < USE_SWITCHES; k++)
			sums[k] += uses->list[i].switches[k];
		for (u32 k = 0; k < SCHED_CELLS; k++)
			times[k] += uses->list[i].sched[k];
	}
	switches[RUSAGE_NVCSW] = uses_cell(uses, sums[USE_VOLUNTARY]);
	switches[RUSAGE_NIVCSW] = uses_cell(uses, sums[USE_INVOLUNTARY]);
	for (u32 k = 0; k < SCHED_CELLS; k++)
		sched[k] = uses->absent && !times[SCHED_RUNTIME] ? usage_cell(uses->absent) : uses_cell(uses, times[k]);
}
