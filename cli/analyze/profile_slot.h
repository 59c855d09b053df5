/* SPDX-License-Identifier: MIT */
/* What profile_slot.c and profile_node.c share while one slot of a segment is read. */
#ifndef CLI_ANALYZE_PROFILE_SLOT_H
#define CLI_ANALYZE_PROFILE_SLOT_H

#include "cli/analyze/profile_build.h"
#include "cli/analyze/ref_map.h"

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

/* ---- profile_slot.c */

/* The number of a name of the segment; PROFILE_NONE: it makes no sense, or memory is short. */
u32 slot_intern(struct slot_reader *reader, u32 ref);
bool slot_name_cut(const struct slot_reader *reader, u32 ref);
/* The row "[damaged]", and one loss more; PROFILE_NONE when memory is short. */
u32 slot_damaged(struct slot_reader *reader);
/* The row of a node; PROFILE_NONE when memory is short. */
u32 slot_row(struct slot_reader *reader, u32 ref);
/* The row's cpu is no better than the thread's. */
void slot_cpu_state(struct slot_reader *reader, struct profile_row *row);

/* ---- profile_node.c: all nodes of a lane */

void slot_add_nodes(struct slot_reader *reader, const struct wire_lane *lane);

#endif
