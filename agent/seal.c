/* SPDX-License-Identifier: MIT */
/*
 * Learning that the process enters a seccomp sandbox: from then on a system call of the agent could
 * kill it, so there are none. prctl and syscall are interposed for that alone. A filter set by an
 * inline system call stays unseen: a limit.
 *
 * syscall(2) is a leaf in assembly, as the C library's: programs use it for clone and vfork, after
 * which a C function's frame could not be returned from twice.
 */
#define _GNU_SOURCE
#include "agent.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "banned.h"

/* SAFE. Ends all system calls of the agent. */
static void seal_begin(void)
{
	store_relaxed(&agent.sealed, true);
	if (life && life->wire)
		life->wire->flags |= WIRE_PROCESS_SEALED;
}

static void seal_undo(void)
{
	if (life && life->wire)
		life->wire->flags &= ~(u32)WIRE_PROCESS_SEALED;
	store_relaxed(&agent.sealed, false);
}

static long result(long ret)
{
	if (ret < 0 && ret >= -4095) {
		errno = (int)-ret;
		return -1;
	}
	return ret;
}

/*
 * Strict seccomp, like PR_SET_TSC, turns reading the TSC into SIGSEGV for the calling thread and
 * those that it starts (arch/x86/kernel/process.c, disable_TSC), the vDSO's clocks too. Its markers
 * end here, before the call.
 */
static void blind_begin(void)
{
	store_relaxed(&agent.blind, true);
	thread_blind();
}

/* A call that would install a filter. Sealed before it, since after it it is too late. */
static long seal_around(long n, long a, long b, long c, long d, long e, long f)
{
	bool before = agent_sealed();
	long ret;

	seal_begin();
	if (n == SYS_prctl ? b == SECCOMP_MODE_STRICT : a == SECCOMP_SET_MODE_STRICT)
		blind_begin();
	ret = syscall_raw(n, a, b, c, d, e, f);
	if (ret < 0 && !before)
		seal_undo();
	return result(ret);
}

__attribute__((visibility("default"))) int prctl(int option, ...)
{
	unsigned long a, b, c, d;
	va_list ap;

	va_start(ap, option);
	a = va_arg(ap, unsigned long);
	b = va_arg(ap, unsigned long);
	c = va_arg(ap, unsigned long);
	d = va_arg(ap, unsigned long);
	va_end(ap);
	if (option == PR_SET_TSC && a == PR_TSC_SIGSEGV)
		blind_begin();
	if (option == PR_SET_SECCOMP)
		return (int)seal_around(SYS_prctl, option, (long)a, (long)b, (long)c, (long)d, 0);
	return (int)result(syscall_raw(SYS_prctl, option, (long)a, (long)b, (long)c, (long)d, 0));
}

/* The rare numbers that syscall() hands over; named from its assembly. */
long seal_syscall(long n, long a, long b, long c, long d, long e, long f)
{
	if (n == SYS_seccomp ? a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER : a == PR_SET_SECCOMP)
		return seal_around(n, a, b, c, d, e, f);
	if (n == SYS_prctl && a == PR_SET_TSC && b == PR_TSC_SIGSEGV)
		blind_begin();
	return result(syscall_raw(n, a, b, c, d, e, f));
}

/* Sets errno for syscall(). */
long seal_errno(long ret)
{
	return result(ret);
}

#define STRING(x) #x
#define EXPAND(x) STRING(x)

#if defined(__x86_64__)
__asm__(".text\n"
	".globl syscall\n"
	".type syscall, @function\n"
	".p2align 4\n"
	"syscall:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	cmpq $" EXPAND(__NR_seccomp) ", %rdi\n"
	"	je seal_syscall\n"
	"	cmpq $" EXPAND(__NR_prctl) ", %rdi\n"
	"	je seal_syscall\n"
	"	movq %rdi, %rax\n"
	"	movq %rsi, %rdi\n"
	"	movq %rdx, %rsi\n"
	"	movq %rcx, %rdx\n"
	"	movq %r8, %r10\n"
	"	movq %r9, %r8\n"
	"	movq 8(%rsp), %r9\n"
	"	syscall\n"
	"	cmpq $-4095, %rax\n"
	"	jae 1f\n"
	"	ret\n"
	"1:	movq %rax, %rdi\n"
	"	jmp seal_errno\n"
	"	.cfi_endproc\n"
	".size syscall, . - syscall\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl syscall\n"
	".type syscall, %function\n"
	".p2align 4\n"
	"syscall:\n"
	"	.cfi_startproc\n"
	"	hint #34\n" /* bti c */
	"	cmp x0, #" EXPAND(__NR_seccomp) "\n"
	"	b.eq seal_syscall\n"
	"	cmp x0, #" EXPAND(__NR_prctl) "\n"
	"	b.eq seal_syscall\n"
	"	mov x8, x0\n"
	"	mov x0, x1\n"
	"	mov x1, x2\n"
	"	mov x2, x3\n"
	"	mov x3, x4\n"
	"	mov x4, x5\n"
	"	mov x5, x6\n"
	"	mov x6, x7\n"
	"	svc 0\n"
	"	cmn x0, #4095\n"
	"	b.cs seal_errno\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size syscall, . - syscall\n");
#endif
