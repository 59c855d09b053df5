/* SPDX-License-Identifier: MIT */
/*
 * x86-64; see arch.h. The signal frame is the kernel's (struct rt_sigframe, arch/x86/include/asm/sigframe.h): the
 * address to return to, ucontext, siginfo, and behind that the registers as XSAVE has them (Intel SDM, volume 1,
 * chapter 13), with the kernel's marks (struct _fpx_sw_bytes, asm/sigcontext.h).
 */
#define _GNU_SOURCE
#include "cli/inject/arch.h"

#if defined(__x86_64__) && !defined(__ILP32__)
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#define RED_ZONE 128u
#define DYNAMIC_FEATURES (3ULL << 17) /* AMX: only threads that asked for it have it, and no caller keeps it */
#define MAGIC_1 0x46505853u
#define MAGIC_2 0x46505845u
#define MAGIC_AT 464u
#define UC_FLAGS 7u                  /* UC_FP_XSTATE, UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS */
#define NO_STACK 0x7fu               /* no valid mode: the alternate stack stays as it is (kernel/signal.c, do_sigaltstack) */

/* What a system call that was interrupted holds for the kernel to begin it anew (include/linux/errno.h). */
#define ERESTARTSYS 512
#define ERESTARTNOINTR 513
#define ERESTARTNOHAND 514
#define ERESTART_RESTARTBLOCK 516

struct frame_context {               /* struct sigcontext_64 */
	u64 r8, r9, r10, r11, r12, r13, r14, r15, di, si, bp, bx, dx, ax, cx, sp, ip, flags;
	u16 cs, gs, fs, ss;
	u64 err, trapno, oldmask, cr2, extended, reserved[8];
};

struct frame {
	u64 back;
	u64 flags, link;
	u64 stack_sp, stack_mode, stack_size;
	struct frame_context context;
	u64 mask;
	u8 info[128];
};

_Static_assert(sizeof(struct frame_context) == 256 && offsetof(struct frame, mask) == 304, "frame");
_Static_assert(offsetof(struct arch_data, handle) == 32 && offsetof(struct arch_data, result) == 48 &&
	       offsetof(struct arch_data, soname) == 64 && offsetof(struct arch_data, frame) == 88 &&
	       offsetof(struct arch_data, pair) == 96 && offsetof(struct arch_data, file_name) == 112 &&
	       offsetof(struct arch_data, token) == 128, "data");
_Static_assert(sizeof(struct user_regs_struct) <= sizeof(((struct arch_state *)0)->regs), "registers");

static struct user_regs_struct regs_of(const struct arch_state *state)
{
	struct user_regs_struct regs;

	memcpy(&regs, state->regs, sizeof(regs));
	return regs;
}

static int regs_set(pid_t tid, const struct user_regs_struct *regs)
{
	struct iovec area = { (void *)(uintptr_t)regs, sizeof(*regs) };

	return ptrace(PTRACE_SETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &area) ? -errno : 0;
}

bool arch_available(void)
{
	return true;
}

/*
 * These return EINTR for any stop (signal(7)), which programs take for a signal. The kernel is told to begin them anew,
 * unless a handler is to run.
 */
static int call_renew(pid_t tid, struct arch_state *s)
{
	static const long calls[] = { SYS_epoll_wait, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_semop, SYS_semtimedop, SYS_rt_sigtimedwait };
	struct user_regs_struct r = regs_of(s);
	struct iovec area = { s->regs, s->regs_size };

	for (size_t i = 0; (s64)r.rax == -EINTR && i < ARRAY_SIZE(calls); i++)
		if ((s64)r.orig_rax == calls[i]) {
			r.rax = (u64)-ERESTARTNOHAND;
			memcpy(s->regs, &r, sizeof(r));
			return ptrace(PTRACE_SETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &area) ? -errno : 0;
		}
	return 0;
}

/* All that matters is in the registers. */
void arch_before(pid_t tid, struct arch_state *s)
{
	(void)tid, (void)s;
}

void arch_release(pid_t tid, const struct arch_state *s)
{
	(void)tid, (void)s;
}

bool arch_again(struct arch_state *s, u64 *first)
{
	(void)s, (void)first;
	return false;
}

int arch_read(pid_t tid, struct arch_state *s, bool signalled)
{
	struct iovec area = { s->regs, sizeof(s->regs) };

	(void)signalled;
	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &area))
		return -errno;
	s->regs_size = area.iov_len;
	if (area.iov_len != sizeof(struct user_regs_struct))
		return -ENOEXEC;
	if (call_renew(tid, s))
		return -errno;
	area = (struct iovec){ s->extended, sizeof(s->extended) };
	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_X86_XSTATE, &area))
		return -errno;
	s->extended_size = area.iov_len;
	return ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof(s->mask), &s->mask) ? -errno : 0;
}

int arch_write(pid_t tid, const struct arch_state *s)
{
	struct iovec area = { (void *)(uintptr_t)s->extended, s->extended_size };
	struct user_regs_struct regs = regs_of(s);
	u64 mask = s->mask;

	if (ptrace(PTRACE_SETREGSET, tid, (void *)(uintptr_t)NT_X86_XSTATE, &area) ||
	    ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof(mask), &mask))
		return -errno;
	return regs_set(tid, &regs);
}

u64 arch_call_number(const struct arch_state *s)
{
	return regs_of(s).orig_rax;
}

u64 arch_pc(const struct arch_state *s)
{
	return regs_of(s).rip;
}

u64 arch_sp(const struct arch_state *s)
{
	return regs_of(s).rsp;
}

u64 arch_red_zone(void)
{
	return RED_ZONE;
}

void arch_unwind_regs(const struct arch_state *s, u64 *to)
{
	struct user_regs_struct r = regs_of(s);
	const u64 regs[] = { r.rax, r.rbx, r.rcx, r.rdx, r.rsi, r.rdi, r.rbp, r.rsp, r.rip,
			     r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15 };

	memcpy(to, regs, sizeof(regs));
}

bool arch_find(struct arch_gadgets *g, const u8 *code, size_t size, u64 address)
{
	static const u8 call[] = { 0x0f, 0x05, 0xc3 };                                  /* syscall; ret */
	static const u8 back[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };       /* mov $15, %rax; syscall */
	const u8 *at = memmem(code, size, call, sizeof(call));

	if (at && !g->system_call)
		g->system_call = address + (u64)(at - code);
	at = memmem(code, size, back, sizeof(back));
	if (at && !g->back)
		g->back = address + (u64)(at - code);
	return g->system_call && g->back;
}

/* What of the extended state a signal frame holds, and its size there. */
static u64 frame_features(const struct arch_state *s, size_t *size)
{
	u64 features, kept = 3;
	u32 a, b, c, d;

	memcpy(&features, s->extended + MAGIC_AT, sizeof(features));
	features &= ~DYNAMIC_FEATURES;
	*size = 512 + 64;
	for (u32 i = 2; i < 63; i++) {
		if (!(features >> i & 1) || !__get_cpuid_count(0xd, i, &a, &b, &c, &d) || !a ||
		    (u64)a + b > s->extended_size)
			continue;
		kept |= 1ULL << i;
		*size = MAX(*size, (size_t)a + b);
	}
	return kept;
}

static void frame_registers(struct frame *f, const struct arch_state *s)
{
	struct user_regs_struct r = regs_of(s);
	s64 result = (s64)r.rax;

	f->context = (struct frame_context){
		.r8 = r.r8, .r9 = r.r9, .r10 = r.r10, .r11 = r.r11, .r12 = r.r12, .r13 = r.r13, .r14 = r.r14, .r15 = r.r15,
		.di = r.rdi, .si = r.rsi, .bp = r.rbp, .bx = r.rbx, .dx = r.rdx, .ax = r.rax, .cx = r.rcx, .sp = r.rsp,
		.ip = r.rip, .flags = r.eflags, .cs = (u16)r.cs, .ss = (u16)r.ss,
	};
	if ((s64)r.orig_rax >= 0 && (result == -ERESTARTSYS || result == -ERESTARTNOINTR || result == -ERESTARTNOHAND ||
				     result == -ERESTART_RESTARTBLOCK)) {
		f->context.ax = r.orig_rax;
		f->context.ip -= 2;
	}
}

size_t arch_frame(const struct arch_state *s, const struct arch_gadgets *g, u64 at, u8 *bytes, size_t room)
{
	struct frame f = { .back = g->back, .flags = UC_FLAGS, .stack_mode = NO_STACK, .mask = s->mask };
	u64 extended = ALIGN_UP(at + sizeof(f), (u64)64), features;
	size_t size, start = (size_t)(extended - at);
	u32 magic = MAGIC_2;
	struct { u32 magic, extended_size; u64 features; u32 size, padding[7]; } marks;

	features = frame_features(s, &size);
	if (start + size + sizeof(magic) > room || size > s->extended_size)
		return 0;
	frame_registers(&f, s);
	f.context.extended = extended;
	memset(bytes, 0, start);
	memcpy(bytes, &f, sizeof(f));
	memcpy(bytes + start, s->extended, size);
	memset(&marks, 0, sizeof(marks));
	marks.magic = MAGIC_1;
	marks.extended_size = (u32)(size + sizeof(magic));
	marks.features = features;
	marks.size = (u32)size;
	memcpy(bytes + start + MAGIC_AT, &marks, sizeof(marks));
	memcpy(bytes + start + size, &magic, sizeof(magic));
	return start + size + sizeof(magic);
}

int arch_call(pid_t tid, const struct arch_state *s, const struct arch_gadgets *g, u64 frame, u64 number, const u64 *a)
{
	struct user_regs_struct r = regs_of(s);

	r.rax = number;
	r.orig_rax = UINT64_MAX;
	r.rdi = a[0];
	r.rsi = a[1];
	r.rdx = a[2];
	r.r10 = a[3];
	r.r8 = a[4];
	r.r9 = a[5];
	r.rip = g->system_call;
	r.rsp = frame;
	r.eflags &= ~0x500ULL; /* no single steps, and upwards */
	return regs_set(tid, &r);
}

s64 arch_result(pid_t tid)
{
	struct arch_state s;
	struct iovec area = { s.regs, sizeof(s.regs) };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &area))
		return -errno;
	return (s64)regs_of(&s).rax;
}

int arch_enter(pid_t tid, const struct arch_state *s, u64 code, u64 data, u64 stack)
{
	struct user_regs_struct r = regs_of(s);

	r.orig_rax = UINT64_MAX;
	r.rip = code;
	r.rbx = data;
	r.rsp = stack & ~15ULL;
	r.rbp = 0;
	r.eflags &= ~0x500ULL;
	return regs_set(tid, &r);
}

u64 arch_frame_sp(u64 at)
{
	return at + offsetof(struct frame, flags);
}

/*
 * rbx: struct arch_data. Numbers of system calls: socketpair 53, memfd_create 319, gettid 186, close 3, rt_sigreturn 15.
 * dlopen's modes: 0x106 is RTLD_NOLOAD with RTLD_NOW and RTLD_GLOBAL.
 */
__asm__(".section .rodata\n"
	".p2align 4\n"
	"arch_code_start:\n"
	"	cld\n"
	"	call *(%rbx)\n"
	"	movl (%rax), %ecx\n"
	"	movq %rcx, 56(%rbx)\n"
	"	movq $1, 120(%rbx)\n"
	"	movl $53, %eax\n"
	"	movl $1, %edi\n"
	"	movl $0x80005, %esi\n"
	"	xorl %edx, %edx\n"
	"	leaq 96(%rbx), %r10\n"
	"	syscall\n"
	"	movq %rax, 48(%rbx)\n"
	"	testq %rax, %rax\n"
	"	js 7f\n"
	"	movq $2, 120(%rbx)\n"
	"	movq 64(%rbx), %rdi\n"
	"	movl $0x106, %esi\n"
	"	call *8(%rbx)\n"
	"	movq %rax, 32(%rbx)\n"
	"	testq %rax, %rax\n"
	"	jnz 1f\n"
	"	call *16(%rbx)\n"
	"	movq 112(%rbx), %rdi\n"
	"	testq %rdi, %rdi\n"
	"	jz 1f\n"
	"	movl $319, %eax\n"
	"	movl $1, %esi\n"
	"	syscall\n"
	"	movq %rax, 104(%rbx)\n"
	"	movq %rax, 48(%rbx)\n"
	"	testq %rax, %rax\n"
	"	js 5f\n"
	"1:	movl $186, %eax\n"
	"	movl $0x5350524b, %edi\n"
	"	movl $1, %esi\n"
	"	syscall\n"
	"	cmpq $0, 32(%rbx)\n"
	"	jne 2f\n"
	"	movq $3, 120(%rbx)\n"
	"	movq 72(%rbx), %rdi\n"
	"	movl $0x102, %esi\n"
	"	call *8(%rbx)\n"
	"	movq %rax, 32(%rbx)\n"
	"	testq %rax, %rax\n"
	"	jz 4f\n"
	"2:	movl $3, %eax\n"
	"	movl 100(%rbx), %edi\n"
	"	syscall\n"
	"	movl $-1, 100(%rbx)\n"
	"	movq $4, 120(%rbx)\n"
	"	movq 32(%rbx), %rdi\n"
	"	movq 80(%rbx), %rsi\n"
	"	call *24(%rbx)\n"
	"	testq %rax, %rax\n"
	"	jz 4f\n"
	"	movq $5, 120(%rbx)\n"
	"	movl 96(%rbx), %edi\n"
	"	leaq 128(%rbx), %rsi\n"
	"	call *%rax\n"
	"	movq %rax, 48(%rbx)\n"
	"	movq $6, 120(%rbx)\n"
	"	jmp 5f\n"
	"4:	call *16(%rbx)\n"
	"	movq %rax, 40(%rbx)\n"
	"5:	movl 104(%rbx), %edi\n"
	"	testl %edi, %edi\n"
	"	js 6f\n"
	"	movl $3, %eax\n"
	"	syscall\n"
	"6:	movl $3, %eax\n"
	"	movl 96(%rbx), %edi\n"
	"	syscall\n"
	"	movl 100(%rbx), %edi\n"
	"	testl %edi, %edi\n"
	"	js 7f\n"
	"	movl $3, %eax\n"
	"	syscall\n"
	"7:	call *(%rbx)\n"
	"	movl 56(%rbx), %ecx\n"
	"	movl %ecx, (%rax)\n"
	"	movl $186, %eax\n"
	"	movl $0x5350524b, %edi\n"
	"	movl $2, %esi\n"
	"	syscall\n"
	"	movq 88(%rbx), %rsp\n"
	"	movl $15, %eax\n"
	"	syscall\n"
	"	ud2\n"
	"arch_code_end:\n"
	".text\n");

extern const u8 arch_code_start[], arch_code_end[];

const u8 *arch_code(size_t *size)
{
	*size = (size_t)(arch_code_end - arch_code_start);
	return arch_code_start;
}
#endif
