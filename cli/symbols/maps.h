/* SPDX-License-Identifier: MIT */
/* The rows of /proc/PID/maps (proc(5)). For this folder alone. */
#ifndef CLI_SYMBOLS_MAPS_H
#define CLI_SYMBOLS_MAPS_H

#include <stdio.h>

#include "cli/symbols/space.h"

struct maps {
	FILE *file;
	char *line;
	size_t room;
};

/* 0, or -errno. */
int maps_open(struct maps *maps, u32 pid);
/* Fills all but the pid and the time; the name lasts until the next call. False: there are no more. */
bool maps_next(struct maps *maps, struct space_map *map);
void maps_close(struct maps *maps);

/* A row, whose name is written anew. False: it is none. */
bool maps_parse(char *line, struct space_map *map);

#endif
