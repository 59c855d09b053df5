/* SPDX-License-Identifier: MIT */
/* See libunwind.h. Its library for targets of this machine has all names with a prefix. */
#include "cli/symbols/unwind_arch.h"

#if defined(HAVE_LIBUNWIND) && !UNWIND_NONE
#include "cli/library.h"
#include "cli/log.h"
#include "cli/symbols/libunwind.h"
#include "common/base.h"

struct libunwind libunwind;

bool libunwind_load(void)
{
	static const struct library_function functions[] = {
		{ UNWIND_LIBUNWIND_PREFIX "create_addr_space", &libunwind.create_addr_space },
		{ UNWIND_LIBUNWIND_PREFIX "get_reg", &libunwind.get_reg },
		{ UNWIND_LIBUNWIND_PREFIX "init_remote", &libunwind.init_remote },
		{ UNWIND_LIBUNWIND_PREFIX "dwarf_search_unwind_table", &libunwind.search_unwind_table },
		{ UNWIND_LIBUNWIND_PREFIX "step", &libunwind.step },
	};
	static int state = -1;

	if (state >= 0)
		return state;
	state = library_load(UNWIND_LIBUNWIND_SONAME, functions, ARRAY_SIZE(functions));
	if (!state)
		verbose(1, "some stacks end early: %s", library_problem());
	return state;
}
#endif
