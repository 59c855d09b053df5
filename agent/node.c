/* SPDX-License-Identifier: MIT */
/*
 * Nodes and histograms of a lane: memory from the lane's own pages of the segment, found through a
 * private hash table. One writer, the lane's thread; sparkctl reads a page's first `used` items, so
 * an item is filled before `used` counts it.
 */
#include "agent.h"

#include "common/hist.h"

#include <errno.h>
#include <string.h>

#include "banned.h"

/* MARKER. A page of the kind: one that a reaped slot left, else a fresh one; 0: none. */
static u32 lane_page(u32 *list, u32 *reuse, enum wire_page_kind kind)
{
	struct wire_page *p;
	u32 ref;

	while (*reuse) {
		ref = *reuse;
		p = segment_ptr(ref);
		*reuse = p->next;
		if (p->used == 0)
			return ref;
	}
	ref = segment_alloc(WIRE_PAGE);
	if (!ref)
		return 0;
	p = segment_ptr(ref);
	p->kind = kind;
	p->next = *list;
	barrier();
	*list = ref;
	return ref;
}

/* Bytes that one count of wire_page.used stands for. */
static u32 item_size(enum wire_page_kind kind)
{
	return kind == WIRE_PAGE_NODES ? agent.stride : (u32)sizeof(struct wire_hist_chunk);
}

/* MARKER. Room for `bytes`, a multiple of the item size; to be filled before lane_item_done() counts it. */
static u32 lane_item(u32 *page, u32 *list, u32 *reuse, enum wire_page_kind kind, u32 bytes)
{
	struct wire_page *p = *page ? segment_ptr(*page) : NULL;

	if (!p || sizeof(*p) + (u64)p->used * item_size(kind) + bytes > WIRE_PAGE) {
		*page = lane_page(list, reuse, kind);
		if (!*page)
			return 0;
		p = segment_ptr(*page);
	}
	return *page + (u32)(sizeof(*p) + (size_t)p->used * item_size(kind)) / WIRE_UNIT;
}

static void lane_item_done(u32 page, u32 bytes)
{
	struct wire_page *p = segment_ptr(page);

	store_release(&p->used, p->used + bytes / item_size(p->kind));
}

static u32 lane_node_new(struct lane *l, u32 parent, u32 region)
{
	u32 ref = lane_item(&l->node_page, &l->w->node_pages, &l->node_reuse, WIRE_PAGE_NODES, agent.stride);
	struct wire_node *n;

	if (!ref)
		return 0;
	n = segment_ptr(ref);
	memset(n, 0, agent.stride);
	n->region = region;
	n->parent = parent;
	n->min = UINT64_MAX;
	lane_item_done(l->node_page, agent.stride);
	return ref;
}

static u32 hash_of(u32 parent, u32 region)
{
	u64 h = ((u64)parent << 32 | region) * 0x9e3779b97f4a7c15ULL;

	return (u32)(h >> 32) ^ (u32)(h >> 47);
}

static void hash_put(u32 *hash, u32 mask, u32 ref)
{
	const struct wire_node *n = segment_ptr(ref);
	u32 at = hash_of(n->parent, n->region);

	while (hash[at & mask])
		at++;
	hash[at & mask] = ref;
}

/* MARKER. Four times the room; false: none to be had. The first table is part of the lane's page, later ones are dropped. */
static bool hash_grow(struct lane *l)
{
	u32 size = (l->hash_mask + 1) * 4;
	u32 *hash = segment_private(size * sizeof(u32), PRIVATE_ABSENT);

	if (!hash)
		return false;
	for (u32 i = 0; i <= l->hash_mask; i++)
		if (l->hash[i])
			hash_put(hash, size - 1, l->hash[i]);
	if (l->hash_mask + 1 > LANE_HASH)
		segment_private_drop(l->hash, (l->hash_mask + 1) * sizeof(u32));
	l->hash = hash;
	l->hash_mask = size - 1;
	return true;
}

u32 lane_find(const struct lane *l, u32 parent, u32 region)
{
	for (u32 at = hash_of(parent, region);; at++) {
		u32 ref = l->hash[at & l->hash_mask];
		const struct wire_node *n;

		if (!ref)
			return 0;
		n = segment_ptr(ref);
		if (n->region == region && n->parent == parent)
			return ref;
	}
}

/* MARKER. A node and its place in the table; 0: no room. */
static u32 lane_add(struct lane *l, u32 parent, u32 region)
{
	u32 size = l->hash_mask + 1, ref;

	if (l->hash_used >= size - size / 4 && !hash_grow(l) && l->hash_used >= size - size / 8)
		return 0;
	ref = lane_node_new(l, parent, region);
	if (!ref)
		return 0;
	hash_put(l->hash, l->hash_mask, ref);
	l->hash_used++;
	return ref;
}

u32 lane_child(struct lane *l, u32 parent, u32 region)
{
	u32 ref = lane_find(l, parent, region);

	if (likely(ref))
		return ref;
	ref = lane_add(l, parent, region);
	if (likely(ref))
		return ref;
	if (region >> WIRE_NODE_KIND_SHIFT)
		return 0;
	agent_lose(WIRE_LOSS_NODES);
	return l->other;
}

int lane_init(struct lane *l, u32 ref, u32 *hash)
{
	struct wire_lane *w = segment_ptr(ref);

	if (!ref || !name_other())
		return -ENOMEM;
	l->hash = hash;
	l->hash_mask = LANE_HASH - 1;
	l->node_reuse = w->node_pages;
	l->hist_reuse = w->hist_pages;
	l->bucket = &l->sink;
	l->w = w;
	l->session = agent.session;
	w->depth = 0;
	memset(&w->pending, 0, sizeof(w->pending));
	w->root = lane_node_new(l, 0, 0);
	l->other = w->root ? lane_node_new(l, w->root, name_other()) : 0;
	if (!l->other) {
		l->w = NULL;
		return -ENOMEM;
	}
	l->np[0] = segment_ptr(w->root);
	memset(&w->base, 0, sizeof(w->base));
	if (agent.clock != WIRE_CLOCK_TSC)
		l->special |= LANE_CLOCK;
	lane_sync(l);
	return 0;
}

void lane_sync(struct lane *l)
{
	struct wire_frame *frames = l->w->frames;
	u32 d = l->w->depth;

	l->top = &frames[(s64)d - 1]; /* frames[-1] is base */
	l->top_node = &l->np[d];
	l->top_region = l->top->region;
	frames[d].region = 0;
	l->next_region = 0;
}

/* In units, if both lie in one mapping of the segment; else 0. */
static s32 near_of(u32 from, u32 to)
{
	return from / (WIRE_CHUNK / WIRE_UNIT) == to / (WIRE_CHUNK / WIRE_UNIT) ? (s32)to - (s32)from : 0;
}

/* MARKER. The counter of a duration's bucket; NULL: no memory for it. */
static u64 *hist_bucket(struct lane *l, struct wire_node *n, u32 node, u64 wall)
{
	u32 index = hist_index(wall), octave = index / WIRE_HIST_SUB;
	struct wire_hist *h;
	struct wire_hist_chunk *c;

	if (unlikely(!n->hist)) {
		n->hist = lane_item(&l->hist_page, &l->w->hist_pages, &l->hist_reuse, WIRE_PAGE_HIST, sizeof(*h));
		if (!n->hist)
			return NULL;
		memset(segment_ptr(n->hist), 0, sizeof(*h));
		lane_item_done(l->hist_page, sizeof(*h));
		n->near = near_of(node, n->hist);
	}
	h = segment_ptr(n->hist);
	if (unlikely(!h->chunk[octave])) {
		u32 ref = lane_item(&l->hist_page, &l->w->hist_pages, &l->hist_reuse, WIRE_PAGE_HIST, sizeof(*c));

		if (!ref)
			return NULL;
		memset(segment_ptr(ref), 0, sizeof(*c));
		lane_item_done(l->hist_page, sizeof(*c));
		h->near[octave] = near_of(n->hist, ref);
		barrier();
		h->chunk[octave] = ref;
	}
	c = segment_ptr(h->chunk[octave]);
	return &c->count[index % WIRE_HIST_SUB];
}

void lane_flush(struct lane *l)
{
	++*l->bucket;
	l->bucket = &l->sink;
}

void lane_charge(struct lane *l, struct wire_node *n, u32 ref, u64 wall, s64 off)
{
	struct wire_pending *p = &l->w->pending;
	u64 *bucket = hist_bucket(l, n, ref, wall);

	lane_flush(l);
	if (likely(bucket != NULL))
		l->bucket = bucket;
	else
		agent_lose(WIRE_LOSS_HIST);
	p->wall = wall;
	p->node_wall = n->wall + wall;
	p->node = ref;
	p->calls = n->calls + 1;
	barrier();
	n->wall += wall;
	n->off += off;
	if (wall < n->min)
		n->min = wall;
	if (wall > n->max)
		n->max = wall;
	barrier();
	n->calls++;
}

void lane_diagnose(struct lane *l, enum wire_diagnosis kind, u32 name, u64 ticks)
{
	u32 ref = lane_child(l, l->w->root, (u32)(WIRE_NODE_DIAGNOSIS + kind) << WIRE_NODE_KIND_SHIFT | name);
	struct wire_node *n;

	if (!ref)
		return;
	n = segment_ptr(ref);
	if (n->calls++ == 0)
		n->min = ticks;
}
