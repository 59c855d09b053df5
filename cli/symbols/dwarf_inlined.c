/* SPDX-License-Identifier: MIT */
/* Whether a function was inlined, by the debug info of its file; see function.h. */
#define _GNU_SOURCE
#include "cli/symbols/function.h"
#include "cli/symbols/libdw.h"

#ifdef HAVE_LIBDW

#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEPTH_MOST 64                /* of entries in each other */
#define SECONDS_MOST 5               /* of CPU time */

static bool die_inlined(Dwarf_Die *die, const char *name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word how;
	const char *own;

	if (libdw.tag(die) != DW_TAG_subprogram || !libdw.attr(die, DW_AT_inline, &attribute) ||
	    libdw.formudata(&attribute, &how) || (how != DW_INL_inlined && how != DW_INL_declared_inlined))
		return false;
	own = libdw.attr(die, DW_AT_linkage_name, &attribute) ? libdw.formstring(&attribute) : NULL;
	if (own && !strcmp(own, name))
		return true;
	own = libdw.attr(die, DW_AT_name, &attribute) ? libdw.formstring(&attribute) : NULL;
	return own && !strcmp(own, name);
}

static bool children_inlined(Dwarf_Die *parent, const char *name, u32 depth)
{
	Dwarf_Die die;
	int tag;

	if (depth > DEPTH_MOST || libdw.child(parent, &die))
		return false;
	do {
		tag = libdw.tag(&die);
		if (die_inlined(&die, name))
			return true;
		if ((tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type ||
		     tag == DW_TAG_class_type) &&
		    children_inlined(&die, name, depth + 1))
			return true;
	} while (libdw.siblingof(&die, &die) == 0);
	return false;
}

static bool file_inlined(int fd, const char *name)
{
	Dwarf *dwarf = libdw.begin(fd, DWARF_C_READ);
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (dwarf && libdw.get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
		if (children_inlined(&die, name, 0))
			return true;
	return false;
}

bool function_inlined(int fd, const char *name)
{
	struct rlimit most = { SECONDS_MOST, SECONDS_MOST }, none = { 0, 0 };
	int status = 0;
	pid_t child;

	if (!libdw_load())
		return false;
	child = fork();
	if (!child) {
		setrlimit(RLIMIT_CPU, &most);
		setrlimit(RLIMIT_CORE, &none);
		_exit(file_inlined(fd, name) ? 1 : 0);
	}
	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

#else

bool function_inlined(int fd, const char *name)
{
	(void)fd;
	(void)name;
	return false;
}

#endif
