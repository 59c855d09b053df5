/* SPDX-License-Identifier: MIT */
/* Numbers by pairs; see pair_map.h. */
#include "cli/analyze/pair_map.h"

#include <stdlib.h>

static u32 pair_map_place(const struct pair_map *map, u32 a, u32 b)
{
	u64 hash = ((u64)a << 32 | b) * 0x9e3779b97f4a7c15ULL;
	u32 i = (u32)(hash >> 32) & (map->size - 1);

	while (map->entries[i].number && (map->entries[i].a != a || map->entries[i].b != b))
		i = (i + 1) & (map->size - 1);
	return i;
}

static bool pair_map_grow(struct pair_map *map)
{
	struct pair_map grown = { .count = map->count, .size = map->size ? map->size * 2 : 256 };
	u32 i;

	grown.entries = grown.size ? calloc(grown.size, sizeof(*grown.entries)) : NULL;
	if (!grown.entries)
		return false;
	for (i = 0; i < map->size; i++)
		if (map->entries[i].number)
			grown.entries[pair_map_place(&grown, map->entries[i].a, map->entries[i].b)] = map->entries[i];
	free(map->entries);
	*map = grown;
	return true;
}

bool pair_map_number(struct pair_map *map, u32 a, u32 b, u32 *next, u32 *number)
{
	struct pair_entry *entry;

	if (map->count >= map->size / 2 && !pair_map_grow(map))
		return false;
	entry = &map->entries[pair_map_place(map, a, b)];
	if (!entry->number) {
		*entry = (struct pair_entry){ a, b, ++*next };
		map->count++;
	}
	*number = entry->number - 1;
	return true;
}

void pair_map_fini(struct pair_map *map)
{
	free(map->entries);
	*map = (struct pair_map){ .entries = NULL };
}
