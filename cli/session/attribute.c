/* SPDX-License-Identifier: MIT */
/* See attribute.h. The segment is read in small pieces, and nothing in it is believed. */
#define _GNU_SOURCE
#include "cli/session/attribute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/session/internal.h"
#include "cli/session/nodes.h"
#include "cli/session/sampling.h"

#define THREADS_MOST (1u << 20)
#define TOP_TRIES 3
#define DROP_AT 4096               /* entries behind us that are worth moving the others */

/* A slot of a segment, whose threads come one after the other. */
struct attribute_slot {
	u32 ref;
	u32 tid;
	u32 state;
	u32 watch;
	u32 lanes[WIRE_LANES];
	u64 count;                   /* entries that were read */
};

struct attribute_entry {
	u64 head, ticks;
	u32 node, cpu;
	bool after_gap;              /* entries before it were overwritten */
};

/* What one thread has logged. */
struct attribute_thread {
	struct attribute_thread *next;
	struct segment *segment;
	u32 tid;
	u32 slot;                    /* index in segment->slots */
	bool unwatched;
	struct attribute_entry *entries;
	size_t n, room, at;
	u64 logged;                  /* in all */
	u64 top_turn, top_logged;    /* when the node on top was looked up last, and how much was logged then */
	u32 top_node;
};

static struct attribute_thread **bucket(struct attribute *a, const struct segment *g, u32 tid)
{
	return &a->threads[(tid ^ (u32)((uintptr_t)g >> 6)) % ATTRIBUTE_BUCKETS];
}

static struct attribute_thread *thread_find(struct attribute *a, const struct segment *g, u32 tid)
{
	struct attribute_thread *t = *bucket(a, g, tid);

	while (t && (t->segment != g || t->tid != tid))
		t = t->next;
	return t;
}

static struct attribute_thread *thread_get(struct attribute *a, struct segment *g, u32 tid)
{
	struct attribute_thread *t = thread_find(a, g, tid), **to = bucket(a, g, tid);

	if (t)
		return t;
	t = a->nthreads < THREADS_MOST ? calloc(1, sizeof(*t)) : NULL;
	if (!t)
		return NULL;
	a->nthreads++;
	t->segment = g;
	t->tid = tid;
	t->next = *to;
	*to = t;
	return t;
}

static void thread_log(struct attribute *a, struct segment *g, const struct wire_watch_entry *e, bool after_gap)
{
	struct attribute_thread *t = thread_get(a, g, e->tid);

	if (!t)
		return;
	/* Those of before the samples that have been handled already. */
	while (t->n == t->room && t->at < t->n && t->entries[t->at].ticks < a->handled_ticks)
		t->at++;
	if (t->at >= DROP_AT || (t->n == t->room && t->at > t->n / 2)) {
		memmove(t->entries, t->entries + t->at, (t->n - t->at) * sizeof(*t->entries));
		t->n -= t->at;
		t->at = 0;
	}
	if (t->n == t->room) {
		size_t room = t->room ? 2 * t->room : 64;
		struct attribute_entry *list = realloc(t->entries, room * sizeof(*list));

		if (!list)
			return;
		t->entries = list;
		t->room = room;
	}
	t->logged++;
	t->entries[t->n++] = (struct attribute_entry){ e->head, e->ticks, e->node, e->cpu, after_gap };
}

/* The newest entries of a slot's ring. Those that were overwritten while they were read are not believed. */
static void slot_entries(struct attribute *a, struct segment *g, struct attribute_slot *slot)
{
	const size_t size = sizeof(struct wire_watch_entry);
	u64 base = place(slot->watch), first, count, after;
	struct wire_watch_entry *e;
	bool gap;

	if (!peek(g, base, &count, sizeof(count)) || count == slot->count)
		return;
	first = count < slot->count || count - slot->count > WIRE_WATCH_ENTRIES ? count - MIN(count, WIRE_WATCH_ENTRIES) :
										  slot->count;
	gap = first != slot->count;
	e = malloc((count - first) * size);
	if (!e)
		return;
	for (u64 i = first; i < count; i++) {
		u64 k = i % WIRE_WATCH_ENTRIES, n = MIN(count - i, WIRE_WATCH_ENTRIES - k);

		if (!peek(g, base + offsetof(struct wire_watch, entry) + k * size, &e[i - first], n * size))
			goto out;
		i += n - 1;
	}
	if (!peek(g, base, &after, sizeof(after)))
		goto out;
	/* The one that is being written now is not counted yet. */
	for (u64 i = first; i < count; i++) {
		if (after + 1 > i + WIRE_WATCH_ENTRIES) {
			gap = true;
			continue;
		}
		thread_log(a, g, &e[i - first], gap);
		gap = false;
	}
	slot->count = count;
out:
	free(e);
}

/* Nothing was logged since the last reading: nor has the slot's thread ended, since it logs that. */
static bool slot_quiet(const struct segment *g, const struct attribute_slot *slot)
{
	u64 count;

	return slot->watch && peek(g, place(slot->watch), &count, sizeof(count)) && count == slot->count &&
	       load_acquire(&g->header->claims) == g->claims;
}

/* Reads a slot anew, and what its threads logged. */
static void slot_read(struct attribute *a, struct segment *g, u32 index)
{
	struct attribute_slot *slot = &g->slots[index];
	struct attribute_thread *t;
	struct wire_slot w;

	if (!peek(g, place(slot->ref), &w, sizeof(w)))
		return;
	if (slot->watch != w.watch)
		slot->count = 0;
	slot->tid = w.tid;
	slot->state = w.state;
	slot->watch = w.watch;
	memcpy(slot->lanes, w.lanes, sizeof(slot->lanes));
	if (w.watch)
		slot_entries(a, g, slot);
	if (w.state != WIRE_SLOT_LIVE || !w.tid)
		return;
	t = thread_get(a, g, w.tid);
	if (t) {
		t->slot = index;
		t->unwatched = !w.watch;
	}
}

static bool slot_add(struct segment *g, u32 ref)
{
	struct attribute_slot *list = realloc(g->slots, (g->nslots + 1) * sizeof(*list));

	if (!list)
		return false;
	g->slots = list;
	g->slots[g->nslots++] = (struct attribute_slot){ .ref = ref };
	return true;
}

void attribute_read(struct session *s, struct segment *g)
{
	u32 claims;

	claims = load_acquire(&g->header->claims);
	if (claims == g->claims)
		return;
	g->claims = claims;
	slots_find(g, &g->first_slot, slot_add);
	for (u32 i = 0; i < g->nslots; i++)
		slot_read(&s->sampling->attribute, g, i);
}

/* ---- samples */

/* It was taken before the marker that logged the entry. */
static bool entry_after(const struct attribute_entry *e, const struct attribute_sample *sample)
{
	return e->cpu == sample->cpu ? sample->position < e->head : sample->ticks < e->ticks;
}

/* The node on top of a lane's frames; 0: none is open. */
static u32 lane_top(const struct segment *g, u32 lane, u32 *root)
{
	struct wire_frame f;
	struct {
		u32 depth, root;
	} w;

	_Static_assert(offsetof(struct wire_lane, depth) == 0 && offsetof(struct wire_lane, root) == 4, "a lane's head");
	if (!peek(g, place(lane), &w, sizeof(w)))
		return 0;
	*root = w.root;
	for (u32 d = MIN(w.depth, WIRE_DEPTH); d; d--) {
		if (!peek(g, place(lane) + offsetof(struct wire_lane, frames) + (d - 1) * sizeof(f), &f, sizeof(f)))
			return 0;
		if (!(f.region & WIRE_FRAME_ORPHAN))
			return f.node;
	}
	return 0;
}

static u32 slot_top(const struct segment *g, const struct attribute_slot *slot)
{
	u32 root = 0, node = 0;

	for (u32 i = WIRE_LANES; i-- && !node;)
		if (slot->lanes[i])
			node = lane_top(g, slot->lanes[i], &root);
	return node ? node : root;
}

/* The first entry that was logged after the sample; NULL: none, as far as is known. */
static const struct attribute_entry *thread_entry(struct attribute_thread *t, const struct attribute_sample *sample)
{
	while (t->at < t->n && !entry_after(&t->entries[t->at], sample))
		t->at++;
	return t->at < t->n ? &t->entries[t->at] : NULL;
}

/*
 * The node that a sample belongs to; 0: a root's, or none. Without an entry no marker has come since
 * the sample, and it is the one on top now. If a marker comes while we look, it logs before it
 * changes anything.
 */
static u32 thread_node(struct session *s, struct attribute_thread *t, const struct attribute_sample *sample, bool *unknown)
{
	const struct attribute_entry *e = thread_entry(t, sample);
	struct segment *g = t->segment;
	u32 node = 0;

	if (!e && t->top_turn == s->sampling->attribute.turn && t->top_logged == t->logged)
		return t->top_node;
	for (u32 i = 0; !e && i < TOP_TRIES; i++) {
		const struct attribute_slot *slot = &g->slots[t->slot];
		u64 before;

		if (!slot_quiet(g, slot))
			slot_read(&s->sampling->attribute, g, t->slot);
		e = thread_entry(t, sample);
		if (e)
			break;
		before = t->logged;
		if (slot->tid != t->tid || slot->state != WIRE_SLOT_LIVE)
			return 0;
		node = slot_top(g, slot);
		if (!slot_quiet(g, slot))
			slot_read(&s->sampling->attribute, g, t->slot);
		if (t->logged == before) {
			t->top_turn = s->sampling->attribute.turn;
			t->top_logged = before;
			t->top_node = node;
			return node;
		}
		e = thread_entry(t, sample);
	}
	*unknown = !e || e->after_gap;
	return e ? e->node : 0;
}

/* What a thread calls itself in its PID namespace. */
struct attribute_alias {
	struct attribute_alias *next;
	struct segment *segment;
	u32 outer, inner;
};

static u32 number_inside(u32 pid, u32 tid)
{
	char name[64], text[4096], *line;

	snprintf(name, sizeof(name), "task/%u/status", tid);
	if (process_read_file(pid, name, text, sizeof(text)) < 0 || !(line = strstr(text, "\nNSpid:")))
		return 0;
	line++;
	line[strcspn(line, "\n")] = '\0';
	line = strrchr(line, '\t');
	return line ? (u32)strtoul(line, NULL, 10) : 0;
}

/* The number by which a thread logs, which may differ from the kernel's for us; 0: it ended before it was asked. */
static u32 thread_number(struct attribute *a, const struct attribute_sample *sample)
{
	struct segment *g = sample->segment;
	struct attribute_alias **to = &a->aliases[sample->tid % ATTRIBUTE_BUCKETS], *alias;
	u32 inner;

	if (g->pid == g->wire_pid)
		return sample->tid;
	if (sample->tid == g->pid)
		return g->wire_pid;
	for (alias = *to; alias; alias = alias->next)
		if (alias->segment == g && alias->outer == sample->tid)
			return alias->inner;
	inner = number_inside(g->pid, sample->tid);
	alias = inner && a->nthreads < THREADS_MOST ? malloc(sizeof(*alias)) : NULL;
	if (alias) {
		*alias = (struct attribute_alias){ *to, g, sample->tid, inner };
		*to = alias;
	}
	return inner;
}

u32 attribute_region(struct session *s, const struct attribute_sample *sample, bool *unknown)
{
	struct attribute *a = &s->sampling->attribute;
	u32 node, region, tid = sample->segment ? thread_number(a, sample) : 0;
	struct attribute_thread *t = tid ? thread_find(a, sample->segment, tid) : NULL;

	*unknown = sample->segment && !tid;
	if (!t)
		return SAMPLES_NONE;
	*unknown = t->unwatched || t->slot >= t->segment->nslots;
	node = *unknown ? 0 : thread_node(s, t, sample, unknown);
	if (!node || *unknown)
		return SAMPLES_NONE;
	*unknown = !node_region(sample->segment, &sample->segment->regions, &s->sampling->samples, node, &region);
	return region;
}

u32 attribute_now(struct session *s, struct segment *g, u32 tid, bool *unknown)
{
	struct attribute_thread *t = thread_find(&s->sampling->attribute, g, tid);
	u32 node, region;

	*unknown = g->pid != g->wire_pid;
	if (!t || *unknown || t->slot >= g->nslots)
		return SAMPLES_NONE;
	slot_read(&s->sampling->attribute, g, t->slot);
	if (g->slots[t->slot].tid != tid || g->slots[t->slot].state != WIRE_SLOT_LIVE)
		return SAMPLES_NONE;
	node = slot_top(g, &g->slots[t->slot]);
	*unknown = node && !node_region(g, &g->regions, &s->sampling->samples, node, &region);
	return node && !*unknown ? region : SAMPLES_NONE;
}

void attribute_forget(struct session *s, struct segment *g)
{
	(void)s;
	ref_map_fini(&g->regions);
	g->regions = (struct ref_map){ .entries = NULL };
}

static void thread_free(struct attribute_thread *t)
{
	free(t->entries);
	free(t);
}

void attribute_free(struct session *s)
{
	struct attribute *a = &s->sampling->attribute;

	for (u32 i = 0; i < ATTRIBUTE_BUCKETS; i++)
		while (a->threads[i]) {
			struct attribute_thread *t = a->threads[i];

			a->threads[i] = t->next;
			thread_free(t);
		}
	for (u32 i = 0; i < ATTRIBUTE_BUCKETS; i++)
		while (a->aliases[i]) {
			struct attribute_alias *alias = a->aliases[i];

			a->aliases[i] = alias->next;
			free(alias);
		}
}
