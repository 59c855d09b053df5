/* SPDX-License-Identifier: MIT */
/* See nodes.h. */
#define _GNU_SOURCE
#include "cli/session/nodes.h"

#include <string.h>
#include <unistd.h>

#define SLOTS_MOST (1u << 16)

bool peek(const struct segment *g, u64 at, void *to, size_t size)
{
	return at && at + size <= WIRE_SEGMENT_SIZE && pread(g->fd, to, size, (off_t)at) == (ssize_t)size;
}

/* Slots come in at the front of their list, and stay in it. One that is a ring ends where a mark is met again. */
void slots_find(struct segment *g, u32 *newest, bool (*add)(struct segment *g, u32 ref))
{
	u32 ref = load_acquire(&g->header->slots), first = ref, mark = 0;

	for (u32 hops = 0; ref && ref != *newest && ref != mark && hops < SLOTS_MOST; hops++) {
		u32 next;

		if ((hops & (hops - 1)) == 0)
			mark = ref;
		if (!peek(g, place(ref) + offsetof(struct wire_slot, next), &next, sizeof(next)) || !add(g, ref))
			break;
		ref = next;
	}
	*newest = first;
}

/* The region of a name inside another one; false: it makes no sense. */
static bool name_region(const struct segment *g, struct samples *samples, u32 parent, u32 ref, u32 *region)
{
	char bytes[WIRE_NAME_MAX];
	struct wire_name name;
	u32 length;

	if (!peek(g, place(ref), &name, sizeof(name)))
		return false;
	length = MIN(name.length, WIRE_NAME_MAX);
	if (length && !peek(g, place(ref) + sizeof(name), bytes, length))
		return false;
	*region = parent;
	if (length == sizeof(WIRE_CALIBRATION) - 1 && !memcmp(bytes, WIRE_CALIBRATION, length))
		return true;
	*region = samples_region(samples, parent, bytes, length);
	return *region != SAMPLES_NONE;
}

static bool path_region(const struct segment *g, struct ref_map *known, struct samples *samples, u32 node, u32 depth,
			u32 *region)
{
	u32 at = ref_map_get(known, node), parent = SAMPLES_NONE;
	struct wire_node n;

	*region = SAMPLES_NONE;
	if (at != REF_MAP_NONE) {
		*region = at - 1;
		return true;
	}
	if (!node || depth > PROFILE_DEPTH_MAX || !peek(g, place(node), &n, sizeof(n)))
		return false;
	if (n.region) {
		if (n.region >> WIRE_NODE_KIND_SHIFT != WIRE_NODE_REGION || !n.parent ||
		    !path_region(g, known, samples, n.parent, depth + 1, &parent) ||
		    !name_region(g, samples, parent, n.region & WIRE_NODE_NAME_MASK, region))
			return false;
	}
	ref_map_put(known, node, *region + 1);
	return true;
}

bool node_region(const struct segment *g, struct ref_map *known, struct samples *samples, u32 node, u32 *region)
{
	return path_region(g, known, samples, node, 0, region);
}
