/* SPDX-License-Identifier: MIT */
/* An injection that is under way, and its first half: a thread that is held at a safe place, its state on its stack. */
#ifndef CLI_INJECT_FIND_H
#define CLI_INJECT_FIND_H

#include "cli/inject/inject.h"
#include "cli/inject/places.h"
#include "cli/inject/safe.h"
#include "cli/inject/tracee.h"

#define FIND_HOLD_NS (200 * NSEC_PER_MSEC) /* for a thread to stop */

struct injection {
	struct inject *inject;
	struct places places;
	struct live *live;
	struct tracee tracee;
	struct arch_state state;
	struct safe_look look;
	struct live_stack stack;
	u8 frame[ARCH_FRAME];
	u64 own_frame;               /* on the thread's own stack */
	u64 area;                    /* ours in the process: stack, then code; 0: none */
	u64 data;                    /* struct arch_data */
	pid_t threads[4096];
	u32 nthreads;
	int pidfd;
	u64 until_ns;                /* when the search for a place ends; 0: it has not begun */
	bool rehearsed;              /* a thread has been looked at: the files that are needed for that are read */
	const char *unsafe;          /* why the last try was in vain */
};

/* INJECT_DONE: nothing speaks against it. What is over in a moment, as a stop by job control may be, is waited out. */
enum inject_end find_look(struct injection *i);
/* INJECT_DONE: it is held. */
enum inject_end find_thread(struct injection *i);
/* Lets it go, as it is, and adds up for how long it was held. */
void find_let_go(struct injection *i);
/* The latter alone, where it is let go by other means. */
void find_held_end(struct injection *i);

#endif
