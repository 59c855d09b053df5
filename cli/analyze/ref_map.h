/* SPDX-License-Identifier: MIT */
/* Numbers by refs of a segment: which row a node is.  Used while one slot is read. */
#ifndef CLI_ANALYZE_REF_MAP_H
#define CLI_ANALYZE_REF_MAP_H

#include "common/base.h"

#define REF_MAP_NONE (~0u)

/* Zero-initialized: empty.  Open addressing, at most half full. */
struct ref_map {
	struct ref_entry {
		u32 ref, number;
	} *entries;
	u32 count, size;
};

/* REF_MAP_NONE: not in the map. */
u32 ref_map_get(const struct ref_map *map, u32 ref);
/* ref is not 0 and not in the map.  Returns 0 or -ENOMEM. */
int ref_map_put(struct ref_map *map, u32 ref, u32 number);
void ref_map_fini(struct ref_map *map);

#endif
