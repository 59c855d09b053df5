/* SPDX-License-Identifier: MIT */
/*
 * The thunk of bracketed calls, and its stubs: each loads its index and jumps to the thunk, which
 * keeps whatever a caller may pass and a function may give back (System V ABI x86-64, "Parameter
 * passing"; AAPCS64, "Parameter passing"): integer registers here, vector registers by not touching
 * them, or by saving them all before the slow hooks. Arguments on the stack are copied, so that the
 * caller's return address stays where unwinders, and shadow stacks, expect it. Its name is exported, so
 * that it is told from the rest of the agent in stacks of samples.
 */
#include "call.h"

	.hidden	call_begin, call_begin_slow, call_end, call_end_slow, call_unwound, call_saves_extended
	.hidden	call_stubs
	.globl	call_stubs, spark_bracketed_call

#if defined(__x86_64__)

/* Of %rbp: rdi -8, rsi -16, rdx -24, rcx -32, r8 -40, r9 -48, rax -56 (vector registers of variadics), r10 -64, index -72. */
#define FRAME 80

	.text
	.p2align 6
	.type	call_stubs, @function
call_stubs:
	.cfi_startproc
	.set	index, 0
	.rept	CALL_STUBS
	endbr64
	movl	$index, %r11d
	jmp	.Lthunk
	.p2align 4
	.set	index, index + 1
	.endr
	.cfi_endproc
	.size	call_stubs, . - call_stubs

	.macro	keep_vectors
	subq	$CALL_VECTORS, %rsp
	andq	$-64, %rsp
	movq	%rdx, %r8
	cmpb	$0, call_saves_extended(%rip)
	je	1f
	xorl	%eax, %eax
	.irp	at, 512, 520, 528, 536, 544, 552, 560, 568
	movq	%rax, \at(%rsp)
	.endr
	movl	$0xe7, %eax
	xorl	%edx, %edx
	xsave64	(%rsp)
	jmp	2f
1:	fxsave64 (%rsp)
2:	movq	%r8, %rdx
	.endm

	.macro	bring_vectors
	cmpb	$0, call_saves_extended(%rip)
	je	1f
	movq	%rax, %r8
	movq	%rdx, %r9
	movl	$0xe7, %eax
	xorl	%edx, %edx
	xrstor64 (%rsp)
	movq	%r8, %rax
	movq	%r9, %rdx
	jmp	2f
1:	fxrstor64 (%rsp)
2:	leaq	-FRAME(%rbp), %rsp
	.endm

	.macro	bring_arguments
	movq	-8(%rbp), %rdi
	movq	-16(%rbp), %rsi
	movq	-24(%rbp), %rdx
	movq	-32(%rbp), %rcx
	movq	-40(%rbp), %r8
	movq	-48(%rbp), %r9
	movq	-56(%rbp), %rax
	movq	-64(%rbp), %r10
	.endm

	.p2align 6
	.type	spark_bracketed_call, @function
spark_bracketed_call:
.Lthunk:
	.cfi_startproc
	.cfi_personality 0x1b, call_unwound
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$FRAME, %rsp
	movq	%rdi, -8(%rbp)
	movq	%rsi, -16(%rbp)
	movq	%rdx, -24(%rbp)
	movq	%rcx, -32(%rbp)
	movq	%r8, -40(%rbp)
	movq	%r9, -48(%rbp)
	movq	%rax, -56(%rbp)
	movq	%r10, -64(%rbp)
	movq	%r11, -72(%rbp)
	movl	%r11d, %edi
	movq	%rbp, %rsi
	call	call_begin
	testq	%rax, %rax
	jz	.Lbegin_slow
.Lbegun:
	movq	%rax, %r11
	testl	%edx, %edx
	jz	.Lcopied
	/* As the caller has aligned them: vectors of 64 bytes may be among them. */
	subq	%rdx, %rsp
	leaq	-CALL_ARGUMENTS(%rsp), %rax
	subq	%rbp, %rax
	andl	$63, %eax
	subq	%rax, %rsp
.Lcopy:
	movq	CALL_ARGUMENTS - 16(%rbp, %rdx), %rax
	movq	CALL_ARGUMENTS - 8(%rbp, %rdx), %rcx
	movq	%rax, -16(%rsp, %rdx)
	movq	%rcx, -8(%rsp, %rdx)
	subl	$16, %edx
	jnz	.Lcopy
.Lcopied:
	bring_arguments
	call	*%r11
	leaq	-FRAME(%rbp), %rsp
	movq	%rax, -8(%rbp)
	movq	%rdx, -24(%rbp)
	movq	-72(%rbp), %rdi
	movq	%rbp, %rsi
	call	call_end
	testq	%rax, %rax
	jnz	.Lend_slow
.Lended:
	movq	-8(%rbp), %rax
	movq	-24(%rbp), %rdx
	.cfi_remember_state
	leave
	.cfi_def_cfa %rsp, 8
	ret

	.cfi_restore_state
.Lbegin_slow:
	keep_vectors
	movq	-72(%rbp), %rdi
	movq	%rbp, %rsi
	call	call_begin_slow
	bring_vectors
	cmpl	$CALL_TAIL, %edx
	jne	.Lbegun
	movq	%rax, %r11
	bring_arguments
	.cfi_remember_state
	leave
	.cfi_def_cfa %rsp, 8
	jmp	*%r11

	.cfi_restore_state
.Lend_slow:
	movq	%rax, %rdx
	keep_vectors
	movq	-72(%rbp), %rdi
	movq	%rbp, %rsi
	call	call_end_slow
	bring_vectors
	jmp	.Lended
	.cfi_endproc
	.size	spark_bracketed_call, . - spark_bracketed_call

#elif defined(__aarch64__)

/* Of x29: x29 0, x30 8, x0 16 ... x7 72, x8 80 (where a large result goes), index 88. */
#define FRAME CALL_ARGUMENTS

	.text
	.p2align 6
	.type	call_stubs, %function
call_stubs:
	.cfi_startproc
	.set	index, 0
	.rept	CALL_STUBS
	hint	#34
	mov	w17, #index
	b	.Lthunk
	.p2align 4
	.set	index, index + 1
	.endr
	.cfi_endproc
	.size	call_stubs, . - call_stubs

	.macro	keep_vectors
	sub	sp, sp, #CALL_VECTORS
	.set	at, 0
	.irp	pair, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
	keep_pair \pair
	.endr
	.endm

	.macro	bring_vectors
	.irp	pair, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
	bring_pair \pair
	.endr
	add	sp, sp, #CALL_VECTORS
	.endm

	.altmacro
	.macro	pair_at op, first, second
	\op	q\first, q\second, [sp, #\first * 16]
	.endm
	.macro	keep_pair first
	pair_at	stp, \first, %\first+1
	.endm
	.macro	bring_pair first
	pair_at	ldp, \first, %\first+1
	.endm

	.macro	bring_arguments
	ldp	x0, x1, [x29, #16]
	ldp	x2, x3, [x29, #32]
	ldp	x4, x5, [x29, #48]
	ldp	x6, x7, [x29, #64]
	ldr	x8, [x29, #80]
	.endm

	.p2align 6
	.type	spark_bracketed_call, %function
spark_bracketed_call:
.Lthunk:
	.cfi_startproc
	.cfi_personality 0x1b, call_unwound
	stp	x29, x30, [sp, #-FRAME]!
	.cfi_def_cfa_offset FRAME
	.cfi_offset x29, -FRAME
	.cfi_offset x30, -FRAME + 8
	mov	x29, sp
	.cfi_def_cfa_register x29
	stp	x0, x1, [x29, #16]
	stp	x2, x3, [x29, #32]
	stp	x4, x5, [x29, #48]
	stp	x6, x7, [x29, #64]
	stp	x8, x17, [x29, #80]
	mov	x0, x17
	mov	x1, x29
	bl	call_begin
	cbz	x0, .Lbegin_slow
.Lbegun:
	mov	x16, x0
	cbz	x1, .Lcopied
	sub	sp, sp, x1
	add	x2, x29, #CALL_ARGUMENTS
	mov	x3, sp
.Lcopy:
	subs	x1, x1, #16
	ldp	x4, x5, [x2], #16
	stp	x4, x5, [x3], #16
	b.ne	.Lcopy
.Lcopied:
	bring_arguments
	blr	x16
	mov	sp, x29
	str	x0, [x29, #16]
	str	x1, [x29, #32]
	ldr	x0, [x29, #88]
	mov	x1, x29
	bl	call_end
	cbnz	x0, .Lend_slow
.Lended:
	ldr	x0, [x29, #16]
	ldr	x1, [x29, #32]
	.cfi_remember_state
	ldp	x29, x30, [sp], #FRAME
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa sp, 0
	ret

	.cfi_restore_state
.Lbegin_slow:
	keep_vectors
	ldr	x0, [x29, #88]
	mov	x1, x29
	bl	call_begin_slow
	bring_vectors
	mov	w9, #-1
	cmp	x1, x9
	b.ne	.Lbegun
	mov	x16, x0
	bring_arguments
	.cfi_remember_state
	ldp	x29, x30, [sp], #FRAME
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa sp, 0
	br	x16

	.cfi_restore_state
.Lend_slow:
	mov	x2, x0
	keep_vectors
	ldr	x0, [x29, #88]
	mov	x1, x29
	bl	call_end_slow
	bring_vectors
	b	.Lended
	.cfi_endproc
	.size	spark_bracketed_call, . - spark_bracketed_call

#endif

/* The compilers say by themselves that their code has landing pads; so has this. */
#if defined(__CET__)
#include <cet.h>
#elif defined(__ARM_FEATURE_BTI_DEFAULT)
	.section .note.gnu.property, "a"
	.p2align 3
	.word	4, 16, 5
	.asciz	"GNU"
	.word	0xc0000000, 4, 1, 0
#endif

	.section .note.GNU-stack, "", %progbits
