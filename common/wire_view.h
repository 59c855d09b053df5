/* SPDX-License-Identifier: MIT */
/*
 * Reading a segment: the only decoder of wire.h. A view lies over a private copy of the segment's
 * used bytes (not over the shared memory itself: that changes under the reader). Nothing in it is
 * trusted: every accessor checks bounds and alignment and returns NULL for anything that is not
 * wholly inside.
 *
 * Used by sparkctl; allocates nothing, keeps no state but the view's.
 */
#ifndef SPARK_COMMON_WIRE_VIEW_H
#define SPARK_COMMON_WIRE_VIEW_H

#include "wire.h"
#include "wire_calls.h"

/* Set base (8-byte aligned) and size; the rest starts as zero. */
struct wire_view {
	const u8 *base;
	u64 size;
	u64 reaped;                  /* pages emptied on its account, see segment_reap_slot() */
	u64 spent;                   /* hops taken by all walks over this view; bounded, see wire_view_hop() */
};

/* NULL unless magic, version and number of cells are right. */
const struct wire_header *wire_view_header(const struct wire_view *view);

const struct wire_process *wire_view_process(const struct wire_view *view, u32 ref);
const struct wire_slot *wire_view_slot(const struct wire_view *view, u32 ref);
const struct wire_window *wire_view_window(const struct wire_view *view, u32 ref);
const struct wire_origin *wire_view_origin(const struct wire_view *view, u32 ref);
/* Lane i of a slot, with all its frames; NULL where the slot has none. */
const struct wire_lane *wire_view_lane(const struct wire_view *view, const struct wire_slot *slot, u32 i);
/* Frames in use, clamped to the array. */
u32 wire_view_depth(const struct wire_lane *lane);
const struct wire_page *wire_view_page(const struct wire_view *view, u32 ref);
/* A node with its cells (cells: of the header); the u64 cells follow the struct. */
const struct wire_node *wire_view_node(const struct wire_view *view, u32 ref, u32 cells);
const u64 *wire_view_cells(const struct wire_node *node);
const struct wire_hist *wire_view_hist(const struct wire_view *view, u32 ref);
const struct wire_hist_chunk *wire_view_hist_chunk(const struct wire_view *view, u32 ref);
/* Bytes of a name, not terminated, len <= WIRE_NAME_MAX.  NULL if there is no such name. */
const struct wire_name *wire_view_name(const struct wire_view *view, u32 ref, const char **bytes,
				       size_t *len);

/*
 * Lists. struct wire_walk walk = wire_walk_slots(&view); while ((slot = wire_next_slot(&view,
 * &walk))) ... walk.ref is the ref of that slot. Ends at the end, at a bad ref, or when the list
 * must be a ring; walk.broken tells the latter two from the first.
 */
struct wire_walk {
	u32 ref;                     /* of the item returned last */
	u32 next;
	u32 mark;                    /* an item returned before: to come back to it is to be in a ring */
	u64 hops;
	bool broken;                 /* there may be more behind it */
};

struct wire_walk wire_walk_from(u32 first);
struct wire_walk wire_walk_slots(const struct wire_view *view);
struct wire_walk wire_walk_processes(const struct wire_view *view);
struct wire_walk wire_walk_windows(const struct wire_view *view);
struct wire_walk wire_walk_origins(const struct wire_view *view);
const struct wire_slot *wire_next_slot(const struct wire_view *view, struct wire_walk *walk);
const struct wire_process *wire_next_process(const struct wire_view *view, struct wire_walk *walk);
const struct wire_window *wire_next_window(const struct wire_view *view, struct wire_walk *walk);
const struct wire_origin *wire_next_origin(const struct wire_view *view, struct wire_walk *walk);
/* From window.snapshots: each with all its bytes. */
const struct wire_snapshot *wire_next_snapshot(const struct wire_view *view, struct wire_walk *walk);
/* From lane.node_pages or lane.hist_pages. */
const struct wire_page *wire_next_page(const struct wire_view *view, struct wire_walk *walk);

/*
 * The nodes of a lane, page by page: walk.ref is the node's ref. Pages shared by hostile lanes
 * would make the work quadratic: all node walks over one view together end after as many nodes as
 * the view can hold. walk.pages.broken: before the end.
 */
struct wire_node_walk {
	struct wire_walk pages;
	u32 cells;
	u32 ref;
	u32 page;
	u32 index;
	u32 used;
};

struct wire_node_walk wire_walk_nodes(const struct wire_view *view, const struct wire_lane *lane);
const struct wire_node *wire_next_node(struct wire_view *view, struct wire_node_walk *walk);

/* Spends one hop of the view's budget; false when there is none left. */
bool wire_view_hop(struct wire_view *view);

/* The newest process record with this pid (as the target sees it), or NULL. */
const struct wire_process *wire_view_process_of(const struct wire_view *view, u32 pid);

static inline u32 wire_node_kind(const struct wire_node *node)
{
	return node->region >> WIRE_NODE_KIND_SHIFT;
}

static inline u32 wire_node_name(const struct wire_node *node)
{
	return node->region & WIRE_NODE_NAME_MASK;
}

#endif
