/* SPDX-License-Identifier: MIT */
/* See sdt.h. */
#include "cli/symbols/sdt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SDT_OWNER "stapsdt"
#define SDT_VERSION 3

struct sdt_walk {
	struct elf_file elf;
	u64 base;                    /* where the file has .stapsdt.base now: a prelinked one has moved; 0: unknown */
	int (*each)(void *data, const struct sdt *sdt);
	void *data;
};

/* From an address to its byte in the file; 0: it is in none. */
static u64 sdt_offset(const struct elf_file *elf, u64 address)
{
	for (size_t i = 0; i < elf->nsegments; i++) {
		const struct elf_segment *s = &elf->segments[i];

		if (s->type == PT_LOAD && address >= s->address && address - s->address < s->file_size)
			return address - s->address + s->offset;
	}
	return 0;
}

static u64 sdt_word(const struct elf_file *elf, const char *at, u32 number)
{
	u64 wide = 0;
	u32 narrow = 0;

	if (elf->wide)
		memcpy(&wide, at + number * sizeof(wide), sizeof(wide));
	else
		memcpy(&narrow, at + number * sizeof(narrow), sizeof(narrow));
	return elf->wide ? wide : narrow;
}

/* Three addresses, three texts; a zero stands behind all. */
static int sdt_note(const struct sdt_walk *walk, const char *text, size_t size)
{
	size_t head = 3 * (walk->elf.wide ? sizeof(u64) : sizeof(u32));
	u64 moved, semaphore;
	const char *end = text + size;
	struct sdt sdt;

	if (size < head + 3 || end[-1])
		return 0;
	sdt.provider = text + head;
	sdt.name = sdt.provider + strlen(sdt.provider) + 1;
	sdt.arguments = sdt.name < end ? sdt.name + strlen(sdt.name) + 1 : end;
	if (sdt.arguments >= end || !*sdt.provider || !*sdt.name)
		return 0;
	moved = walk->base ? walk->base - sdt_word(&walk->elf, text, 1) : 0;
	semaphore = sdt_word(&walk->elf, text, 2);
	sdt.offset = sdt_offset(&walk->elf, sdt_word(&walk->elf, text, 0) + moved);
	sdt.semaphore = semaphore ? sdt_offset(&walk->elf, semaphore + moved) : 0;
	return sdt.offset ? walk->each(walk->data, &sdt) : 0;
}

static int sdt_notes(const struct sdt_walk *walk, char *text, u64 size)
{
	Elf64_Nhdr note; /* both kinds are the same */
	u64 at = 0;
	int stop = 0;

	while (!stop && size - at > sizeof(note)) {
		u64 name, bytes;
		char saved;

		memcpy(&note, text + at, sizeof(note));
		name = at + sizeof(note);
		bytes = name + (((u64)note.n_namesz + 3) & ~3ull);
		if (bytes > size || note.n_descsz > size - bytes)
			break;
		at = MIN(bytes + (((u64)note.n_descsz + 3) & ~3ull), size);
		if (note.n_type != SDT_VERSION || note.n_namesz != sizeof(SDT_OWNER) ||
		    memcmp(text + name, SDT_OWNER, sizeof(SDT_OWNER)) != 0)
			continue;
		saved = text[bytes + note.n_descsz];
		text[bytes + note.n_descsz] = '\0';
		stop = sdt_note(walk, text + bytes, note.n_descsz);
		text[bytes + note.n_descsz] = saved;
	}
	return stop;
}

int sdt_each(int fd, int (*each)(void *data, const struct sdt *sdt), void *data)
{
	struct sdt_walk walk = { .each = each, .data = data };
	int ret = elf_file_open(&walk.elf, fd);
	const struct elf_section *base;

	if (ret)
		return ret;
	base = elf_file_section(&walk.elf, ".stapsdt.base");
	walk.base = base ? base->address : 0;
	for (size_t i = 0; !ret && i < walk.elf.nsections; i++) {
		const struct elf_section *section = &walk.elf.sections[i];
		char *text;

		if (section->type != SHT_NOTE || strcmp(section->name, ".note.stapsdt") != 0)
			continue;
		text = elf_file_part(&walk.elf, section->offset, section->size);
		ret = text ? sdt_notes(&walk, text, section->size) : 0;
		free(text);
	}
	elf_file_close(&walk.elf);
	return ret;
}
