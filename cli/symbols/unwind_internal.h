/* SPDX-License-Identifier: MIT */
/* What the files of unwind.h share. */
#ifndef CLI_SYMBOLS_UNWIND_INTERNAL_H
#define CLI_SYMBOLS_UNWIND_INTERNAL_H

#include "cli/symbols/unwind.h"

/* The registers of a frame by DWARF's numbers, and the copied stack. */
struct unwind_state {
	u64 regs[UNWIND_REGS];
	const u8 *stack;
	u64 low, size;               /* address of the copy's first byte */
};

enum unwind_memory { UNWIND_MEMORY_HERE, UNWIND_MEMORY_BELOW, UNWIND_MEMORY_ABOVE };

/* 8 bytes of the stack, or on which side of the copy they lie. */
static inline enum unwind_memory unwind_load(const struct unwind_state *state, u64 address, u64 *value)
{
	u64 at = address - state->low;

	if (likely(at < state->size && state->size - at >= sizeof(*value))) {
		__builtin_memcpy(value, state->stack + at, sizeof(*value));
		return UNWIND_MEMORY_HERE;
	}
	return address < state->low ? UNWIND_MEMORY_BELOW : UNWIND_MEMORY_ABOVE;
}

/*
 * A step by libunwind to the caller's registers. address is what to look up, as in the file, which is mapped at a
 * distance of bias.
 */
bool unwind_remote_step(struct unwind_state *state, struct cfi *cfi, u64 address, u64 bias);

#endif
