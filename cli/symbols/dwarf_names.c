/* SPDX-License-Identifier: MIT */
/* See dwarf_names.h. */
#include "cli/symbols/dwarf_names.h"

#ifdef HAVE_LIBDW
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/symbols/demangle.h"

/* One unit. */
struct unit {
	const struct dwarf_names *names;
	Dwarf_Die die;               /* of the skeleton, where the rest is in another file */
	Dwarf_Die whole;             /* of what has the functions */
	Dwarf_Files *files;
	struct dwarf_scopes scopes;
	/* Readable names of one chain. */
	char text[RESOLVE_CHAIN_MOST][DEMANGLE_MOST];
	/* Where the compiler was called; its files where that is not in their names. */
	const char *folder;
	char path[RESOLVE_CHAIN_MOST + 1][PATH_MAX];
};

static const char *attribute_text(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return libdw.attr_integrate(die, name, &attribute) ? libdw.formstring(&attribute) : NULL;
}

static u64 attribute_number(const Dwarf_Die *die, unsigned int name, u64 missing)
{
	Dwarf_Die copy = *die;
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return libdw.attr(&copy, name, &attribute) && libdw.formudata(&attribute, &value) == 0 ? value : missing;
}

/* The linkage name says more where it is a mangled one; else it is for the linker alone ("__GI_qsort"). */
static const char *die_function(const struct unit *unit, const Dwarf_Die *die, char *buffer, size_t size)
{
	Dwarf_Die copy = *die;
	const char *name = attribute_text(&copy, DW_AT_linkage_name);

	if (!name)
		name = attribute_text(&copy, DW_AT_MIPS_linkage_name);
	if (name && name[0] == '_' && (name[1] == 'Z' || name[1] == 'R'))
		return unit->names->options->raw_names ? name : demangle(name, buffer, size);
	return attribute_text(&copy, DW_AT_name);
}

/* libdw has a name of its own for files without one. */
static const char *file_known(const char *file)
{
	return file && strcmp(file, "???") ? file : NULL;
}

/* The name as it is, or behind the folder that it is relative to. */
static const char *unit_path(struct unit *unit, size_t place, const char *file)
{
	size_t size = sizeof(unit->path[place]);

	file = file_known(file);
	if (!file || *file == '/' || !unit->folder || !*unit->folder)
		return file;
	if ((size_t)snprintf(unit->path[place], size, "%s/%s", unit->folder, file) >= size)
		return file;
	return unit->path[place];
}

static const char *unit_file(struct unit *unit, size_t place, u64 number)
{
	size_t n;

	if (!unit->files && libdw.getsrcfiles(&unit->whole, &unit->files, &n) &&
	    libdw.getsrcfiles(&unit->die, &unit->files, &n))
		return NULL;
	return unit_path(unit, place, libdw.filesrc(unit->files, number, NULL, NULL));
}

static void unit_line(struct unit *unit, u64 address, struct resolve_line *line)
{
	Dwarf_Line *row = libdw.getsrc_die(&unit->die, address);
	int number = 0;

	if (!row)
		return;
	line->file = unit_path(unit, 0, libdw.linesrc(row, NULL, NULL));
	if (libdw.lineno(row, &number) == 0 && number > 0)
		line->line = (u32)number;
}

/* The chain of one address: the line is the innermost function's, each call's is that of the one around it. */
static void unit_tell(struct unit *unit, size_t address, const Dwarf_Die *function)
{
	const struct dwarf_names *names = unit->names;
	struct resolve_line lines[RESOLVE_CHAIN_MOST];
	const Dwarf_Die *chain[RESOLVE_CHAIN_MOST];
	u64 at = names->request->addresses[address];
	size_t n = function->addr ? dwarf_scopes_at(&unit->scopes, at, chain) : 0, i;

	memset(lines, 0, (n + 1) * sizeof(lines[0]));
	unit_line(unit, at, &lines[0]);
	for (i = 0; i < n; i++) {
		const Dwarf_Die *die = chain[n - 1 - i];

		lines[i].function = die_function(unit, die, unit->text[i], sizeof(unit->text[i]));
		lines[i + 1].file = unit_file(unit, i + 1, attribute_number(die, DW_AT_call_file, UINT64_MAX));
		lines[i + 1].line = (u32)attribute_number(die, DW_AT_call_line, 0);
	}
	if (function->addr)
		lines[n].function = die_function(unit, function, unit->text[n], sizeof(unit->text[n]));
	if (!lines[n].function) {
		lines[n].function = elf_symbols_find(names->symbols, at);
		if (lines[n].function && !names->options->raw_names)
			lines[n].function = demangle(lines[n].function, unit->text[n], sizeof(unit->text[n]));
	}
	if (!lines[n].function && !lines[0].file)
		return;
	names->done[address] = true;
	resolve_out_names(names->out, address, lines[n].function ? RESOLVE_NAMED : RESOLVE_STRIPPED, lines, n + 1);
}

/* Debug info in a file of its own that is not there, or in a package that this libdw does not read: its name. */
static void unit_split(struct unit *unit)
{
	char package[4096];

	const char *name = attribute_text(&unit->die, DW_AT_dwo_name);
	const char *folder = attribute_text(&unit->die, DW_AT_comp_dir);

	if (!name)
		name = attribute_text(&unit->die, DW_AT_GNU_dwo_name);
	snprintf(package, sizeof(package), "%s.dwp", unit->names->request->object->path);
	if (access(package, R_OK) == 0)
		resolve_out_text(unit->names->out, ROW_NOTE, "split debug info not read: %s needs libdw 0.191",
			package);
	else if (name && *name != '/' && folder)
		resolve_out_text(unit->names->out, ROW_NOTE, "split debug info not found: %s/%s", folder, name);
	else if (name)
		resolve_out_text(unit->names->out, ROW_NOTE, "split debug info not found: %s", name);
}

static bool unit_open(struct unit *unit, Dwarf *dwarf, Dwarf_Off offset)
{
	Dwarf_Die whole = { .addr = NULL };
	uint8_t type = 0;

	unit->files = NULL;
	if (!libdw.offdie(dwarf, offset, &unit->die) ||
	    libdw.cu_info(unit->die.cu, NULL, &type, NULL, &whole, NULL, NULL, NULL))
		return false;
	unit->whole = unit->die;
	unit->folder = attribute_text(&unit->die, DW_AT_comp_dir);
	if (type == DW_UT_skeleton && whole.addr)
		unit->whole = whole;
	else if (type == DW_UT_skeleton)
		unit_split(unit);
	return true;
}

/* All addresses of one unit. */
static void unit_resolve(struct unit *unit, Dwarf *dwarf, const struct dwarf_ask *asks, size_t n)
{
	u64 *addresses = calloc(n, sizeof(*addresses));
	Dwarf_Die *functions = calloc(n, sizeof(*functions));
	const void *filled = NULL;
	size_t i;

	if (addresses && functions && unit_open(unit, dwarf, asks[0].unit)) {
		for (i = 0; i < n; i++)
			addresses[i] = unit->names->request->addresses[asks[i].address];
		dwarf_functions(&unit->whole, addresses, n, functions);
		for (i = 0; i < n; i++) {
			if (functions[i].addr && functions[i].addr != filled)
				dwarf_scopes_fill(&unit->scopes, &functions[i]);
			if (functions[i].addr)
				filled = functions[i].addr;
			unit_tell(unit, asks[i].address, &functions[i]);
		}
	}
	free(addresses);
	free(functions);
}

/* What dwz(1) has taken out of several files may not be where it was. */
static void alternate_tell(const struct dwarf_names *names, Dwarf *dwarf, const struct elf_file *elf)
{
	const struct elf_section *section = elf_file_section(elf, ".gnu_debugaltlink");
	char *path = section && !libdw.getalt(dwarf) ? elf_file_part(elf, section->offset, section->size) : NULL;

	if (path)
		resolve_out_text(names->out, ROW_NOTE, "split debug info not found: %s", path);
	free(path);
}

void dwarf_names_tell(const struct dwarf_names *names, const struct elf_file *elf)
{
	Dwarf *dwarf = libdw.begin(elf->fd, DWARF_C_READ);
	struct unit *unit = calloc(1, sizeof(*unit));
	struct dwarf_ask *asks = NULL;
	size_t n = 0, from, to;

	if (dwarf)
		alternate_tell(names, dwarf, elf);
	if (dwarf && unit)
		asks = dwarf_units(dwarf, names->request, names->done, &n);
	for (from = 0; asks && from < n; from = to) {
		for (to = from + 1; to < n && asks[to].unit == asks[from].unit; to++)
			continue;
		unit->names = names;
		unit_resolve(unit, dwarf, asks + from, to - from);
		resolve_out_flush(names->out);
	}
	/* The child ends now: nothing is given back. */
}

#else

void dwarf_names_tell(const struct dwarf_names *names, const struct elf_file *elf)
{
	(void)names;
	(void)elf;
}

#endif
