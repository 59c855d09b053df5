/* SPDX-License-Identifier: MIT */
/* Functions of .symtab and .dynsym by address. */
#include <stdlib.h>
#include <string.h>

#include "cli/symbols/resolve_build.h"

#define SYMBOLS_MOST (1u << 24)
#define NEAR_MOST 256                /* symbols that are looked at for one address */

/* 0: no name of code. Functions go before what assembler code has, names for all before local ones. */
static u8 symbol_rank(u32 type, u32 binding)
{
	u8 rank = binding == STB_GLOBAL ? 1 : binding == STB_WEAK ? 2 : 3;

	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return rank;
	return type == STT_NOTYPE ? (u8)(rank + 3) : 0;
}

static bool symbols_room(struct elf_symbols *symbols)
{
	size_t room = symbols->room ? 2 * symbols->room : 256;
	struct elf_symbol *list;

	if (symbols->n < symbols->room)
		return true;
	list = symbols->n < SYMBOLS_MOST ? realloc(symbols->list, room * sizeof(*list)) : NULL;
	if (!list)
		return false;
	symbols->list = list;
	symbols->room = room;
	return true;
}

static bool section_is_code(const struct elf_file *elf, u32 section)
{
	return section < elf->nsections && elf->sections[section].flags & SHF_EXECINSTR;
}

/* Marks of arm64's assembler and local labels are no functions. */
static bool name_is_function(const char *name)
{
	return *name && *name != '$' && strncmp(name, ".L", 2) != 0;
}

static bool symbol_add(struct elf_symbols *symbols, const struct elf_file *elf, const Elf64_Sym *symbol,
	const char *names, u64 names_size)
{
	u8 rank = symbol_rank(ELF64_ST_TYPE(symbol->st_info), ELF64_ST_BIND(symbol->st_info));

	if (!rank || symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || symbol->st_name >= names_size ||
	    !name_is_function(names + symbol->st_name))
		return true;
	/* Data has no type in assembler code either. */
	if (rank > 3 && elf->nsections && !section_is_code(elf, symbol->st_shndx))
		return true;
	if (!symbols_room(symbols))
		return false;
	symbols->list[symbols->n++] = (struct elf_symbol){
		.address = symbol->st_value, .size = symbol->st_size, .name = names + symbol->st_name, .rank = rank,
	};
	return true;
}

static void table_add(struct elf_symbols *symbols, const struct elf_file *elf, const struct elf_section *table)
{
	size_t row = elf->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym), i;
	const struct elf_section *text;
	u8 *rows;
	char *names;

	if (table->link >= elf->nsections || symbols->nstrings == ARRAY_SIZE(symbols->strings))
		return;
	text = &elf->sections[table->link];
	rows = elf_file_part(elf, table->offset, table->size);
	names = rows && text->type == SHT_STRTAB ? elf_file_part(elf, text->offset, text->size) : NULL;
	for (i = 0; names && i < table->size / row; i++) {
		Elf64_Sym symbol;
		Elf32_Sym narrow;

		memcpy(&symbol, rows + i * row, elf->wide ? row : 0);
		if (!elf->wide) {
			memcpy(&narrow, rows + i * row, row);
			symbol = (Elf64_Sym){ narrow.st_name, narrow.st_info, narrow.st_other, narrow.st_shndx,
					      narrow.st_value, narrow.st_size };
		}
		if (!symbol_add(symbols, elf, &symbol, names, text->size))
			break;
	}
	free(rows);
	if (names)
		symbols->strings[symbols->nstrings++] = names;
}

void elf_symbols_add(struct elf_symbols *symbols, const struct elf_file *elf)
{
	size_t i;

	for (i = 0; i < elf->nsections; i++) {
		const struct elf_section *section = &elf->sections[i];

		if (section->type == SHT_SYMTAB || section->type == SHT_DYNSYM)
			table_add(symbols, elf, section);
		if (section->flags & SHF_EXECINSTR && symbols->nedges < ARRAY_SIZE(symbols->edges))
			symbols->edges[symbols->nedges++] = section->address + section->size;
	}
}

static int symbol_compare(const void *left, const void *right)
{
	const struct elf_symbol *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (!a->size != !b->size)
		return a->size ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Where code of a symbol without a size ends: at the next symbol, or with its section. */
static u64 symbol_end(const struct elf_symbols *symbols, size_t i)
{
	u64 address = symbols->list[i].address, end = UINT64_MAX;
	size_t k;

	for (k = i + 1; k < symbols->n && symbols->list[k].address == address; k++)
		continue;
	if (k < symbols->n)
		end = symbols->list[k].address;
	for (k = 0; k < symbols->nedges; k++)
		if (symbols->edges[k] > address)
			end = MIN(end, symbols->edges[k]);
	return end == UINT64_MAX ? address : end;
}

void elf_symbols_sort(struct elf_symbols *symbols)
{
	u64 reach = 0;
	size_t i, last = 0;

	if (!symbols->n)
		return;
	qsort(symbols->list, symbols->n, sizeof(*symbols->list), symbol_compare);
	/* The first of an address is the one that is told; the others are its other names. */
	for (i = 0; i < symbols->n; i++)
		if (!i || symbols->list[i].address != symbols->list[last - 1].address)
			symbols->list[last++] = symbols->list[i];
	symbols->n = last;
	for (i = 0; i < symbols->n; i++) {
		struct elf_symbol *symbol = &symbols->list[i];

		if (!symbol->size)
			symbol->size = symbol_end(symbols, i) - symbol->address;
		if (symbol->size > UINT64_MAX - symbol->address)
			symbol->size = UINT64_MAX - symbol->address;
		reach = MAX(reach, symbol->address + symbol->size);
		symbol->reach = reach;
	}
}

const struct elf_symbol *elf_symbols_covering(const struct elf_symbols *symbols, u64 address)
{
	size_t low = 0, high = symbols->n, middle, looked;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (symbols->list[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (looked = 0; low > 0 && looked < NEAR_MOST && symbols->list[low - 1].reach > address; low--, looked++)
		if (address - symbols->list[low - 1].address < symbols->list[low - 1].size)
			return &symbols->list[low - 1];
	return NULL;
}

const char *elf_symbols_find(const struct elf_symbols *symbols, u64 address)
{
	const struct elf_symbol *symbol = elf_symbols_covering(symbols, address);

	return symbol ? symbol->name : NULL;
}

char *elf_symbols_strings(struct elf_symbols *symbols, size_t size)
{
	char *text = symbols->nstrings < ARRAY_SIZE(symbols->strings) ? malloc(size) : NULL;

	if (text)
		symbols->strings[symbols->nstrings++] = text;
	return text;
}

bool elf_symbols_put(struct elf_symbols *symbols, u64 address, u64 size, const char *name)
{
	if (!symbols_room(symbols))
		return false;
	symbols->list[symbols->n++] = (struct elf_symbol){ .address = address, .size = size, .name = name, .rank = 3 };
	return true;
}

void elf_symbols_free(struct elf_symbols *symbols)
{
	while (symbols->nstrings)
		free(symbols->strings[--symbols->nstrings]);
	free(symbols->list);
	*symbols = (struct elf_symbols){ .n = 0 };
}
