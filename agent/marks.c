/* SPDX-License-Identifier: MIT */
/*
 * What markers have added up at the edges of windows, by region path. Sums of other threads are read while these go
 * on: a bracket that ends just then may be missing or be there twice. How much is looked at is bounded, for the
 * program waits.
 */
#include "agent.h"

#include <stddef.h>
#include <string.h>

#include "banned.h"

#define HASH 512u                  /* a power of two, well above WIRE_MARKS */
#define DEPTH 64u                  /* what is deeper is left out */
#define LOOKS 1024u                /* units, nodes and frames: some 60 ns each, if they are in no cache */
#define ENDED 4096u                /* records of threads that ended, of a process */

struct marks_room {
	struct wire_marks marks;
	u8 hash[HASH];             /* 1 + number of a mark, by parent and name; open addressing */
	u32 looks;
};

_Static_assert(sizeof(struct marks_room) <= WIRE_PAGE && WIRE_MARKS < UINT8_MAX, "a page");

static bool look(struct marks_room *r)
{
	if (r->looks++ < LOOKS)
		return true;
	r->marks.flags |= WIRE_MARKS_MANY;
	return false;
}

/* SAFE. 1 + the number of a path, added if it is new; 0: no room. */
static u32 mark_find(struct marks_room *r, u32 parent, u32 name)
{
	for (u32 at = (parent * 0x85ebca6bu ^ name) * 0x9e3779b1u >> 16;; at++) {
		u8 *place = &r->hash[at % HASH];
		struct wire_mark *m;

		if (*place) {
			m = &r->marks.mark[*place - 1];
			if (m->name == name && m->parent == parent)
				return *place;
			continue;
		}
		if (r->marks.n == WIRE_MARKS) {
			r->marks.flags |= WIRE_MARKS_CUT;
			return 0;
		}
		m = &r->marks.mark[r->marks.n++];
		*m = (struct wire_mark){ .name = name, .parent = (u16)parent };
		*place = (u8)r->marks.n;
		return *place;
	}
}

/* SAFE. The mark of a node's path; NULL: there is none. */
static struct wire_mark *mark_of(struct marks_room *r, u32 ref)
{
	u32 chain[DEPTH], n = 0, number = 0;

	while (ref && segment_reach(ref)) {
		const struct wire_node *node = segment_ptr(ref);

		if (!node->region)
			break;
		if (node->region >> WIRE_NODE_KIND_SHIFT || n == DEPTH) {
			r->marks.flags |= WIRE_MARKS_CUT;
			return NULL;
		}
		chain[n++] = node->region;
		ref = node->parent;
	}
	while (n) {
		number = mark_find(r, number, chain[--n]);
		if (!number)
			return NULL;
	}
	return number ? &r->marks.mark[number - 1] : NULL;
}

static void marks_node(struct marks_room *r, const struct wire_pending *pending, u32 ref)
{
	const struct wire_node *node = segment_ptr(ref);
	u64 calls = load_relaxed(&node->calls), wall = load_relaxed(&node->wall);
	struct wire_mark *m;

	if (!node->region || node->region >> WIRE_NODE_KIND_SHIFT)
		return;
	/* A handler may have come in the midst of an update. */
	if (pending->node == ref && pending->calls > calls) {
		calls = pending->calls;
		wall = pending->node_wall;
	}
	m = calls ? mark_of(r, ref) : NULL;
	if (!m)
		return;
	m->calls += calls;
	m->ticks += wall;
}

static void marks_frame(struct marks_room *r, const struct wire_frame *frame)
{
	u64 start = load_relaxed(&frame->start);
	u32 node = load_relaxed(&frame->node);
	struct wire_mark *m = node ? mark_of(r, node) : NULL;

	if (!m)
		return;
	m->open += m->open < UINT16_MAX;
	m->ticks += r->marks.ticks > start ? r->marks.ticks - start : 0;
}

static void marks_lane(struct marks_room *r, const struct wire_lane *l)
{
	const struct wire_pending pending = l->pending;
	u32 depth = MIN(load_relaxed(&l->depth), (u32)WIRE_DEPTH);
	const struct wire_page *page;

	for (u32 ref = load_acquire(&l->node_pages); ref && segment_reach(ref) && look(r); ref = page->next) {
		u32 used, step = agent.stride / WIRE_UNIT;

		page = segment_ptr(ref);
		used = MIN(load_acquire(&page->used), (WIRE_PAGE - (u32)sizeof(*page)) / agent.stride);
		for (u32 i = 0; i < used && look(r); i++)
			marks_node(r, &pending, ref + (u32)sizeof(*page) / WIRE_UNIT + i * step);
	}
	for (u32 i = 0; i < depth && look(r); i++)
		marks_frame(r, &l->frames[i]);
}

static void marks_slot(struct marks_room *r, const struct wire_slot *slot)
{
	for (u32 i = 0; i < WIRE_LANES; i++) {
		u32 ref = load_relaxed(&slot->lanes[i]);

		if (ref && segment_reach(ref))
			marks_lane(r, segment_ptr(ref));
	}
}

static void marks_threads(struct marks_room *r)
{
	struct thread *t;

	for (u32 i = life->first_unit; (t = unit_number(i)) && look(r); i++) {
		u32 state = load_acquire(&t->state);
		const struct wire_slot *slot = load_relaxed(&t->slot);
		u64 end;

		if ((state != UNIT_LIVE && state != UNIT_IDLE) || !slot || load_relaxed(&slot->pid) != life->pid)
			continue;
		end = load_relaxed(&slot->end);
		/* Of these there are records of their own. */
		if (agent.flags & WIRE_PER_THREAD && end && end <= r->marks.ticks)
			continue;
		marks_slot(r, slot);
	}
}

static u32 marks_store(const struct marks_room *r)
{
	u32 size = (u32)(offsetof(struct wire_marks, mark) + r->marks.n * sizeof(struct wire_mark));
	u32 ref = name_record((u32)sizeof(struct wire_snapshot) + size);
	struct wire_snapshot *s;

	if (!ref)
		return 0;
	s = segment_ptr(ref);
	s->next = 0;
	s->file = WIRE_MARKS_FILE;
	s->size = size;
	s->absent = 0;
	memcpy(s->bytes, &r->marks, size);
	return ref;
}

static struct marks_room *marks_begin(u64 now)
{
	struct marks_room *r = (struct marks_room *)snapshot_room();

	if (!r)
		return NULL;
	memset(r->hash, 0, sizeof(r->hash));
	r->looks = 0;
	r->marks.n = 0;
	r->marks.flags = load_relaxed(&life->ended_marks) > ENDED ? WIRE_MARKS_MANY : 0;
	r->marks.pid = life->pid;
	r->marks.reserved = 0;
	r->marks.ticks = now;
	return r;
}

u32 marks_take(u32 next, u64 now)
{
	/* A trace has it all. */
	struct marks_room *r = agent.flags & WIRE_TRACE ? NULL : marks_begin(now);
	u32 ref;

	if (!r)
		return next;
	marks_threads(r);
	ref = marks_store(r);
	if (ref)
		((struct wire_snapshot *)segment_ptr(ref))->next = next;
	snapshot_room_drop((char *)r);
	return ref ? ref : next;
}

void marks_thread_ended(const struct wire_slot *slot)
{
	struct marks_room *r;
	struct wire_snapshot *s;
	u32 ref = 0;

	if (!load_relaxed(&life->open) || agent.flags & WIRE_TRACE)
		return;
	r = fetch_add(&life->ended_marks, 1) < ENDED ? marks_begin(slot->end) : NULL;
	if (r) {
		marks_slot(r, slot);
		ref = marks_store(r);
		snapshot_room_drop((char *)r);
	}
	if (!ref) {
		store_relaxed(&life->ended_marks, ENDED + 1);
		return;
	}
	s = segment_ptr(ref);
	s->next = load_relaxed(&agent.header->ended);
	while (!compare_exchange(&agent.header->ended, &s->next, ref))
		;
}
