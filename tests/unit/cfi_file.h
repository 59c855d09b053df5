/* SPDX-License-Identifier: MIT */
/*
 * A small ELF file of one function whose call frame information is given: for tests and fuzzers. Its two segments
 * lie at distances of their own from their places in the file.
 */
#ifndef TESTS_UNIT_CFI_FILE_H
#define TESTS_UNIT_CFI_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "cli/symbols/unwind_arch.h"
#include "common/base.h"

enum {
	CFI_FILE_SIZE = 0x2000,
	CFI_FILE_PROGRAM = 0x800,    /* bytes of instructions at most */
	CFI_FILE_HDR = 0x200, CFI_FILE_FRAME = 0x280, CFI_FILE_NAMES = 0x170,
	CFI_FILE_CODE = 0x1000,      /* offset of the function */
	CFI_FILE_CODE_SIZE = 0x100,
	CFI_FILE_ADDRESS = 0x5000,   /* its address */
};

enum cfi_file_form { CFI_FILE_TABLE, CFI_FILE_SECTION, CFI_FILE_DEBUG };

static inline void cfi_file_put(u8 **at, u64 value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		*(*at)++ = (u8)(value >> (8 * i));
}

/* Writes both parts; returns the address of the second one, the description. */
static inline u64 cfi_file_frame(u8 *image, enum cfi_file_form form, const u8 *program, size_t n)
{
	bool debug = form == CFI_FILE_DEBUG;
	u8 *first = image + CFI_FILE_FRAME, *at = first, *length, *second;

	cfi_file_put(&at, 20, 4);
	cfi_file_put(&at, debug ? UINT32_MAX : 0, 4);
	memcpy(at, debug ? "\1\0\1\x78" : "\1zR\0\1\x78", debug ? 4 : 6); /* version, letters, alignments 1 and -8 */
	at += debug ? 4 : 6;
	*at++ = UNWIND_RETURN;
	if (!debug)
		cfi_file_put(&at, 0x1b01, 2); /* pointers: distances of 4 bytes */
	at = first + 24;
	second = length = at;
	at += 4;
	cfi_file_put(&at, debug ? 0 : (u64)(at - first), 4);
	if (debug) {
		cfi_file_put(&at, CFI_FILE_ADDRESS, 8);
		cfi_file_put(&at, CFI_FILE_CODE_SIZE, 8);
	} else {
		cfi_file_put(&at, CFI_FILE_ADDRESS - (u64)(at - image), 4);
		cfi_file_put(&at, CFI_FILE_CODE_SIZE, 4);
		*at++ = 0;
	}
	memcpy(at, program, n);
	at += n;
	cfi_file_put(&length, (u64)(at - second) - 4, 4);
	cfi_file_put(&at, 0, 4);
	return (u64)(second - image);
}

static inline void cfi_file_sections(u8 *image, bool debug)
{
	Elf64_Shdr s[3] = {
		[1] = { .sh_name = debug ? 11 : 1, .sh_type = SHT_PROGBITS, .sh_addr = debug ? 0 : CFI_FILE_FRAME,
			.sh_offset = CFI_FILE_FRAME, .sh_size = CFI_FILE_CODE - CFI_FILE_FRAME },
		[2] = { .sh_type = SHT_STRTAB, .sh_offset = CFI_FILE_NAMES, .sh_size = 0x18 },
	};
	Elf64_Ehdr e;

	memcpy(image + CFI_FILE_CODE + CFI_FILE_CODE_SIZE, s, sizeof(s));
	memcpy(image + CFI_FILE_NAMES, "\0.eh_frame\0.debug_frame", 0x18);
	memcpy(&e, image, sizeof(e));
	e.e_shoff = CFI_FILE_CODE + CFI_FILE_CODE_SIZE;
	e.e_shnum = 3;
	e.e_shstrndx = 2;
	e.e_shentsize = sizeof(s[0]);
	memcpy(image, &e, sizeof(e));
}

/* n instructions' bytes hold for all of the function. image: CFI_FILE_SIZE bytes. */
static inline void cfi_file_make(u8 *image, enum cfi_file_form form, const u8 *program, size_t n)
{
	Elf64_Ehdr e = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_DYN, .e_machine = UNWIND_MACHINE, .e_version = EV_CURRENT, .e_phoff = sizeof(e),
			 .e_ehsize = sizeof(e), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 3 };
	Elf64_Phdr p[3] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = CFI_FILE_CODE, .p_memsz = CFI_FILE_CODE },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = CFI_FILE_CODE, .p_vaddr = CFI_FILE_ADDRESS,
		  .p_filesz = 0x1000, .p_memsz = 0x1000 },
		{ .p_type = form == CFI_FILE_TABLE ? PT_GNU_EH_FRAME : PT_NULL, .p_vaddr = CFI_FILE_HDR },
	};
	u8 *at = image + CFI_FILE_HDR;
	u64 description;

	memset(image, 0, CFI_FILE_SIZE);
	memcpy(image, &e, sizeof(e));
	memcpy(image + sizeof(e), p, sizeof(p));
	description = cfi_file_frame(image, form, program, n);
	if (form != CFI_FILE_TABLE) {
		cfi_file_sections(image, form == CFI_FILE_DEBUG);
		return;
	}
	cfi_file_put(&at, 0x3b031b01, 4); /* version, a distance, a number, pairs of distances from here */
	cfi_file_put(&at, CFI_FILE_FRAME - (u64)(at - image), 4);
	cfi_file_put(&at, 1, 4);
	cfi_file_put(&at, CFI_FILE_ADDRESS - CFI_FILE_HDR, 4);
	cfi_file_put(&at, description - CFI_FILE_HDR, 4);
}

#endif
