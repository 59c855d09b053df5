/* SPDX-License-Identifier: MIT */
/* How arch_aarch64*.c keep a thread's state. */
#ifndef CLI_INJECT_ARCH_AARCH64_H
#define CLI_INJECT_ARCH_AARCH64_H

#include "cli/inject/arch.h"

#if defined(__aarch64__) && !defined(__ILP32__) && !defined(__AARCH64EB__)
#include <asm/ptrace.h>
#include <string.h>

#define ARM_CALL 0xd4000001u         /* svc #0 */

/* In arch_state.regs. */
struct kept {
	struct user_pt_regs regs;    /* a call that it is in is begun anew by them */
	u64 call;                    /* of which this is the number; UINT64_MAX: none */
	u64 renewal;                 /* ERESTART...: it was interrupted; 0: it may not have begun */
	u64 broken;                  /* it has failed, with EINTR, by our stop alone */
};

/* In arch_state.extended: vectors, and behind them all of SVE where that is in use. */
struct vectors {
	struct user_fpsimd_state simd;
	struct user_sve_header sve;
	u8 registers[ARCH_EXTENDED - sizeof(struct user_fpsimd_state) - sizeof(struct user_sve_header)];
};

_Static_assert(sizeof(struct kept) <= sizeof(((struct arch_state *)0)->regs), "registers");
_Static_assert(sizeof(struct vectors) <= ARCH_EXTENDED, "vectors");

static inline struct kept kept_of(const struct arch_state *s)
{
	struct kept k;

	memcpy(&k, s->regs, sizeof(k));
	return k;
}

static inline const struct vectors *vectors_of(const struct arch_state *s)
{
	return (const void *)s->extended;
}

#endif

#endif
