/* SPDX-License-Identifier: MIT */
/*
 * The loader's cache in the form that glibc has had since 2.32 (sysdeps/generic/dl-cache.h): a head, rows of numbers
 * that lead to texts, and the texts.
 */
#include <stdio.h>
#include <string.h>

#include "cli/symbols/closure.h"

#define MAGIC "glibc-ld.so.cache1.1"

struct cache_head {
	char magic[sizeof(MAGIC) - 1];
	u32 rows;
	u32 texts_size;
	u32 unused[5];
};

struct cache_row {
	u32 flags;
	u32 name, path;              /* offsets in the file */
	u32 system;
	u64 hardware;                /* it is for some CPUs alone */
};

_Static_assert(sizeof(struct cache_head) == 48 && sizeof(struct cache_row) == 24, "dl-cache.h");

/* "": it does not end in the file. */
static const char *text_at(const u8 *cache, size_t size, u32 offset)
{
	return offset < size && memchr(cache + offset, '\0', size - offset) ? (const char *)cache + offset : "";
}

bool loader_cache_find(const u8 *cache, size_t size, const char *name, u32 *at, char *path, size_t room)
{
	struct cache_head head;
	struct cache_row row;

	if (size < sizeof(head))
		return false;
	memcpy(&head, cache, sizeof(head));
	if (memcmp(head.magic, MAGIC, sizeof(head.magic)) != 0)
		return false;
	while (*at < head.rows && *at < (size - sizeof(head)) / sizeof(row)) {
		memcpy(&row, cache + sizeof(head) + (size_t)(*at)++ * sizeof(row), sizeof(row));
		/* Others are the same functions, faster. */
		if (!row.hardware && !strcmp(text_at(cache, size, row.name), name))
			return snprintf(path, room, "%s", text_at(cache, size, row.path)) < (int)room;
	}
	return false;
}
