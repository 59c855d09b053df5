/* SPDX-License-Identifier: MIT */
/* See libelf.h. */
#ifdef HAVE_LIBELF
#include "cli/symbols/libelf.h"

#include "cli/library.h"
#include "cli/log.h"
#include "common/base.h"

#define LIBELF_SONAME "libelf.so.1"

struct libelf libelf;

bool libelf_load(void)
{
	static const struct library_function functions[] = {
		{ "elf_begin", &libelf.begin },
		{ "elf_end", &libelf.end },
		{ "elf_getdata", &libelf.getdata },
		{ "elf_getdata_rawchunk", &libelf.getdata_rawchunk },
		{ "elf_getphdrnum", &libelf.getphdrnum },
		{ "elf_kind", &libelf.kind },
		{ "elf_nextscn", &libelf.nextscn },
		{ "elf_strptr", &libelf.strptr },
		{ "elf_version", &libelf.version },
		{ "gelf_getnote", &libelf.getnote },
		{ "gelf_getphdr", &libelf.getphdr },
		{ "gelf_getshdr", &libelf.getshdr },
		{ "gelf_getsym", &libelf.getsym },
	};
	static int state = -1;

	if (state >= 0)
		return state;
	state = library_load(LIBELF_SONAME, functions, ARRAY_SIZE(functions));
	if (state)
		libelf.version(EV_CURRENT);
	else
		verbose(1, "no symbols or build ids of files: %s", library_problem());
	return state;
}
#endif
