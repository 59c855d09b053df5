/* SPDX-License-Identifier: MIT */
/*
 * The portion of a run that is measured: while it is switched on (-D, --control), and inside some regions
 * (--roi).
 *
 * Regions are measured all the time, so that markers take no longer. Here two looks at all that was added up are
 * subtracted, the one of when it was switched off and the one of when it was switched on. Samples and
 * records of the trace are told apart by their times, figures of /proc are read at each edge.
 */
#ifndef CLI_SESSION_PORTION_H
#define CLI_SESSION_PORTION_H

#include "cli/analyze/inside.h"
#include "cli/session/internal.h"

#define PORTION_SPANS_MOST (1u << 20)

struct portion {
	bool steered;                /* it is not on all the time */
	bool on, was_on;             /* since the newest edge, and before it */
	u64 edge_ns;                 /* that, of session_now() */
	struct profile sum;          /* of the spans that have ended */
	struct profile before;       /* when the one that goes on began */
	struct span_fact *spans;     /* since the start; the last one goes on if it is on */
	size_t nspans, room;
	struct inside inside;        /* n = 0: everywhere */
	bool entered;
};

/* Before the command starts; nothing where all is measured. 0, or -1 after a message. */
int portion_open(struct session *session);
/* The command is about to start. */
void portion_start(struct session *session);
void portion_switch(struct session *session, bool on);
/* Of all that has been added up until now, leaves what is measured. 0, or -1 after a message. */
int portion_cut(struct session *session, struct profile *all);
/* States for how long, and what each process has used. */
void portion_facts(struct session *session, u64 end);
/* Of totals, those stay that are of what is measured. */
void portion_totals(const struct session *session, struct total_fact *totals, size_t n);
/* For how long was measured, until then. */
u64 portion_measured(const struct session *session, u64 end);
/* A sample or a record of that time, of a region of samples or of a trace. */
bool portion_has(const struct session *session, u64 ns, const struct samples *samples, u32 region);
/* Some of the time between the two was measured, and not of some regions alone. */
bool portion_meets(const struct session *session, u64 begin_ns, u64 end_ns);
/* Of a process, while that is on. */
void portion_process(const struct session *session, const struct process *process, struct process_facts *facts);
/* At the end: why there is nothing. */
void portion_say(const struct session *session);
/* An image replaces another one in its process. */
void portion_replaced(const struct session *session, const struct process *old, struct process *process);
void portion_free(struct session *session);

#endif
