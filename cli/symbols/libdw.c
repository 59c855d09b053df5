/* SPDX-License-Identifier: MIT */
/* See libdw.h. */
#include "cli/symbols/libdw.h"

#ifdef HAVE_LIBDW
#include "cli/library.h"
#include "cli/log.h"
#include "common/base.h"

#define LIBDW_SONAME "libdw.so.1"

struct libdw libdw;

bool libdw_load(void)
{
	static const struct library_function functions[] = {
		{ "dwarf_begin", &libdw.begin },
		{ "dwarf_end", &libdw.end },
		{ "dwarf_aggregate_size", &libdw.aggregate_size },
		{ "dwarf_attr", &libdw.attr },
		{ "dwarf_attr_integrate", &libdw.attr_integrate },
		{ "dwarf_child", &libdw.child },
		{ "dwarf_cu_info", &libdw.cu_info },
		{ "dwarf_dieoffset", &libdw.dieoffset },
		{ "dwarf_filesrc", &libdw.filesrc },
		{ "dwarf_formref_die", &libdw.formref_die },
		{ "dwarf_formstring", &libdw.formstring },
		{ "dwarf_formudata", &libdw.formudata },
		{ "dwarf_get_units", &libdw.get_units },
		{ "dwarf_getalt", &libdw.getalt },
		{ "dwarf_getarange_addr", &libdw.getarange_addr },
		{ "dwarf_getarangeinfo", &libdw.getarangeinfo },
		{ "dwarf_getaranges", &libdw.getaranges },
		{ "dwarf_getsrc_die", &libdw.getsrc_die },
		{ "dwarf_getsrcfiles", &libdw.getsrcfiles },
		{ "dwarf_lineno", &libdw.lineno },
		{ "dwarf_linesrc", &libdw.linesrc },
		{ "dwarf_offdie", &libdw.offdie },
		{ "dwarf_peel_type", &libdw.peel_type },
		{ "dwarf_ranges", &libdw.ranges },
		{ "dwarf_siblingof", &libdw.siblingof },
		{ "dwarf_srclang", &libdw.srclang },
		{ "dwarf_tag", &libdw.tag },
	};
	static int state = -1;

	if (state >= 0)
		return state;
	state = library_load(LIBDW_SONAME, functions, ARRAY_SIZE(functions));
	if (!state)
		verbose(1, "no source lines and no inlined functions: %s", library_problem());
	return state;
}

#else

bool libdw_load(void)
{
	return false;
}

#endif
