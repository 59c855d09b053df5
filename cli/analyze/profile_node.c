/* SPDX-License-Identifier: MIT */
/*
 * Reading the nodes of a lane: regions with their times, histograms, counters and units, the
 * program's own values, diagnoses.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/profile_slot.h"
#include "common/source_table.h"

struct node_sum {
	u64 calls, wall, off, min, max;
	u64 extra;                   /* wall of a call that is not in the histogram yet */
	bool has_extra;
};

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

static void slot_add_cell(struct slot_reader *reader, u64 *sum, const struct wire_node *node, u32 place, u64 calls)
{
	u64 value = wire_view_cells(node)[place];

	if (!wire_absent(value) && reader->process)
		value -= MIN(value, slot_cost(calls, reader->process->source_cost[place]));
	profile_add_cell(sum, value);
}

/* A part that is absent makes the sum absent. */
static void slot_add_cells(struct slot_reader *reader, struct profile_row *row,
			   const struct wire_node *node, u64 calls)
{
	u32 mask = reader->header->sources, id, n, place = 0, global;
	u32 plan = wire_plan_cells(reader->profile->plan_events, reader->profile->plan_groups);

	if (!reader->header->cells)
		return;
	if (mask >> SOURCE_COUNT || source_cells(mask) + plan != reader->header->cells) {
		row->cells_lost = true;
		return;
	}
	if (!row->cells)
		row->cells = calloc(profile_cells(reader->profile), sizeof(u64));
	if (!row->cells) {
		reader->profile->no_memory = true;
		return;
	}
	reader->profile->sources |= mask;
	for (id = 0; id < SOURCE_COUNT; id++) {
		global = source_first_cell((1u << SOURCE_COUNT) - 1, id);
		for (n = mask & (1u << id) ? source_cells(1u << id) : 0; n; n--, place++, global++)
			slot_add_cell(reader, &row->cells[global], node, place, calls);
	}
	for (n = 0; n < plan; n++)
		slot_add_cell(reader, &row->cells[source_cells(SOURCE_ALL) + n], node, place + n, calls);
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

void slot_add_nodes(struct slot_reader *reader, const struct wire_lane *lane)
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
