/* SPDX-License-Identifier: MIT */
/* arm64; see arch.h: the code that loads the agent. */
#include "cli/inject/arch_aarch64.h"

#if defined(__aarch64__) && !defined(__ILP32__) && !defined(__AARCH64EB__)
#include <stddef.h>

_Static_assert(offsetof(struct arch_data, handle) == 32 && offsetof(struct arch_data, result) == 48 &&
	       offsetof(struct arch_data, soname) == 64 && offsetof(struct arch_data, frame) == 88 &&
	       offsetof(struct arch_data, pair) == 96 && offsetof(struct arch_data, file_name) == 112 &&
	       offsetof(struct arch_data, token) == 128, "data");

/*
 * x19: struct arch_data. Numbers of system calls: socketpair 199, memfd_create 279, gettid 178, close 57, rt_sigreturn
 * 139. dlopen's modes: 0x106 is RTLD_NOLOAD with RTLD_NOW and RTLD_GLOBAL. The memory is not guarded (PROT_BTI), so that
 * it needs no marks; what it calls has them, where that is.
 */
__asm__(".section .rodata\n"
	".p2align 4\n"
	".globl arch_code_start, arch_code_end\n"
	".hidden arch_code_start, arch_code_end\n"
	"arch_code_start:\n"
	"	ldr x9, [x19]\n"
	"	blr x9\n"
	"	ldr w9, [x0]\n"
	"	str x9, [x19, #56]\n"
	"	mov x9, #1\n"
	"	str x9, [x19, #120]\n"
	"	mov x8, #199\n"
	"	mov x0, #1\n"
	"	mov w1, #5\n"
	"	movk w1, #8, lsl #16\n"
	"	mov x2, #0\n"
	"	add x3, x19, #96\n"
	"	svc #0\n"
	"	str x0, [x19, #48]\n"
	"	tbnz x0, #63, 7f\n"
	"	mov x9, #2\n"
	"	str x9, [x19, #120]\n"
	"	ldr x0, [x19, #64]\n"
	"	mov w1, #0x106\n"
	"	ldr x9, [x19, #8]\n"
	"	blr x9\n"
	"	str x0, [x19, #32]\n"
	"	cbnz x0, 1f\n"
	"	ldr x9, [x19, #16]\n"
	"	blr x9\n"
	"	ldr x0, [x19, #112]\n"
	"	cbz x0, 1f\n"
	"	mov x8, #279\n"
	"	mov x1, #1\n"
	"	svc #0\n"
	"	str x0, [x19, #104]\n"
	"	str x0, [x19, #48]\n"
	"	tbnz x0, #63, 5f\n"
	"1:	mov x8, #178\n"
	"	mov w0, #0x524b\n"
	"	movk w0, #0x5350, lsl #16\n"
	"	mov x1, #1\n"
	"	svc #0\n"
	"	ldr x9, [x19, #32]\n"
	"	cbnz x9, 2f\n"
	"	mov x9, #3\n"
	"	str x9, [x19, #120]\n"
	"	ldr x0, [x19, #72]\n"
	"	mov w1, #0x102\n"
	"	ldr x9, [x19, #8]\n"
	"	blr x9\n"
	"	str x0, [x19, #32]\n"
	"	cbz x0, 4f\n"
	"2:	mov x8, #57\n"
	"	ldr w0, [x19, #100]\n"
	"	svc #0\n"
	"	mov w9, #-1\n"
	"	str w9, [x19, #100]\n"
	"	mov x9, #4\n"
	"	str x9, [x19, #120]\n"
	"	ldr x0, [x19, #32]\n"
	"	ldr x1, [x19, #80]\n"
	"	ldr x9, [x19, #24]\n"
	"	blr x9\n"
	"	cbz x0, 4f\n"
	"	mov x9, #5\n"
	"	str x9, [x19, #120]\n"
	"	mov x9, x0\n"
	"	ldr w0, [x19, #96]\n"
	"	add x1, x19, #128\n"
	"	blr x9\n"
	"	str x0, [x19, #48]\n"
	"	mov x9, #6\n"
	"	str x9, [x19, #120]\n"
	"	b 5f\n"
	"4:	ldr x9, [x19, #16]\n"
	"	blr x9\n"
	"	str x0, [x19, #40]\n"
	"5:	ldr w0, [x19, #104]\n"
	"	tbnz w0, #31, 6f\n"
	"	mov x8, #57\n"
	"	svc #0\n"
	"6:	mov x8, #57\n"
	"	ldr w0, [x19, #96]\n"
	"	svc #0\n"
	"	ldr w0, [x19, #100]\n"
	"	tbnz w0, #31, 7f\n"
	"	mov x8, #57\n"
	"	svc #0\n"
	"7:	ldr x9, [x19]\n"
	"	blr x9\n"
	"	ldr w9, [x19, #56]\n"
	"	str w9, [x0]\n"
	"	mov x8, #178\n"
	"	mov w0, #0x524b\n"
	"	movk w0, #0x5350, lsl #16\n"
	"	mov x1, #2\n"
	"	svc #0\n"
	"	ldr x9, [x19, #88]\n"
	"	mov sp, x9\n"
	"	mov x8, #139\n"
	"	svc #0\n"
	"	udf #0\n"
	"arch_code_end:\n"
	".text\n");

/* Global: a place in a table of addresses is for a symbol, not for a section and an offset. */
extern const u8 arch_code_start[] __attribute__((visibility("hidden")));
extern const u8 arch_code_end[] __attribute__((visibility("hidden")));

const u8 *arch_code(size_t *size)
{
	*size = (size_t)(arch_code_end - arch_code_start);
	return arch_code_start;
}
#endif
