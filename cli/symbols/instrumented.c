/* SPDX-License-Identifier: MIT */
/* See instrumented.h. Symbols are read by our own code, which needs no child. */
#include "cli/symbols/instrumented.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cli/symbols/demangle.h"
#include "cli/symbols/maps.h"
#include "cli/symbols/resolve_build.h"
#include "cli/symbols/space.h"

#define HOOK "__cyg_profile_func_enter"

struct choice {
	instrumented_chosen *chosen;
	void *data;
	u64 *list;
	size_t n, room, most, objects;
};

/* An object that has it itself does not call ours. */
static bool table_has_hook(const struct elf_file *elf, const struct elf_section *table)
{
	size_t size = elf->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	size_t section = elf->wide ? offsetof(Elf64_Sym, st_shndx) : offsetof(Elf32_Sym, st_shndx);
	const struct elf_section *strings = table->link < elf->nsections ? &elf->sections[table->link] : NULL;
	u8 *symbols = elf_file_part(elf, table->offset, table->size);
	char *names = strings ? elf_file_part(elf, strings->offset, strings->size) : NULL;
	bool has = false;

	for (u64 i = 0; symbols && names && !has && (i + 1) * size <= table->size; i++) {
		u32 name;
		u16 of;

		/* st_name comes first in both forms. */
		memcpy(&name, symbols + i * size, sizeof(name));
		memcpy(&of, symbols + i * size + section, sizeof(of));
		has = of == SHN_UNDEF && name < strings->size && !strcmp(names + name, HOOK);
	}
	free(symbols);
	free(names);
	return has;
}

static bool has_hook(const struct elf_file *elf)
{
	for (size_t i = 0; i < elf->nsections; i++)
		if (elf->sections[i].type == SHT_DYNSYM)
			return table_has_hook(elf, &elf->sections[i]);
	return false;
}

static void choice_add(struct choice *c, u64 address)
{
	size_t room = c->room ? 2 * c->room : 256;
	u64 *list;

	if (c->n == c->most)
		return;
	if (c->n == c->room) {
		list = realloc(c->list, room * sizeof(*list));
		if (!list)
			return;
		c->list = list;
		c->room = room;
	}
	c->list[c->n++] = address;
}

static void object_choose(struct choice *c, struct object *object, u64 base)
{
	struct elf_symbols symbols = { .n = 0 };
	char text[DEMANGLE_MOST];
	struct elf_file elf;
	int fd = object_descriptor(object);

	if (fd < 0 || elf_file_open(&elf, fd))
		return;
	if (has_hook(&elf)) {
		c->objects++;
		elf_symbols_add(&symbols, &elf);
		mini_symbols_add(&symbols, &elf);
	}
	for (size_t i = 0; i < symbols.n; i++) {
		const char *name = symbols.list[i].name;

		if (c->chosen(c->data, name, demangle(name, text, sizeof(text))))
			choice_add(c, base + symbols.list[i].address);
	}
	elf_symbols_free(&symbols);
	elf_file_close(&elf);
}

static int address_order(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

u64 *instrumented_functions(u32 pid, size_t most, instrumented_chosen *chosen, void *data, size_t *n, size_t *objects)
{
	struct choice c = { .chosen = chosen, .data = data, .most = most };
	struct spaces *spaces = spaces_new();
	struct object *last = NULL;
	struct space_place place;
	struct space_map map;
	struct maps maps;

	*n = *objects = 0;
	c.list = spaces ? calloc(1, sizeof(*c.list)) : NULL;
	c.room = 1;
	if (!c.list || spaces_snapshot(spaces, pid, 1) || maps_open(&maps, pid)) {
		spaces_free(spaces);
		free(c.list);
		return NULL;
	}
	while (maps_next(&maps, &map)) {
		/* An object's mappings follow each other. */
		if (!(map.protection & PROT_EXEC) || !spaces_find(spaces, pid, UINT64_MAX, map.start, &place) ||
		    place.object == last || object_kind(place.object) != OBJECT_FILE)
			continue;
		last = place.object;
		object_choose(&c, place.object, map.start - place.address);
	}
	maps_close(&maps);
	spaces_free(spaces);
	qsort(c.list, c.n, sizeof(*c.list), address_order);
	*n = c.n;
	*objects = c.objects;
	return c.list;
}
