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
#include <sys/syscall.h>
#include <sys/uio.h>

#include "banned.h"

#define NOTE_NAME "Spark"
#define NOTE_SLOT 1
#define ADDRESS_BITS 48            /* the rest of the slot is not ours (spark.h) */

#define REMEMBERED 1024u

/* Those that lead to the table, so that they can be given back without the loader; what is beyond them stays set. */
static unsigned long *remembered[REMEMBERED];
static u32 nremembered;

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
			if (slot_plausible(info, slot)) {
				slot_store((unsigned long *)slot, table);
				if (table && nremembered < REMEMBERED)
					remembered[nremembered++] = (unsigned long *)slot;
			}
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

void slots_clear(void)
{
	const unsigned long mask = (1UL << ADDRESS_BITS) - 1, table = (unsigned long)&spark_agent_v1;
	long pid = syscall_raw(SYS_getpid, 0, 0, 0, 0, 0, 0);

	for (u32 i = 0; i < nremembered; i++) {
		unsigned long now = 0, none = 0;
		struct iovec here = { &now, sizeof(now) }, there = { remembered[i], sizeof(now) };

		/* Read and written by the kernel: the object may be gone. */
		if (syscall_raw(SYS_process_vm_readv, pid, (long)&here, 1, (long)&there, 1, 0) != sizeof(now) ||
		    (now & mask) != (table & mask))
			continue;
		here = (struct iovec){ &none, ADDRESS_BITS / 8 };
		there.iov_len = ADDRESS_BITS / 8;
		syscall_raw(SYS_process_vm_writev, pid, (long)&here, 1, (long)&there, 1, 0);
	}
}

void slots_set(unsigned long table)
{
	nremembered = 0;
	dl_iterate_phdr(object_scan, (void *)table);
}
