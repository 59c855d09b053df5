/* SPDX-License-Identifier: MIT */
/*
 * Records and places of a sound segment; see seeds.h. Made from the structures by name: what wire.h
 * moves, moves here.
 */
#include "tests/fuzz/seeds.h"

#include <stdlib.h>
#include <string.h>

#include "common/wire_view.h"

struct member {
	size_t offset;
	size_t size;
	enum place_kind kind;
};

#define MEMBER(type, name, kind) { offsetof(struct type, name), sizeof(((struct type *)0)->name), kind }

static const struct member header_members[] = {
	MEMBER(wire_header, magic, PLACE_LONG),
	MEMBER(wire_header, version, PLACE_SMALL),
	MEMBER(wire_header, size, PLACE_LONG),
	MEMBER(wire_header, used, PLACE_LONG),
	MEMBER(wire_header, processes, PLACE_REF),
	MEMBER(wire_header, slots, PLACE_REF),
	MEMBER(wire_header, windows, PLACE_REF),
	MEMBER(wire_header, window_count, PLACE_SMALL),
	MEMBER(wire_header, ended, PLACE_REF),
	MEMBER(wire_header, origins, PLACE_REF),
	MEMBER(wire_header, sources, PLACE_SMALL),
	MEMBER(wire_header, cells, PLACE_SMALL),
	MEMBER(wire_header, losses[0], PLACE_LONG),
	MEMBER(wire_header, losses[WIRE_LOSS_MAX - 1], PLACE_LONG),
};

static const struct member process_members[] = {
	MEMBER(wire_process, next, PLACE_LINK),
	MEMBER(wire_process, pid, PLACE_SMALL),
	MEMBER(wire_process, flags, PLACE_SMALL),
	MEMBER(wire_process, start, PLACE_LONG),
	MEMBER(wire_process, end, PLACE_LONG),
	MEMBER(wire_process, bracket, PLACE_SMALL),
	MEMBER(wire_process, pair, PLACE_SMALL),
	MEMBER(wire_process, sealed_cpu, PLACE_SMALL),
	MEMBER(wire_process, source_cost[0], PLACE_SMALL),
};

static const struct member slot_members[] = {
	MEMBER(wire_slot, next, PLACE_LINK),
	MEMBER(wire_slot, state, PLACE_SMALL),
	MEMBER(wire_slot, pid, PLACE_SMALL),
	MEMBER(wire_slot, tid, PLACE_SMALL),
	MEMBER(wire_slot, threads, PLACE_SMALL),
	MEMBER(wire_slot, detector, PLACE_SMALL),
	MEMBER(wire_slot, start, PLACE_LONG),
	MEMBER(wire_slot, end, PLACE_LONG),
	MEMBER(wire_slot, done_wall, PLACE_LONG),
	MEMBER(wire_slot, begin_usage.valid, PLACE_LONG),
	MEMBER(wire_slot, begin_usage.cpu_ns, PLACE_LONG),
	MEMBER(wire_slot, end_usage.valid, PLACE_LONG),
	MEMBER(wire_slot, done_usage.cpu_ns, PLACE_LONG),
	MEMBER(wire_slot, missed, PLACE_LONG),
	MEMBER(wire_slot, sync_ticks, PLACE_LONG),
	MEMBER(wire_slot, lanes[0], PLACE_REF),
	MEMBER(wire_slot, lanes[1], PLACE_REF),
	MEMBER(wire_slot, lanes[WIRE_LANES - 1], PLACE_REF),
};

static const struct member lane_members[] = {
	MEMBER(wire_lane, depth, PLACE_SMALL),
	MEMBER(wire_lane, root, PLACE_REF),
	MEMBER(wire_lane, node_pages, PLACE_REF),
	MEMBER(wire_lane, hist_pages, PLACE_REF),
	MEMBER(wire_lane, pending.wall, PLACE_LONG),
	MEMBER(wire_lane, pending.node_wall, PLACE_LONG),
	MEMBER(wire_lane, pending.calls, PLACE_LONG),
	MEMBER(wire_lane, pending.node, PLACE_REF),
	MEMBER(wire_lane, trace, PLACE_REF),
	MEMBER(wire_lane, trace_count, PLACE_LONG),
	MEMBER(wire_lane, frames[0].start, PLACE_LONG),
	MEMBER(wire_lane, frames[0].off, PLACE_LONG),
	MEMBER(wire_lane, frames[0].node, PLACE_REF),
	MEMBER(wire_lane, frames[0].region, PLACE_REGION),
	MEMBER(wire_lane, frames[1].node, PLACE_REF),
	MEMBER(wire_lane, frames[WIRE_DEPTH].node, PLACE_REF),
};

static const struct member page_members[] = {
	MEMBER(wire_page, next, PLACE_LINK),
	MEMBER(wire_page, used, PLACE_SMALL),
	MEMBER(wire_page, kind, PLACE_SMALL),
};

static const struct member node_members[] = {
	MEMBER(wire_node, region, PLACE_REGION),
	MEMBER(wire_node, parent, PLACE_LINK),
	MEMBER(wire_node, hist, PLACE_REF),
	MEMBER(wire_node, calls, PLACE_LONG),
	MEMBER(wire_node, wall, PLACE_LONG),
	MEMBER(wire_node, off, PLACE_LONG),
	MEMBER(wire_node, min, PLACE_LONG),
	MEMBER(wire_node, max, PLACE_LONG),
	MEMBER(wire_node, units, PLACE_LONG),
};

static const struct member hist_members[] = {
	MEMBER(wire_hist, chunk[0], PLACE_REF),
	MEMBER(wire_hist, chunk[10], PLACE_REF),
	MEMBER(wire_hist, chunk[WIRE_HIST_OCTAVES - 1], PLACE_REF),
};

static const struct member chunk_members[] = {
	MEMBER(wire_hist_chunk, count[0], PLACE_LONG),
	MEMBER(wire_hist_chunk, count[WIRE_HIST_SUB - 1], PLACE_LONG),
};

static const struct member name_members[] = {
	MEMBER(wire_name, hash, PLACE_LONG),
	MEMBER(wire_name, length, PLACE_SMALL),
	MEMBER(wire_name, full_length, PLACE_SMALL),
	MEMBER(wire_name, unit, PLACE_REF),
};

static const struct member window_members[] = {
	MEMBER(wire_window, next, PLACE_LINK),
	MEMBER(wire_window, name, PLACE_REF),
	MEMBER(wire_window, pid, PLACE_SMALL),
	MEMBER(wire_window, state, PLACE_SMALL),
	MEMBER(wire_window, start, PLACE_LONG),
	MEMBER(wire_window, end, PLACE_LONG),
	MEMBER(wire_window, from, PLACE_LONG),
	MEMBER(wire_window, to, PLACE_LONG),
	MEMBER(wire_window, part, PLACE_SMALL),
	MEMBER(wire_window, snapshots[0], PLACE_REF),
	MEMBER(wire_window, snapshots[1], PLACE_REF),
	MEMBER(wire_window, begin_usage.valid, PLACE_LONG),
	MEMBER(wire_window, end_usage.cpu_ns, PLACE_LONG),
};

static const struct member snapshot_members[] = {
	MEMBER(wire_snapshot, next, PLACE_LINK),
	MEMBER(wire_snapshot, file, PLACE_SMALL),
	MEMBER(wire_snapshot, size, PLACE_SMALL),
	MEMBER(wire_snapshot, absent, PLACE_SMALL),
};

static const struct member origin_members[] = {
	MEMBER(wire_origin, next, PLACE_LINK),
	MEMBER(wire_origin, name, PLACE_REF),
	MEMBER(wire_origin, library, PLACE_REF),
	MEMBER(wire_origin, caller, PLACE_REF),
	MEMBER(wire_origin, kind, PLACE_SMALL),
	MEMBER(wire_origin, slots, PLACE_SMALL),
};

static const struct layout {
	const struct member *members;
	size_t n;
	size_t size;
} layouts[RECORD_TYPES] = {
	[RECORD_HEADER] = { header_members, ARRAY_SIZE(header_members), sizeof(struct wire_header) },
	[RECORD_PROCESS] = { process_members, ARRAY_SIZE(process_members), sizeof(struct wire_process) },
	[RECORD_SLOT] = { slot_members, ARRAY_SIZE(slot_members), sizeof(struct wire_slot) },
	[RECORD_LANE] = { lane_members, ARRAY_SIZE(lane_members), sizeof(struct wire_lane) },
	[RECORD_PAGE] = { page_members, ARRAY_SIZE(page_members), WIRE_PAGE },
	[RECORD_NODE] = { node_members, ARRAY_SIZE(node_members), sizeof(struct wire_node) },
	[RECORD_HIST] = { hist_members, ARRAY_SIZE(hist_members), sizeof(struct wire_hist) },
	[RECORD_CHUNK] = { chunk_members, ARRAY_SIZE(chunk_members), sizeof(struct wire_hist_chunk) },
	[RECORD_NAME] = { name_members, ARRAY_SIZE(name_members), sizeof(struct wire_name) },
	[RECORD_WINDOW] = { window_members, ARRAY_SIZE(window_members), sizeof(struct wire_window) },
	[RECORD_SNAPSHOT] = { snapshot_members, ARRAY_SIZE(snapshot_members), sizeof(struct wire_snapshot) },
	[RECORD_ORIGIN] = { origin_members, ARRAY_SIZE(origin_members), sizeof(struct wire_origin) },
};

static void *room_for(void *array, u32 count, u32 *room, size_t size)
{
	if (count < *room)
		return array;
	*room = *room ? *room * 2 : 64;
	array = realloc(array, *room * size);
	if (!array)
		abort();
	return array;
}

static void place_add(struct seed *seed, struct seed_place place)
{
	seed->places = room_for(seed->places, seed->nplaces, &seed->places_room, sizeof(*seed->places));
	seed->places[seed->nplaces++] = place;
}

/* A record, and what lies in it. */
static void record_add(struct seed *seed, u32 ref, enum record_type type)
{
	const struct layout *layout = &layouts[type];

	for (u32 i = 0; i < seed->nrecords; i++)
		if (seed->records[i].ref == ref && seed->records[i].type == type)
			return;
	seed->records = room_for(seed->records, seed->nrecords, &seed->records_room, sizeof(*seed->records));
	seed->records[seed->nrecords++] = (struct record){ ref, type, (u32)layout->size };
	for (size_t i = 0; i < layout->n; i++)
		place_add(seed, (struct seed_place){ (u32)(ref * WIRE_UNIT + layout->members[i].offset),
			  (u16)layout->members[i].size, layout->members[i].kind, type });
}

static void name_add(struct seed *seed, const struct wire_view *view, u32 ref)
{
	const char *bytes;
	size_t len;
	const struct wire_name *name = wire_view_name(view, ref, &bytes, &len);

	if (!name)
		return;
	record_add(seed, ref, RECORD_NAME);
	if (len)
		place_add(seed, (struct seed_place){ (u32)(ref * WIRE_UNIT + sizeof(*name)), (u16)len, PLACE_BYTES, RECORD_NAME });
	if (name->unit != ref)
		name_add(seed, view, name->unit);
}

static void hist_add(struct seed *seed, const struct wire_view *view, u32 ref)
{
	const struct wire_hist *hist = wire_view_hist(view, ref);

	if (hist)
		record_add(seed, ref, RECORD_HIST);
	for (u32 i = 0; hist && i < WIRE_HIST_OCTAVES; i++)
		if (hist->chunk[i])
			record_add(seed, hist->chunk[i], RECORD_CHUNK);
}

static void pages_add(struct seed *seed, const struct wire_view *view, u32 first)
{
	struct wire_walk walk = wire_walk_from(first);

	while (wire_next_page(view, &walk))
		record_add(seed, walk.ref, RECORD_PAGE);
}

static void lane_add(struct seed *seed, struct wire_view *view, const struct wire_lane *lane, u32 ref)
{
	struct wire_node_walk walk = wire_walk_nodes(view, lane);
	const struct wire_node *node;

	record_add(seed, ref, RECORD_LANE);
	pages_add(seed, view, lane->node_pages);
	pages_add(seed, view, lane->hist_pages);
	while ((node = wire_next_node(view, &walk))) {
		record_add(seed, walk.ref, RECORD_NODE);
		name_add(seed, view, wire_node_name(node));
		hist_add(seed, view, node->hist);
		for (u32 i = 0; i < walk.cells; i++)
			place_add(seed, (struct seed_place){ (u32)((const u8 *)(wire_view_cells(node) + i) - view->base),
				  sizeof(u64), PLACE_LONG, RECORD_NODE });
	}
}

static void slot_add(struct seed *seed, struct wire_view *view, const struct wire_slot *slot, u32 ref)
{
	record_add(seed, ref, RECORD_SLOT);
	for (u32 i = 0; i < WIRE_LANES; i++) {
		const struct wire_lane *lane = wire_view_lane(view, slot, i);

		if (lane)
			lane_add(seed, view, lane, slot->lanes[i]);
	}
}

static void marks_add(struct seed *seed, const struct wire_snapshot *snapshot, u32 ref)
{
	const struct wire_marks *marks = (const void *)snapshot->bytes;
	u32 at = (u32)(ref * WIRE_UNIT + sizeof(*snapshot));

	if (snapshot->file != WIRE_MARKS_FILE || snapshot->size < offsetof(struct wire_marks, mark))
		return;
	place_add(seed, (struct seed_place){ at + offsetof(struct wire_marks, n), sizeof(marks->n), PLACE_SMALL, RECORD_SNAPSHOT });
	place_add(seed, (struct seed_place){ at + offsetof(struct wire_marks, ticks), sizeof(marks->ticks), PLACE_LONG,
		  RECORD_SNAPSHOT });
	for (u32 i = 0; i < marks->n && i < WIRE_MARKS; i++) {
		u32 mark = at + (u32)offsetof(struct wire_marks, mark[i]);

		place_add(seed, (struct seed_place){ mark + offsetof(struct wire_mark, name), sizeof(u32), PLACE_REF,
			  RECORD_SNAPSHOT });
		place_add(seed, (struct seed_place){ mark + offsetof(struct wire_mark, parent), sizeof(u16), PLACE_SMALL,
			  RECORD_SNAPSHOT });
		place_add(seed, (struct seed_place){ mark + offsetof(struct wire_mark, calls), sizeof(u64), PLACE_LONG,
			  RECORD_SNAPSHOT });
	}
}

static void window_add(struct seed *seed, struct wire_view *view, const struct wire_window *window, u32 ref)
{
	record_add(seed, ref, RECORD_WINDOW);
	name_add(seed, view, window->name);
	for (u32 edge = 0; edge < 2; edge++) {
		struct wire_walk walk = wire_walk_from(window->snapshots[edge]);
		const struct wire_snapshot *snapshot;

		while ((snapshot = wire_next_snapshot(view, &walk))) {
			record_add(seed, walk.ref, RECORD_SNAPSHOT);
			marks_add(seed, snapshot, walk.ref);
			if (snapshot->size)
				place_add(seed, (struct seed_place){ (u32)(walk.ref * WIRE_UNIT + sizeof(*snapshot)),
					  (u16)snapshot->size, PLACE_BYTES, RECORD_SNAPSHOT });
		}
	}
}

void seed_init(struct seed *seed, u8 *bytes, size_t size)
{
	struct wire_view view = { .base = bytes, .size = size };
	struct wire_walk slots = wire_walk_slots(&view), processes = wire_walk_processes(&view);
	struct wire_walk windows = wire_walk_windows(&view), origins = wire_walk_origins(&view);
	const struct wire_origin *origin;
	const struct wire_slot *slot;
	const struct wire_window *window;

	*seed = (struct seed){ .bytes = bytes, .size = size };
	record_add(seed, 0, RECORD_HEADER);
	while (wire_next_process(&view, &processes))
		record_add(seed, processes.ref, RECORD_PROCESS);
	while ((slot = wire_next_slot(&view, &slots)))
		slot_add(seed, &view, slot, slots.ref);
	while ((window = wire_next_window(&view, &windows)))
		window_add(seed, &view, window, windows.ref);
	while ((origin = wire_next_origin(&view, &origins))) {
		record_add(seed, origins.ref, RECORD_ORIGIN);
		name_add(seed, &view, origin->name);
		name_add(seed, &view, origin->library);
	}
}
