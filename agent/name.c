/* SPDX-License-Identifier: MIT */
/*
 * Names: each distinct one is copied into the segment once and known by its ref from then on; no
 * pointer of the program is kept, so libraries may be unloaded.
 *
 * Two tables of (hash, ref) words, private to the process and inherited by fork; entered by
 * compare-and-swap, never removed. Small programs touch only the first. Two threads that enter a
 * name at once leave one unused record behind; two processes may enter it twice: sparkctl merges by
 * bytes.
 */
#define _GNU_SOURCE
#include "agent.h"

#include <string.h>

#include "banned.h"

#define SMALL 1024u
#define LARGE (2 * WIRE_NAMES)
#define SITES 4096u
#define RECENT_BITS 8

/*
 * A name goes into the first table that has room in the window that its hash gives. A window that
 * was full stays full, so all threads that enter a name at once choose the same table and find each
 * other's.
 */
struct table {
	u64 *slots;                /* hash << 32 | ref */
	u32 size;
	u32 window;
	u32 limit;
	u32 used;
};

static u64 small_slots[SMALL];
static struct table small = { small_slots, SMALL, 16, SMALL, 0 };
static struct table large = { NULL, LARGE, LARGE, WIRE_NAMES - SMALL, 0 };

/* A literal that was met: the address decides, its bytes cannot change while the site's cache word lives. */
struct site {
	const char *bytes;
	u32 ref;
	u32 ready;
};

static struct site sites[SITES];
static u32 sites_used;

struct key {
	const char *bytes;
	u32 length;
	u64 hash;
};

/* Multiply and fold, eight bytes at a time; good spread matters, not secrecy: equal hashes are compared. */
static struct key key_of(const char *bytes)
{
	const u64 k = 0x9e3779b97f4a7c15ULL;
	size_t length = strlen(bytes);
	u64 h = k ^ length;
	size_t i = 0;
	u64 word;

	for (; i + 8 <= length; i += 8) {
		memcpy(&word, bytes + i, 8);
		h = (h ^ word) * k;
		h ^= h >> 29;
	}
	word = 0;
	for (u32 shift = 0; i < length; i++, shift += 8)
		word |= (u64)(u8)bytes[i] << shift;
	h = (h ^ word) * k;
	h ^= h >> 32;
	h *= k;
	return (struct key){ bytes, (u32)MIN(length, (size_t)UINT32_MAX), h ^ (h >> 29) };
}

static bool key_matches(const struct key *key, u32 ref)
{
	const struct wire_name *n = segment_ptr(ref);

	return n->hash == key->hash && n->full_length == key->length && memcmp(n->bytes, key->bytes, n->length) == 0;
}

/* Records are smaller than a page; all processes of the segment take them from one. */
u32 name_record(u32 bytes)
{
	u64 *arena = &agent.header->arena, now = load_acquire(arena);
	u32 need = ALIGN_UP(bytes, WIRE_UNIT), page;

	for (;;) {
		u32 used = (u32)now;

		if (now >> 32 && used + need <= WIRE_PAGE && segment_reach((u32)(now >> 32))) {
			if (compare_exchange(arena, &now, now + need))
				return (u32)(now >> 32) + used / WIRE_UNIT;
			continue;
		}
		page = segment_alloc(WIRE_PAGE);
		if (!page)
			return 0;
		compare_exchange(arena, &now, (u64)page << 32);
		now = load_acquire(arena);
	}
}

static u32 name_store(const struct key *key)
{
	u32 kept = MIN(key->length, WIRE_NAME_MAX);
	u32 ref = name_record((u32)sizeof(struct wire_name) + kept + 1);
	struct wire_name *n;

	if (!ref)
		return 0;
	n = segment_ptr(ref);
	n->hash = key->hash;
	n->full_length = key->length;
	n->unit = 0;
	memcpy(n->bytes, key->bytes, kept);
	n->bytes[kept] = 0;
	store_release(&n->length, kept);
	return ref;
}

static u32 table_get(const struct table *t, const struct key *key)
{
	const u64 *slots = load_acquire(&t->slots);

	if (!slots)
		return 0;
	for (u32 i = 0, at = (u32)key->hash; i < t->window; i++, at++) {
		u64 word = load_acquire(&slots[at & (t->size - 1)]);

		if (!word)
			return 0;
		if (word >> 32 == key->hash >> 32 && key_matches(key, (u32)word))
			return (u32)word;
	}
	return 0;
}

static u32 table_put(struct table *t, const struct key *key)
{
	u64 *slots = load_acquire(&t->slots);
	u32 ref = 0;

	if (!slots || load_relaxed(&t->used) >= t->limit)
		return 0;
	for (u32 i = 0, at = (u32)key->hash; i < t->window; i++, at++) {
		u64 *slot = &slots[at & (t->size - 1)], word = load_acquire(slot);

		if (!word && !ref && !(ref = name_store(key)))
			return 0;
		if (!word && compare_exchange(slot, &word, (key->hash >> 32) << 32 | ref)) {
			fetch_add(&t->used, 1);
			return ref;
		}
		if (word >> 32 == key->hash >> 32 && key_matches(key, (u32)word))
			return (u32)word;
	}
	return 0;
}

static bool large_ready(void)
{
	u64 *slots, *expected = NULL;

	if (load_acquire(&large.slots))
		return true;
	slots = segment_private(LARGE * sizeof(u64), PRIVATE_INHERITED);
	if (slots && !compare_exchange(&large.slots, &expected, slots))
		segment_private_drop(slots, LARGE * sizeof(u64));
	return load_acquire(&large.slots) != NULL;
}

static u32 key_intern(const struct key *key)
{
	u32 ref = table_get(&small, key);

	if (!ref)
		ref = table_get(&large, key);
	if (!ref)
		ref = table_put(&small, key);
	if (!ref && large_ready())
		ref = table_put(&large, key);
	return ref;
}

bool name_same(u32 a, u32 b)
{
	const struct wire_name *x = segment_ptr(a & WIRE_NODE_NAME_MASK), *y = segment_ptr(b & WIRE_NODE_NAME_MASK);

	return a && b && x->hash == y->hash && x->full_length == y->full_length && x->length == y->length &&
	       memcmp(x->bytes, y->bytes, x->length) == 0;
}

static u32 other; /* ref of "[other]"; inherited by fork with the record */

u32 name_other(void)
{
	u32 ref = load_acquire(&other);

	if (!ref) {
		struct key key = key_of("[other]");

		ref = key_intern(&key);
		store_release(&other, ref);
	}
	return ref;
}

/*
 * The names met last, by where they lay: the same pointer mostly has the same bytes, and comparing
 * them costs less than hashing. An entry is only a guess.
 */
static u32 recent[1u << RECENT_BITS];

static u32 *recent_at(const char *bytes)
{
	return &recent[(u64)(uintptr_t)bytes * 0x9e3779b97f4a7c15ULL >> (64 - RECENT_BITS)];
}

static __attribute__((noinline)) u32 name_lookup(const char *bytes)
{
	struct key key = key_of(bytes);
	u32 ref = key_intern(&key);

	if (likely(ref)) {
		if (key.length <= WIRE_NAME_MAX)
			store_release(recent_at(bytes), ref);
		return ref;
	}
	agent_lose(WIRE_LOSS_NAMES);
	return name_other();
}

u32 name_intern(const char *bytes)
{
	u32 ref = load_acquire(recent_at(bytes));

	if (likely(ref) && strcmp(((const struct wire_name *)segment_ptr(ref))->bytes, bytes) == 0)
		return ref;
	return name_lookup(bytes);
}

void name_forget(void)
{
	for (u32 i = 0; i < MIN(sites_used, SITES); i++) {
		store_relaxed(&sites[i].ready, 0);
		store_relaxed(&sites[i].bytes, NULL);
	}
	store_relaxed(&sites_used, 0);
	memset(small_slots, 0, sizeof(small_slots));
	small.used = 0;
	if (large.slots && large.used)
		memset(large.slots, 0, LARGE * sizeof(u64));
	large.used = 0;
	memset(recent, 0, sizeof(recent));
	other = 0;
}

static u32 site_new(unsigned long *word, const char *bytes)
{
	u32 ref = name_intern(bytes);
	u32 used = load_relaxed(&sites_used), i;

	if (used >= SITES)
		return ref; /* looking through them each time would cost more than the name */
	for (i = 0; i < used; i++)
		if (load_acquire(&sites[i].ready) && sites[i].bytes == bytes && sites[i].ref == ref)
			break;
	if (i == used) {
		i = fetch_add(&sites_used, 1);
		if (i >= SITES) {
			store_relaxed(&sites_used, SITES);
			return ref;
		}
		sites[i].bytes = bytes;
		sites[i].ref = ref;
		store_release(&sites[i].ready, 1);
	}
	store_release(word, (unsigned long)&sites[i]);
	return ref;
}

u32 name_site(unsigned long *word, const char *bytes)
{
	const struct site *s = (const struct site *)load_acquire(word);

	if (likely(s && s->bytes == bytes))
		return s->ref;
	return site_new(word, bytes);
}
