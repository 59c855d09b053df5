/* SPDX-License-Identifier: MIT */
/* Functions of a unit, and what is inlined in them. */
#include <stdlib.h>
#include <string.h>

#include "cli/symbols/dwarf_names.h"

#ifdef HAVE_LIBDW

#define DEPTH_MOST 512               /* of entries in each other */
#define SCOPES_MOST (1u << 22)

/* ---- functions of a unit */

struct function_search {
	const u64 *addresses;
	size_t n;
	Dwarf_Die *functions;
	bool types;                  /* functions lie in types as well */
};

/* The first address that is not below. */
static size_t search_from(const struct function_search *search, u64 low)
{
	size_t from = 0, to = search->n, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (search->addresses[middle] < low)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static void search_function(const struct function_search *search, Dwarf_Die *die)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	size_t i;

	while ((at = libdw.ranges(die, at, &base, &low, &high)) > 0)
		for (i = search_from(search, low); i < search->n && search->addresses[i] < high; i++)
			search->functions[i] = *die;
}

static void search_children(const struct function_search *search, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MOST || libdw.child(parent, &die) != 0)
		return;
	do {
		switch (libdw.tag(&die)) {
		case DW_TAG_subprogram:
			search_function(search, &die);
			/* A function in a function has its code outside of it, in some languages. */
			if (search->types)
				search_children(search, &die, depth + 1);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
			search_children(search, &die, depth + 1);
			break;
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
		case DW_TAG_enumeration_type:
		case DW_TAG_lexical_block:
			if (search->types)
				search_children(search, &die, depth + 1);
			break;
		default:
			break;
		}
	} while (libdw.siblingof(&die, &die) == 0);
}

/* All functions with code lie in the unit or a namespace. */
static bool language_is_plain(int language)
{
	switch (language) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
		return true;
	default:
		return false;
	}
}

void dwarf_functions(Dwarf_Die *unit, const u64 *addresses, size_t n, Dwarf_Die *functions)
{
	struct function_search search = { .addresses = addresses, .n = n, .functions = functions };

	memset(functions, 0, n * sizeof(*functions));
	search.types = !language_is_plain(libdw.srclang(unit));
	search_children(&search, unit, 0);
}

/* ---- what is inlined */

static bool scopes_add(struct dwarf_scopes *scopes, const struct dwarf_scope *scope)
{
	size_t room = scopes->room ? 2 * scopes->room : 64;
	struct dwarf_scope *list;

	if (scopes->n == scopes->room) {
		list = room <= SCOPES_MOST ? realloc(scopes->list, room * sizeof(*list)) : NULL;
		if (!list)
			return false;
		scopes->list = list;
		scopes->room = room;
	}
	scopes->list[scopes->n++] = *scope;
	return true;
}

static void scopes_walk(struct dwarf_scopes *scopes, Dwarf_Die *parent, u32 parent_id, unsigned int depth)
{
	struct dwarf_scope scope = { .parent = parent_id };
	Dwarf_Addr base, low, high;
	ptrdiff_t at;

	if (depth > DEPTH_MOST || libdw.child(parent, &scope.die) != 0)
		return;
	do {
		int tag = libdw.tag(&scope.die);

		if (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block)
			scopes_walk(scopes, &scope.die, parent_id, depth + 1);
		if (tag != DW_TAG_inlined_subroutine)
			continue;
		scope.id = scopes->ids++;
		for (at = 0; (at = libdw.ranges(&scope.die, at, &base, &low, &high)) > 0;) {
			scope.low = low;
			scope.high = high;
			if (low < high && !scopes_add(scopes, &scope))
				return;
		}
		scopes_walk(scopes, &scope.die, scope.id, depth + 1);
	} while (libdw.siblingof(&scope.die, &scope.die) == 0);
}

void dwarf_scopes_fill(struct dwarf_scopes *scopes, Dwarf_Die *function)
{
	scopes->n = 0;
	scopes->ids = 0;
	scopes_walk(scopes, function, DWARF_NONE, 0);
}

size_t dwarf_scopes_at(const struct dwarf_scopes *scopes, u64 address, const Dwarf_Die **chain)
{
	u32 parent = DWARF_NONE;
	size_t i, n = 0;

	for (i = 0; i < scopes->n && n < RESOLVE_CHAIN_MOST - 1; i++) {
		const struct dwarf_scope *scope = &scopes->list[i];

		if (scope->parent != parent || address < scope->low || address >= scope->high)
			continue;
		chain[n++] = &scope->die;
		parent = scope->id;
	}
	return n;
}
#endif
