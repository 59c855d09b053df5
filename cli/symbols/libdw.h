/* SPDX-License-Identifier: MIT */
/*
 * libdw, loaded when debug info is wanted (cli/library.h). For this folder alone. It is not thread-safe on one file,
 * and damaged files can crash it: only children call it (resolve.h).
 */
#ifndef CLI_SYMBOLS_LIBDW_H
#define CLI_SYMBOLS_LIBDW_H

#include <stdbool.h>

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>

/* Its functions by their names without "dwarf_"; those of libdw_load() once it has returned true. */
extern struct libdw {
	__typeof__(&dwarf_begin) begin;
	__typeof__(&dwarf_end) end;
	__typeof__(&dwarf_aggregate_size) aggregate_size;
	__typeof__(&dwarf_attr) attr;
	__typeof__(&dwarf_attr_integrate) attr_integrate;
	__typeof__(&dwarf_child) child;
	__typeof__(&dwarf_cu_info) cu_info;
	__typeof__(&dwarf_dieoffset) dieoffset;
	__typeof__(&dwarf_filesrc) filesrc;
	__typeof__(&dwarf_formref_die) formref_die;
	__typeof__(&dwarf_formstring) formstring;
	__typeof__(&dwarf_formudata) formudata;
	__typeof__(&dwarf_get_units) get_units;
	__typeof__(&dwarf_getalt) getalt;
	__typeof__(&dwarf_getarange_addr) getarange_addr;
	__typeof__(&dwarf_getarangeinfo) getarangeinfo;
	__typeof__(&dwarf_getaranges) getaranges;
	__typeof__(&dwarf_getsrc_die) getsrc_die;
	__typeof__(&dwarf_getsrcfiles) getsrcfiles;
	__typeof__(&dwarf_lineno) lineno;
	__typeof__(&dwarf_linesrc) linesrc;
	__typeof__(&dwarf_offdie) offdie;
	__typeof__(&dwarf_peel_type) peel_type;
	__typeof__(&dwarf_ranges) ranges;
	__typeof__(&dwarf_siblingof) siblingof;
	__typeof__(&dwarf_srclang) srclang;
	__typeof__(&dwarf_tag) tag;
} libdw;
#endif

/* False: sparkctl was built without it, or it does not load here, which is told once. */
bool libdw_load(void);

#endif
