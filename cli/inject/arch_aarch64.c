/* SPDX-License-Identifier: MIT */
/*
 * arm64; see arch.h: registers. Whoever looks at a thread whose system call was interrupted sees it begun anew already:
 * at the instruction, with its arguments. That it may have to fail instead, or to go on with what is left of its time,
 * the kernel knows only while it handles that very interruption (do_signal(), arch/arm64/kernel/signal.c): arch_again()
 * has it handle another one.
 */
#define _GNU_SOURCE
#include "cli/inject/arch_aarch64.h"

#if defined(__aarch64__) && !defined(__ILP32__) && !defined(__AARCH64EB__)
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#ifndef NT_ARM_SSVE
#define NT_ARM_SSVE 0x40b
#define NT_ARM_ZA 0x40c
#endif
#ifndef NT_ARM_GCS
#define NT_ARM_GCS 0x410
#endif

#define BELOW 128u                   /* AAPCS64 has nothing below the stack pointer; to keep it takes nothing */
#define PSTATE_BTYPE 0xc00ULL        /* it came by an indirect jump, for which the target has to be marked */
#define PSTATE_SINGLE_STEP (1ULL << 21)

/* What a system call that was interrupted tells the kernel (include/linux/errno.h). */
#define ERESTARTSYS 512
#define ERESTARTNOHAND 514
#define ERESTART_RESTARTBLOCK 516

/* In arch_state.before: what the thread was waiting in before it was asked to stop. */
struct before {
	u64 call;                    /* UINT64_MAX: nothing */
	u64 arguments[6], sp, pc;
};

_Static_assert(sizeof(struct before) <= sizeof(((struct arch_state *)0)->before), "before");

static struct before before_of(const struct arch_state *s)
{
	struct before b;

	memcpy(&b, s->before, sizeof(b));
	return b;
}

static int set_get(pid_t tid, int set, void *to, size_t *size)
{
	struct iovec area = { to, *size };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)set, &area))
		return -errno;
	*size = area.iov_len;
	return 0;
}

static int set_put(pid_t tid, int set, const void *from, size_t size)
{
	struct iovec area = { (void *)(uintptr_t)from, size };

	return ptrace(PTRACE_SETREGSET, tid, (void *)(uintptr_t)set, &area) ? -errno : 0;
}

bool arch_available(void)
{
	return true;
}

/* ---- where it is -------------------------------------------------------------------------------- */

void arch_before(pid_t tid, struct arch_state *s)
{
	struct before b = { .call = UINT64_MAX };
	u64 *const to[] = { &b.call, &b.arguments[0], &b.arguments[1], &b.arguments[2], &b.arguments[3], &b.arguments[4],
			    &b.arguments[5], &b.sp, &b.pc };
	char path[64], text[256], *at = text, *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[MAX(n, 0)] = 0;
	/* One that runs has a word there, or fewer numbers. */
	for (size_t i = 0; i < ARRAY_SIZE(to); i++, at = end) {
		*to[i] = strtoull(at, &end, 0);
		if (end == at)
			b.call = UINT64_MAX;
		if (end == at)
			break;
	}
	memcpy(s->before, &b, sizeof(b));
}

/* Whether it is still, or once more, in what it was in before: pc is that of the instruction. */
static bool waited(const struct before *b, const struct user_pt_regs *r, u64 pc)
{
	return b->call == r->regs[8] && b->sp == r->sp && b->pc == pc + 4 &&
	       !memcmp(b->arguments + 1, r->regs + 1, 5 * sizeof(u64));
}

static bool among(u64 number, const long *calls, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (number == (u64)calls[i])
			return true;
	return false;
}

/* These return EINTR for any stop (signal(7)), which programs take for a signal. */
static bool call_breaks(u64 number)
{
	static const long calls[] = { SYS_epoll_pwait, SYS_epoll_pwait2, SYS_semop, SYS_semtimedop, SYS_rt_sigtimedwait };

	return among(number, calls, ARRAY_SIZE(calls));
}

/* By what a call is interrupted that is at its instruction; 0: it has perhaps not begun, and does not mind. */
static u64 call_renewal(const struct before *b, const struct user_pt_regs *r)
{
	/* Where a handler is expected to end the wait. */
	static const long signals[] = { SYS_ppoll, SYS_pselect6, SYS_rt_sigsuspend };
	int futex = (int)r->regs[1] & FUTEX_CMD_MASK;
	u64 number = r->regs[8];

	if (among(number, signals, ARRAY_SIZE(signals)) || call_breaks(number))
		return ERESTARTNOHAND;
	if (!waited(b, r, r->pc) || b->arguments[0] != r->regs[0])
		return 0;
	if (number == SYS_clock_nanosleep && r->regs[1] & TIMER_ABSTIME)
		return ERESTARTNOHAND;
	if (number == SYS_nanosleep || number == SYS_clock_nanosleep || number == SYS_restart_syscall)
		return ERESTART_RESTARTBLOCK;
	if (number == SYS_futex && r->regs[3] && (futex == FUTEX_WAIT || futex == FUTEX_WAIT_BITSET))
		return ERESTART_RESTARTBLOCK;
	return ERESTARTSYS;
}

static bool is_call(pid_t tid, u64 at)
{
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, tid, (void *)(uintptr_t)(at & ~7ULL), NULL);
	return !errno && (u32)((u64)word >> 8 * (at & 4)) == ARM_CALL;
}

/*
 * -EAGAIN: it has failed with EINTR, by us or by a signal whose handler the kernel will yet run with the mask of that call,
 * which would be lost.
 */
static int call_look(pid_t tid, struct kept *k, const struct before *b, bool signalled)
{
	struct user_pt_regs *r = &k->regs;

	k->call = UINT64_MAX;
	if (is_call(tid, r->pc)) {
		k->call = r->regs[8];
		k->renewal = call_renewal(b, r);
	} else if ((s64)r->regs[0] == -EINTR && call_breaks(r->regs[8]) && is_call(tid, r->pc - 4)) {
		if (signalled || !waited(b, r, r->pc - 4))
			return -EAGAIN;
		k->call = r->regs[8];
		k->renewal = ERESTARTNOHAND;
		k->broken = true;
		r->regs[0] = b->arguments[0];
		r->pc -= 4;
	}
	return 0;
}

/* ---- reading and writing ------------------------------------------------------------------------ */

/* -EOPNOTSUPP, -EBUSY: see arch_read(). */
static int special_look(pid_t tid)
{
	u64 gcs[3] = { 0 };
	struct user_sve_header streaming;
	struct user_za_header matrix;
	size_t size = sizeof(gcs);

	if (set_get(tid, NT_ARM_GCS, gcs, &size) == 0 && gcs[0])
		return -EOPNOTSUPP;
	size = sizeof(streaming);
	if (set_get(tid, NT_ARM_SSVE, &streaming, &size) == 0 && (streaming.flags & SVE_PT_REGS_MASK) == SVE_PT_REGS_SVE)
		return -EBUSY;
	size = sizeof(matrix);
	if (set_get(tid, NT_ARM_ZA, &matrix, &size) == 0 && matrix.size > sizeof(matrix))
		return -EBUSY;
	return 0;
}

static int vectors_read(pid_t tid, struct arch_state *s)
{
	struct vectors *v = (void *)s->extended;
	size_t size = sizeof(v->simd);
	int ret = set_get(tid, NT_PRFPREG, &v->simd, &size);

	if (ret)
		return ret;
	size = sizeof(v->sve) + sizeof(v->registers);
	if (set_get(tid, NT_ARM_SVE, &v->sve, &size) || (v->sve.flags & SVE_PT_REGS_MASK) != SVE_PT_REGS_SVE)
		size = 0;
	/* 0: all of SVE is in the vectors. */
	s->extended_size = size;
	return 0;
}

int arch_read(pid_t tid, struct arch_state *s, bool signalled)
{
	struct before b = before_of(s);
	struct kept k = { .renewal = 0 };
	size_t size = sizeof(k.regs);
	int ret = set_get(tid, NT_PRSTATUS, &k.regs, &size);

	if (ret)
		return ret;
	if (size != sizeof(k.regs))
		return -ENOEXEC;
	ret = special_look(tid);
	if (!ret)
		ret = vectors_read(tid, s);
	if (!ret)
		ret = call_look(tid, &k, &b, signalled);
	if (ret)
		return ret;
	s->regs_size = size;
	memcpy(s->regs, &k, sizeof(k));
	return ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof(s->mask), &s->mask) ? -errno : 0;
}

static int registers_set(pid_t tid, const struct user_pt_regs *r)
{
	return set_put(tid, NT_PRSTATUS, r, sizeof(*r));
}

int arch_write(pid_t tid, const struct arch_state *s)
{
	const struct vectors *v = vectors_of(s);
	struct kept k = kept_of(s);
	u64 mask = s->mask;
	int ret;

	ret = s->extended_size ? set_put(tid, NT_ARM_SVE, &v->sve, s->extended_size)
			       : set_put(tid, NT_PRFPREG, &v->simd, sizeof(v->simd));
	if (ret)
		return ret;
	if (ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof(mask), &mask))
		return -errno;
	return registers_set(tid, &k.regs);
}

/* A signal for a handler waits: that is what the call has failed for, then. */
static bool signal_waits(pid_t tid)
{
	unsigned long long own = 0, shared = 0, blocked = 0, caught = 0;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "SigPnd: %llx", &own);
		sscanf(line, "ShdPnd: %llx", &shared);
		sscanf(line, "SigBlk: %llx", &blocked);
		sscanf(line, "SigCgt: %llx", &caught);
	}
	if (f)
		fclose(f);
	return !f || (own | shared) & ~blocked & caught;
}

void arch_release(pid_t tid, const struct arch_state *s)
{
	struct kept k = kept_of(s);

	if (k.broken && !signal_waits(tid))
		registers_set(tid, &k.regs);
}

bool arch_again(struct arch_state *s, u64 *first)
{
	struct kept k = kept_of(s);

	if (!k.renewal)
		return false;
	*first = k.regs.regs[0];
	k.regs.regs[0] = -k.renewal;
	k.regs.pc += 4;
	memcpy(s->regs, &k, sizeof(k));
	return true;
}

u64 arch_call_number(const struct arch_state *s)
{
	return kept_of(s).call;
}

u64 arch_pc(const struct arch_state *s)
{
	return kept_of(s).regs.pc;
}

u64 arch_sp(const struct arch_state *s)
{
	return kept_of(s).regs.sp;
}

u64 arch_red_zone(void)
{
	return BELOW;
}

void arch_unwind_regs(const struct arch_state *s, u64 *to)
{
	struct kept k = kept_of(s);

	/* x0 to x30, sp, pc. */
	memcpy(to, &k.regs, offsetof(struct user_pt_regs, pstate));
}

/* ---- making it work ----------------------------------------------------------------------------- */

int arch_call(pid_t tid, const struct arch_state *s, const struct arch_gadgets *g, u64 frame, u64 number, const u64 *a)
{
	struct user_pt_regs r = kept_of(s).regs;

	memcpy(r.regs, a, 6 * sizeof(*a));
	r.regs[8] = number;
	r.regs[30] = g->back;
	r.pc = g->system_call;
	r.sp = frame;
	r.pstate &= ~(PSTATE_BTYPE | PSTATE_SINGLE_STEP);
	return registers_set(tid, &r);
}

s64 arch_result(pid_t tid)
{
	struct user_pt_regs r;
	size_t size = sizeof(r);
	int ret = set_get(tid, NT_PRSTATUS, &r, &size);

	return ret ? ret : (s64)r.regs[0];
}

int arch_enter(pid_t tid, const struct arch_state *s, u64 code, u64 data, u64 stack)
{
	struct user_pt_regs r = kept_of(s).regs;

	r.regs[0] = 0;
	r.regs[19] = data;
	r.regs[29] = r.regs[30] = 0;
	r.pc = code;
	r.sp = stack & ~15ULL;
	r.pstate &= ~(PSTATE_BTYPE | PSTATE_SINGLE_STEP);
	return registers_set(tid, &r);
}
#endif
