/* SPDX-License-Identifier: MIT */
/*
 * What JIT compilers write of their code, as bytes: rows that are not sound are passed over. Of a row only what covers
 * one of the addresses that are asked for is kept, so that maps of any size take no memory. Code moves: of two rows for
 * an address the later one counts.
 */
#ifndef CLI_SYMBOLS_JIT_NAMES_H
#define CLI_SYMBOLS_JIT_NAMES_H

#include "common/base.h"

struct jit_name {
	char *function;              /* NULL: no row so far */
	char *file;                  /* NULL: not known */
	u32 line;
};

struct jit_names {
	const u64 *addresses;        /* ascending */
	struct jit_name *names;      /* of each */
	size_t n;
};

/* Takes what is in a part of a perf map: lines "START SIZE name", hexadecimal. Returns the bytes of whole lines. */
size_t jit_map_take(struct jit_names *names, const char *text, size_t size);

/* The bytes of a jitdump file. */
void jit_dump_take(struct jit_names *names, const u8 *bytes, size_t size);

/* Frees what was taken. */
void jit_names_free(struct jit_names *names);

#endif
