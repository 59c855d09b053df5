/* SPDX-License-Identifier: MIT */
/*
 * When counting starts, pauses and ends, and when it is looked at: a delay, intervals, and commands of
 * another program by a channel, in the protocol of perf-stat(1).
 */
#ifndef CLI_SESSION_STEER_H
#define CLI_SESSION_STEER_H

#include "cli/analyze/report.h"

struct steer_ops {
	void (*enable)(void *what, bool on);
	/* Reads what was counted until now. */
	const struct session_facts *(*read)(void *what, u64 counted_ns, u64 elapsed_ns);
	/* Prints what there is now; NULL: that cannot be had. */
	void (*report)(void *what);
};

struct steer {
	/* As asked for. */
	u64 interval_ns;             /* 0: none */
	u64 delay_ns;
	bool begin_off;              /* until the channel enables it */
	int control, ack;            /* descriptors, -1: none */
	/* Called at each edge of intervals, the last one too. False: nobody wants to know more. */
	bool (*edge)(void *context, u64 elapsed_ns, const struct session_facts *facts);
	void *context;
	/* Of the run. */
	const struct steer_ops *ops;
	void *what;
	u64 start_ns, enable_ns, edge_ns; /* times of session_now(), 0: none */
	u64 since_ns, counted_ns;    /* enabled since then, 0: it is not; and before that */
	bool stopped;                /* by the channel: it is over */
	char line[64];               /* what came of a command */
	u32 length;
	u32 unknown;                 /* commands that were none */
	bool mute;                   /* an answer could not be given, of which was told */
};

/*
 * Opens a channel "fifo:CTL[,ACK]" or "fd:CTL[,ACK]" that an option names; its descriptors are -1 before. As steer_open().
 */
int channel_open(const char *option, const char *text, int *control, int *ack);
bool channel_ready(int fd, short events);
/* Says "ack" there; fd -1: nobody wants to know. False: errno says why not. */
bool channel_answer(int fd);

/*
 * Opens the channel "fifo:CTL[,ACK]" or "fd:CTL[,ACK]". Returns 0; -EINVAL after a message about the text, or
 * -EIO after one about the files.
 */
int steer_open(struct steer *steer, const char *text);
void steer_close(struct steer *steer);

/* Counting does not begin with the command. */
static inline bool steer_defers(const struct steer *steer)
{
	return steer && (steer->delay_ns || steer->begin_off);
}

/* All below take a steer that is NULL as one that does nothing. */

/* The caller enables the events, unless they are deferred. */
void steer_start(struct steer *steer, const struct steer_ops *ops, void *what, u64 now);
/* When it wants to be called next, or until. */
u64 steer_until(const struct steer *steer, u64 until);
/* To be polled for input; -1: none. */
int steer_descriptor(const struct steer *steer);
/* Does what is due. */
void steer_look(struct steer *steer, u64 now);
/* Nothing is counted any more. */
void steer_stop(struct steer *steer, u64 now);
/* No more edges but the last one. */
void steer_hold(struct steer *steer);
/* The last edge, once, with what was read for it. */
void steer_end(struct steer *steer, u64 now, const struct session_facts *facts);
/* For how long it has counted. */
u64 steer_counted(const struct steer *steer, u64 now);

#endif
