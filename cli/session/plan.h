/* SPDX-License-Identifier: MIT */
/* What plan.c and trial.c share: the events that may be counted at markers, and trials of them. */
#ifndef CLI_SESSION_PLAN_H
#define CLI_SESSION_PLAN_H

#include <sched.h>
#include <string.h>

#include "cli/session/internal.h"

enum { GROUP_SOFTWARE, GROUP_HARDWARE, GROUP_BRACES };

/* An event of the list that may be counted in threads. */
struct candidate {
	const struct event *event;
	struct attempt attempt;
	u32 group;                   /* key: those with the same are counted together */
	bool left_out;
	bool deferred;               /* left out for want of a counter alone */
	bool by_page;                /* its page shows the counter */
	bool config1;                /* it was asked for reads from user space */
	bool loose;                  /* neither in braces nor pinned: groups may be made of those as they fit */
	int fd, single;              /* of a trial; the second for the tree */
	char *note;
};

struct planner {
	struct session *s;
	struct candidate *list;
	size_t n;
	u32 groups;                  /* keys given so far */
	const struct event *kind;    /* one of those that are tried now: all of one kind of cores, or of any */
	bool doubled;                /* there is room for totals, too */
	bool shared;
};

/* Whether both count on the same CPUs: a kind of cores has counters of its own. */
static inline bool plan_same_kind(const struct event *a, const struct event *b)
{
	if (a->scope != EVENT_CORES || b->scope != EVENT_CORES)
		return a->scope == b->scope;
	return !strcmp(a->pmu, b->pmu);
}

/* ---- trial.c */

/* Leaves it out for a reason. */
void __attribute__((format(printf, 2, 3))) candidate_leave_out(struct candidate *c, const char *format, ...);
/* The attribute by which threads open it. */
void candidate_attr(const struct candidate *c, union event_attr *attr);
/* Opens it here, in the group of that leader or as one (-1), then disabled. A descriptor or -errno. */
int candidate_open(const struct candidate *c, int leader);
void close_at(int *fd);
/* Whether it can be counted in a thread at all; how is found out on the way. */
void candidate_try(struct planner *p, struct candidate *c);
/* The one that leads its group, of those that are not left out: slots, or the first. NULL: all are. */
struct candidate *candidate_leader(struct planner *p, const struct candidate *c);
/* Goes to the CPUs on which the event counts, to try it; *before is for trial_leave(). 0 or -errno. */
int trial_enter(const struct event *event, cpu_set_t *before);
void trial_leave(const struct event *event, const cpu_set_t *before);
/* Whether it is one of the CPU's counters that are tried now. */
bool trial_has(const struct planner *p, const struct candidate *c);
/* Whether all of them count at a time. */
bool trial_fits(struct planner *p);

#endif
