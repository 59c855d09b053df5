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
 * and AMD, cycles on arm64. ARCH_INJECT: cli/inject/ has an arch file for it. ARCH_BREAKPOINT_EXECUTE: bytes that a breakpoint for execution must cover, hw_breakpoint.c.
 */
#if defined(__x86_64__)
#define ARCH_ELF_MACHINE EM_X86_64
#define ARCH_BREAKPOINT_EXECUTE 8
#define ARCH_COUNTER ARCH_COUNTER_TSC
#define ARCH_RSEQ_SIGNATURE 0x53053053U
#define ARCH_RAW_EVENT 0xc0U
#define ARCH_INJECT 1
#elif defined(__aarch64__)
#define ARCH_ELF_MACHINE EM_AARCH64
#define ARCH_BREAKPOINT_EXECUTE 4
#define ARCH_COUNTER ARCH_COUNTER_GENERIC_TIMER
#define ARCH_RSEQ_SIGNATURE 0xd428bc00U
#define ARCH_RAW_EVENT 0x11U
#define ARCH_INJECT 1
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH_ELF_MACHINE EM_RISCV
#define ARCH_BREAKPOINT_EXECUTE 4
#define ARCH_COUNTER ARCH_COUNTER_NONE
#define ARCH_RSEQ_SIGNATURE 0xf1401073U
#define ARCH_RAW_EVENT 0U
#define ARCH_INJECT 0
#else
#define ARCH_ELF_MACHINE EM_NONE
#define ARCH_BREAKPOINT_EXECUTE 8
#define ARCH_COUNTER ARCH_COUNTER_NONE
#define ARCH_RSEQ_SIGNATURE 0U
#define ARCH_RAW_EVENT 0U
#define ARCH_INJECT 0
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

#endif
