/* SPDX-License-Identifier: MIT */
/* What plan.c and trial.c share: the events that may be counted at markers, and trials of them. */
#ifndef CLI_SESSION_PLAN_H
#define CLI_SESSION_PLAN_H

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
	int fd, single;              /* of a trial; the second for the tree */
	char *note;
};

struct planner {
	struct session *s;
	struct candidate *list;
	size_t n;
	u32 groups;                  /* keys given so far */
	bool doubled;                /* there is room for totals, too */
	bool shared;
};

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
/* The first of its group that is not left out. */
struct candidate *candidate_leader(struct planner *p, const struct candidate *c);
/* Whether all that is not left out counts at a time. */
bool trial_fits(struct planner *p);

#endif
