/* SPDX-License-Identifier: MIT */
/* Loaded objects as patch.c wants them: where they lie, and what their dynamic sections say. */
#define _GNU_SOURCE
#include "agent.h"
#include "object.h"

#include <string.h>
#include <unistd.h>

#include "banned.h"

/* NULL: no room. */
static const char *path_copy(struct listing *list, const char *path)
{
	char *to = (char *)(list->objects + OBJECTS_MOST) + list->names;
	size_t length = strlen(path) + 1;

	if (length > LISTING_NAMES - list->names)
		return NULL;
	list->names += (u32)length;
	return memcpy(to, path, length);
}

/* Under the loader's lock; when it is given back, the object may go. */
static int listing_add(struct dl_phdr_info *info, size_t size, void *closure)
{
	struct listing *list = closure;
	struct object *o = &list->objects[list->n];
	const char *path;

	(void)size;
	list->adds = info->dlpi_adds;
	list->subs = info->dlpi_subs;
	if (list->n >= OBJECTS_MOST || !(path = path_copy(list, info->dlpi_name)))
		return 1;
	*o = (struct object){ .base = info->dlpi_addr, .path = path, .start = UINTPTR_MAX };
	for (u32 i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		ElfW(Addr) at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD) {
			o->start = MIN(o->start, at);
			o->end = MAX(o->end, at + p->p_memsz);
			if (p->p_flags & PF_X && o->codes < OBJECT_CODES) {
				o->code[o->codes].start = at;
				o->code[o->codes++].end = at + p->p_memsz;
			}
		} else if (p->p_type == PT_DYNAMIC) {
			o->dynamic = (const ElfW(Dyn) *)at;
		} else if (p->p_type == PT_GNU_RELRO) {
			/* As the loader protects it: whole pages alone (_dl_protect_relro). */
			ElfW(Addr) page = (ElfW(Addr))sysconf(_SC_PAGESIZE);

			o->relro = at & ~(page - 1);
			o->relro_end = (at + p->p_memsz) & ~(page - 1);
		}
	}
	list->n++;
	return 0;
}

void listing_take(struct listing *list)
{
	list->n = list->names = 0;
	dl_iterate_phdr(listing_add, list);
}

const struct object *listing_code_at(const struct listing *list, u64 address)
{
	for (u32 i = 0; i < list->n; i++) {
		const struct object *o = &list->objects[i];

		for (u32 k = 0; k < o->codes; k++)
			if (address >= o->code[k].start && address < o->code[k].end)
				return o;
	}
	return NULL;
}

bool object_is_loader(const struct object *o)
{
	const char *file = strrchr(o->path, '/');

	return strncmp(file ? file + 1 : o->path, "ld-linux", 8) == 0;
}

/* The loader has made most of these addresses; not those of objects that it may not write to. */
static const void *dynamic_address(const struct object *o, const ElfW(Dyn) *d)
{
	return (const void *)(d->d_un.d_ptr < o->base ? o->base + d->d_un.d_ptr : d->d_un.d_ptr);
}

bool object_has_rpath(const struct object *o)
{
	bool rpath = false;

	for (const ElfW(Dyn) *d = o->dynamic; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_RUNPATH)
			return false;
		rpath |= d->d_tag == DT_RPATH;
	}
	return rpath;
}

bool object_tables(const struct object *o, struct tables *t)
{
	*t = (struct tables){ 0 };
	for (const ElfW(Dyn) *d = o->dynamic; d && d->d_tag != DT_NULL; d++)
		switch (d->d_tag) {
		case DT_SYMTAB: t->symbols = dynamic_address(o, d); break;
		case DT_STRTAB: t->strings = dynamic_address(o, d); break;
		case DT_VERSYM: t->versions = dynamic_address(o, d); break;
		case DT_VERNEED: t->needs = dynamic_address(o, d); break;
		case DT_JMPREL: t->rela[0] = dynamic_address(o, d); break;
		case DT_PLTRELSZ: t->rela_bytes[0] = d->d_un.d_val; break;
		case DT_RELA: t->rela[1] = dynamic_address(o, d); break;
		case DT_RELASZ: t->rela_bytes[1] = d->d_un.d_val; break;
		default: break;
		}
	return t->symbols && t->strings;
}

const char *tables_version(const struct tables *t, u32 symbol)
{
	const char *at = (const char *)t->needs;
	u16 number = t->versions ? t->versions[symbol] & 0x7fff : 0;

	while (number > 1 && at) {
		const ElfW(Verneed) *need = (const ElfW(Verneed) *)at;
		const char *aux = at + need->vn_aux;

		for (u32 i = 0; i < need->vn_cnt; i++) {
			const ElfW(Vernaux) *a = (const ElfW(Vernaux) *)aux;

			if (a->vna_other == number)
				return t->strings + a->vna_name;
			aux += a->vna_next;
		}
		at = need->vn_next ? at + need->vn_next : NULL;
	}
	return NULL;
}
