/* SPDX-License-Identifier: MIT */
/* libelf, loaded when a file's symbols or build id are wanted (cli/library.h). For this folder alone. */
#ifndef CLI_SYMBOLS_LIBELF_H
#define CLI_SYMBOLS_LIBELF_H

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>

/* Its functions by their names; those of libelf_load() once it has returned true. */
extern struct libelf {
	__typeof__(&elf_begin) begin;
	__typeof__(&elf_end) end;
	__typeof__(&elf_getdata) getdata;
	__typeof__(&elf_getdata_rawchunk) getdata_rawchunk;
	__typeof__(&elf_getphdrnum) getphdrnum;
	__typeof__(&elf_kind) kind;
	__typeof__(&elf_nextscn) nextscn;
	__typeof__(&elf_strptr) strptr;
	__typeof__(&elf_version) version;
	__typeof__(&gelf_getnote) getnote;
	__typeof__(&gelf_getphdr) getphdr;
	__typeof__(&gelf_getshdr) getshdr;
	__typeof__(&gelf_getsym) getsym;
} libelf;

/* False: it does not load here, which is told once. */
bool libelf_load(void);

#endif
