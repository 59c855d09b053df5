/* SPDX-License-Identifier: MIT */
/*
 * arm64; see arch.h: instructions and frames. The signal frame is the kernel's (struct rt_sigframe,
 * arch/arm64/kernel/signal.c): siginfo, ucontext, and in the room behind its registers a record for each kind of others
 * (asm/sigcontext.h).
 */
#include "cli/inject/arch_aarch64.h"

#if defined(__aarch64__) && !defined(__ILP32__) && !defined(__AARCH64EB__)
#include <asm/sigcontext.h>
#include <stddef.h>
#include <sys/syscall.h>

#define NO_STACK 0x7fu               /* no valid mode: the alternate stack stays as it is (kernel/signal.c, do_sigaltstack) */
#define RETURN 0xd65f03c0u           /* ret: of x30 as it is; no other is of use, since ours are not signed */
#define NUMBER(n) (0xd2800008u | (u32)(n) << 5) /* mov x8, #n */
#define END_SIZE 16u                 /* of the record that ends others */

struct frame {
	u8 info[128];
	u64 flags, link;
	u64 stack_sp, stack_mode, stack_size;
	u64 mask;
	u8 unused[120];
	struct sigcontext context;
};

_Static_assert(offsetof(struct frame, context) == 304 && offsetof(struct sigcontext, __reserved) == 288, "frame");

/*
 * The call: of getpid(2) to getegid(2), which never wait: nobody is interrupted there (see arch_again()). The way back is
 * the vDSO's.
 */
bool arch_find(struct arch_gadgets *g, const u8 *code, size_t size, u64 address)
{
	u32 at[3];

	for (size_t i = 0; i + 8 <= size && (!g->system_call || !g->back); i += 4) {
		memset(at, 0, sizeof(at));
		memcpy(at, code + i, MIN(sizeof(at), size - i));
		if (at[1] != ARM_CALL)
			continue;
		if (!g->back && at[0] == NUMBER(SYS_rt_sigreturn))
			g->back = address + i;
		if (!g->system_call && at[2] == RETURN && at[0] >= NUMBER(SYS_getpid) && at[0] <= NUMBER(SYS_getegid) &&
		    !((at[0] - NUMBER(0)) & 31))
			g->system_call = address + i + 4;
	}
	return g->system_call && g->back;
}

static u8 *record_put(u8 *to, const void *record, size_t size, size_t taken)
{
	memcpy(to, record, size);
	return to + taken;
}

static size_t sve_taken(const struct vectors *v)
{
	return ALIGN_UP(SVE_SIG_CONTEXT_SIZE(sve_vq_from_vl(v->sve.vl)), 16);
}

static void sve_put(u8 *to, const struct vectors *v)
{
	struct sve_context sve = { .head = { SVE_MAGIC, (u32)sve_taken(v) }, .vl = v->sve.vl };

	memcpy(to, &sve, sizeof(sve));
	/* In the same order as ptrace(2) has them. */
	memcpy(to + SVE_SIG_REGS_OFFSET, (const u8 *)&v->sve + SVE_PT_SVE_OFFSET, SVE_SIG_REGS_SIZE(sve_vq_from_vl(v->sve.vl)));
}

/* Whether all registers of SVE are there, as the header says. */
static bool sve_whole(const struct arch_state *s)
{
	const struct vectors *v = vectors_of(s);

	return sve_vl_valid(v->sve.vl) && s->extended_size >= SVE_PT_SIZE(sve_vq_from_vl(v->sve.vl), SVE_PT_REGS_SVE);
}

/* The records; SVE is in the frame's own room only if it fits, else behind it. To where they end. */
static u8 *records_put(u8 *to, u64 at, const struct arch_state *s)
{
	const struct vectors *v = vectors_of(s);
	struct fpsimd_context simd = { .head = { FPSIMD_MAGIC, sizeof(simd) }, .fpsr = v->simd.fpsr, .fpcr = v->simd.fpcr };
	struct extra_context extra = { .head = { EXTRA_MAGIC, sizeof(extra) } };
	size_t taken = s->extended_size ? sve_taken(v) : 0;

	memcpy(simd.vregs, v->simd.vregs, sizeof(simd.vregs));
	to = record_put(to, &simd, sizeof(simd), sizeof(simd));
	if (sizeof(simd) + taken + END_SIZE > sizeof(((struct sigcontext *)0)->__reserved)) {
		extra.datap = at + sizeof(simd) + sizeof(extra) + END_SIZE;
		extra.size = (u32)taken + END_SIZE;
		to = record_put(to, &extra, sizeof(extra), sizeof(extra) + END_SIZE);
	}
	if (taken)
		sve_put(to, v);
	return to + taken + END_SIZE;
}

size_t arch_frame(const struct arch_state *s, const struct arch_gadgets *g, u64 at, u8 *bytes, size_t room)
{
	const size_t records = offsetof(struct frame, context) + offsetof(struct sigcontext, __reserved);
	struct frame f = { .stack_mode = NO_STACK, .mask = s->mask };
	struct kept k = kept_of(s);
	const u8 *end;

	(void)g;
	if (room < sizeof(f) || (s->extended_size && (!sve_whole(s) || room < sizeof(f) + sve_taken(vectors_of(s)) + END_SIZE)))
		return 0;
	memcpy(f.context.regs, k.regs.regs, sizeof(k.regs.regs));
	f.context.sp = k.regs.sp;
	f.context.pc = k.regs.pc;
	f.context.pstate = k.regs.pstate;
	memset(bytes, 0, room);
	memcpy(bytes, &f, sizeof(f));
	end = records_put(bytes + records, at + records, s);
	return MAX((size_t)(end - bytes), sizeof(f));
}

u64 arch_frame_sp(u64 at)
{
	return at;
}
#endif
