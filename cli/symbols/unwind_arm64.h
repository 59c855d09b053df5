/* SPDX-License-Identifier: MIT */
/* arm64 for unwinding: perf and DWARF (AADWARF64, 4.1) number the registers alike. */
#ifndef CLI_SYMBOLS_UNWIND_ARM64_H
#define CLI_SYMBOLS_UNWIND_ARM64_H

#include <elf.h>

#define UNWIND_MACHINE EM_AARCH64
#define UNWIND_LIBUNWIND_SONAME "libunwind-aarch64.so.8"
#define UNWIND_LIBUNWIND_PREFIX "_Uaarch64_"

#define UNWIND_REGS 33u
#define UNWIND_FP 29u
#define UNWIND_SP 31u
#define UNWIND_PC 32u
#define UNWIND_RETURN 30u

#define UNWIND_PERF_REGS \
	{ 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 3 }, { 4, 4 }, { 5, 5 }, { 6, 6 }, { 7, 7 }, { 8, 8 }, { 9, 9 }, { 10, 10 }, \
	{ 11, 11 }, { 12, 12 }, { 13, 13 }, { 14, 14 }, { 15, 15 }, { 16, 16 }, { 17, 17 }, { 18, 18 }, { 19, 19 }, \
	{ 20, 20 }, { 21, 21 }, { 22, 22 }, { 23, 23 }, { 24, 24 }, { 25, 25 }, { 26, 26 }, { 27, 27 }, { 28, 28 }, \
	{ 29, 29 }, { 30, 30 }, { 31, 31 }, { 32, 32 }

#define UNWIND_SAVED { 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 32 }
#define UNWIND_SLOTS 13u

/* A signed return address has its signature above the address: 48 bits, but where a program asks for more. */
#define UNWIND_SIGNED_MASK ((UINT64_C(1) << 48) - 1)

#define UNWIND_CALL_PUSHES 0u

/*
 * The trampoline of the vDSO, mov x8, #139; svc #0. Its information leads to the interrupted function's caller, past
 * its program counter, so that the frame itself is read: siginfo, ucontext up to uc_mcontext, fault_address, then x0
 * to x30, sp and pc (arch/arm64/kernel/signal.c).
 */
#define UNWIND_SIGNAL_CODE "\x68\x11\x80\xd2\x01\x00\x00\xd4"
#define UNWIND_SIGNAL_REG(reg) (128 + 176 + 8 + 8 * (int)(reg))
#define UNWIND_SIGNAL_SP UNWIND_SIGNAL_REG(31)

#define UNWIND_PLT_HEAD ""
#define UNWIND_PLT_TAIL ""

#endif
