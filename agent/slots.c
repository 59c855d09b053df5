/* SPDX-License-Identifier: MIT */
/*
 * Marker slots of the objects that are loaded already: found by their ELF note, as
 * include/spark/spark.h makes it. Objects loaded later find the table by their own relocation, so
 * no list is kept.
 */
#define _GNU_SOURCE
#include "agent.h"

#include <link.h>
#include <string.h>

#include "banned.h"

#define NOTE_NAME "Spark"
#define NOTE_SLOT 1
#define ADDRESS_BITS 48            /* the rest of the slot is not ours (spark.h) */

static void slot_store(unsigned long *slot, unsigned long table)
{
	const unsigned long mask = (1UL << ADDRESS_BITS) - 1;
	unsigned long now = load_relaxed(slot);

	while (!compare_exchange(slot, &now, (now & ~mask) | (table & mask)))
		;
}

/* The slot lies in a writable segment of the object itself, or the note is not believed. */
static bool slot_plausible(const struct dl_phdr_info *info, uintptr_t slot)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && p->p_flags & PF_W && slot >= start && p->p_memsz >= sizeof(long) &&
		    slot - start <= p->p_memsz - sizeof(long) && slot % sizeof(long) == 0)
			return true;
	}
	return false;
}

static void notes_scan(const struct dl_phdr_info *info, const ElfW(Phdr) *p, unsigned long table)
{
	const char *at = (const char *)(info->dlpi_addr + p->p_vaddr), *end = at + p->p_memsz;
	size_t align = p->p_align == 8 ? 8 : 4;

	while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)at;
		size_t name = ALIGN_UP(sizeof(*n) + (size_t)n->n_namesz, align);
		size_t size = ALIGN_UP(name + (size_t)n->n_descsz, align);

		if (size > (size_t)(end - at))
			return;
		if (n->n_type == NOTE_SLOT && n->n_namesz == sizeof(NOTE_NAME) && n->n_descsz == sizeof(s64) &&
		    memcmp(n + 1, NOTE_NAME, sizeof(NOTE_NAME)) == 0) {
			s64 offset;
			uintptr_t slot;

			memcpy(&offset, at + name, sizeof(offset));
			slot = (uintptr_t)(at + name) + (uintptr_t)offset;
			if (slot_plausible(info, slot))
				slot_store((unsigned long *)slot, table);
		}
		at += size;
	}
}

static int object_scan(struct dl_phdr_info *info, size_t size, void *table)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			notes_scan(info, &info->dlpi_phdr[i], (unsigned long)table);
	return 0;
}

void slots_set(unsigned long table)
{
	dl_iterate_phdr(object_scan, (void *)table);
}
