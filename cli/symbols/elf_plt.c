/* SPDX-License-Identifier: MIT */
/*
 * Names for the procedure linkage table, through which objects call each other: "qsort@plt". No symbol covers it; its
 * entries are in the order of their relocations.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/symbols/resolve_build.h"

#define ENTRY 16u                    /* bytes, of x86-64 and arm64 alike */
#define ENTRIES_MOST (1u << 16)
#define NAME_MOST 256                /* of what is called */

struct plt {
	const struct elf_file *elf;
	const struct elf_section *table; /* the entries */
	u64 first;                   /* address of the first */
	Elf64_Rela *calls;           /* of each */
	size_t n;
	Elf64_Sym *symbols;
	size_t nsymbols;
	char *text;
	size_t text_size;
};

static bool plt_find(struct plt *plt)
{
	const struct elf_section *calls = elf_file_section(plt->elf, ".rela.plt");
	const struct elf_section *names, *text;

	/* With branch tracking, what is called lies in a table of its own. */
	plt->table = elf_file_section(plt->elf, ".plt.sec");
	if (!plt->table)
		plt->table = elf_file_section(plt->elf, ".plt");
	if (!plt->elf->wide || !plt->table || !calls || calls->type != SHT_RELA || calls->link >= plt->elf->nsections)
		return false;
	names = &plt->elf->sections[calls->link];
	plt->n = calls->size / sizeof(Elf64_Rela);
	if (names->type != SHT_DYNSYM || names->link >= plt->elf->nsections || plt->n > ENTRIES_MOST ||
	    plt->table->size < plt->n * ENTRY)
		return false;
	text = &plt->elf->sections[names->link];
	/* Before them there may be one that asks the loader. */
	plt->first = plt->table->address + plt->table->size - plt->n * ENTRY;
	plt->nsymbols = names->size / sizeof(Elf64_Sym);
	plt->text_size = text->size;
	plt->calls = elf_file_part(plt->elf, calls->offset, calls->size);
	plt->symbols = elf_file_part(plt->elf, names->offset, names->size);
	plt->text = elf_file_part(plt->elf, text->offset, text->size);
	return plt->calls && plt->symbols && plt->text;
}

/* What an entry calls; NULL: not known. */
static const char *plt_called(const struct plt *plt, const struct elf_symbols *symbols, size_t i)
{
	u64 symbol = ELF64_R_SYM(plt->calls[i].r_info);

	/* A function that is chosen at the start is there by its address alone. */
	if (!symbol)
		return elf_symbols_find(symbols, (u64)plt->calls[i].r_addend);
	if (symbol >= plt->nsymbols || plt->symbols[symbol].st_name >= plt->text_size)
		return NULL;
	return plt->text + plt->symbols[symbol].st_name;
}

void elf_symbols_add_plt(struct elf_symbols *symbols, const struct elf_file *elf)
{
	struct plt plt = { .elf = elf };
	char *names, *at;
	const char *called;
	size_t i;

	if (plt_find(&plt) && (at = names = elf_symbols_strings(symbols, plt.n * (NAME_MOST + sizeof("@plt"))))) {
		for (i = 0; i < plt.n; i++) {
			called = plt_called(&plt, symbols, i);
			if (!called || !*called || strlen(called) >= NAME_MOST)
				continue;
			if (!elf_symbols_put(symbols, plt.first + i * ENTRY, ENTRY, at))
				break;
			at += sprintf(at, "%s@plt", called) + 1;
		}
		elf_symbols_sort(symbols);
	}
	free(plt.calls);
	free(plt.symbols);
	free(plt.text);
}
