/* SPDX-License-Identifier: MIT */
/* Instructions as text, by capstone, which is loaded when they are wanted (cli/library.h). */
#ifndef CLI_SYMBOLS_DISASM_H
#define CLI_SYMBOLS_DISASM_H

#include "common/base.h"

#define DISASM_TEXT 224

struct disasm_instruction {
	u64 address;
	u32 size;                    /* bytes; at least 1 */
	char text[DISASM_TEXT];      /* "mov    %rax, %rbx"; "(bad)" for bytes that are none */
};

/*
 * The instructions of some code, whatever its bytes are. machine: EM_ of elf(5). 0 and the list, to be freed, or -1
 * and the reason.
 */
int disasm(u16 machine, const u8 *bytes, size_t size, u64 address, struct disasm_instruction **list, size_t *n,
	const char **why);

#endif
