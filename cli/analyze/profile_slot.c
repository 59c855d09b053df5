/* SPDX-License-Identifier: MIT */
/*
 * Reading one slot of a segment into the profile. The segment's bytes come from the measured
 * program: what does not make sense is left out and counted as damaged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/profile_slot.h"
#include "cli/log.h"

/* A name that was cut in the segment is told from others with the same beginning by a hash of all of it. */
u32 slot_intern(struct slot_reader *reader, u32 ref)
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

bool slot_name_cut(const struct slot_reader *reader, u32 ref)
{
	const char *bytes;
	size_t len;
	const struct wire_name *name = wire_view_name(reader->view, ref, &bytes, &len);

	return name && name->full_length > len;
}

/* Where what has no sound path goes. */
u32 slot_damaged(struct slot_reader *reader)
{
	u32 name = profile_intern(reader->profile, "[damaged]", 9);

	reader->profile->losses[PROFILE_LOSS_DAMAGED]++;
	return name == PROFILE_NONE ? name : profile_child(reader->profile, reader->root, name);
}

/* The row of a node: its chain of parents up to a root. */
u32 slot_row(struct slot_reader *reader, u32 ref)
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

void slot_cpu_state(struct slot_reader *reader, struct profile_row *row)
{
	if (reader->cpu_state > row->cpu_state) {
		row->cpu_state = reader->cpu_state;
		row->cpu_note = reader->cpu_note;
	}
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
