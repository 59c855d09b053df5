/* SPDX-License-Identifier: MIT */
/* x86-64 for unwinding: registers as perf numbers them and as DWARF does (System V ABI, figure 3.36). */
#ifndef CLI_SYMBOLS_UNWIND_X86_64_H
#define CLI_SYMBOLS_UNWIND_X86_64_H

#include <asm/perf_regs.h>
#include <elf.h>

#define UNWIND_MACHINE EM_X86_64
#define UNWIND_LIBUNWIND_SONAME "libunwind-x86_64.so.8"
#define UNWIND_LIBUNWIND_PREFIX "_Ux86_64_"

/* By DWARF's numbers. The column of the return address is the program counter itself. */
#define UNWIND_REGS 17u
#define UNWIND_FP 6u
#define UNWIND_SP 7u
#define UNWIND_PC 16u
#define UNWIND_RETURN 16u

#define UNWIND_PERF_REGS \
	{ PERF_REG_X86_AX, 0 }, { PERF_REG_X86_BX, 3 }, { PERF_REG_X86_CX, 2 }, { PERF_REG_X86_DX, 1 }, \
	{ PERF_REG_X86_SI, 4 }, { PERF_REG_X86_DI, 5 }, { PERF_REG_X86_BP, 6 }, { PERF_REG_X86_SP, 7 }, \
	{ PERF_REG_X86_IP, 16 }, { PERF_REG_X86_R8, 8 }, { PERF_REG_X86_R9, 9 }, { PERF_REG_X86_R10, 10 }, \
	{ PERF_REG_X86_R11, 11 }, { PERF_REG_X86_R12, 12 }, { PERF_REG_X86_R13, 13 }, { PERF_REG_X86_R14, 14 }, \
	{ PERF_REG_X86_R15, 15 }

/* What a function saves for its caller, and the program counter as the last. */
#define UNWIND_SAVED { 3, 6, 12, 13, 14, 15, 16 }
#define UNWIND_SLOTS 7u

/* The ABI has no bits in a return address but the address. */
#define UNWIND_SIGNED_MASK UINT64_MAX

/* A call has left the return address below its caller's stack pointer. */
#define UNWIND_CALL_PUSHES 8u

/* The C library's trampoline has full information. */
#define UNWIND_SIGNAL_CODE ""
#define UNWIND_SIGNAL_SP 0
#define UNWIND_SIGNAL_REG(reg) ((void)(reg), 0)

/*
 * How linkers describe a procedure linkage table: CFA = rsp + 8 + ((rip & 15) >= n) * 8. Between both parts stands n as
 * DW_OP_litN.
 */
#define UNWIND_PLT_HEAD "\x77\x08\x80\x00\x3f\x1a"
#define UNWIND_PLT_TAIL "\x2a\x33\x24\x22"

#endif
