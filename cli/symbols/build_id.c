/* SPDX-License-Identifier: MIT */
/* The note NT_GNU_BUILD_ID among the segments of an ELF file (elf(5), binutils' ld --build-id). */
#include "cli/symbols/build_id.h"

#include <stdio.h>
#include <string.h>

#ifdef HAVE_LIBELF
#include "cli/symbols/libelf.h"

/* The id in a block of notes. */
static bool notes_have_id(Elf_Data *notes, char text[BUILD_ID_TEXT])
{
	size_t at = 0, name, bytes, i;
	GElf_Nhdr head;

	while (notes && (at = libelf.getnote(notes, at, &head, &name, &bytes)) > 0) {
		const unsigned char *id = (unsigned char *)notes->d_buf + bytes;

		if (head.n_type != NT_GNU_BUILD_ID || head.n_namesz != sizeof("GNU") ||
		    memcmp((char *)notes->d_buf + name, "GNU", sizeof("GNU")) != 0 || !head.n_descsz ||
		    head.n_descsz * 2 >= BUILD_ID_TEXT)
			continue;
		for (i = 0; i < head.n_descsz; i++)
			snprintf(text + 2 * i, 3, "%02x", id[i]);
		return true;
	}
	return false;
}

bool build_id_read(int fd, char text[BUILD_ID_TEXT])
{
	size_t i, n = 0;
	bool found = false;
	GElf_Phdr segment;
	Elf *elf;

	if (!libelf_load())
		return false;
	/* Read, not mapped: somebody may cut the file meanwhile. */
	elf = libelf.begin(fd, ELF_C_READ, NULL);
	if (!elf || libelf.getphdrnum(elf, &n))
		n = 0;
	for (i = 0; i < n && !found; i++)
		if (libelf.getphdr(elf, (int)i, &segment) && segment.p_type == PT_NOTE && segment.p_filesz < 1 << 20)
			found = notes_have_id(libelf.getdata_rawchunk(elf, (int64_t)segment.p_offset, segment.p_filesz,
								   segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR),
					      text);
	libelf.end(elf);
	return found;
}

#else

bool build_id_read(int fd, char text[BUILD_ID_TEXT])
{
	(void)fd;
	text[0] = '\0';
	return false;
}

#endif
