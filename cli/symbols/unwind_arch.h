/* SPDX-License-Identifier: MIT */
/*
 * The architecture for unwinding: one file of tables each. Elsewhere UNWIND_NONE is 1 and there are no
 * stacks by call frame information; the numbers then only have to compile.
 */
#ifndef CLI_SYMBOLS_UNWIND_ARCH_H
#define CLI_SYMBOLS_UNWIND_ARCH_H

#if defined(__x86_64__) && !defined(__ILP32__)
#include "cli/symbols/unwind_x86_64.h"
#elif defined(__aarch64__) && !defined(__ILP32__) && !defined(__AARCH64EB__)
#include "cli/symbols/unwind_arm64.h"
#else
#include <elf.h>

#define UNWIND_NONE 1
#define UNWIND_MACHINE EM_NONE
#define UNWIND_REGS 4u
#define UNWIND_FP 0u
#define UNWIND_SP 1u
#define UNWIND_PC 2u
#define UNWIND_RETURN 2u
#define UNWIND_PERF_REGS { 0, 0 }
#define UNWIND_SAVED { 2 }
#define UNWIND_SLOTS 1u
#define UNWIND_SIGNED_MASK UINT64_MAX
#define UNWIND_CALL_PUSHES 0u
#define UNWIND_SIGNAL_CODE ""
#define UNWIND_SIGNAL_SP 0
#define UNWIND_SIGNAL_REG(reg) ((void)(reg), 0)
#define UNWIND_PLT_HEAD ""
#define UNWIND_PLT_TAIL ""
#endif

#ifndef UNWIND_NONE
#define UNWIND_NONE 0
#endif

#endif
