/* SPDX-License-Identifier: MIT */
/* A thread under ptrace(2): held, made to go on, let go; and its memory. */
#ifndef CLI_INJECT_TRACEE_H
#define CLI_INJECT_TRACEE_H

#include "cli/inject/arch.h"

enum tracee_stop {
	TRACEE_HELD,                 /* in the stop that was asked for */
	TRACEE_ENTRY, TRACEE_EXIT,   /* of a system call */
	TRACEE_FAULT,                /* about to get a signal that cannot be blocked, by its own doing */
	TRACEE_STOPPED,              /* by job control */
	TRACEE_GONE,                 /* ended, or became another program */
	TRACEE_LATE,                 /* nothing within the limit */
};

struct tracee {
	pid_t pid, tid;
	bool seized;
	bool entered;                /* the last stop was at a system call's entry */
	bool signalled;              /* a signal was passed on: a handler may have run */
	int fault;                   /* signal of TRACEE_FAULT */
	u64 later;                   /* signals that were sent meanwhile, to be sent once more */
	u64 since_ns;                /* it is held */
};

/* 0: seized, and after arch_before() asked to stop; tracee_wait() says when it has. Else -errno. */
int tracee_seize(struct tracee *t, pid_t pid, pid_t tid, struct arch_state *s);
/* Asks for a stop and lets it run into it. */
int tracee_interrupt(struct tracee *t);
/* Until something happens, or for so long. Signals on their way are passed on. */
enum tracee_stop tracee_wait(struct tracee *t, u64 limit_ns);
/* Goes on to the next system call's entry or exit. 0, or -errno. */
int tracee_step(struct tracee *t);
/* Lets it go, as it is. It has to be in a stop. */
void tracee_let(struct tracee *t);
/* The same where it may be running. */
void tracee_abandon(struct tracee *t);
/* Makes it do a system call by its own stack's frame: its answer, or -errno; *stop says whether it is still there. */
s64 tracee_call(struct tracee *t, const struct arch_state *s, const struct arch_gadgets *g, u64 frame, u64 number,
		const u64 *arguments, enum tracee_stop *stop);

/* Bytes that could be copied, from the start. */
size_t tracee_read(pid_t pid, u64 address, void *to, size_t size);
bool tracee_write(pid_t pid, u64 address, const void *from, size_t size);

#endif
