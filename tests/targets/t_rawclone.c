/* SPDX-License-Identifier: MIT */
/*
 * t_rawclone: threads without a C library, as programs of the Go language have them: raw system
 * calls, linked statically. Four threads spin 25 ms of processor time each; then it says so and
 * exits with 5.
 */
#include <asm/unistd.h>
#include <linux/sched.h>

#define THREADS 4
#define SPIN_NS 25000000L
#define CLOCK_THREAD 3 /* CLOCK_THREAD_CPUTIME_ID */

static char stacks[THREADS][16384] __attribute__((aligned(16)));
static int finished[THREADS]; /* no sum: adding may be a function of a library, on arm64 */

static long call(long n, long a, long b, long c)
{
#if defined(__x86_64__)
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = n, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
#else
#error "no system calls for this machine"
#endif
}

static void spin(void)
{
	long t[2];

	do {
		call(__NR_clock_gettime, CLOCK_THREAD, (long)t, 0);
	} while (t[0] * 1000000000L + t[1] < SPIN_NS);
	__atomic_store_n(&finished[((char *)t - stacks[0]) / (long)sizeof(stacks[0])], 1, __ATOMIC_SEQ_CST);
}

/* The new thread finds its function on its stack, and ends behind it. */
static void start(char *top)
{
	long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;

	top -= 16;
	*(void (**)(void))top = spin;
#if defined(__x86_64__)
	long result;
	register long r10 __asm__("r10") = 0, r8 __asm__("r8") = 0;

	__asm__ volatile("syscall\n\ttest %%rax, %%rax\n\tjnz 1f\n\txor %%ebp, %%ebp\n\tcall *(%%rsp)\n\t"
			 "mov %[exit], %%eax\n\txor %%edi, %%edi\n\tsyscall\n1:"
			 : "=a"(result)
			 : "a"(__NR_clone), "D"(flags), "S"(top), "d"(0L), "r"(r10), "r"(r8), [exit] "i"(__NR_exit)
			 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = __NR_clone, x0 __asm__("x0") = flags, x1 __asm__("x1") = (long)top;
	register long x2 __asm__("x2") = 0, x3 __asm__("x3") = 0, x4 __asm__("x4") = 0;

	__asm__ volatile("svc 0\n\tcbnz x0, 1f\n\tldr x9, [sp]\n\tblr x9\n\tmov x8, %[exit]\n\tmov x0, 0\n\tsvc 0\n1:"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), [exit] "i"(__NR_exit)
			 : "x9", "x30", "memory");
#endif
}

void _start(void);

#if defined(__x86_64__)
__attribute__((force_align_arg_pointer)) /* nobody called it */
#endif
void _start(void)
{
	static const char text[] = "4 threads\n";
	int i;

	for (i = 0; i < THREADS; i++)
		start(stacks[i] + sizeof(stacks[i]));
	for (i = 0; i < THREADS; i++)
		while (!__atomic_load_n(&finished[i], __ATOMIC_SEQ_CST))
			call(__NR_sched_yield, 0, 0, 0);
	call(__NR_write, 1, (long)text, sizeof(text) - 1);
	call(__NR_exit_group, 5, 0, 0);
}
