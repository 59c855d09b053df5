/* SPDX-License-Identifier: MIT */
/* Samples and their regions; see watch.c. */
#ifndef SPARK_AGENT_WATCH_H
#define SPARK_AGENT_WATCH_H

#include "agent.h"

struct wire_config;

/* CTOR, or SAFE in a forked child. Takes the rings that the configuration says are coming. */
void watch_receive(int socket, const struct wire_config *config);
/* SAFE. Nobody reads any more: the rings are let go, and what reads their heads finds memory that stays as it is. */
void watch_rest(void);
/* CTOR, of a later session. No thread is in a marker. */
void watch_leave(void);
/* SAFE. In a forked child, before it has a thread. */
void watch_forked(void);
/* THREAD. The thread's samples until now were in no region. */
void watch_open(struct thread *t);
/* MARKER. The samples since the last entry were of the region on top of the lane. */
void watch_log(struct thread *t, const struct lane *l);
/* MARKER. Without a detector: the thread is on another CPU than at the last entry. */
bool watch_strayed(const struct thread *t);

/* MARKER. There may be samples since the last entry. */
static inline bool watch_moved(const struct thread *t)
{
	return t->watch_switched || *t->watch_head != t->watch_seen ||
	       unlikely(t->detector == WIRE_DETECTOR_NONE && watch_strayed(t));
}

/* MARKER. At each marker, once a switch has been seen to and before the stack of frames changes. */
static inline void watch_look(struct thread *t, const struct lane *l)
{
	if (unlikely(l->special & LANE_WATCH) && watch_moved(t))
		watch_log(t, l);
}

#endif
