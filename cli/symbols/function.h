/* SPDX-License-Identifier: MIT */
/* Functions of ELF files for probes: static ones too, of separate debug files, and why there is none to probe. */
#ifndef CLI_SYMBOLS_FUNCTION_H
#define CLI_SYMBOLS_FUNCTION_H

#include "cli/symbols/elf_file.h"

struct function {
	const char *name;
	u64 offset;                  /* in the file, of its first instruction */
	bool stepped;                /* the kernel can't do its first instruction's work for it: a probe there costs more */
	bool indirect;               /* an IFUNC: this is what chooses the function, once */
};

/* What of a file forbids to catch its functions' returns, or makes it dangerous. */
struct function_traits {
	bool moves_stacks;           /* of the Go runtime */
	bool throws;                 /* it has to do with exceptions */
};

/*
 * All functions that the file at path has code of, by its symbol tables, and those of its debug file where it has no
 * full one itself. Stops when the callback returns non-zero, and returns that; else 0, or -ENOEXEC, -ENOMEM.
 */
int functions_each(int fd, const char *path, struct function_traits *traits,
		   int (*each)(void *data, const struct function *function), void *data);

/* Whether a probe at such code makes the kernel single-step it: of x86-64 that is known, others are taken to be. */
bool function_stepped(u16 machine, const u8 code[4]);

/* Whether the file's debug info has a function of that name that was inlined. In a child, since libdw may crash. */
bool function_inlined(int fd, const char *name);

#endif
