/* SPDX-License-Identifier: MIT */
/* See function.h. */
#define _GNU_SOURCE
#include "cli/symbols/function.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/symbols/debug_file.h"

struct walk {
	const struct elf_file *loaded; /* whose segments lead to code */
	struct function_traits *traits;
	int (*each)(void *data, const struct function *function);
	void *data;
	bool full;                   /* a .symtab was met */
};

/* From an address, as the file has it, to the offset of its byte. */
static bool code_offset(const struct elf_file *elf, u64 address, u64 *offset)
{
	for (size_t i = 0; i < elf->nsegments; i++) {
		const struct elf_segment *s = &elf->segments[i];

		if (s->type != PT_LOAD || !(s->flags & PF_X) || address < s->address || address - s->address >= s->file_size)
			continue;
		*offset = address - s->address + s->offset;
		return true;
	}
	return false;
}

/* A personality is what the unwinder asks about the frames of a language with exceptions. */
static bool name_throws(const char *name)
{
	static const char *const names[] = { "__gxx_personality_v0", "rust_eh_personality", "_Unwind_RaiseException" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

bool function_stepped(u16 machine, const u8 code[4])
{
	const u8 *at = code;

	if (machine != EM_X86_64)
		return true;
	/* push of a register, with a prefix for the upper ones; nop, call, jmp (arch/x86/kernel/uprobes.c). */
	if ((at[0] & 0xf0) == 0x40)
		at++;
	return !((at[0] & 0xf8) == 0x50 || at[0] == 0x90 || at[0] == 0xe8 || at[0] == 0xe9 || at[0] == 0xeb ||
		 (at[0] == 0x0f && (at[1] == 0x1f || (at[1] & 0xf0) == 0x80)));
}

static int symbol_walk(const struct walk *walk, const Elf64_Sym *symbol, const char *name)
{
	u32 type = ELF64_ST_TYPE(symbol->st_info);
	u8 code[4];
	struct function f = { .name = name, .indirect = type == STT_GNU_IFUNC };

	walk->traits->throws = walk->traits->throws || name_throws(name);
	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF || !*name ||
	    !code_offset(walk->loaded, symbol->st_value, &f.offset))
		return 0;
	f.stepped = elf_file_read(walk->loaded, f.offset, code, sizeof(code)) && function_stepped(walk->loaded->machine, code);
	return walk->each(walk->data, &f);
}

static int table_walk(struct walk *walk, const struct elf_file *elf, const struct elf_section *table)
{
	size_t row = elf->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	const struct elf_section *text = table->link < elf->nsections ? &elf->sections[table->link] : NULL;
	u8 *rows = text ? elf_file_part(elf, table->offset, table->size) : NULL;
	char *names = rows ? elf_file_part(elf, text->offset, text->size) : NULL;
	int stop = 0;

	for (size_t i = 0; names && !stop && i < table->size / row; i++) {
		Elf64_Sym symbol;
		Elf32_Sym narrow;

		memcpy(&symbol, rows + i * row, elf->wide ? row : 0);
		if (!elf->wide) {
			memcpy(&narrow, rows + i * row, row);
			symbol = (Elf64_Sym){ narrow.st_name, narrow.st_info, narrow.st_other, narrow.st_shndx,
					      narrow.st_value, narrow.st_size };
		}
		if (symbol.st_name < text->size)
			stop = symbol_walk(walk, &symbol, names + symbol.st_name);
	}
	free(rows);
	free(names);
	return stop;
}

static int file_walk(struct walk *walk, const struct elf_file *elf)
{
	int stop = 0;

	for (size_t i = 0; !stop && i < elf->nsections; i++) {
		const struct elf_section *section = &elf->sections[i];

		if (section->type != SHT_SYMTAB && section->type != SHT_DYNSYM)
			continue;
		walk->full = walk->full || section->type == SHT_SYMTAB;
		stop = table_walk(walk, elf, section);
	}
	return stop;
}

static int debug_walk(struct walk *walk, const struct elf_file *elf, const char *path)
{
	char id[2 * ELF_FILE_ID_MOST + 1];
	struct debug_file *file = calloc(1, sizeof(*file));
	struct object object = { .path = strdup(path), .is_elf = true, .elf = *elf };
	int stop = 0;

	if (elf_file_build_id(elf, id))
		object.build_id = id;
	if (file && object.path && debug_file_find(&object, false, 0, file)) {
		stop = file_walk(walk, &file->elf);
		debug_file_close(file);
	}
	free(object.path);
	free(file);
	return stop;
}

int functions_each(int fd, const char *path, struct function_traits *traits,
		   int (*each)(void *data, const struct function *function), void *data)
{
	struct elf_file elf;
	struct walk walk = { .loaded = &elf, .traits = traits, .each = each, .data = data };
	int stop = elf_file_open(&elf, fd);

	*traits = (struct function_traits){ .throws = false };
	if (stop)
		return stop;
	traits->moves_stacks = elf_file_section(&elf, ".gopclntab") || elf_file_section(&elf, ".note.go.buildid");
	stop = file_walk(&walk, &elf);
	if (!stop && !walk.full)
		stop = debug_walk(&walk, &elf, path);
	elf_file_close(&elf);
	return stop;
}
