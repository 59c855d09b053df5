/* SPDX-License-Identifier: MIT */
/*
 * Functions, lines and inlined functions of addresses by DWARF. In a child.
 *
 * Of a compile unit the functions are listed once; only those in which an address lies are looked into. dwarf_getscopes
 * walks the unit anew for each address, which takes a millisecond.
 */
#ifndef CLI_SYMBOLS_DWARF_NAMES_H
#define CLI_SYMBOLS_DWARF_NAMES_H

#include "cli/symbols/libdw.h"
#include "cli/symbols/resolve_build.h"

#define DWARF_NONE (~0u)

/* What is done for one file. */
struct dwarf_names {
	const struct resolve_request *request;
	const struct resolve_options *options;
	const struct elf_symbols *symbols;
	struct resolve_out *out;
	bool *done;                  /* addresses that were told */
};

#ifdef HAVE_LIBDW

/* ---- dwarf_units.c: which unit an address belongs to */

struct dwarf_ask {
	Dwarf_Off unit;              /* offset of the unit's entry */
	u32 address;                 /* in the request */
};

/* All addresses that lie in a unit, by unit and address; NULL: none, or no memory. */
struct dwarf_ask *dwarf_units(Dwarf *dwarf, const struct resolve_request *request, const bool *done, size_t *n);

/* ---- dwarf_scopes.c: what is inlined in a function */

/* A range of an inlined function. */
struct dwarf_scope {
	u64 low, high;
	Dwarf_Die die;
	u32 id, parent;              /* ranges of one have the same id; DWARF_NONE: in the function itself */
};

struct dwarf_scopes {
	struct dwarf_scope *list;
	size_t n, room;
	u32 ids;
};

/* Fills the list with what is inlined in a function, outer before inner. */
void dwarf_scopes_fill(struct dwarf_scopes *scopes, Dwarf_Die *function);
/* Inlined functions at an address, outer before inner; at most RESOLVE_CHAIN_MOST. Returns how many. */
size_t dwarf_scopes_at(const struct dwarf_scopes *scopes, u64 address, const Dwarf_Die **chain);
/* Finds the function of each address; NULL in .addr: none. The addresses ascend. */
void dwarf_functions(Dwarf_Die *unit, const u64 *addresses, size_t n, Dwarf_Die *functions);

#endif

/* Tells of all addresses that the debug info in a file knows. */
void dwarf_names_tell(const struct dwarf_names *names, const struct elf_file *elf);

#endif
