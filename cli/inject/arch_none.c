/* SPDX-License-Identifier: MIT */
/* Machines that arch.h has nothing for: nothing is ever loaded. */
#include "cli/inject/arch.h"

#if (!defined(__x86_64__) && (!defined(__aarch64__) || defined(__AARCH64EB__))) || defined(__ILP32__)
#include <errno.h>

bool arch_available(void)
{
	return false;
}

void arch_before(pid_t tid, struct arch_state *state)
{
	(void)tid, (void)state;
}

int arch_read(pid_t tid, struct arch_state *state, bool signalled)
{
	(void)tid, (void)state, (void)signalled;
	return -ENOSYS;
}

void arch_release(pid_t tid, const struct arch_state *state)
{
	(void)tid, (void)state;
}

bool arch_again(struct arch_state *state, u64 *first)
{
	(void)state, (void)first;
	return false;
}

int arch_write(pid_t tid, const struct arch_state *state)
{
	(void)tid, (void)state;
	return -ENOSYS;
}

u64 arch_call_number(const struct arch_state *state)
{
	(void)state;
	return UINT64_MAX;
}

u64 arch_pc(const struct arch_state *state)
{
	(void)state;
	return 0;
}

u64 arch_sp(const struct arch_state *state)
{
	(void)state;
	return 0;
}

u64 arch_red_zone(void)
{
	return 0;
}

void arch_unwind_regs(const struct arch_state *state, u64 *regs)
{
	(void)state, (void)regs;
}

bool arch_find(struct arch_gadgets *gadgets, const u8 *code, size_t size, u64 address)
{
	(void)gadgets, (void)code, (void)size, (void)address;
	return false;
}

size_t arch_frame(const struct arch_state *state, const struct arch_gadgets *gadgets, u64 at, u8 *frame, size_t room)
{
	(void)state, (void)gadgets, (void)at, (void)frame, (void)room;
	return 0;
}

int arch_call(pid_t tid, const struct arch_state *state, const struct arch_gadgets *gadgets, u64 frame, u64 number,
	      const u64 *arguments)
{
	(void)tid, (void)state, (void)gadgets, (void)frame, (void)number, (void)arguments;
	return -ENOSYS;
}

s64 arch_result(pid_t tid)
{
	(void)tid;
	return -ENOSYS;
}

const u8 *arch_code(size_t *size)
{
	*size = 0;
	return NULL;
}

int arch_enter(pid_t tid, const struct arch_state *state, u64 code, u64 data, u64 stack)
{
	(void)tid, (void)state, (void)code, (void)data, (void)stack;
	return -ENOSYS;
}

u64 arch_frame_sp(u64 at)
{
	return at;
}
#endif
