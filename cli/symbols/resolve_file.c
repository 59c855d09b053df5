/* SPDX-License-Identifier: MIT */
/* Names in a file: by its debug info where there is some, and by its symbols. In a child. */
#include <stdlib.h>
#include <string.h>

#include "cli/symbols/debug_file.h"
#include "cli/symbols/demangle.h"
#include "cli/symbols/dwarf_names.h"
#include "cli/symbols/resolve_build.h"

static bool has_debug(const struct elf_file *elf)
{
	return elf_file_section(elf, ".debug_info") || elf_file_section(elf, ".zdebug_info");
}

static bool has_symbols(const struct elf_file *elf)
{
	for (size_t i = 0; i < elf->nsections; i++)
		if (elf->sections[i].type == SHT_SYMTAB)
			return true;
	return false;
}

/* Where debug info is, or would be. */
static void debug_tell(const struct object *object, const struct debug_file *file, bool own, struct resolve_out *out)
{
	if (own)
		resolve_out_text(out, ROW_DEBUG_FILE, "%s", object->path);
	else if (file->fd >= 0)
		resolve_out_text(out, ROW_DEBUG_FILE, "%s", file->path);
	else if (*file->tried)
		resolve_out_text(out, ROW_DEBUG_TRIED, "%s", file->tried);
	if (!own && file->fd < 0 && object->kind == OBJECT_FILE && object->is_elf && !has_symbols(&object->elf) &&
	    !elf_file_section(&object->elf, ".gnu_debugdata"))
		resolve_out_text(out, ROW_NOTE, "stripped");
}

/* What the debug info did not tell. */
static void symbols_tell(const struct dwarf_names *names, enum resolve_reason reason)
{
	char text[DEMANGLE_MOST];
	struct resolve_line line = { .line = 0 };
	size_t i;

	for (i = 0; i < names->request->n; i++) {
		if (names->done[i])
			continue;
		line.function = elf_symbols_find(names->symbols, names->request->addresses[i]);
		if (line.function && !names->options->raw_names)
			line.function = demangle(line.function, text, sizeof(text));
		resolve_out_names(names->out, i, line.function ? RESOLVE_NAMED : reason, &line, line.function ? 1 : 0);
	}
}

void resolve_file(const struct resolve_request *request, const struct resolve_options *options, bool *done,
	struct resolve_out *out)
{
	struct object *object = request->object;
	struct elf_symbols symbols = { .n = 0 };
	struct debug_file *file = calloc(1, sizeof(*file));
	struct dwarf_names names = { request, options, &symbols, out, done };
	u64 until = clock_ns(CLOCK_MONOTONIC) + options->file_ns / 2;
	bool here = object->kind == OBJECT_VDSO || object_descriptor(object) >= 0;
	bool own = here && has_debug(&object->elf);

	if (!file)
		return;
	file->fd = -1;
	if (!own && object->kind == OBJECT_FILE)
		debug_file_find(object, options->debuginfod, until, file);
	debug_tell(object, file, own, out);
	if (here)
		elf_symbols_add(&symbols, &object->elf);
	if (file->fd >= 0)
		elf_symbols_add(&symbols, &file->elf);
	else if (here && !has_symbols(&object->elf))
		mini_symbols_add(&symbols, &object->elf);
	elf_symbols_sort(&symbols);
	if (here)
		elf_symbols_add_plt(&symbols, &object->elf);
	unsetenv("DEBUGINFOD_URLS");
	if (!options->no_debug && libdw_load() && (own || file->fd >= 0) && object->kind == OBJECT_FILE)
		dwarf_names_tell(&names, own ? &object->elf : &file->elf);
	symbols_tell(&names, here ? RESOLVE_STRIPPED : RESOLVE_DELETED);
}
