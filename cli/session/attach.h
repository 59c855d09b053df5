/* SPDX-License-Identifier: MIT */
/*
 * A session with processes that run already, in place of a command's run: what is counted of their threads
 * (options.count, of kind COUNT_PROCESSES), their figures of /proc as differences, and samples. Nothing of
 * it touches them; they are as before when it is over.
 */
#ifndef CLI_SESSION_ATTACH_H
#define CLI_SESSION_ATTACH_H

#include "cli/session/session.h"

/*
 * Until they all have ended, a signal, the time (options.duration_ns), or the end by the control channel. What it
 * needs of options must outlive it. SESSION_ENDED, or SESSION_FAILED after a message. Free it in any case.
 */
enum session_end session_attach(struct session **session, const struct session_options *options);

/* ---- attach_open.c */

/* Opens what is asked for on all threads. 0, or -1 after a message. */
int attach_open(struct session *session);

/* ---- attach_inject.c */

/*
 * Loads the agent into all that were asked for. Where a rule keeps it out there is a warning, and the reason is kept.
 * 0, or -1 after a message.
 */
int attach_inject(struct session *session);

/* ---- attach.c */

/* For the loop: no more is to be measured. */
bool attach_over(const struct session *session, u64 now);

#endif
