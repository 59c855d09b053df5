/* SPDX-License-Identifier: MIT */
/* See elf_file.h. */
#include "cli/symbols/elf_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEGMENTS_MOST 4096u
#define SECTIONS_MOST (1u << 20)
#define NAMES_MOST (64u << 20)
#define NOTES_MOST (1u << 20)

#define NATIVE_DATA (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

bool elf_file_read(const struct elf_file *elf, u64 offset, void *buffer, size_t size)
{
	size_t done = 0;
	ssize_t got;

	if (offset > elf->size || size > elf->size - offset)
		return false;
	if (elf->fd < 0) {
		memcpy(buffer, elf->bytes + offset, size);
		return true;
	}
	while (done < size) {
		got = pread(elf->fd, (char *)buffer + done, size - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

void *elf_file_part(const struct elf_file *elf, u64 offset, u64 size)
{
	char *part;

	if (offset > elf->size || size > elf->size - offset)
		return NULL;
	part = malloc(size + 1);
	if (!part)
		return NULL;
	part[size] = '\0';
	if (elf_file_read(elf, offset, part, size))
		return part;
	free(part);
	return NULL;
}

/* Both forms of a row have the same members at other places. */
#define FORMS(type) \
	union { \
		Elf64_##type wide; \
		Elf32_##type narrow; \
	}
#define TAKE(elf, row, member) ((elf)->wide ? (u64)(row).wide.member : (u64)(row).narrow.member)

struct elf_heads {
	u64 segments, sections;      /* offsets */
	u64 nsegments, nsections;
	u64 segment_size, section_size;
	u64 names;                   /* the section of names */
};

static int heads_read(struct elf_file *elf, struct elf_heads *heads)
{
	FORMS(Ehdr) head = { .wide = { .e_type = 0 } };

	if (!elf_file_read(elf, 0, &head, sizeof(Elf32_Ehdr)) || memcmp(head.wide.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.wide.e_ident[EI_DATA] != NATIVE_DATA)
		return -ENOEXEC;
	elf->wide = head.wide.e_ident[EI_CLASS] == ELFCLASS64;
	if ((!elf->wide && head.wide.e_ident[EI_CLASS] != ELFCLASS32) ||
	    (elf->wide && !elf_file_read(elf, 0, &head, sizeof(head))))
		return -ENOEXEC;
	elf->type = head.wide.e_type;
	elf->machine = head.wide.e_machine;
	heads->segments = TAKE(elf, head, e_phoff);
	heads->sections = TAKE(elf, head, e_shoff);
	heads->nsegments = TAKE(elf, head, e_phnum);
	heads->nsections = TAKE(elf, head, e_shnum);
	heads->segment_size = TAKE(elf, head, e_phentsize);
	heads->section_size = TAKE(elf, head, e_shentsize);
	heads->names = TAKE(elf, head, e_shstrndx);
	return 0;
}

static int segments_read(struct elf_file *elf, const struct elf_heads *heads)
{
	size_t size = elf->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), i;
	FORMS(Phdr) row;

	if (!heads->nsegments)
		return 0;
	if (heads->segment_size != size || heads->nsegments > SEGMENTS_MOST)
		return -ENOEXEC;
	elf->segments = calloc(heads->nsegments, sizeof(*elf->segments));
	if (!elf->segments)
		return -ENOMEM;
	for (i = 0; i < heads->nsegments; i++) {
		if (!elf_file_read(elf, heads->segments + i * size, &row, size))
			return -ENOEXEC;
		elf->segments[i] = (struct elf_segment){
			.type = (u32)TAKE(elf, row, p_type), .flags = (u32)TAKE(elf, row, p_flags),
			.offset = TAKE(elf, row, p_offset), .file_size = TAKE(elf, row, p_filesz),
			.address = TAKE(elf, row, p_vaddr), .memory_size = TAKE(elf, row, p_memsz),
		};
	}
	elf->nsegments = heads->nsegments;
	return 0;
}

static bool section_read(struct elf_file *elf, const struct elf_heads *heads, u64 i, struct elf_section *section,
	u32 *name)
{
	size_t size = elf->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	FORMS(Shdr) row;

	if (!elf_file_read(elf, heads->sections + i * size, &row, size))
		return false;
	*section = (struct elf_section){
		.type = (u32)TAKE(elf, row, sh_type), .link = (u32)TAKE(elf, row, sh_link),
		.flags = TAKE(elf, row, sh_flags), .address = TAKE(elf, row, sh_addr),
		.offset = TAKE(elf, row, sh_offset), .size = TAKE(elf, row, sh_size), .name = "",
	};
	*name = (u32)TAKE(elf, row, sh_name);
	return true;
}

static void sections_name(struct elf_file *elf, const struct elf_section *table, const u32 *names)
{
	size_t i;

	if (table->type != SHT_STRTAB || table->size > NAMES_MOST)
		return;
	elf->names = elf_file_part(elf, table->offset, table->size);
	for (i = 0; elf->names && i < elf->nsections; i++)
		if (names[i] < table->size)
			elf->sections[i].name = elf->names + names[i];
}

/* A file may do without: what is wrong with them is not fatal. */
static void sections_read(struct elf_file *elf, struct elf_heads *heads)
{
	size_t size = elf->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	struct elf_section first;
	u32 *names, name;

	if (heads->section_size != size || !heads->sections || !section_read(elf, heads, 0, &first, &name))
		return;
	if (!heads->nsections)
		heads->nsections = first.size;
	if (heads->names == SHN_XINDEX)
		heads->names = first.link;
	if (heads->nsections > SECTIONS_MOST || heads->nsections > elf->size / size)
		return;
	elf->sections = calloc(heads->nsections, sizeof(*elf->sections));
	names = calloc(heads->nsections, sizeof(*names));
	while (elf->sections && names && elf->nsections < heads->nsections &&
	       section_read(elf, heads, elf->nsections, &elf->sections[elf->nsections], &names[elf->nsections]))
		elf->nsections++;
	if (elf->sections && names && heads->names < elf->nsections)
		sections_name(elf, &elf->sections[heads->names], names);
	free(names);
}

static int elf_file_read_heads(struct elf_file *elf)
{
	struct elf_heads heads;
	int status = heads_read(elf, &heads);

	if (!status)
		status = segments_read(elf, &heads);
	if (status)
		elf_file_close(elf);
	else
		sections_read(elf, &heads);
	return status;
}

int elf_file_open(struct elf_file *elf, int fd)
{
	struct stat about;

	*elf = (struct elf_file){ .fd = fd };
	if (fstat(fd, &about))
		return -errno;
	if (!S_ISREG(about.st_mode))
		return -ENOEXEC;
	elf->size = (u64)about.st_size;
	return elf_file_read_heads(elf);
}

int elf_file_open_bytes(struct elf_file *elf, const u8 *bytes, size_t size)
{
	*elf = (struct elf_file){ .fd = -1, .bytes = bytes, .size = size };
	return elf_file_read_heads(elf);
}

void elf_file_close(struct elf_file *elf)
{
	free(elf->segments);
	free(elf->sections);
	free(elf->names);
	*elf = (struct elf_file){ .fd = -1 };
}

const struct elf_section *elf_file_section(const struct elf_file *elf, const char *name)
{
	for (size_t i = 0; i < elf->nsections; i++)
		if (!strcmp(elf->sections[i].name, name))
			return &elf->sections[i];
	return NULL;
}

/* Notes are aligned to 4 bytes, or to 8 by a segment that says so; GNU's are padded alike in both. */
static bool notes_find_id(const u8 *notes, u64 size, char *text)
{
	Elf64_Nhdr head;
	u64 at = 0, name, id, i;

	while (size - at >= sizeof(head)) {
		memcpy(&head, notes + at, sizeof(head));
		name = at + sizeof(head);
		id = name + ALIGN_UP((u64)head.n_namesz, 4);
		if (id > size || head.n_descsz > size - id)
			return false;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof("GNU") &&
		    !memcmp(notes + name, "GNU", 4) &&
		    head.n_descsz && head.n_descsz <= ELF_FILE_ID_MOST) {
			for (i = 0; i < head.n_descsz; i++)
				sprintf(text + 2 * i, "%02x", notes[id + i]);
			return true;
		}
		at = id + ALIGN_UP((u64)head.n_descsz, 4);
		if (at > size)
			return false;
	}
	return false;
}

static bool part_has_id(const struct elf_file *elf, u64 offset, u64 size, char *text)
{
	u8 *notes = size > NOTES_MOST ? NULL : elf_file_part(elf, offset, size);
	bool found = notes && notes_find_id(notes, size, text);

	free(notes);
	return found;
}

bool elf_file_build_id(const struct elf_file *elf, char *text)
{
	size_t i;

	text[0] = '\0';
	/* Separate debug files have the segment and no bytes in it, but the section. */
	for (i = 0; i < elf->nsections; i++)
		if (elf->sections[i].type == SHT_NOTE &&
		    part_has_id(elf, elf->sections[i].offset, elf->sections[i].size, text))
			return true;
	for (i = 0; i < elf->nsegments; i++)
		if (elf->segments[i].type == PT_NOTE &&
		    part_has_id(elf, elf->segments[i].offset, elf->segments[i].file_size, text))
			return true;
	return false;
}

const struct elf_segment *elf_file_segment(const struct elf_file *elf, u64 offset)
{
	u64 page = (u64)sysconf(_SC_PAGESIZE), begin, end;
	const struct elf_segment *best = NULL, *segment;
	int rank, best_rank = -1;

	for (size_t i = 0; i < elf->nsegments; i++) {
		segment = &elf->segments[i];
		begin = segment->offset & ~(page - 1);
		end = segment->offset + segment->file_size;
		if (segment->type != PT_LOAD || end < segment->offset || end > UINT64_MAX - page)
			continue;
		if (offset < begin || offset >= ALIGN_UP(end, page))
			continue;
		rank = 2 * (offset >= segment->offset && offset < end) + ((segment->flags & PF_X) != 0);
		if (rank > best_rank) {
			best = segment;
			best_rank = rank;
		}
	}
	return best;
}
