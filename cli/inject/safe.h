/* SPDX-License-Identifier: MIT */
/* Whether a held thread is at a place where it can be made to load something. */
#ifndef CLI_INJECT_SAFE_H
#define CLI_INJECT_SAFE_H

#include "cli/inject/arch.h"
#include "cli/symbols/live.h"

#define SAFE_STACK (256u << 10)      /* of it that is looked at */

/* What is needed of a held thread to tell it later. */
struct safe_look {
	u64 regs[64];
	u8 stack[SAFE_STACK];
	size_t size;
	bool waits;                  /* in futex(2) */
	bool sequence;               /* it is in a sequence that a signal would begin anew (rseq(2)) */
};

void safe_take(struct safe_look *look, pid_t pid, pid_t tid, const struct arch_state *state);
/* NULL: it is safe. Else why not, as the end of a sentence. */
const char *safe_tell(const struct safe_look *look, struct live *live, struct live_stack *stack);
/* The rule for stacks; waits: the thread is in futex(2). */
const char *safe_stack(const struct live_stack *stack, bool waits);
/* The object belongs to the C library, or is the kernel's. */
bool safe_is_system(const char *path);

#endif
