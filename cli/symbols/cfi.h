/* SPDX-License-Identifier: MIT */
/*
 * Call frame information of one ELF file: how to get from a function's registers to its caller's.
 *
 * From .eh_frame by the search table of .eh_frame_hdr, else by an index of .eh_frame and .debug_frame that is made
 * when it is first needed. What compilers, the C library and linkers emit becomes a rule that unwind.c
 * applies in some ns; anything else is CFI_REMOTE, for libunwind. The bytes are a stranger's: nothing is read
 * beyond them and all work has limits.
 */
#ifndef CLI_SYMBOLS_CFI_H
#define CLI_SYMBOLS_CFI_H

#include "cli/symbols/unwind_arch.h"
#include "common/base.h"

struct cfi;

enum cfi_kind {
	CFI_NONE,                    /* the file tells nothing about this address */
	CFI_BAD,                     /* what it tells is broken */
	CFI_RULE,
	CFI_OUTERMOST,               /* the function has no caller */
	CFI_REMOTE,                  /* expressions that no rule can hold */
};

enum cfi_flags {
	CFI_CFA_LOAD = 1 << 0,       /* the CFA is what lies at register + offset, plus cfa_add */
	CFI_SIGNAL = 1 << 1,         /* a trampoline: its caller was interrupted, not called */
	CFI_SIGNED = 1 << 2,         /* the return address has a signature */
};

struct cfi_rule {
	u8 kind : 4;                 /* enum cfi_kind */
	u8 flags : 4;
	int8_t cfa_add;
	u8 cfa_reg;                  /* CFA: canonical frame address, the caller's stack pointer at the call */
	u8 base_reg;
	u16 saved;                   /* bit: this slot of UNWIND_SAVED lies in memory ... */
	u16 based;                   /* ... at base_reg + at, not at CFA + at */
	s32 cfa_offset;
	s32 at[UNWIND_SLOTS];
};

/* The image is kept, not copied: it has to stay, and must not be the mapping of a file that may get shorter. */
struct cfi *cfi_new(const u8 *image, size_t size);
void cfi_free(struct cfi *cfi);

/*
 * The address in the file's own terms of what is mapped from an offset; each segment has its own distance. False:
 * no segment has it, or the file is no ELF file of this machine.
 */
bool cfi_address(const struct cfi *cfi, u64 offset, u64 *address);

/* The rule at an address. budget: bytes of instructions that may yet be executed; less afterwards. */
void cfi_find(struct cfi *cfi, u64 address, size_t *budget, struct cfi_rule *rule);

/* ---- for libunwind ---- */

/* Where a function lies, and its description, by addresses of the file; false: there is none in .eh_frame. */
struct cfi_function {
	u64 start, end, fde;
};
bool cfi_function(struct cfi *cfi, u64 address, struct cfi_function *function);

/* Up to 8 bytes at an address of the file, zeros behind its end; false: nothing of the file lies there. */
bool cfi_word(const struct cfi *cfi, u64 address, u64 *word);

#endif
