/* SPDX-License-Identifier: MIT */
/*
 * System calls without the C library's wrappers, for names that the agent interposes and for
 * results without errno. x86-64: syscall(2) "Architecture calling conventions"; arm64: the same
 * page.
 */
#ifndef SPARK_AGENT_SYS_H
#define SPARK_AGENT_SYS_H

/* SAFE. The kernel's result: -errno on failure. */
static inline long syscall_raw(long n, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
#else
#error "no system call convention for this architecture"
#endif
}

#endif
