/* SPDX-License-Identifier: MIT */
/* Symbol tables of ELF files (elf(5)); see symbol.h. Called before a session starts. */
#include "cli/symbols/symbol.h"

#include <errno.h>
#include <string.h>

#ifdef HAVE_LIBELF
#include "cli/symbols/libelf.h"

/* From an address, as the file has it, to the offset of its byte. */
static bool symbol_offset(Elf *elf, size_t segments, u64 address, u64 *offset)
{
	GElf_Phdr segment;
	size_t i;

	for (i = 0; i < segments; i++) {
		if (!libelf.getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz)
			continue;
		*offset = address - segment.p_vaddr + segment.p_offset;
		return true;
	}
	return false;
}

static int symbol_each_in(Elf *elf, Elf_Scn *section, size_t segments,
	int (*each)(void *data, const char *name, u64 offset), void *data)
{
	GElf_Shdr head;
	GElf_Sym symbol;
	Elf_Data *table;
	const char *name;
	u64 offset;
	int i, stop = 0;

	if (!libelf.getshdr(section, &head) || (head.sh_type != SHT_SYMTAB && head.sh_type != SHT_DYNSYM))
		return 0;
	table = libelf.getdata(section, NULL);
	for (i = 0; !stop && table && libelf.getsym(table, i, &symbol); i++) {
		int type = GELF_ST_TYPE(symbol.st_info);

		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF)
			continue;
		name = libelf.strptr(elf, head.sh_link, symbol.st_name);
		if (name && *name && symbol_offset(elf, segments, symbol.st_value, &offset))
			stop = each(data, name, offset);
	}
	return stop;
}

bool symbol_available(void)
{
	return libelf_load();
}

int symbol_each(int fd, int (*each)(void *data, const char *name, u64 offset), void *data)
{
	Elf_Scn *section = NULL;
	size_t segments = 0;
	int stop = 0;
	Elf *elf;

	if (!libelf_load())
		return -ENOSYS;
	elf = libelf.begin(fd, ELF_C_READ, NULL);
	if (!elf || libelf.kind(elf) != ELF_K_ELF || libelf.getphdrnum(elf, &segments))
		stop = -ENOEXEC;
	while (!stop && (section = libelf.nextscn(elf, section)))
		stop = symbol_each_in(elf, section, segments, each, data);
	libelf.end(elf);
	return stop;
}

#else

bool symbol_available(void)
{
	return false;
}

int symbol_each(int fd, int (*each)(void *data, const char *name, u64 offset), void *data)
{
	(void)fd;
	(void)each;
	(void)data;
	return -ENOSYS;
}

#endif

struct symbol_search {
	const char *name;
	u64 offset;
};

static int symbol_is(void *data, const char *name, u64 offset)
{
	struct symbol_search *search = data;

	if (strcmp(name, search->name) != 0)
		return 0;
	search->offset = offset;
	return 1;
}

int symbol_find(int fd, const char *name, u64 *offset)
{
	struct symbol_search search = { .name = name };
	int found = symbol_each(fd, symbol_is, &search);

	if (found > 0)
		*offset = search.offset;
	return found > 0 ? 0 : found < 0 ? found : -ENOENT;
}
