/* SPDX-License-Identifier: MIT */
/*
 * Which slots lead through stubs: the entries of global offset tables that the loader fills with
 * addresses of functions (R_*_JUMP_SLOT, and R_*_GLOB_DAT for calls without a PLT entry), in every
 * object but the loader and the agent, if the function lies in another object. Objects that come
 * later are looked at in the program's own calls of dlopen(3) and its like, whose slots lead
 * through stubs for that; never at another time, since looking takes the loader's locks.
 *
 * Slots are remembered, so that they can be given back without the loader: by then an object may
 * be gone, or be busy in another thread.
 */
#define _GNU_SOURCE
#include "agent.h"
#include "call.h"
#include "got.h"
#include "loader.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "banned.h"

#if defined(__aarch64__)
#define VARIANT_CONVENTION 0x80    /* STO_AARCH64_VARIANT_PCS: ELF for AArch64, "Symbol table" */
#endif

#define CALL_HASH (2 * CALL_STUBS)
#define PATCHED_ROOM ((WIRE_CHUNK - 16) / sizeof(struct patched))

struct patched {
	u64 slot;
	u32 index;                 /* of its stub */
	u32 read_only;
};

struct patched_chunk {
	struct patched_chunk *next;
	u64 used;
	struct patched slot[PATCHED_ROOM];
};

/* Beside calls[], what only this file needs; kept over fork with it. */
static struct {
	u32 used;                  /* of the stubs */
	u32 objects;               /* of the loader's list that were looked at */
	u64 adds, subs;            /* the loader's counts of what came and went, at the last look */
	struct patched_chunk *patched;
	u32 listing;               /* a thread is in the loader's lock for us; kept over fork, unlike life->patching */
	bool deepbind;             /* some object was opened with RTLD_DEEPBIND */
	bool rpaths;               /* some library has DT_RPATH */
	u16 hash[CALL_HASH];       /* index + 1 of a stub by its target and region */
	u32 origin[CALL_STUBS];    /* record of the stub for the object that was looked at last */
	u32 origin_object[CALL_STUBS];
	u32 looks;                 /* numbers objects over all looks */
	bool again;                /* another thread loaded something while one was looking */
	char program[WIRE_NAME_MAX + 1];
} patch;

u8 call_saves_extended;

static const char *object_path(const struct object *o)
{
	return *o->path ? o->path : patch.program;
}

/* ---- rules ------------------------------------------------------------------------------------ */

static const char *rule_text(u32 offset)
{
	return (const char *)call_rules + offset;
}

/* Some rule is about the name, whatever the library. */
static bool symbol_wanted(const char *symbol)
{
	for (u32 i = 0; i < call_rules->rules; i++) {
		const struct wire_call_rule *r = &call_rules->rule[i];

		if (!(r->flags & WIRE_CALL_EXCEPT) && call_pattern_matches(rule_text(r->symbol), symbol))
			return !call_refusal(symbol);
	}
	return false;
}

/* The rule that decides; NULL: not to be bracketed. */
static const struct wire_call_rule *rule_of(const char *symbol, const char *library)
{
	for (u32 i = call_rules->rules; i-- > 0;) {
		const struct wire_call_rule *r = &call_rules->rule[i];

		if (call_pattern_matches(rule_text(r->symbol), symbol) &&
		    (!r->library || call_library_matches(rule_text(r->library), library)))
			return r->flags & WIRE_CALL_EXCEPT ? NULL : r;
	}
	return NULL;
}

static enum call_kind loader_kind(const char *symbol)
{
	if (strncmp(symbol, "dl", 2) != 0)
		return CALL_NONE;
	if (!strcmp(symbol, "dlopen"))
		return CALL_LOADS;
	return !strcmp(symbol, "dlsym") || !strcmp(symbol, "dlvsym") ? CALL_FINDS : CALL_NONE;
}

/* ---- stubs ------------------------------------------------------------------------------------ */

static u64 stub_address(u32 index)
{
	return (u64)(uintptr_t)call_stubs + (u64)index * CALL_STUB_BYTES;
}

static bool is_stub(u64 address)
{
	return address - (u64)(uintptr_t)call_stubs < (u64)CALL_STUBS * CALL_STUB_BYTES;
}

/* The stub for a function under a name; CALL_STUBS: there are no more. region 0: one of the loader's. */
static u32 stub_for(u64 target, u32 region, enum call_kind kind, u32 words)
{
	u32 at = (u32)(target * 0x9e3779b97f4a7c15ULL >> 40), i;

	for (;; at++) {
		u16 *entry = &patch.hash[at % CALL_HASH];

		i = *entry - 1u;
		if (*entry && (u64)(uintptr_t)calls[i].target == target && calls[i].region == region && call_kinds[i] == kind)
			return i;
		/* Of a session before: whoever kept its address gets the region again, too. */
		if (*entry && kind == CALL_REGION && (u64)(uintptr_t)calls[i].target == target && !calls[i].region &&
		    call_kinds[i] == kind) {
			calls[i].bytes = words * (u32)sizeof(u64);
			store_release(&calls[i].region, region);
			return i;
		}
		if (*entry)
			continue;
		if (patch.used == CALL_STUBS)
			return CALL_STUBS;
		i = patch.used++;
		calls[i] = (struct call){ (void *)(uintptr_t)target, region, words * (u32)sizeof(u64) };
		call_kinds[i] = (u8)kind;
		*entry = (u16)(i + 1);
		return i;
	}
}

/* The record, one more slot counted: the one that there is, or a new one. 0: no room. */
static u32 origin_record(u32 name, u32 library, u32 caller)
{
	struct wire_origin *o;
	u32 ref;

	for (ref = load_acquire(&agent.header->origins); ref; ref = o->next) {
		o = segment_ptr(ref);
		if (o->kind == WIRE_ORIGIN_CALL && o->name == name && o->library == library && o->caller == caller) {
			o->slots++;
			return ref;
		}
	}
	ref = name_record(sizeof(*o));
	if (!ref)
		return 0;
	o = segment_ptr(ref);
	*o = (struct wire_origin){ .next = load_relaxed(&agent.header->origins), .name = name, .library = library,
				   .caller = caller, .kind = WIRE_ORIGIN_CALL, .slots = 1 };
	while (!compare_exchange(&agent.header->origins, &o->next, ref))
		;
	return ref;
}

/* Where the stub's region comes from, with one more slot. */
static void origin_count(u32 index, u32 name, const char *library, const char *caller)
{
	struct wire_origin *o;
	u32 ref;

	if (patch.origin[index] && patch.origin_object[index] == patch.looks) {
		o = segment_ptr(patch.origin[index]);
		o->slots++;
		return;
	}
	ref = origin_record(name, name_intern(library), caller ? name_intern(caller) : 0);
	patch.origin[index] = ref;
	patch.origin_object[index] = patch.looks;
}

/* ---- slots ------------------------------------------------------------------------------------ */

static bool slot_remember(u64 slot, u32 index, bool read_only)
{
	struct patched_chunk *c = patch.patched;

	if (!c || c->used == PATCHED_ROOM) {
		c = segment_private(sizeof(*c), PRIVATE_INHERITED);
		if (!c)
			return false;
		c->next = patch.patched;
		patch.patched = c;
	}
	c->slot[c->used] = (struct patched){ slot, index, read_only };
	store_release(&c->used, c->used + 1);
	return true;
}

/* One object while its slots are looked through. */
struct patching {
	struct got got;
	const struct listing *list;
	void *handle;
};

static bool slot_write(struct patching *p, u64 *slot, u32 index)
{
	bool read_only;

	if (!got_open(&p->got, slot, &read_only) || !slot_remember((u64)(uintptr_t)slot, index, read_only))
		return false;
	store_release(slot, stub_address(index));
	return true;
}

/* A definition without a version, as libraries have that are preloaded, is one for every version. */
static bool is_unversioned(const struct object *o, u64 address)
{
	const ElfW(Sym) *symbol = loader_symbol((void *)(uintptr_t)address);
	struct tables t;

	return symbol && object_tables(o, &t) && (!t.versions || (t.versions[symbol - t.symbols] & 0x7fff) < 2);
}

/* The object's own definition of a symbol, as far as it suits the version; 0: none. */
static u64 definition_in(const struct object *o, const char *name, const char *version)
{
	void *handle = loader_hold(o->path, o->base);
	u64 found;

	if (!handle)
		return 0;
	found = (u64)(uintptr_t)loader_find(handle, name, version);
	if (version && !object_has(o, found)) {
		found = (u64)(uintptr_t)loader_find(handle, name, NULL);
		if (object_has(o, found) && !is_unversioned(o, found))
			found = 0;
	}
	loader_let(handle);
	return object_has(o, found) ? found : 0;
}

/*
 * What the loader would bind the slot to. dlsym(3) knows the usual version alone, and dlvsym(3) does not take what has
 * none; both find a program's own PLT entry where that is the function's address for all. Where they do not agree, the
 * first object that has the function itself is the one, in the order of the loader's search.
 */
static u64 slot_bound(const struct patching *p, const ElfW(Sym) *symbol, u32 number)
{
	const char *name = p->got.tables.strings + symbol->st_name, *version = tables_version(&p->got.tables, number);
	u64 usual = (u64)(uintptr_t)loader_find(RTLD_DEFAULT, name, NULL), target = 0;

	if (usual && !object_has(p->got.object, usual) &&
	    (!version || usual == (u64)(uintptr_t)loader_find(RTLD_DEFAULT, name, version)))
		return usual;
	/* Only the object's own search has it. */
	if (!usual)
		return (u64)(uintptr_t)loader_find(p->handle, name, version);
	if (symbol->st_shndx != SHN_UNDEF && object_has(p->got.object, usual))
		return 0;
	for (u32 i = 0; i < p->list->n && !target; i++)
		if (&p->list->objects[i] != p->got.object)
			target = definition_in(&p->list->objects[i], name, version);
	return target;
}

/* Data may lie between code: what its library calls data is none. What it has no name for is, as what an IFUNC chose. */
static bool is_function(u64 address)
{
	const ElfW(Sym) *symbol = loader_symbol((void *)(uintptr_t)address);

#if defined(VARIANT_CONVENTION)
	if (symbol && symbol->st_other & VARIANT_CONVENTION)
		return false;
#endif
	return !symbol || (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT && ELF64_ST_TYPE(symbol->st_info) != STT_TLS);
}

/* Bound to the object's own function, whatever came into the loader's search since. */
static bool bound_to_own(const struct patching *p, u64 target, const ElfW(Sym) *symbol)
{
	return symbol->st_shndx != SHN_UNDEF &&
	       (target == p->got.object->base + symbol->st_value || ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC);
}

/* The function that a slot stands for; 0: none, or one of the object's own. */
static u64 slot_target(struct patching *p, const u64 *slot, const ElfW(Sym) *symbol, u32 number)
{
	u64 target = load_relaxed(slot);

	if (is_stub(target))
		return 0;
	/* Its own PLT entry: not bound yet. */
	if (object_has(p->got.object, target)) {
		if (bound_to_own(p, target, symbol))
			return 0;
		target = slot_bound(p, symbol, number);
		/* Which of two it would be cannot be known then: left until the loader has bound it. */
		if (patch.deepbind && target != (u64)(uintptr_t)loader_find(p->handle, p->got.tables.strings + symbol->st_name,
									    tables_version(&p->got.tables, number)))
			return 0;
	}
	return object_has(p->got.object, target) ? 0 : target;
}

/* A slot for a function whose name some rule, or the loader, is about. */
static void slot_look(struct patching *p, u64 *slot, u32 number, enum call_kind kind)
{
	const ElfW(Sym) *symbol = &p->got.tables.symbols[number];
	const char *name = p->got.tables.strings + symbol->st_name;
	u64 target = slot_target(p, slot, symbol, number);
	const struct wire_call_rule *rule = NULL;
	const struct object *library;
	u32 index, region = 0;

	library = target ? listing_code_at(p->list, target) : NULL;
	if (!library || object_has(library, (u64)(uintptr_t)call_stubs) || object_is_loader(library) ||
	    (!*library->path && loader_stands_in((void *)(uintptr_t)target)))
		return;
	if (kind == CALL_REGION) {
		rule = rule_of(name, object_path(library));
		if (!rule || !is_function(target))
			return;
		region = name_intern(name);
	}
	index = stub_for(target, region ? region | WIRE_FRAME_CALL : 0, kind, rule ? rule->words : 0);
	if (index == CALL_STUBS) {
		agent_lose(WIRE_LOSS_CALLS);
		return;
	}
	if (slot_write(p, slot, index) && region)
		origin_count(index, region, object_path(library), object_path(p->got.object));
}

static void name_look(struct got *got, u64 *slot, u32 number, const char *name)
{
	enum call_kind kind;

#if defined(VARIANT_CONVENTION)
	if (got->tables.symbols[number].st_other & VARIANT_CONVENTION)
		return;
#endif
	kind = loader_kind(name);
	if (kind == CALL_NONE && symbol_wanted(name))
		kind = CALL_REGION;
	if (kind != CALL_NONE)
		slot_look((struct patching *)got, slot, number, kind);
}

static void object_patch(const struct listing *list, const struct object *o)
{
	struct patching p = { .got = { .object = o }, .list = list };

	patch.looks++;
	/* Before anything of it is read. */
	p.handle = loader_hold(o->path, o->base);
	if (!p.handle)
		return;
	if (*o->path && object_has_rpath(o))
		patch.rpaths = true;
	got_each(&p.got, name_look);
	got_shut(&p.got);
	loader_let(p.handle);
}

static void list_objects(struct listing *list)
{
	store_release(&patch.listing, 1);
	listing_take(list);
	store_release(&patch.listing, 0);
}

static void objects_look(struct listing *list)
{
	list_objects(list);
	if (list->adds == patch.adds && list->subs == patch.subs)
		return;
	/* The list only grows at its end; where something left it, all of it is looked at again. */
	if (list->subs != patch.subs)
		patch.objects = 0;
	for (u32 i = patch.objects; i < list->n; i++)
		if (got_counts(&list->objects[i]))
			object_patch(list, &list->objects[i]);
	patch.objects = list->n;
	patch.adds = list->adds;
	patch.subs = list->subs;
	loader_forget_errors();
}

/* Whoever looks is alone at it. The word lies in memory that fork wipes: a child has no other thread. */
static bool look_begin(struct listing *list)
{
	u32 idle = 0;

	if (!call_rules || load_relaxed(&call_rules->released) || agent_sealed() || !agent_live() ||
	    !compare_exchange(&life->patching, &idle, 1))
		return false;
	/* Forked while another thread was in the loader's lock: in this process nobody gives it back. */
	*list = (struct listing){ 0 };
	if (!load_acquire(&patch.listing))
		list->objects = segment_private(LISTING_BYTES, PRIVATE_ABSENT);
	if (!list->objects)
		store_release(&life->patching, 0);
	return list->objects != NULL;
}

static void look_end(struct listing *list)
{
	segment_private_drop(list->objects, LISTING_BYTES);
	store_release(&life->patching, 0);
}

void patch_look(void)
{
	struct listing list;

	/* Who finds another thread at it leaves it the work. */
	store_release(&patch.again, true);
	while (load_acquire(&patch.again) && look_begin(&list)) {
		store_release(&patch.again, false);
		objects_look(&list);
		look_end(&list);
	}
}

bool patch_loads_here(int mode)
{
	patch.deepbind |= (mode & RTLD_DEEPBIND) != 0;
	return !patch.rpaths;
}

void *patch_found(const char *name, void *target, u64 from)
{
	const struct wire_call_rule *rule = NULL;
	struct listing list;
	const struct object *library, *caller;
	u32 region, index = CALL_STUBS;

	if (!name || is_stub((u64)(uintptr_t)target) || !symbol_wanted(name) || !look_begin(&list))
		return target;
	patch.looks++;
	list_objects(&list);
	library = listing_code_at(&list, (u64)(uintptr_t)target);
	caller = listing_code_at(&list, from);
	if (library && library != caller)
		rule = rule_of(name, object_path(library));
	if (rule && !is_function((u64)(uintptr_t)target))
		rule = NULL;
	if (rule) {
		region = name_intern(name);
		index = stub_for((u64)(uintptr_t)target, region | WIRE_FRAME_CALL, CALL_REGION, rule->words);
		if (index == CALL_STUBS)
			agent_lose(WIRE_LOSS_CALLS);
		else
			origin_count(index, region, object_path(library), caller ? object_path(caller) : NULL);
	}
	look_end(&list);
	return index == CALL_STUBS ? target : (void *)(uintptr_t)stub_address(index);
}

/* ---- giving back ------------------------------------------------------------------------------ */

static void slot_restore(const struct patched *p)
{
	got_restore(p->slot, stub_address(p->index), (u64)(uintptr_t)calls[p->index].target, p->read_only);
}

void patch_release(void)
{
	u32 idle = 0;

	if (agent_sealed() || !compare_exchange(&life->patching, &idle, 2))
		return;
	for (const struct patched_chunk *c = patch.patched; c; c = c->next)
		for (u64 i = load_acquire(&c->used); i-- > 0;)
			slot_restore(&c->slot[i]);
}

/* ---- start ------------------------------------------------------------------------------------ */

/* Whether the thunk can keep all that a caller may pass in vector registers (Intel SDM, volume 1, chapter 13). */
static bool vectors_kept(void)
{
#if defined(__x86_64__)
	static const u8 states[] = { 2, 5, 6, 7 }; /* AVX, and the three of AVX-512 */
	u32 a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d))
		return false;
	call_saves_extended = (c & bit_OSXSAVE) != 0;
	for (u32 i = 0; call_saves_extended && i < ARRAY_SIZE(states); i++)
		if (__get_cpuid_count(0xd, states[i], &a, &b, &c, &d) && a && (u64)a + b > CALL_VECTORS)
			return false;
#endif
	return true;
}

/* What a session before has found is of that one's segment; its stubs stay, and lead on. */
static void patch_forget(void)
{
	static const struct wire_calls none = { .released = 1 };

	store_release(&life->patching, 0);
	/* Its memory is touched by none that has no calls bracketed: each page would be a fault of the start. */
	if (!call_rules)
		return;
	for (u32 i = 0; i < patch.used; i++)
		store_relaxed(&calls[i].region, 0);
	store_release(&call_rules, &none);
	for (struct patched_chunk *c = patch.patched; c; c = c->next)
		c->used = 0;
	memset(patch.origin, 0, sizeof(patch.origin));
	patch.objects = 0;
	patch.adds = patch.subs = 0;
}

void patch_start(u32 ref)
{
	const struct wire_calls *rules = ref ? segment_ptr(ref) : NULL;
	long n;

	patch_forget();

	if (!rules || !vectors_kept())
		return;
	n = syscall_raw(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)patch.program, WIRE_NAME_MAX, 0, 0);
	patch.program[MAX(n, 0)] = 0;
	call_rules = rules;
	patch_look();
}
