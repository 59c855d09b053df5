/* SPDX-License-Identifier: MIT */
/*
 * Reading one slot of a segment into the profile. The segment's bytes come from the measured
 * program: what does not make sense is left out and counted as damaged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/profile.h"
#include "cli/analyze/profile_build.h"
#include "cli/analyze/ref_map.h"
#include "cli/log.h"
#include "common/source_table.h"

struct slot_reader {
	struct profile *profile;
	const struct profile_slot *slot;
	struct wire_view *view;
	const struct wire_header *header;
	const struct wire_slot *wire;
	const struct wire_process *process; /* may be NULL */
	u32 bracket, pair;
	u32 root;
	u64 end;                     /* when open regions are looked at */
	u64 known;                   /* until when switches are known */
	enum cell_state cpu_state;
	const char *cpu_note;
	struct ref_map map;
};

/* A name that was cut in the segment is told from others with the same beginning by a hash of all of it. */
static u32 slot_intern(struct slot_reader *reader, u32 ref)
{
	char marked[WIRE_NAME_MAX + 32];
	const char *bytes;
	size_t len;
	const struct wire_name *name = wire_view_name(reader->view, ref, &bytes, &len);

	if (!name)
		return PROFILE_NONE;
	if (name->full_length <= len)
		return profile_intern(reader->profile, bytes, len);
	memcpy(marked, bytes, len);
	len += (size_t)snprintf(marked + len, sizeof(marked) - len, "[cut %08x]", (u32)(name->hash >> 32));
	return profile_intern(reader->profile, marked, len);
}

static bool slot_name_cut(const struct slot_reader *reader, u32 ref)
{
	const char *bytes;
	size_t len;
	const struct wire_name *name = wire_view_name(reader->view, ref, &bytes, &len);

	return name && name->full_length > len;
}

/* Where what has no sound path goes. */
static u32 slot_damaged(struct slot_reader *reader)
{
	u32 name = profile_intern(reader->profile, "[damaged]", 9);

	reader->profile->losses[PROFILE_LOSS_DAMAGED]++;
	return name == PROFILE_NONE ? name : profile_child(reader->profile, reader->root, name);
}

/* The row of a node: its chain of parents up to a root. */
static u32 slot_row(struct slot_reader *reader, u32 ref)
{
	u32 chain[PROFILE_DEPTH_MAX], n = 0, row, name;
	const struct wire_node *node;

	while ((row = ref_map_get(&reader->map, ref)) == PROFILE_NONE) {
		node = wire_view_node(reader->view, ref, reader->header->cells);
		if (node && !node->region) {
			row = reader->root;
			break;
		}
		if (!node || wire_node_kind(node) != WIRE_NODE_REGION || n == PROFILE_DEPTH_MAX)
			return slot_damaged(reader);
		chain[n++] = ref;
		ref = node->parent;
	}
	if (reader->profile->rows[row].depth + n > PROFILE_DEPTH_MAX)
		return slot_damaged(reader);
	while (n--) {
		node = wire_view_node(reader->view, chain[n], reader->header->cells);
		name = slot_intern(reader, wire_node_name(node));
		row = name == PROFILE_NONE ? slot_damaged(reader)
					   : profile_child(reader->profile, row, name);
		if (row == PROFILE_NONE)
			return row;
		if (ref_map_put(&reader->map, chain[n], row) != 0)
			reader->profile->no_memory = true;
	}
	return row;
}

/* ---- one node -------------------------------------------------------------------------------------- */

struct node_sum {
	u64 calls, wall, off, min, max;
	u64 extra;                   /* wall of a call that is not in the histogram yet */
	bool has_extra;
};

static void slot_cpu_state(struct slot_reader *reader, struct profile_row *row)
{
	if (reader->cpu_state > row->cpu_state) {
		row->cpu_state = reader->cpu_state;
		row->cpu_note = reader->cpu_note;
	}
}

static u64 slot_hist_total(const struct slot_reader *reader, u32 ref)
{
	const struct wire_hist *hist = wire_view_hist(reader->view, ref);
	u64 total = 0;

	for (u32 octave = 0; hist && octave < WIRE_HIST_OCTAVES; octave++) {
		const struct wire_hist_chunk *chunk = wire_view_hist_chunk(reader->view, hist->chunk[octave]);

		for (u32 i = 0; chunk && i < WIRE_HIST_SUB; i++)
			total += chunk->count[i];
	}
	return total;
}

/* The node's sums with the lane's pending call where that is missing; see struct wire_pending. */
static struct node_sum slot_node_sum(struct slot_reader *reader, const struct wire_lane *lane,
				     const struct wire_node *node, u32 ref)
{
	const struct wire_pending *pending = &lane->pending;
	struct node_sum sum = { .calls = node->calls, .wall = node->wall, .off = (u64)node->off,
				.min = node->calls ? node->min : ~0ULL, .max = node->max };

	if (pending->node != ref || !pending->calls)
		return sum;
	sum.extra = pending->wall;
	if (node->calls == pending->calls - 1) {
		sum.calls = pending->calls;
		sum.wall = pending->node_wall;
		sum.min = MIN(sum.min, pending->wall);
		sum.max = MAX(node->calls ? node->max : 0, pending->wall);
		reader->profile->repaired++;
	}
	sum.has_extra = sum.calls >= pending->calls && slot_hist_total(reader, node->hist) < sum.calls;
	return sum;
}

static bool slot_hist_octave(struct slot_reader *reader, struct profile_row *row, u32 octave)
{
	if (!row->hist.octave[octave])
		row->hist.octave[octave] = calloc(WIRE_HIST_SUB, sizeof(u64));
	if (!row->hist.octave[octave])
		reader->profile->no_memory = true;
	return row->hist.octave[octave];
}

static void slot_add_hist(struct slot_reader *reader, struct profile_row *row, u32 ref)
{
	const struct wire_hist *hist = wire_view_hist(reader->view, ref);
	const struct wire_hist_chunk *chunk;
	u32 octave, i;

	for (octave = 0; hist && octave < WIRE_HIST_OCTAVES; octave++) {
		if (!hist->chunk[octave])
			continue;
		chunk = wire_view_hist_chunk(reader->view, hist->chunk[octave]);
		if (!chunk || hist_lower(octave * WIRE_HIST_SUB) == ~0ULL || !wire_view_hop(reader->view)) {
			reader->profile->losses[PROFILE_LOSS_DAMAGED]++;
			continue;
		}
		for (i = 0; i < WIRE_HIST_SUB && slot_hist_octave(reader, row, octave); i++)
			row->hist.octave[octave][i] += chunk->count[i];
	}
}

static u64 slot_cost(u64 calls, u32 cost)
{
	u64 product;

	return __builtin_mul_overflow(calls, (u64)cost, &product) ? ~0ULL : product;
}

/* A part that is absent makes the sum absent. */
static void slot_add_cells(struct slot_reader *reader, struct profile_row *row,
			   const struct wire_node *node, u64 calls)
{
	u32 mask = reader->header->sources, id, n, place = 0, global;
	u64 value, cost;

	if (!reader->header->cells)
		return;
	if (mask >> SOURCE_COUNT || source_cells(mask) != reader->header->cells) {
		row->cells_lost = true;
		return;
	}
	if (!row->cells)
		row->cells = calloc(source_cells((1u << SOURCE_COUNT) - 1), sizeof(u64));
	if (!row->cells) {
		reader->profile->no_memory = true;
		return;
	}
	reader->profile->sources |= mask;
	for (id = 0; id < SOURCE_COUNT; id++) {
		global = source_first_cell((1u << SOURCE_COUNT) - 1, id);
		for (n = mask & (1u << id) ? source_cells(1u << id) : 0; n; n--, place++, global++) {
			value = wire_view_cells(node)[place];
			cost = slot_cost(calls, reader->process ? reader->process->source_cost[place] : 0);
			if (!wire_absent(value))
				value -= MIN(value, cost);
			profile_add_cell(&row->cells[global], value);
		}
	}
}

static void slot_add_units(struct slot_reader *reader, struct profile_row *row,
			   const struct wire_node *node)
{
	const struct wire_name *name;
	const char *bytes;
	size_t len;
	u32 unit;

	if (!node->units)
		return;
	name = wire_view_name(reader->view, wire_node_name(node), &bytes, &len);
	unit = name ? slot_intern(reader, name->unit) : PROFILE_NONE;
	if (row->units && row->unit != unit)
		row->unit_mixed = true;
	row->unit = unit;
	row->units += node->units;
}

static void slot_add_cut(struct slot_reader *reader, const struct profile_row *row, u64 calls)
{
	struct profile_diag diag = { .process = reader->slot->process, .tid = reader->wire->tid,
				     .kind = WIRE_DIAG_NAME_CUT, .name = row->name, .count = calls };

	profile_add_diag(reader->profile, &diag);
}

static void slot_add_region(struct slot_reader *reader, const struct wire_lane *lane,
			    const struct wire_node *node, u32 ref)
{
	struct node_sum sum = slot_node_sum(reader, lane, node, ref);
	u64 cost = slot_cost(sum.calls, reader->bracket), most;
	struct profile_row *row;
	u32 i;

	/* Without calls there is nothing to add; its children or an open frame make the row. */
	if (!sum.calls && !node->units)
		return;
	i = slot_row(reader, ref);
	if (i == PROFILE_NONE || i == reader->root)
		return;
	row = &reader->profile->rows[i];
	slot_add_units(reader, row, node);
	if (!sum.calls)
		return;
	/* The cost is a median: never take more than leaves room for the longest call. */
	most = sum.max > reader->bracket && sum.min <= sum.max ? sum.max - reader->bracket : 0;
	cost = MIN(cost, sum.wall - MIN(sum.wall, most));
	row->calls += sum.calls;
	row->raw_wall += sum.wall;
	row->wall += sum.wall - cost;
	row->bracket += (double)cost;
	row->off += sum.off;
	if (sum.min <= sum.max) { /* else none of its calls has a duration of its own */
		row->min = MIN(row->min, sum.min > reader->bracket ? sum.min - reader->bracket : 0);
		row->max = MAX(row->max, sum.max > reader->bracket ? sum.max - reader->bracket : 0);
	}
	slot_cpu_state(reader, row);
	if (slot_name_cut(reader, wire_node_name(node)))
		slot_add_cut(reader, row, sum.calls);
	slot_add_cells(reader, row, node, sum.calls);
	slot_add_hist(reader, row, node->hist);
	i = hist_index(sum.extra);
	if (sum.has_extra && slot_hist_octave(reader, row, i / WIRE_HIST_SUB))
		row->hist.octave[i / WIRE_HIST_SUB][i % WIRE_HIST_SUB]++;
	reader->profile->pairs += (double)sum.calls;
	reader->profile->pair_cost += (double)sum.calls * reader->pair;
}

static double slot_double(u64 bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void slot_add_metric(struct slot_reader *reader, const struct wire_node *node)
{
	double min = slot_double(node->min), max = slot_double(node->max);
	struct profile_value *value;
	u32 row, name = slot_intern(reader, wire_node_name(node));

	if (!node->calls)
		return;
	row = name == PROFILE_NONE ? slot_damaged(reader) : slot_row(reader, node->parent);
	if (name == PROFILE_NONE || row == PROFILE_NONE)
		return;
	value = profile_value(reader->profile, row, name);
	if (!value)
		return;
	value->min = value->count && value->min < min ? value->min : min;
	value->max = value->count && value->max > max ? value->max : max;
	value->count += node->calls;
	value->sum += slot_double(node->wall);
	value->last = slot_double((u64)node->off);
}

/* Such a diagnosis has no path: only where the lane has one region of that name is the row known. */
static void slot_add_left(struct slot_reader *reader, const struct wire_lane *lane, u32 name, u64 count)
{
	struct wire_node_walk walk = wire_walk_nodes(reader->view, lane);
	const struct wire_node *node;
	u32 found = 0, n = 0, row;

	while (n < 2 && (node = wire_next_node(reader->view, &walk)))
		if (node->region == name) {
			found = walk.ref;
			n++;
		}
	row = n == 1 ? slot_row(reader, found) : PROFILE_NONE;
	if (row != PROFILE_NONE)
		reader->profile->rows[row].left += count;
}

static void slot_add_diagnosis(struct slot_reader *reader, const struct wire_lane *lane,
			       const struct wire_node *node)
{
	struct profile_diag diag = {
		.process = reader->slot->process,
		.tid = reader->wire->tid,
		.kind = wire_node_kind(node) - WIRE_NODE_DIAGNOSIS,
		.name = slot_intern(reader, wire_node_name(node)),
		.count = node->calls,
	};

	if (diag.kind >= WIRE_DIAG_MAX)
		reader->profile->losses[PROFILE_LOSS_DAMAGED]++;
	else if (diag.count)
		profile_add_diag(reader->profile, &diag);
	if (diag.kind == WIRE_DIAG_THREAD_END && diag.count)
		slot_add_left(reader, lane, wire_node_name(node), diag.count);
}

static void slot_add_nodes(struct slot_reader *reader, const struct wire_lane *lane)
{
	struct wire_node_walk walk = wire_walk_nodes(reader->view, lane);
	const struct wire_node *node;

	while ((node = wire_next_node(reader->view, &walk)) && !reader->profile->no_memory) {
		u32 kind = wire_node_kind(node);

		if (kind == WIRE_NODE_REGION && node->region)
			slot_add_region(reader, lane, node, walk.ref);
		else if (kind == WIRE_NODE_METRIC)
			slot_add_metric(reader, node);
		else if (kind >= WIRE_NODE_DIAGNOSIS)
			slot_add_diagnosis(reader, lane, node);
		else if (node->region)
			reader->profile->losses[PROFILE_LOSS_DAMAGED]++;
	}
	reader->profile->losses[PROFILE_LOSS_DAMAGED] += walk.pages.broken;
}

/* ---- open regions ---------------------------------------------------------------------------------- */

static void slot_add_frame(struct slot_reader *reader, const struct wire_frame *frame)
{
	u32 i = frame->node ? slot_row(reader, frame->node) : PROFILE_NONE;
	u64 wall = reader->end > frame->start ? reader->end - frame->start : 0;
	u64 known = MAX(reader->known, frame->start);
	struct profile_row *row;

	if (i == PROFILE_NONE || i == reader->root) {
		reader->profile->losses[PROFILE_LOSS_DAMAGED]++;
		return;
	}
	row = &reader->profile->rows[i];
	row->open++;
	row->wall += wall;
	row->off += (u64)frame->off;
	row->unsure += reader->end > known ? reader->end - known : 0;
	slot_cpu_state(reader, row);
	profile_add_open(reader->profile, &(struct profile_diag){ .process = reader->slot->process,
			 .tid = reader->wire->tid, .name = row->name, .count = 1 });
}

static void slot_add_frames(struct slot_reader *reader, const struct wire_lane *lane)
{
	u32 i, depth = wire_view_depth(lane);

	if (lane->depth > WIRE_DEPTH)
		reader->profile->losses[PROFILE_LOSS_DAMAGED]++;
	for (i = 0; i < depth && !reader->profile->no_memory; i++)
		slot_add_frame(reader, &lane->frames[i]);
}

/* ---- the slot -------------------------------------------------------------------------------------- */

static void slot_thread_usage(const struct wire_slot *wire, struct usage *usage)
{
	bool idle = wire->state == WIRE_SLOT_IDLE;
	struct usage last;

	if (idle ? !wire->done_usage.valid : !wire->begin_usage.valid) {
		usage_fill_absent(usage, "could not be read in the program");
	} else if (!idle && !wire->end_usage.valid) {
		usage_fill_absent(usage, "the thread was not seen to end");
	} else {
		usage_between(usage, NULL, &wire->done_usage);
		if (idle)
			return;
		usage_between(&last, &wire->begin_usage, &wire->end_usage);
		usage_add(usage, &last);
	}
}

static void slot_add_thread(struct slot_reader *reader)
{
	const struct wire_slot *wire = reader->wire;
	struct profile *profile = reader->profile;
	struct profile_thread thread = { .process = reader->slot->process, .pid = reader->slot->pid,
					 .tid = profile->threads_most ? profile->rows[reader->root].tid : wire->tid,
					 .threads = MAX(wire->threads, 1u),
					 .detector = wire->detector };

	/* What an idle slot's last thread did is in done_ already. */
	thread.wall = wire->done_wall;
	if (wire->state != WIRE_SLOT_IDLE)
		thread.wall += reader->end > wire->start ? reader->end - wire->start : 0;
	slot_thread_usage(wire, &thread.usage);
	profile_add_thread(profile, &thread);
}

/* Every marker looks at the switch detector: what was known at the newest one is known. */
static u64 slot_known(const struct slot_reader *reader)
{
	u64 known = MAX(reader->wire->start, reader->wire->sync_ticks);
	const struct wire_lane *lane;
	u32 i, depth;

	if (reader->wire->end)
		return reader->wire->end;
	for (i = 0; i < WIRE_LANES; i++) {
		lane = wire_view_lane(reader->view, reader->wire, i);
		depth = lane ? wire_view_depth(lane) : 0;
		if (depth)
			known = MAX(known, lane->frames[depth - 1].start);
	}
	return known;
}

static void slot_judge_cpu(struct slot_reader *reader)
{
	if (reader->wire->detector == WIRE_DETECTOR_NONE) {
		reader->cpu_state = CELL_UNAVAILABLE;
		reader->cpu_note = "no switch detector works here; --cpu-clock reads the CPU clock instead";
	} else if (reader->wire->missed) {
		reader->cpu_state = CELL_UNAVAILABLE;
		reader->cpu_note = "the switch detector missed switches that the kernel counted";
	} else if (reader->process && reader->process->sealed_cpu) {
		reader->cpu_state = CELL_ESTIMATE;
		reader->cpu_note = "switches since the seccomp filter was set could not be measured";
	}
}

static bool slot_open(struct slot_reader *reader, struct profile *profile, const struct profile_slot *slot)
{
	*reader = (struct slot_reader){ .profile = profile, .slot = slot, .view = slot->view };
	reader->header = wire_view_header(slot->view);
	reader->wire = wire_view_slot(slot->view, slot->ref);
	if (!reader->header || !reader->wire) {
		profile->losses[PROFILE_LOSS_DAMAGED]++;
		return false;
	}
	if (reader->wire->state == WIRE_SLOT_FREE)
		return false;
	reader->process = wire_view_process_of(slot->view, reader->wire->pid);
	reader->bracket = reader->process ? reader->process->bracket : 0;
	reader->pair = reader->process ? reader->process->pair : 0;
	reader->end = reader->wire->end ? reader->wire->end : slot->now;
	reader->known = slot_known(reader);
	reader->root = profile_root(profile, slot->process, slot->pid, reader->wire->tid);
	slot_judge_cpu(reader);
	return reader->root != PROFILE_NONE;
}

int profile_add_slot(struct profile *profile, const struct profile_slot *slot)
{
	struct slot_reader reader;
	const struct wire_lane *lane;
	u32 i;

	if (slot_open(&reader, profile, slot)) {
		slot_add_thread(&reader);
		for (i = 0; i < WIRE_LANES; i++) {
			lane = wire_view_lane(slot->view, reader.wire, i);
			if (!lane && reader.wire->lanes[i])
				profile->losses[PROFILE_LOSS_DAMAGED]++;
			if (!lane)
				continue;
			slot_add_nodes(&reader, lane);
			slot_add_frames(&reader, lane);
		}
	}
	ref_map_fini(&reader.map);
	return profile->no_memory ? error("out of memory for the regions") : 0;
}

/* What a list that is cut short leaves out cannot be counted: it is one record. */
static u32 lists_broken(const struct wire_view *view)
{
	struct wire_walk slots = wire_walk_slots(view), processes = wire_walk_processes(view), windows = wire_walk_windows(view);

	while (wire_next_slot(view, &slots) || wire_next_process(view, &processes) || wire_next_window(view, &windows))
		;
	return (u32)slots.broken + processes.broken + windows.broken;
}

void profile_add_losses(struct profile *profile, const struct wire_view *view)
{
	const struct wire_header *header = wire_view_header(view);
	u32 i;

	if (!header) {
		profile->losses[PROFILE_LOSS_DAMAGED]++;
		return;
	}
	for (i = 0; i < WIRE_LOSS_MAX; i++)
		profile->losses[profile_loss_name(i) ? i : (u32)PROFILE_LOSS_DAMAGED] += header->losses[i];
	profile->losses[PROFILE_LOSS_DAMAGED] += lists_broken(view);
}
