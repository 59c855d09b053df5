/* SPDX-License-Identifier: MIT */
/*
 * A segment made by hand, as an agent would leave it, for tests of what reads it.  Room is fixed; running out of
 * it aborts the test.
 */
#ifndef TESTS_UNIT_SEGMENT_H
#define TESTS_UNIT_SEGMENT_H

#include <stdlib.h>
#include <string.h>

#include "common/hist.h"
#include "common/wire_view.h"

#define SEGMENT_ROOM (16u << 20)

struct segment {
	u8 *base;
	struct wire_header *header;
};

static inline void *segment_at(const struct segment *seg, u32 ref)
{
	return seg->base + (u64)ref * WIRE_UNIT;
}

/* Zeroed bytes; their ref. */
static inline u32 segment_alloc(struct segment *seg, u64 bytes)
{
	u64 at = seg->header->used;

	if (at + bytes + WIRE_UNIT > SEGMENT_ROOM)
		abort();
	seg->header->used = at + ALIGN_UP(bytes, (u64)WIRE_UNIT);
	return (u32)(at / WIRE_UNIT);
}

static inline void segment_init(struct segment *seg, u32 sources, u32 cells)
{
	seg->base = aligned_alloc(WIRE_PAGE, SEGMENT_ROOM);
	if (!seg->base)
		abort();
	memset(seg->base, 0, SEGMENT_ROOM);
	seg->header = (struct wire_header *)seg->base;
	*seg->header = (struct wire_header){ .magic = WIRE_MAGIC, .version = WIRE_VERSION,
		.clock = WIRE_CLOCK_VDSO, .size = SEGMENT_ROOM, .ticks_per_ns = 1ULL << 32,
		.used = WIRE_PAGE, .sources = sources, .cells = cells };
}

static inline void segment_fini(struct segment *seg)
{
	free(seg->base);
}

static inline struct wire_view segment_view(const struct segment *seg)
{
	return (struct wire_view){ .base = seg->base, .size = seg->header->used };
}

static inline u32 segment_name_bytes(struct segment *seg, const char *bytes, u32 len)
{
	u32 ref = segment_alloc(seg, sizeof(struct wire_name) + len);
	struct wire_name *name = segment_at(seg, ref);

	name->length = name->full_length = len;
	memcpy(name->bytes, bytes, len);
	return ref;
}

static inline u32 segment_name(struct segment *seg, const char *text)
{
	return segment_name_bytes(seg, text, (u32)strlen(text));
}

static inline struct wire_process *segment_process(struct segment *seg, u32 pid)
{
	u32 ref = segment_alloc(seg, sizeof(struct wire_process));
	struct wire_process *process = segment_at(seg, ref);

	process->pid = pid;
	process->detector = WIRE_DETECTOR_RSEQ;
	process->next = seg->header->processes;
	seg->header->processes = ref;
	return process;
}

static inline u32 segment_node(struct segment *seg, u32 lane_ref, u32 parent, u32 kind, u32 name)
{
	u32 stride = wire_node_stride(seg->header->cells), ref;
	struct wire_lane *lane = segment_at(seg, lane_ref);
	struct wire_page *page = lane->node_pages ? segment_at(seg, lane->node_pages) : NULL;
	struct wire_node *node;

	if (!page || (page->used + 1) * stride + sizeof(*page) > WIRE_PAGE) {
		ref = segment_alloc(seg, WIRE_PAGE);
		page = segment_at(seg, ref);
		page->kind = WIRE_PAGE_NODES;
		page->next = lane->node_pages;
		lane->node_pages = ref;
	}
	ref = lane->node_pages + 1 + page->used++ * (stride / WIRE_UNIT);
	node = segment_at(seg, ref);
	node->region = kind << WIRE_NODE_KIND_SHIFT | name;
	node->parent = parent;
	return ref;
}

static inline u32 segment_lane(struct segment *seg, u32 slot_ref, u32 i)
{
	u32 ref = segment_alloc(seg, sizeof(struct wire_lane)), root;
	struct wire_slot *slot = segment_at(seg, slot_ref);

	slot->lanes[i] = ref;
	root = segment_node(seg, ref, 0, 0, 0);
	((struct wire_lane *)segment_at(seg, ref))->root = root;
	return ref;
}

/* A slot with lane 0. */
static inline u32 segment_slot(struct segment *seg, u32 pid, u32 tid)
{
	u32 ref = segment_alloc(seg, sizeof(struct wire_slot));
	struct wire_slot *slot = segment_at(seg, ref);

	slot->next = seg->header->slots;
	seg->header->slots = ref;
	slot->state = WIRE_SLOT_LIVE;
	slot->pid = pid;
	slot->tid = tid;
	slot->threads = 1;
	slot->detector = WIRE_DETECTOR_RSEQ;
	segment_lane(seg, ref, 0);
	return ref;
}

static inline struct wire_lane *segment_lane_of(const struct segment *seg, u32 slot_ref, u32 i)
{
	const struct wire_slot *slot = segment_at(seg, slot_ref);

	return segment_at(seg, slot->lanes[i]);
}

/* A region below parent (0: the root) in lane 0. */
static inline u32 segment_region(struct segment *seg, u32 slot_ref, u32 parent, const char *name)
{
	const struct wire_slot *slot = segment_at(seg, slot_ref);
	u32 lane = slot->lanes[0];

	if (!parent)
		parent = ((struct wire_lane *)segment_at(seg, lane))->root;
	return segment_node(seg, lane, parent, WIRE_NODE_REGION, segment_name(seg, name));
}

static inline void segment_hist(struct segment *seg, u32 node_ref, u64 wall)
{
	struct wire_node *node = segment_at(seg, node_ref);
	u32 index = hist_index(wall);
	struct wire_hist_chunk *chunk;
	struct wire_hist *hist;

	if (!node->hist)
		node->hist = segment_alloc(seg, sizeof(*hist));
	hist = segment_at(seg, node->hist);
	if (!hist->chunk[index / WIRE_HIST_SUB])
		hist->chunk[index / WIRE_HIST_SUB] = segment_alloc(seg, sizeof(*chunk));
	chunk = segment_at(seg, hist->chunk[index / WIRE_HIST_SUB]);
	chunk->count[index % WIRE_HIST_SUB]++;
}

/* A finished call. */
static inline void segment_call(struct segment *seg, u32 node_ref, u64 wall, s64 off)
{
	struct wire_node *node = segment_at(seg, node_ref);

	node->min = node->calls ? MIN(node->min, wall) : wall;
	node->max = MAX(node->max, wall);
	node->calls++;
	node->wall += wall;
	node->off = (s64)((u64)node->off + (u64)off);
	segment_hist(seg, node_ref, wall);
}

/* A begun call in lane 0. */
static inline void segment_open(struct segment *seg, u32 slot_ref, u32 node_ref, u64 start)
{
	struct wire_lane *lane = segment_lane_of(seg, slot_ref, 0);

	lane->frames[lane->depth++] = (struct wire_frame){ .start = start, .node = node_ref };
}

static inline u64 segment_bits(double value)
{
	u64 bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline u32 segment_metric(struct segment *seg, u32 slot_ref, u32 parent, const char *name, u64 count,
				 double sum, double min, double max, double last)
{
	const struct wire_slot *slot = segment_at(seg, slot_ref);
	u32 ref = segment_node(seg, slot->lanes[0], parent, WIRE_NODE_METRIC, segment_name(seg, name));
	struct wire_node *node = segment_at(seg, ref);

	node->calls = count;
	node->wall = segment_bits(sum);
	node->off = (s64)segment_bits(last);
	node->min = segment_bits(min);
	node->max = segment_bits(max);
	return ref;
}

static inline void segment_diagnosis(struct segment *seg, u32 slot_ref, u32 kind, const char *name, u64 count)
{
	const struct wire_slot *slot = segment_at(seg, slot_ref);
	const struct wire_lane *lane = segment_at(seg, slot->lanes[0]);
	u32 ref = segment_node(seg, slot->lanes[0], lane->root, WIRE_NODE_DIAGNOSIS + kind,
			       segment_name(seg, name));

	((struct wire_node *)segment_at(seg, ref))->calls = count;
}

static inline struct wire_window *segment_window(struct segment *seg, u32 pid, const char *name, u64 start,
						 u64 end)
{
	u32 ref = segment_alloc(seg, sizeof(struct wire_window));
	struct wire_window *window = segment_at(seg, ref);

	window->next = seg->header->windows;
	seg->header->windows = ref;
	seg->header->window_count++;
	window->name = segment_name(seg, name);
	window->pid = pid;
	window->state = end ? WIRE_WINDOW_ENDED : WIRE_WINDOW_OPEN;
	window->start = window->from = start;
	window->end = window->to = end;
	return window;
}

#endif
