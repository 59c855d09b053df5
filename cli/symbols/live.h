/* SPDX-License-Identifier: MIT */
/*
 * The stack of a thread that is held, of a living process: who called whom, by name and object. Names are those of
 * symbol tables, looked up at once and not by children: only for processes that this user may trace.
 */
#ifndef CLI_SYMBOLS_LIVE_H
#define CLI_SYMBOLS_LIVE_H

#include "common/base.h"

struct live;

struct live_frame {
	const char *function;        /* NULL: not known; valid as long as struct live */
	const char *path;            /* of the object; "" where nothing is mapped */
	bool interrupted;            /* by a signal, or the trampoline of its handler; not of the innermost frame */
};

#define LIVE_FRAMES 256u

struct live_stack {
	struct live_frame frames[LIVE_FRAMES]; /* innermost first */
	u32 n;
	bool sure;                   /* of struct unwind_chain */
	const char *why;             /* it is not complete, in words of unwind_end_name(); NULL: it is */
};

/* NULL: no memory. */
struct live *live_new(u32 pid);
void live_free(struct live *live);

/*
 * regs: in the order of unwind_regs_mask(); stack: a copy from the stack pointer on. The process's mappings are read
 * anew.
 */
void live_unwind(struct live *live, const u64 *regs, const u8 *copy, size_t size, struct live_stack *stack);

#endif
