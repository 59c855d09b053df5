/* SPDX-License-Identifier: MIT */
/* Numbers by refs; see ref_map.h. */
#include "cli/analyze/ref_map.h"

#include <errno.h>
#include <stdlib.h>

static u32 ref_map_place(const struct ref_map *map, u32 ref)
{
	u32 i = ref * 0x9e3779b1u & (map->size - 1);

	while (map->entries[i].ref && map->entries[i].ref != ref)
		i = (i + 1) & (map->size - 1);
	return i;
}

u32 ref_map_get(const struct ref_map *map, u32 ref)
{
	const struct ref_entry *entry = map->size ? &map->entries[ref_map_place(map, ref)] : NULL;

	return entry && entry->ref ? entry->number : REF_MAP_NONE;
}

static int ref_map_grow(struct ref_map *map)
{
	struct ref_map grown = { .count = map->count, .size = map->size ? map->size * 2 : 256 };
	u32 i;

	grown.entries = calloc(grown.size, sizeof(*grown.entries));
	if (!grown.entries)
		return -ENOMEM;
	for (i = 0; i < map->size; i++)
		if (map->entries[i].ref)
			grown.entries[ref_map_place(&grown, map->entries[i].ref)] = map->entries[i];
	free(map->entries);
	*map = grown;
	return 0;
}

int ref_map_put(struct ref_map *map, u32 ref, u32 number)
{
	if (map->count * 2 >= map->size && ref_map_grow(map) != 0)
		return -ENOMEM;
	map->entries[ref_map_place(map, ref)] = (struct ref_entry){ ref, number };
	map->count++;
	return 0;
}

void ref_map_fini(struct ref_map *map)
{
	free(map->entries);
	*map = (struct ref_map){ .entries = NULL };
}
