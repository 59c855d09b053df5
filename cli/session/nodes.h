/* SPDX-License-Identifier: MIT */
/*
 * Small pieces of a segment, read while it is in use: for what cannot wait until all of it is
 * copied. Nothing in it is believed.
 */
#ifndef CLI_SESSION_NODES_H
#define CLI_SESSION_NODES_H

#include "cli/analyze/samples.h"
#include "cli/session/internal.h"

static inline u64 place(u32 ref)
{
	return (u64)ref * WIRE_UNIT;
}

/* False: it does not lie in the segment. */
bool peek(const struct segment *segment, u64 at, void *to, size_t size);

/* Gives add() the slots that came since *first was the newest; it returns false for no memory. */
void slots_find(struct segment *segment, u32 *first, bool (*add)(struct segment *segment, u32 ref));

/*
 * The path of a node among the regions of samples; a root's is SAMPLES_NONE. False: it makes no
 * sense. known: nodes that were looked up already, as region + 1; to be emptied when slots are.
 */
bool node_region(const struct segment *segment, struct ref_map *known, struct samples *samples, u32 node, u32 *region);

#endif
