/* SPDX-License-Identifier: MIT */
/*
 * The hooks of -finstrument-functions in a program that ran before the agent came. Its calls of them lead to those of
 * the C library, which do nothing: while a session goes on, the slots of its global offset tables lead to ours. What
 * leads to hooks of anybody else stays. Slots are given back without the loader, as in patch.c.
 */
#define _GNU_SOURCE
#include "agent.h"
#include "instrumented.h"
#include "loader.h"
#include "object.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "banned.h"

#if defined(__x86_64__)
#define RELOC_CALL R_X86_64_JUMP_SLOT
#define RELOC_DATA R_X86_64_GLOB_DAT
#else
#define RELOC_CALL R_AARCH64_JUMP_SLOT
#define RELOC_DATA R_AARCH64_GLOB_DAT
#endif

#define HOOKS_MOST 4096u

struct hooked {
	u64 slot;
	u64 before, ours;
	u64 read_only;
};

static struct hooked *hooked;
static u32 nhooked;

static const struct hook {
	const char *name;
	void (*ours)(void *function, void *caller);
} hooks[] = {
	{ "__cyg_profile_func_enter", hook_enter },
	{ "__cyg_profile_func_exit", hook_exit },
};

/* One object while its slots are looked through. */
struct hooking {
	const struct object *object, *library; /* library: the C library */
	struct tables tables;
	bool opened;               /* what is read-only can be written to */
};

static bool slot_remember(u64 slot, u64 before, u64 ours, bool read_only)
{
	if (!hooked)
		hooked = segment_private(HOOKS_MOST * sizeof(*hooked), PRIVATE_INHERITED);
	if (!hooked || nhooked == HOOKS_MOST)
		return false;
	hooked[nhooked] = (struct hooked){ slot, before, ours, read_only };
	store_release(&nhooked, nhooked + 1);
	return true;
}

static bool relro_protect(const struct object *o, int protection)
{
	return !syscall_raw(SYS_mprotect, (long)o->relro, (long)(o->relro_end - o->relro), protection, 0, 0, 0);
}

/* It leads to the C library's hook, or will when the loader has bound it: until then to the object's own PLT entry. */
static bool slot_idle(const struct hooking *h, u64 value, u32 number, const struct hook *hook)
{
	if (object_has(h->object, value) && h->tables.symbols[number].st_shndx == SHN_UNDEF)
		value = (u64)(uintptr_t)loader_find(RTLD_DEFAULT, hook->name, tables_version(&h->tables, number));
	return object_has(h->library, value);
}

static void slot_look(struct hooking *h, u64 *slot, u32 number, const struct hook *hook)
{
	const struct object *o = h->object;
	u64 before = load_relaxed(slot), ours = (u64)(uintptr_t)hook->ours;
	bool read_only = (u64)(uintptr_t)slot >= o->relro && (u64)(uintptr_t)slot < o->relro_end;

	if (!slot_idle(h, before, number, hook))
		return;
	if (read_only && !h->opened && !relro_protect(o, PROT_READ | PROT_WRITE))
		return;
	h->opened |= read_only;
	if (slot_remember((u64)(uintptr_t)slot, before, ours, read_only))
		store_release(slot, ours);
}

static void slots_look(struct hooking *h, const ElfW(Rela) *rela, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		u32 type = (u32)ELF64_R_TYPE(rela[i].r_info), number = (u32)ELF64_R_SYM(rela[i].r_info);
		const char *name = h->tables.strings + h->tables.symbols[number].st_name;

		if ((type != RELOC_CALL && type != RELOC_DATA) || !number)
			continue;
		for (u32 k = 0; k < ARRAY_SIZE(hooks); k++)
			if (!strcmp(name, hooks[k].name))
				slot_look(h, (u64 *)(h->object->base + rela[i].r_offset), number, &hooks[k]);
	}
}

static void object_look(const struct object *o, const struct object *library)
{
	struct hooking h = { .object = o, .library = library };
	void *handle = loader_hold(o->path, o->base);

	if (!handle)
		return;
	if (object_tables(o, &h.tables))
		for (u32 i = 0; i < ARRAY_SIZE(h.tables.rela); i++)
			if (h.tables.rela[i])
				slots_look(&h, h.tables.rela[i], h.tables.rela_bytes[i] / sizeof(ElfW(Rela)));
	if (h.opened)
		relro_protect(o, PROT_READ);
	loader_let(handle);
}

void hooks_set(void)
{
	struct listing list = { .objects = segment_private(LISTING_BYTES, PRIVATE_ABSENT) };
	const struct object *library;

	nhooked = 0;
	if (!list.objects)
		return;
	listing_take(&list);
	library = listing_code_at(&list, (u64)(uintptr_t)loader_find(RTLD_DEFAULT, "gnu_get_libc_version", NULL));
	for (u32 i = 0; library && i < list.n; i++) {
		const struct object *o = &list.objects[i];

		if (o->dynamic && o != library && !object_has(o, (u64)(uintptr_t)&spark_agent_v1) && !object_is_loader(o) &&
		    strncmp(o->path, "linux-vdso", 10) != 0)
			object_look(o, library);
	}
	loader_forget_errors();
	segment_private_drop(list.objects, LISTING_BYTES);
}

/* Written by the kernel: the object may be unmapped by now. */
static void slot_restore(const struct hooked *h)
{
	u64 at = h->slot & ~(u64)(WIRE_PAGE - 1), now = 0, before = h->before;
	struct iovec here = { &now, sizeof(now) }, there = { (void *)(uintptr_t)h->slot, sizeof(now) };
	long pid = syscall_raw(SYS_getpid, 0, 0, 0, 0, 0, 0);

	if (syscall_raw(SYS_process_vm_readv, pid, (long)&here, 1, (long)&there, 1, 0) != sizeof(now) || now != h->ours)
		return;
	if (h->read_only && syscall_raw(SYS_mprotect, (long)at, WIRE_PAGE, PROT_READ | PROT_WRITE, 0, 0, 0))
		return;
	here.iov_base = &before;
	syscall_raw(SYS_process_vm_writev, pid, (long)&here, 1, (long)&there, 1, 0);
	if (h->read_only)
		syscall_raw(SYS_mprotect, (long)at, WIRE_PAGE, PROT_READ, 0, 0, 0);
}

void hooks_clear(void)
{
	for (u32 i = 0; i < load_acquire(&nhooked); i++)
		slot_restore(&hooked[i]);
}
