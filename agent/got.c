/* SPDX-License-Identifier: MIT */
/* See got.h. R_*_JUMP_SLOT, and R_*_GLOB_DAT for calls without a PLT entry. */
#define _GNU_SOURCE
#include "got.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "banned.h"

#if defined(__x86_64__)
#define RELOC_CALL R_X86_64_JUMP_SLOT
#define RELOC_DATA R_X86_64_GLOB_DAT
#else
#define RELOC_CALL R_AARCH64_JUMP_SLOT
#define RELOC_DATA R_AARCH64_GLOB_DAT
#endif

bool got_counts(const struct object *o)
{
	return o->dynamic && !object_has(o, (u64)(uintptr_t)&spark_agent_v1) && !object_is_loader(o) &&
	       strncmp(o->path, "linux-vdso", 10) != 0;
}

void got_each(struct got *g, void (*look)(struct got *got, u64 *slot, u32 number, const char *name))
{
	if (!object_tables(g->object, &g->tables))
		return;
	for (u32 i = 0; i < ARRAY_SIZE(g->tables.rela); i++) {
		const ElfW(Rela) *rela = g->tables.rela[i];

		for (size_t k = 0; rela && k < g->tables.rela_bytes[i] / sizeof(*rela); k++) {
			u32 type = (u32)ELF64_R_TYPE(rela[k].r_info), number = (u32)ELF64_R_SYM(rela[k].r_info);

			if ((type == RELOC_CALL || type == RELOC_DATA) && number)
				look(g, (u64 *)(g->object->base + rela[k].r_offset), number,
				     g->tables.strings + g->tables.symbols[number].st_name);
		}
	}
}

static bool relro_protect(const struct object *o, int protection)
{
	return !syscall_raw(SYS_mprotect, (long)o->relro, (long)(o->relro_end - o->relro), protection, 0, 0, 0);
}

bool got_open(struct got *g, const u64 *slot, bool *read_only)
{
	const struct object *o = g->object;

	*read_only = (u64)(uintptr_t)slot >= o->relro && (u64)(uintptr_t)slot < o->relro_end;
	if (*read_only && !g->opened && !relro_protect(o, PROT_READ | PROT_WRITE))
		return false;
	g->opened |= *read_only;
	return true;
}

void got_shut(struct got *g)
{
	if (g->opened)
		relro_protect(g->object, PROT_READ);
	g->opened = false;
}

void got_restore(u64 slot, u64 ours, u64 before, bool read_only)
{
	u64 page = (u64)sysconf(_SC_PAGESIZE), at = slot & ~(page - 1), now = 0;
	struct iovec here = { &now, sizeof(now) }, there = { (void *)(uintptr_t)slot, sizeof(now) };
	long pid = syscall_raw(SYS_getpid, 0, 0, 0, 0, 0, 0);

	if (syscall_raw(SYS_process_vm_readv, pid, (long)&here, 1, (long)&there, 1, 0) != sizeof(now) || now != ours)
		return;
	if (read_only && syscall_raw(SYS_mprotect, (long)at, (long)page, PROT_READ | PROT_WRITE, 0, 0, 0))
		return;
	here.iov_base = &before;
	syscall_raw(SYS_process_vm_writev, pid, (long)&here, 1, (long)&there, 1, 0);
	if (read_only)
		syscall_raw(SYS_mprotect, (long)at, (long)page, PROT_READ, 0, 0, 0);
}
