/* SPDX-License-Identifier: MIT */
/* Functions of ELF files, by name. */
#ifndef CLI_SYMBOLS_SYMBOL_H
#define CLI_SYMBOLS_SYMBOL_H

#include "common/base.h"

/* Symbols can be read: sparkctl was built for libelf, and it loads. */
bool symbol_available(void);

/*
 * The offset in the file at which a function's code lies. Returns 0, -ENOENT, -ENOEXEC for a file
 * that is no ELF file, or -ENOSYS in a build without libelf. The descriptor stays open.
 */
int symbol_find(int fd, const char *name, u64 *offset);

/*
 * All functions that are defined in the file, with their offsets; a name may come twice. Stops when
 * the callback returns non-zero and returns that; else as symbol_find.
 */
int symbol_each(int fd, int (*each)(void *data, const char *name, u64 offset), void *data);

#endif
