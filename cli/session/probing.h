/* SPDX-License-Identifier: MIT */
/*
 * Regions by uprobes: an event at the entry and one at the return of each function, on each CPU, with
 * one ring of records for each CPU.
 *
 * The events are not of the command, but of whoever runs on the CPU: the kernel cannot pass a probe on
 * to a task's children (attempt_heritable()), nor to its threads. Calls by others than the tree are
 * left out here.
 */
#ifndef CLI_SESSION_PROBING_H
#define CLI_SESSION_PROBING_H

#include "cli/analyze/calls.h"
#include "cli/names/names.h"
#include "cli/session/ring.h"

struct session;

#define PROBING_OWN 2u             /* functions of our own, whose probes are measured */

/* Which probe an event is of. */
struct probing_event {
	u64 id;                      /* as in records */
	u32 function;                /* that of the list; behind it: our own */
	bool at_return;
	int fd;
};

struct probing {
	const struct probe_list *list;
	struct calls calls;
	struct probe own[PROBING_OWN];
	u32 nown;                    /* 0: nothing can be measured */
	const char **names;
	char **paths;                /* of the files, as those of what is mapped */
	char **totals;               /* of each function, the name of what a call of it costs */
	u64 *pair_ns;                /* of each: a call takes longer by that; 0: not known */
	struct ring *rings;          /* one for each CPU that is online */
	u32 nrings;
	struct probing_event *events; /* by id */
	u32 nevents;
	u64 lost;
};

/* Before the command starts. 0, or -1 after a message. */
int probing_open(struct session *session);
/* The event of an id; NULL: none. */
const struct probing_event *probing_event(const struct probing *probing, u64 id);
/* Takes what the rings hold; last: also the newest. */
void probing_drain(struct session *session, bool last);
/* At the end of the run: what is still open. */
void probing_end(struct session *session);
/* Adds what it cost to the totals. */
void probing_totals(struct session *session);
void probing_free(struct session *session);

/* ---- probing_cost.c: what the two probes of a call take, tried on functions of our own */

/* One whose first instruction the kernel steps and one where it need not, as far as there are both. */
void probing_own(struct probing *probing);
void probing_measure(struct probing *probing);

#endif
