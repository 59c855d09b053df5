/* SPDX-License-Identifier: MIT */
/* What unwinding reads of a file, copied; see object_image(). */
#include <string.h>
#include <sys/mman.h>

#include "cli/symbols/object_build.h"

#define COPY_MOST (512ull << 20)     /* of tables, in one file */
#define CODE_MOST (16ull << 20)

static u64 copy_part(const struct elf_file *elf, u8 *image, u64 offset, u64 size, u64 most)
{
	if (size > most || offset > elf->size || size > elf->size - offset)
		return 0;
	return elf_file_read(elf, offset, image + offset, size) ? size : 0;
}

static void image_copy(const struct elf_file *elf, u8 *image)
{
	static const char *const names[] = { ".eh_frame_hdr", ".eh_frame", ".debug_frame", ".dynamic", ".shstrtab" };
	u64 head = elf->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), copied = 0, code = 0;
	const struct elf_section *section;
	Elf64_Ehdr ehdr;
	Elf32_Ehdr ehdr32;
	size_t i;

	copy_part(elf, image, 0, head, COPY_MOST);
	memcpy(&ehdr, image, sizeof(ehdr));
	memcpy(&ehdr32, image, sizeof(ehdr32));
	copy_part(elf, image, elf->wide ? ehdr.e_phoff : ehdr32.e_phoff,
		elf->nsegments * (elf->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)), COPY_MOST);
	copy_part(elf, image, elf->wide ? ehdr.e_shoff : ehdr32.e_shoff,
		elf->nsections * (elf->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)), COPY_MOST);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		section = elf_file_section(elf, names[i]);
		if (section && section->type != SHT_NOBITS)
			copied += copy_part(elf, image, section->offset, section->size, COPY_MOST - copied);
	}
	for (i = 0; i < elf->nsegments; i++) {
		const struct elf_segment *segment = &elf->segments[i];

		/* A file whose sections were taken off has its tables by segments. */
		if (segment->type == PT_GNU_EH_FRAME || segment->type == PT_DYNAMIC ||
		    (segment->type == PT_LOAD && !(segment->flags & (PF_X | PF_W)) && !elf->nsections))
			copied += copy_part(elf, image, segment->offset, segment->file_size, COPY_MOST - copied);
		if (segment->type == PT_LOAD && (segment->flags & PF_X))
			code += copy_part(elf, image, segment->offset, segment->file_size, CODE_MOST - code);
	}
}

const u8 *object_image(struct object *object, size_t *size)
{
	void *image;

	if (object->bytes) {
		*size = object->image_size;
		return object->bytes;
	}
	if (!object->image_tried && object_descriptor(object) >= 0 && object->is_elf && object->elf.size) {
		/* Pages that nothing is copied to cost nothing. */
		image = mmap(NULL, object->elf.size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (image != MAP_FAILED) {
			object->image = image;
			object->image_size = object->elf.size;
			image_copy(&object->elf, image);
		}
	}
	object->image_tried = true;
	*size = object->image_size;
	return object->image;
}

bool object_read(struct object *object, u64 address, void *buffer, size_t size)
{
	const struct elf_segment *segment;
	size_t i;

	if (object->kind == OBJECT_FILE && object_descriptor(object) < 0)
		return false;
	for (i = 0; i < object->elf.nsegments; i++) {
		segment = &object->elf.segments[i];
		if (segment->type == PT_LOAD && address >= segment->address &&
		    address - segment->address < segment->file_size &&
		    size <= segment->file_size - (address - segment->address))
			return elf_file_read(&object->elf, segment->offset + (address - segment->address), buffer,
				size);
	}
	return false;
}
