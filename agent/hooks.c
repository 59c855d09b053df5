/* SPDX-License-Identifier: MIT */
/*
 * The hooks of -finstrument-functions in a program that ran before the agent came. Its calls of them lead to those of
 * the C library, which do nothing: while a session goes on, the slots of its global offset tables lead to ours. What
 * leads to hooks of anybody else stays.
 */
#define _GNU_SOURCE
#include "agent.h"
#include "got.h"
#include "instrumented.h"
#include "loader.h"

#include <string.h>

#include "banned.h"

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
	struct got got;
	const struct object *library; /* the C library */
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

/* It leads to the C library's hook, or will when the loader has bound it: until then to the object's own PLT entry. */
static bool slot_idle(const struct hooking *h, u64 value, u32 number, const struct hook *hook)
{
	if (object_has(h->got.object, value) && h->got.tables.symbols[number].st_shndx == SHN_UNDEF)
		value = (u64)(uintptr_t)loader_find(RTLD_DEFAULT, hook->name, tables_version(&h->got.tables, number));
	return object_has(h->library, value);
}

static void slot_take(struct hooking *h, u64 *slot, u32 number, const struct hook *hook)
{
	u64 before = load_relaxed(slot), ours = (u64)(uintptr_t)hook->ours;
	bool read_only;

	if (slot_idle(h, before, number, hook) && got_open(&h->got, slot, &read_only) &&
	    slot_remember((u64)(uintptr_t)slot, before, ours, read_only))
		store_release(slot, ours);
}

static void slot_look(struct got *got, u64 *slot, u32 number, const char *name)
{
	for (u32 k = 0; k < ARRAY_SIZE(hooks); k++)
		if (!strcmp(name, hooks[k].name))
			slot_take((struct hooking *)got, slot, number, &hooks[k]);
}

static void object_look(const struct object *o, const struct object *library)
{
	struct hooking h = { .got = { .object = o }, .library = library };
	void *handle = loader_hold(o->path, o->base);

	if (!handle)
		return;
	got_each(&h.got, slot_look);
	got_shut(&h.got);
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
	for (u32 i = 0; library && i < list.n; i++)
		if (&list.objects[i] != library && got_counts(&list.objects[i]))
			object_look(&list.objects[i], library);
	loader_forget_errors();
	segment_private_drop(list.objects, LISTING_BYTES);
}

void hooks_clear(void)
{
	for (u32 i = 0; i < load_acquire(&nhooked); i++)
		got_restore(hooked[i].slot, hooked[i].ours, hooked[i].before, hooked[i].read_only);
}
