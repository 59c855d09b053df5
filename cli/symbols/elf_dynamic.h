/* SPDX-License-Identifier: MIT */
/*
 * What the loader reads of an object (ld.so(8), the System V ABI, "Dynamic Linking"): what it needs and where that is
 * to be found, the functions that it has for others, and the slots through which it calls functions. By its segments,
 * so that sections may be missing. Of 64-bit files; each string lies in the table of names and ends there.
 */
#ifndef CLI_SYMBOLS_ELF_DYNAMIC_H
#define CLI_SYMBOLS_ELF_DYNAMIC_H

#include "cli/symbols/elf_file.h"

enum elf_slot_kind {
	ELF_SLOT_PLT = 1 << 0,       /* of the procedure linkage table: JUMP_SLOT */
	ELF_SLOT_GOT = 1 << 1,       /* calls without it, and addresses that are taken: GLOB_DAT */
};

struct elf_function {
	const char *name;
	u64 address;                 /* in the file's own terms */
	bool chosen;                 /* the loader asks a function for the address (STT_GNU_IFUNC) */
	bool variant;                /* it keeps more registers than a call does (STO_AARCH64_VARIANT_PCS) */
};

struct elf_slot {
	const char *name;
	u8 kinds;                    /* mask of enum elf_slot_kind */
	bool variant;
};

struct elf_dynamic {
	const char *soname, *rpath, *runpath; /* "" where there is none */
	bool no_default;             /* the loader's own folders are left out (DF_1_NODEFLIB) */
	const char **needed;
	size_t nneeded;
	struct elf_function *functions;
	size_t nfunctions;
	struct elf_slot *slots;      /* one for each symbol */
	size_t nslots;
	char *names;                 /* what all of these point into */
};

/* 0; -ENOENT: it has nothing for the loader; -ENOEXEC: it is damaged, or of 32 bits; -ENOMEM. */
int elf_dynamic_read(struct elf_dynamic *dynamic, const struct elf_file *elf);
void elf_dynamic_free(struct elf_dynamic *dynamic);

#endif
