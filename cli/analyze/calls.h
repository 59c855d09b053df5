/* SPDX-License-Identifier: MIT */
/*
 * Calls of functions that are seen from outside: entries and returns of each thread, in the order of
 * time, are paired and added to the profile, as regions below a row of their own, CALLS_ROOT.
 *
 * An entry and its return have the same stack pointer of the caller. What is deeper on the stack than
 * an entry or a return can't come back (longjmp, an exception, a return that the kernel did not
 * catch): such calls are diagnosed, and have no time.
 */
#ifndef CLI_ANALYZE_CALLS_H
#define CLI_ANALYZE_CALLS_H

#include "cli/analyze/profile.h"

#define CALLS_ROOT "[uprobe]"
#define CALLS_PAIR "uprobe-pair." /* and the name of a function: the total that says what a call of it costs */
#define CALLS_BUCKETS 4096

struct calls_thread;

struct calls {
	struct profile *profile;
	const char *const *names;    /* of the functions */
	const char *const *paths;    /* of their files; NULL: not known */
	u32 nfunctions;
	u32 (*process)(void *context, u32 pid, u64 ns); /* serial; 0: not of the tree, its calls are left out */
	void *context;
	double ticks_per_ns;
	u64 since_ns;                /* what began before is left out, and of what is open the time before */
	u64 *bracket_ns;             /* of each function, what an empty one seems to take */
	bool *met;                   /* of each: some call began */
	u64 *paired;                 /* of each, calls that were seen to begin and to return */
	struct calls_thread *threads[CALLS_BUCKETS];
	struct profile_thread *ended; /* grouped by thread: those that are to have a root */
	u32 nended, ended_room;
};

/* Whose event it is, and when. */
struct calls_at {
	u32 pid, tid;
	u64 ns;
	u64 sp;                      /* the caller's stack pointer; 0: not known */
};

void calls_enter(struct calls *calls, const struct calls_at *at, u32 function);
void calls_return(struct calls *calls, const struct calls_at *at, u32 function);
/* A thread or process came into being: it returns from what a process's maker has entered. */
void calls_fork(struct calls *calls, const struct calls_at *child, u32 parent_pid, u32 parent_tid);
/* A thread ended, or its process became another image. */
void calls_end(struct calls *calls, const struct calls_at *at);
/* All that is open stays so; threads without markers get their entries in the profile. */
void calls_close(struct calls *calls, u64 ns);
void calls_free(struct calls *calls);

/* The row stands for no region of the program, but for those that were seen from outside. */
bool calls_is_root(const struct profile *profile, u32 row);
bool calls_below_root(const struct profile *profile, u32 row);
/* Why such a row, or one below, has nothing but times; NULL: it is none. */
const char *calls_lack(const struct profile *profile, const struct profile_row *row);

#endif
