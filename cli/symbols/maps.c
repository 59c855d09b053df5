/* SPDX-License-Identifier: MIT */
/* See maps.h. */
#include "cli/symbols/maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The kernel writes a newline in a name as \012. */
static void name_unescape(char *name)
{
	char *at, *rest;

	for (at = name; (at = strstr(at, "\\012")); at++) {
		*at = '\n';
		rest = at + 4;
		memmove(at + 1, rest, strlen(rest) + 1);
	}
}

bool maps_parse(char *line, struct space_map *map)
{
	unsigned long long start, end, offset, inode;
	unsigned int major, minor;
	char rights[5];
	int name = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, rights, &offset, &major, &minor, &inode,
	    &name) < 7 ||
	    end <= start || strlen(rights) < 4)
		return false;
	line[strcspn(line, "\n")] = '\0';
	name_unescape(line + name);
	*map = (struct space_map){
		.start = start, .length = end - start, .offset = offset, .major = major, .minor = minor, .inode = inode,
		.protection = (rights[0] == 'r' ? PROT_READ : 0u) | (rights[1] == 'w' ? PROT_WRITE : 0u) |
			(rights[2] == 'x' ? PROT_EXEC : 0u),
		.flags = rights[3] == 's' ? MAP_SHARED : MAP_PRIVATE, .name = line + name,
	};
	return true;
}

int maps_open(struct maps *maps, u32 pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	*maps = (struct maps){ .file = fopen(path, "re") };
	return maps->file ? 0 : -errno;
}

bool maps_next(struct maps *maps, struct space_map *map)
{
	while (getline(&maps->line, &maps->room, maps->file) > 0)
		if (maps_parse(maps->line, map))
			return true;
	return false;
}

void maps_close(struct maps *maps)
{
	fclose(maps->file);
	free(maps->line);
}
