/* SPDX-License-Identifier: MIT */
/* See elf_dynamic.h. */
#include "cli/symbols/elf_dynamic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DYNAMIC_MOST (1u << 20)      /* bytes of each */
#define NAMES_MOST (256u << 20)
#define SYMBOLS_MOST (1u << 22)
#define CALLS_MOST (1u << 24)

#ifndef STO_AARCH64_VARIANT_PCS
#define STO_AARCH64_VARIANT_PCS 0x80
#endif

/* Tags that are read, and what each has; 0: it is missing. */
struct tags {
	u64 names, names_size, symbols, hash, gnu_hash;
	u64 calls, calls_size, data, data_size;
	u64 soname, rpath, runpath, flags;
};

struct reader {
	const struct elf_file *elf;
	struct elf_dynamic *dynamic;
	struct tags tags;
	Elf64_Dyn *rows;
	size_t nrows;
	Elf64_Sym *symbols;
	size_t nsymbols;
};

/* Bytes at an address, which all have to be in the file. */
static bool read_at(const struct elf_file *elf, u64 address, void *buffer, size_t size)
{
	for (size_t i = 0; i < elf->nsegments; i++) {
		const struct elf_segment *segment = &elf->segments[i];
		u64 in = address - segment->address;

		if (segment->type == PT_LOAD && address >= segment->address && in <= segment->file_size &&
		    size <= segment->file_size - in)
			return elf_file_read(elf, segment->offset + in, buffer, size);
	}
	return false;
}

/* The same as a block of its own, with a zero behind it. */
static void *part_at(const struct elf_file *elf, u64 address, u64 size)
{
	char *part = size <= elf->size ? malloc(size + 1) : NULL;

	if (!part)
		return NULL;
	part[size] = '\0';
	if (read_at(elf, address, part, size))
		return part;
	free(part);
	return NULL;
}

static u64 *tag_place(struct tags *tags, u64 tag)
{
	switch (tag) {
	case DT_STRTAB: return &tags->names;
	case DT_STRSZ: return &tags->names_size;
	case DT_SYMTAB: return &tags->symbols;
	case DT_HASH: return &tags->hash;
	case DT_GNU_HASH: return &tags->gnu_hash;
	case DT_JMPREL: return &tags->calls;
	case DT_PLTRELSZ: return &tags->calls_size;
	case DT_RELA: return &tags->data;
	case DT_RELASZ: return &tags->data_size;
	case DT_SONAME: return &tags->soname;
	case DT_RPATH: return &tags->rpath;
	case DT_RUNPATH: return &tags->runpath;
	case DT_FLAGS_1: return &tags->flags;
	default: return NULL;
	}
}

static int rows_read(struct reader *reader)
{
	const struct elf_segment *segment = NULL;
	u64 *place;

	for (size_t i = 0; i < reader->elf->nsegments && !segment; i++)
		if (reader->elf->segments[i].type == PT_DYNAMIC)
			segment = &reader->elf->segments[i];
	if (!segment)
		return -ENOENT;
	if (segment->file_size > DYNAMIC_MOST)
		return -ENOEXEC;
	reader->rows = elf_file_part(reader->elf, segment->offset, segment->file_size);
	if (!reader->rows)
		return -ENOEXEC;
	for (; reader->nrows < segment->file_size / sizeof(Elf64_Dyn); reader->nrows++) {
		const Elf64_Dyn *row = &reader->rows[reader->nrows];

		if (row->d_tag == DT_NULL)
			break;
		place = tag_place(&reader->tags, (u64)row->d_tag);
		if (place)
			*place = row->d_un.d_val;
	}
	return 0;
}

static const char *name_at(const struct reader *reader, u64 offset)
{
	return offset < reader->tags.names_size ? reader->dynamic->names + offset : "";
}

static int needs_read(struct reader *reader)
{
	struct elf_dynamic *dynamic = reader->dynamic;

	if (reader->tags.names_size > NAMES_MOST)
		return -ENOEXEC;
	dynamic->names = part_at(reader->elf, reader->tags.names, reader->tags.names_size);
	dynamic->needed = calloc(reader->nrows + 1, sizeof(*dynamic->needed));
	if (!dynamic->names || !dynamic->needed)
		return -ENOEXEC;
	/* The first byte of the table is zero, and an offset of 0 the empty name. */
	dynamic->soname = name_at(reader, reader->tags.soname);
	dynamic->rpath = name_at(reader, reader->tags.rpath);
	dynamic->runpath = name_at(reader, reader->tags.runpath);
	dynamic->no_default = reader->tags.flags & DF_1_NODEFLIB;
	for (size_t i = 0; i < reader->nrows; i++)
		if (reader->rows[i].d_tag == DT_NEEDED)
			dynamic->needed[dynamic->nneeded++] = name_at(reader, reader->rows[i].d_un.d_val);
	return 0;
}

/* How many symbols there are tells the table of hashes alone: as many as chains; of GNU's, up to the end of the last. */
static u64 gnu_hash_symbols(const struct reader *reader)
{
	u32 head[4], *buckets, last = 0, hash;
	u64 at = reader->tags.gnu_hash, chains;

	if (!read_at(reader->elf, at, head, sizeof(head)) || head[0] > SYMBOLS_MOST || head[2] > SYMBOLS_MOST)
		return 0;
	at += sizeof(head) + head[2] * sizeof(u64);
	chains = at + head[0] * sizeof(u32);
	buckets = part_at(reader->elf, at, head[0] * sizeof(u32));
	for (u32 i = 0; buckets && i < head[0]; i++)
		last = MAX(last, buckets[i]);
	free(buckets);
	/* Nothing is hashed: what is there is undefined, and comes before. */
	if (last < head[1])
		return head[1];
	while (last < SYMBOLS_MOST && read_at(reader->elf, chains + (last - head[1]) * sizeof(u32), &hash, sizeof(hash)))
		if (last++, hash & 1)
			return last;
	return 0;
}

static u64 symbols_count(const struct reader *reader)
{
	u32 head[2];

	for (size_t i = 0; i < reader->elf->nsections; i++)
		if (reader->elf->sections[i].type == SHT_DYNSYM &&
		    reader->elf->sections[i].address == reader->tags.symbols)
			return reader->elf->sections[i].size / sizeof(Elf64_Sym);
	if (reader->tags.hash && read_at(reader->elf, reader->tags.hash, head, sizeof(head)))
		return head[1];
	return reader->tags.gnu_hash ? gnu_hash_symbols(reader) : 0;
}

static bool symbol_variant(const struct reader *reader, const Elf64_Sym *symbol)
{
	return reader->elf->machine == EM_AARCH64 && symbol->st_other & STO_AARCH64_VARIANT_PCS;
}

/* Whether others may call it by its name. */
static bool symbol_is_function(const Elf64_Sym *symbol)
{
	u32 type = ELF64_ST_TYPE(symbol->st_info), binding = ELF64_ST_BIND(symbol->st_info);
	u32 visibility = ELF64_ST_VISIBILITY(symbol->st_other);

	return symbol->st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC) && binding != STB_LOCAL &&
		(visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

static int functions_read(struct reader *reader)
{
	struct elf_dynamic *dynamic = reader->dynamic;

	reader->nsymbols = reader->tags.symbols ? symbols_count(reader) : 0;
	if (reader->nsymbols > SYMBOLS_MOST)
		return -ENOEXEC;
	reader->symbols = part_at(reader->elf, reader->tags.symbols, reader->nsymbols * sizeof(Elf64_Sym));
	if (!reader->symbols && reader->nsymbols)
		return -ENOEXEC;
	dynamic->functions = calloc(reader->nsymbols + 1, sizeof(*dynamic->functions));
	if (!dynamic->functions)
		return -ENOMEM;
	for (size_t i = 0; i < reader->nsymbols; i++) {
		const Elf64_Sym *symbol = &reader->symbols[i];
		const char *name = name_at(reader, symbol->st_name);

		if (symbol_is_function(symbol) && *name)
			dynamic->functions[dynamic->nfunctions++] = (struct elf_function){
				.name = name, .address = symbol->st_value,
				.chosen = ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC,
				.variant = symbol_variant(reader, symbol),
			};
	}
	return 0;
}

static u8 relocation_kind(const struct reader *reader, u64 info)
{
	bool arm64 = reader->elf->machine == EM_AARCH64;
	u32 type = (u32)ELF64_R_TYPE(info);

	if (type == (arm64 ? R_AARCH64_JUMP_SLOT : R_X86_64_JUMP_SLOT))
		return ELF_SLOT_PLT;
	return type == (arm64 ? R_AARCH64_GLOB_DAT : R_X86_64_GLOB_DAT) ? ELF_SLOT_GOT : 0;
}

/* Notes the kinds of slots of each symbol. */
static int relocations_read(const struct reader *reader, u64 at, u64 size, u8 *kinds)
{
	Elf64_Rela *rows;

	if (!at || !size)
		return 0;
	if (size / sizeof(*rows) > CALLS_MOST)
		return -ENOEXEC;
	rows = part_at(reader->elf, at, size);
	if (!rows)
		return -ENOEXEC;
	for (u64 i = 0; i < size / sizeof(*rows); i++)
		if (ELF64_R_SYM(rows[i].r_info) < reader->nsymbols)
			kinds[ELF64_R_SYM(rows[i].r_info)] |= relocation_kind(reader, rows[i].r_info);
	free(rows);
	return 0;
}

static int slots_read(struct reader *reader)
{
	struct elf_dynamic *dynamic = reader->dynamic;
	u8 *kinds = calloc(reader->nsymbols + 1, 1);
	int status = kinds ? 0 : -ENOMEM;

	dynamic->slots = calloc(reader->nsymbols + 1, sizeof(*dynamic->slots));
	if (!dynamic->slots)
		status = -ENOMEM;
	if (!status)
		status = relocations_read(reader, reader->tags.calls, reader->tags.calls_size, kinds);
	if (!status)
		status = relocations_read(reader, reader->tags.data, reader->tags.data_size, kinds);
	for (size_t i = 0; !status && i < reader->nsymbols; i++) {
		const char *name = name_at(reader, reader->symbols[i].st_name);

		if (kinds[i] && *name)
			dynamic->slots[dynamic->nslots++] = (struct elf_slot){
				.name = name, .kinds = kinds[i], .variant = symbol_variant(reader, &reader->symbols[i]),
			};
	}
	free(kinds);
	return status;
}

int elf_dynamic_read(struct elf_dynamic *dynamic, const struct elf_file *elf)
{
	struct reader reader = { .elf = elf, .dynamic = dynamic };
	int status;

	*dynamic = (struct elf_dynamic){ .soname = "", .rpath = "", .runpath = "" };
	status = elf->wide ? rows_read(&reader) : -ENOEXEC;
	status = status ? status : needs_read(&reader);
	status = status ? status : functions_read(&reader);
	status = status ? status : slots_read(&reader);
	free(reader.rows);
	free(reader.symbols);
	if (status)
		elf_dynamic_free(dynamic);
	return status;
}

void elf_dynamic_free(struct elf_dynamic *dynamic)
{
	free(dynamic->needed);
	free(dynamic->functions);
	free(dynamic->slots);
	free(dynamic->names);
	*dynamic = (struct elf_dynamic){ .soname = "", .rpath = "", .runpath = "" };
}
