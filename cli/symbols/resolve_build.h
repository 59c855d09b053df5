/* SPDX-License-Identifier: MIT */
/* What the files of resolving share; see resolve.h. All but resolve.c runs in a child. */
#ifndef CLI_SYMBOLS_RESOLVE_BUILD_H
#define CLI_SYMBOLS_RESOLVE_BUILD_H

#include "cli/symbols/object_build.h"
#include "cli/symbols/resolve.h"

#define RESOLVE_NAME_MOST 4096u      /* bytes of a name or a path that is told */
#define RESOLVE_CHAIN_MOST 128u      /* functions inlined into each other */

enum resolve_row_kind {
	ROW_NAMES = 1,               /* an address: its reason and lines */
	ROW_NOTE,                    /* texts about the object */
	ROW_DEBUG_FILE,
	ROW_DEBUG_TRIED,
};

/* What a child writes: rows, each followed by its lines or by one text. */
struct resolve_row {
	u32 kind, address, reason, nlines;
};

struct resolve_row_line {
	u32 function, file;          /* bytes of each with the zero at its end; 0: NULL */
	u32 line, unused;
};

/* ---- resolve_out.c: writing the rows */

struct resolve_out {
	int fd;
	size_t used;
	u64 room;                    /* bytes that may still be written */
	u8 buffer[1 << 16];
};

void resolve_out_init(struct resolve_out *out, int fd);
void resolve_out_names(struct resolve_out *out, size_t address, enum resolve_reason reason,
	const struct resolve_line *lines, size_t n);
void resolve_out_text(struct resolve_out *out, enum resolve_row_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void resolve_out_flush(struct resolve_out *out);

/* Calls back for each row that is whole; seen[i] is set for each address that was told. */
void resolve_rows(const u8 *bytes, size_t size, const struct resolve_request *request, bool *seen, resolve_found *found,
	void *data);

/* ---- what a child does: one for each kind of object. done: addresses that have been told before, and are. */

void resolve_file(const struct resolve_request *request, const struct resolve_options *options, bool *done,
	struct resolve_out *out);
void resolve_kernel(const struct resolve_request *request, struct resolve_out *out);
void resolve_jit(const struct resolve_request *request, struct resolve_out *out);

/* ---- elf_symbols.c: functions of symbol tables */

struct elf_symbol {
	u64 address, size;
	u64 reach;                   /* the greatest end of all up to this one */
	const char *name;
	u8 rank;                     /* of several at one address the least is told */
};

struct elf_symbols {
	struct elf_symbol *list;
	size_t n, room;
	char *strings[8];            /* tables of names */
	size_t nstrings;
	u64 edges[64];               /* ends of sections of code */
	size_t nedges;
};

/* Adds the tables of a file; the names are copies. */
void elf_symbols_add(struct elf_symbols *symbols, const struct elf_file *elf);
/* To be called after the last file. */
void elf_symbols_sort(struct elf_symbols *symbols);
/* NULL: none covers it. */
const struct elf_symbol *elf_symbols_covering(const struct elf_symbols *symbols, u64 address);
const char *elf_symbols_find(const struct elf_symbols *symbols, u64 address);
void elf_symbols_free(struct elf_symbols *symbols);
/* Room for names of one's own, as long as the symbols; NULL: none. */
char *elf_symbols_strings(struct elf_symbols *symbols, size_t size);
/* Adds one function, whose name stays where it is; to be sorted after that. */
bool elf_symbols_put(struct elf_symbols *symbols, u64 address, u64 size, const char *name);

/* ---- elf_plt.c: names for calls of other objects, by symbols that are sorted, and will be again */

void elf_symbols_add_plt(struct elf_symbols *symbols, const struct elf_file *elf);

/* ---- mini_symbols.c: those of .gnu_debugdata, where liblzma is there to unpack them */

void mini_symbols_add(struct elf_symbols *symbols, const struct elf_file *elf);

#endif
