/* SPDX-License-Identifier: MIT */
/* Numbers by pairs of numbers: which function a name of an object is, which node a function below another is. */
#ifndef CLI_ANALYZE_PAIR_MAP_H
#define CLI_ANALYZE_PAIR_MAP_H

#include "common/base.h"

/* Zero-initialized: empty.  Open addressing, at most half full. */
struct pair_map {
	struct pair_entry {
		u32 a, b;
		u32 number;          /* + 1; 0: not in use */
	} *entries;
	u32 count, size;
};

/* The number of a pair, which is *next, counted up, if it is new. False when memory is short. */
bool pair_map_number(struct pair_map *map, u32 a, u32 b, u32 *next, u32 *number);
void pair_map_fini(struct pair_map *map);

#endif
