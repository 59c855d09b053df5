/* SPDX-License-Identifier: MIT */
/* Bounds-checked access to a segment; see wire_view.h. */
#include "wire_view.h"

/* One process record is looked up for each slot: a bound on what hostile lists can make of that. */
enum { WIRE_PROCESSES_SOUGHT = 65536 };

/* Granules of the view. */
static u64 wire_hops(const struct wire_view *view)
{
	return view->size / WIRE_UNIT;
}

/* bytes at a ref, or NULL unless all of them are inside; the header's place is none. */
static const void *wire_at(const struct wire_view *view, u32 ref, u64 bytes)
{
	u64 offset = (u64)ref * WIRE_UNIT;

	if (!ref || !view->base || ((uintptr_t)view->base & 7))
		return NULL;
	if (offset > view->size || view->size - offset < bytes)
		return NULL;
	return view->base + offset;
}

const struct wire_header *wire_view_header(const struct wire_view *view)
{
	const struct wire_header *header = (const void *)view->base;

	if (!header || ((uintptr_t)header & 7) || view->size < sizeof(*header))
		return NULL;
	if (header->magic != WIRE_MAGIC || header->version != WIRE_VERSION)
		return NULL;
	return header->cells <= WIRE_NODE_CELLS ? header : NULL;
}

const struct wire_process *wire_view_process(const struct wire_view *view, u32 ref)
{
	return wire_at(view, ref, sizeof(struct wire_process));
}

const struct wire_slot *wire_view_slot(const struct wire_view *view, u32 ref)
{
	return wire_at(view, ref, sizeof(struct wire_slot));
}

const struct wire_window *wire_view_window(const struct wire_view *view, u32 ref)
{
	return wire_at(view, ref, sizeof(struct wire_window));
}

const struct wire_origin *wire_view_origin(const struct wire_view *view, u32 ref)
{
	return wire_at(view, ref, sizeof(struct wire_origin));
}

const struct wire_lane *wire_view_lane(const struct wire_view *view, const struct wire_slot *slot, u32 i)
{
	return i < WIRE_LANES ? wire_at(view, slot->lanes[i], sizeof(struct wire_lane)) : NULL;
}

u32 wire_view_depth(const struct wire_lane *lane)
{
	return MIN(lane->depth, (u32)WIRE_DEPTH);
}

const struct wire_page *wire_view_page(const struct wire_view *view, u32 ref)
{
	return wire_at(view, ref, WIRE_PAGE);
}

const struct wire_node *wire_view_node(const struct wire_view *view, u32 ref, u32 cells)
{
	if (cells > WIRE_NODE_CELLS)
		return NULL;
	return wire_at(view, ref, wire_node_stride(cells));
}

const u64 *wire_view_cells(const struct wire_node *node)
{
	return (const u64 *)(node + 1);
}

const struct wire_hist *wire_view_hist(const struct wire_view *view, u32 ref)
{
	return wire_at(view, ref, sizeof(struct wire_hist));
}

const struct wire_hist_chunk *wire_view_hist_chunk(const struct wire_view *view, u32 ref)
{
	return wire_at(view, ref, sizeof(struct wire_hist_chunk));
}

const struct wire_name *wire_view_name(const struct wire_view *view, u32 ref, const char **bytes,
				       size_t *len)
{
	const struct wire_name *name = wire_at(view, ref, sizeof(*name));

	if (!name || name->length > WIRE_NAME_MAX)
		return NULL;
	if (!wire_at(view, ref, sizeof(*name) + name->length))
		return NULL;
	*bytes = name->bytes;
	*len = name->length;
	return name;
}

struct wire_walk wire_walk_from(u32 first)
{
	return (struct wire_walk){ .next = first };
}

struct wire_walk wire_walk_slots(const struct wire_view *view)
{
	const struct wire_header *header = wire_view_header(view);

	return wire_walk_from(header ? header->slots : 0);
}

struct wire_walk wire_walk_processes(const struct wire_view *view)
{
	const struct wire_header *header = wire_view_header(view);

	return wire_walk_from(header ? header->processes : 0);
}

struct wire_walk wire_walk_windows(const struct wire_view *view)
{
	const struct wire_header *header = wire_view_header(view);

	return wire_walk_from(header ? header->windows : 0);
}

struct wire_walk wire_walk_origins(const struct wire_view *view)
{
	const struct wire_header *header = wire_view_header(view);

	return wire_walk_from(header ? header->origins : 0);
}

/*
 * The next item of a list whose items begin with the ref of their successor. takes: bytes that each
 * item costs the segment at least: no list is longer than what fits. A ring ends at its mark, which
 * moves on at hops 1, 2, 4, 8 ...
 */
static const void *wire_next_of(const struct wire_view *view, struct wire_walk *walk, u64 bytes, u64 takes)
{
	const u32 *item = wire_at(view, walk->next, bytes);

	if (!item || walk->next == walk->mark || walk->hops++ >= view->size / takes) {
		walk->broken = walk->next != 0;
		return NULL;
	}
	walk->ref = walk->next;
	if ((walk->hops & (walk->hops - 1)) == 0)
		walk->mark = walk->ref;
	walk->next = *item;
	return item;
}

static const void *wire_next(const struct wire_view *view, struct wire_walk *walk, u64 bytes)
{
	return wire_next_of(view, walk, bytes, bytes);
}

const struct wire_slot *wire_next_slot(const struct wire_view *view, struct wire_walk *walk)
{
	return wire_next_of(view, walk, sizeof(struct wire_slot), sizeof(struct wire_slot) + sizeof(struct wire_lane));
}

const struct wire_process *wire_next_process(const struct wire_view *view, struct wire_walk *walk)
{
	return wire_next(view, walk, sizeof(struct wire_process));
}

const struct wire_window *wire_next_window(const struct wire_view *view, struct wire_walk *walk)
{
	return wire_next(view, walk, sizeof(struct wire_window));
}

const struct wire_origin *wire_next_origin(const struct wire_view *view, struct wire_walk *walk)
{
	return wire_next(view, walk, sizeof(struct wire_origin));
}

const struct wire_snapshot *wire_next_snapshot(const struct wire_view *view, struct wire_walk *walk)
{
	const struct wire_snapshot *snapshot = wire_next(view, walk, sizeof(*snapshot));

	if (!snapshot || snapshot->size > WIRE_FILE_ROOM)
		return NULL;
	return wire_at(view, walk->ref, sizeof(*snapshot) + snapshot->size);
}

const struct wire_page *wire_next_page(const struct wire_view *view, struct wire_walk *walk)
{
	return wire_next(view, walk, WIRE_PAGE);
}

_Static_assert(offsetof(struct wire_slot, next) == 0 && offsetof(struct wire_page, next) == 0 &&
	       offsetof(struct wire_process, next) == 0 && offsetof(struct wire_window, next) == 0 &&
	       offsetof(struct wire_origin, next) == 0 && offsetof(struct wire_snapshot, next) == 0,
	       "wire_next");

bool wire_view_hop(struct wire_view *view)
{
	/* Every page and each node is hopped to once: twice the granules is never reached in good faith. */
	return view->spent++ < 2 * wire_hops(view);
}

struct wire_node_walk wire_walk_nodes(const struct wire_view *view, const struct wire_lane *lane)
{
	const struct wire_header *header = wire_view_header(view);
	struct wire_node_walk walk = { .pages = wire_walk_from(header ? lane->node_pages : 0) };

	walk.cells = header ? header->cells : 0;
	return walk;
}

/* Moves on to a page with nodes; false at the end. */
static bool wire_next_node_page(struct wire_view *view, struct wire_node_walk *walk)
{
	u32 room = (WIRE_PAGE - (u32)sizeof(struct wire_page)) / wire_node_stride(walk->cells);
	const struct wire_page *page;

	do {
		if (!wire_view_hop(view)) {
			walk->pages.broken = walk->pages.next != 0;
			return false;
		}
		page = wire_next_page(view, &walk->pages);
		if (!page)
			return false;
		walk->page = walk->pages.ref;
		walk->used = page->kind == WIRE_PAGE_NODES ? MIN(page->used, room) : 0;
		walk->index = 0;
	} while (!walk->used);
	return true;
}

const struct wire_node *wire_next_node(struct wire_view *view, struct wire_node_walk *walk)
{
	u32 first = (u32)sizeof(struct wire_page) / WIRE_UNIT;
	const struct wire_node *node = NULL;

	if (walk->index >= walk->used && !wire_next_node_page(view, walk))
		return NULL;
	walk->ref = walk->page + first + walk->index++ * (wire_node_stride(walk->cells) / WIRE_UNIT);
	if (wire_view_hop(view))
		node = wire_view_node(view, walk->ref, walk->cells);
	walk->pages.broken |= !node;
	return node;
}

const struct wire_process *wire_view_process_of(const struct wire_view *view, u32 pid)
{
	struct wire_walk walk = wire_walk_processes(view);
	const struct wire_process *process;

	while ((process = wire_next_process(view, &walk)) && process->pid != pid)
		if (walk.hops > WIRE_PROCESSES_SOUGHT)
			return NULL;
	return process;
}
