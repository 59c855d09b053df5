/* SPDX-License-Identifier: MIT */
/* The ELF file around call frame information, and its bytes; see cfi.h. */
#include "cli/symbols/cfi_internal.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define SECTIONS_MOST 65536u
#define LEB_BITS (7u * 16)           /* of a number that may have leading zeros: tools pad them to some length */

u64 cfi_get(struct cfi_bytes *bytes, size_t n)
{
	u64 value = 0;

	if ((size_t)(bytes->end - bytes->at) < n) {
		bytes->bad = true;
		bytes->at = bytes->end;
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		value |= (u64)bytes->at[i] << (8 * i);
	bytes->at += n;
	bytes->address += n;
	return value;
}

u64 cfi_uleb(struct cfi_bytes *bytes)
{
	u64 value = 0, byte;
	u32 shift = 0;

	do {
		byte = cfi_get(bytes, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && shift < LEB_BITS);
	bytes->bad = bytes->bad || byte & 0x80;
	return value;
}

s64 cfi_sleb(struct cfi_bytes *bytes)
{
	u64 value = 0, byte;
	u32 shift = 0;

	do {
		byte = cfi_get(bytes, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && shift < LEB_BITS);
	bytes->bad = bytes->bad || byte & 0x80;
	if (shift < 64 && byte & 0x40)
		value |= ~UINT64_C(0) << shift;
	return (s64)value;
}

struct cfi_bytes cfi_take(struct cfi_bytes *bytes, u64 n)
{
	struct cfi_bytes part = *bytes;

	if (n > (u64)(bytes->end - bytes->at)) {
		bytes->bad = part.bad = true;
		n = (u64)(bytes->end - bytes->at);
	}
	part.end = part.at + n;
	bytes->at += n;
	bytes->address += n;
	return part;
}

u64 cfi_pointer(struct cfi_bytes *bytes, u8 encoding, u64 data)
{
	u64 base = 0, value;

	switch (encoding & 0x70) {
	case 0x00: /* absolute */
		break;
	case 0x10: /* from the pointer itself */
		base = bytes->address;
		break;
	case 0x30: /* from what data is */
		base = data;
		break;
	default:
		bytes->bad = true;
	}
	switch (encoding & 0x0f) {
	case 0x00: value = cfi_get(bytes, 8); break;
	case 0x01: value = cfi_uleb(bytes); break;
	case 0x02: value = cfi_get(bytes, 2); break;
	case 0x03: value = cfi_get(bytes, 4); break;
	case 0x04: value = cfi_get(bytes, 8); break;
	case 0x09: value = (u64)cfi_sleb(bytes); break;
	case 0x0a: value = (u64)(int16_t)cfi_get(bytes, 2); break;
	case 0x0b: value = (u64)(s64)(s32)cfi_get(bytes, 4); break;
	case 0x0c: value = cfi_get(bytes, 8); break;
	default:
		bytes->bad = true;
		return 0;
	}
	return value + base;
}

/* ---- the file ---------------------------------------------------------------------------------------- */

/* Whether a part of the image is in it. */
static bool inside(const struct cfi *cfi, u64 offset, u64 size)
{
	return offset <= cfi->size && size <= cfi->size - offset;
}

static const struct cfi_segment *segment_of(const struct cfi *cfi, u64 address)
{
	for (u32 i = 0; i < cfi->nsegments; i++)
		if (address - cfi->segments[i].address < cfi->segments[i].size)
			return &cfi->segments[i];
	return NULL;
}

struct cfi_bytes cfi_at(const struct cfi *cfi, u64 address)
{
	const struct cfi_segment *s = segment_of(cfi, address);
	const u8 *at;

	if (!s)
		return (struct cfi_bytes){ .bad = true };
	at = cfi->image + s->offset + (address - s->address);
	return (struct cfi_bytes){ .at = at, .end = cfi->image + s->offset + s->size, .address = address };
}

struct cfi_bytes cfi_section_bytes(const struct cfi *cfi, const struct cfi_section *section)
{
	const u8 *at = cfi->image + section->offset;

	return (struct cfi_bytes){ .at = at, .end = at + section->size, .address = section->address };
}

bool cfi_address(const struct cfi *cfi, u64 offset, u64 *address)
{
	const struct cfi_segment *found = NULL;

	for (u32 i = 0; i < cfi->nsegments; i++)
		if (offset - cfi->segments[i].offset < cfi->segments[i].size && (!found || !found->code))
			found = &cfi->segments[i];
	if (found)
		*address = offset - found->offset + found->address;
	return found != NULL;
}

bool cfi_word(const struct cfi *cfi, u64 address, u64 *word)
{
	struct cfi_bytes bytes = cfi_at(cfi, address);

	if (bytes.bad)
		return false;
	*word = cfi_get(&bytes, MIN((size_t)(bytes.end - bytes.at), sizeof(*word)));
	return true;
}

static void hdr_read(struct cfi *cfi, u64 address)
{
	struct cfi_bytes bytes = cfi_at(cfi, address);
	u8 version = (u8)cfi_get(&bytes, 1), eh_encoding = (u8)cfi_get(&bytes, 1);
	u8 count_encoding = (u8)cfi_get(&bytes, 1), table_encoding = (u8)cfi_get(&bytes, 1);
	u64 rows, eh_frame = cfi_pointer(&bytes, eh_encoding, address);
	struct cfi_bytes section;

	if (bytes.bad || version != 1)
		return;
	section = cfi_at(cfi, eh_frame);
	if (section.bad)
		return;
	cfi->eh_frame = (struct cfi_section){
		.offset = (u64)(section.at - cfi->image), .address = eh_frame, .size = (u64)(section.end - section.at),
	};
	if (count_encoding == 0xff || table_encoding != 0x3b) /* from the table, signed 4 bytes */
		return;
	rows = cfi_pointer(&bytes, count_encoding, address);
	if (bytes.bad || !rows || rows > (u64)(bytes.end - bytes.at) / 8)
		return;
	cfi->hdr = address;
	cfi->table = bytes.at;
	cfi->table_rows = rows;
}

static void segments_read(struct cfi *cfi, const Elf64_Ehdr *e)
{
	bool writes = false;
	u64 hdr = 0;

	for (u32 i = 0; i < e->e_phnum; i++) {
		u64 at = e->e_phoff + (u64)i * sizeof(Elf64_Phdr);
		Elf64_Phdr p;

		if (e->e_phoff > cfi->size || !inside(cfi, at, sizeof(p)))
			break;
		memcpy(&p, cfi->image + at, sizeof(p));
		if (p.p_type == PT_GNU_EH_FRAME)
			hdr = p.p_vaddr;
		writes = writes || (p.p_type == PT_LOAD && p.p_flags & PF_W);
		if (p.p_type != PT_LOAD || !inside(cfi, p.p_offset, 0) || cfi->nsegments == CFI_SEGMENTS)
			continue;
		cfi->segments[cfi->nsegments++] = (struct cfi_segment){
			.offset = p.p_offset, .address = p.p_vaddr, .size = MIN(p.p_filesz, cfi->size - p.p_offset),
			.code = p.p_flags & PF_X,
		};
	}
	if (hdr)
		hdr_read(cfi, hdr);
	/* The vDSO has a number there that means nothing. Unlike programs and loaders it has no data of its own. */
	cfi->has_entry = writes;
}

static void section_read(struct cfi *cfi, const Elf64_Shdr *s, const char *name)
{
	struct cfi_section section = { .offset = s->sh_offset, .address = s->sh_addr, .size = s->sh_size };

	if (s->sh_type == SHT_NOBITS || s->sh_flags & SHF_COMPRESSED || !inside(cfi, s->sh_offset, s->sh_size))
		return;
	if (!strcmp(name, ".eh_frame"))
		cfi->eh_frame = section;
	else if (!strcmp(name, ".debug_frame"))
		cfi->debug_frame = section;
}

static bool section_header(const struct cfi *cfi, const Elf64_Ehdr *e, u32 i, Elf64_Shdr *s)
{
	u64 at = e->e_shoff + (u64)i * sizeof(*s);

	if (!e->e_shoff || e->e_shoff > cfi->size || !inside(cfi, at, sizeof(*s)))
		return false;
	memcpy(s, cfi->image + at, sizeof(*s));
	return true;
}

static void sections_read(struct cfi *cfi, const Elf64_Ehdr *e)
{
	Elf64_Shdr s, names;
	char name[16];

	if (!section_header(cfi, e, e->e_shstrndx, &names) || !inside(cfi, names.sh_offset, names.sh_size))
		return;
	for (u32 i = 1; i < MIN((u32)e->e_shnum, SECTIONS_MOST) && section_header(cfi, e, i, &s); i++) {
		size_t room;

		if (s.sh_name >= names.sh_size)
			continue;
		room = MIN(sizeof(name) - 1, names.sh_size - s.sh_name);
		memcpy(name, cfi->image + names.sh_offset + s.sh_name, room);
		name[room] = '\0';
		section_read(cfi, &s, name);
	}
}

struct cfi *cfi_new(const u8 *image, size_t size)
{
	struct cfi *cfi = calloc(1, sizeof(*cfi));
	Elf64_Ehdr e;

	if (!cfi)
		return NULL;
	cfi->image = image;
	cfi->size = size;
	if (UNWIND_NONE || size < sizeof(e))
		return cfi;
	memcpy(&e, image, sizeof(e));
	if (memcmp(e.e_ident, ELFMAG, SELFMAG) || e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_ident[EI_DATA] != ELFDATA2LSB ||
	    e.e_machine != UNWIND_MACHINE || e.e_phentsize != sizeof(Elf64_Phdr))
		return cfi;
	cfi->entry = e.e_entry;
	segments_read(cfi, &e);
	sections_read(cfi, &e);
	return cfi;
}

void cfi_free(struct cfi *cfi)
{
	if (!cfi)
		return;
	free(cfi->index[0]);
	free(cfi->index[1]);
	free(cfi);
}
