/* SPDX-License-Identifier: MIT */
/* What the probes must know of an architecture: all of cli/caps that depends on one is here. */
#ifndef SPARK_CLI_CAPS_ARCH_H
#define SPARK_CLI_CAPS_ARCH_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

/* The counter that cpu_ticks() of common/base.h reads. */
enum arch_counter { ARCH_COUNTER_NONE, ARCH_COUNTER_TSC, ARCH_COUNTER_GENERIC_TIMER };

/*
 * ARCH_RSEQ_SIGNATURE: the word before an abort handler, by rseq.h of glibc for each machine.
 * ARCH_RAW_EVENT: a raw code that counts on all of its CPUs, or 0: retired instructions on Intel
 * and AMD, cycles on arm64. ARCH_RDPMC_CONFIG1: asks for reads from user space, arm_pmuv3.c.

 * ARCH_BREAKPOINT_EXECUTE: bytes that a breakpoint for execution must cover, hw_breakpoint.c.
 */
#if defined(__x86_64__)
#define ARCH_ELF_MACHINE EM_X86_64
#define ARCH_BREAKPOINT_EXECUTE 8
#define ARCH_COUNTER ARCH_COUNTER_TSC
#define ARCH_RSEQ_SIGNATURE 0x53053053U
#define ARCH_RAW_EVENT 0xc0U
#define ARCH_RDPMC_CONFIG1 0U
#elif defined(__aarch64__)
#define ARCH_ELF_MACHINE EM_AARCH64
#define ARCH_BREAKPOINT_EXECUTE 4
#define ARCH_COUNTER ARCH_COUNTER_GENERIC_TIMER
#define ARCH_RSEQ_SIGNATURE 0xd428bc00U
#define ARCH_RAW_EVENT 0x11U
#define ARCH_RDPMC_CONFIG1 2U
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH_ELF_MACHINE EM_RISCV
#define ARCH_BREAKPOINT_EXECUTE 4
#define ARCH_COUNTER ARCH_COUNTER_NONE
#define ARCH_RSEQ_SIGNATURE 0xf1401073U
#define ARCH_RAW_EVENT 0U
#define ARCH_RDPMC_CONFIG1 0U
#else
#define ARCH_ELF_MACHINE EM_NONE
#define ARCH_BREAKPOINT_EXECUTE 8
#define ARCH_COUNTER ARCH_COUNTER_NONE
#define ARCH_RSEQ_SIGNATURE 0U
#define ARCH_RAW_EVENT 0U
#define ARCH_RDPMC_CONFIG1 0U
#endif

/* What __rseq_offset of glibc counts from. NULL where it is not known how to get it. */
static inline char *arch_thread_pointer(void)
{
	char *pointer = 0;

#if defined(__x86_64__) && !defined(__ILP32__)
	__asm__("mov %%fs:0, %0" : "=r"(pointer));
#elif defined(__aarch64__)
	__asm__("mrs %0, tpidr_el0" : "=r"(pointer));
#elif defined(__riscv)
	__asm__("mv %0, tp" : "=r"(pointer));
#endif
	return pointer;
}

/*
 * Reads the hardware counter of that index, as an event's user page gives it less 1. Returns
 * whether it is known how; faults where the kernel has not allowed it.
 */
static inline bool arch_read_counter(uint32_t index, uint64_t *value)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
	*value = (uint64_t)high << 32 | low;
	return true;
#elif defined(__aarch64__)
#define ARCH_READ(n, name) \
	case n: \
		__asm__ volatile("isb\n\tmrs %0, " name "_el0" : "=r"(*value)); \
		return true;
#define ARCH_READ_EVENT(n) ARCH_READ(n, "pmevcntr" #n)
	switch (index) {
	ARCH_READ_EVENT(0) ARCH_READ_EVENT(1) ARCH_READ_EVENT(2) ARCH_READ_EVENT(3)
	ARCH_READ_EVENT(4) ARCH_READ_EVENT(5) ARCH_READ_EVENT(6) ARCH_READ_EVENT(7)
	ARCH_READ_EVENT(8) ARCH_READ_EVENT(9) ARCH_READ_EVENT(10) ARCH_READ_EVENT(11)
	ARCH_READ_EVENT(12) ARCH_READ_EVENT(13) ARCH_READ_EVENT(14) ARCH_READ_EVENT(15)
	ARCH_READ_EVENT(16) ARCH_READ_EVENT(17) ARCH_READ_EVENT(18) ARCH_READ_EVENT(19)
	ARCH_READ_EVENT(20) ARCH_READ_EVENT(21) ARCH_READ_EVENT(22) ARCH_READ_EVENT(23)
	ARCH_READ_EVENT(24) ARCH_READ_EVENT(25) ARCH_READ_EVENT(26) ARCH_READ_EVENT(27)
	ARCH_READ_EVENT(28) ARCH_READ_EVENT(29) ARCH_READ_EVENT(30)
	ARCH_READ(31, "pmccntr")
	default:
		return false;
	}
#undef ARCH_READ_EVENT
#undef ARCH_READ
#else
	(void)index;
	*value = 0;
	return false;
#endif
}

#endif
