/* SPDX-License-Identifier: MIT */
/*
 * Whose the agent is that is in a process already: of a sparkctl that reads its segment, or of none. Who may not see
 * other users' descriptors can only tell that by what the segment itself says.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/inject/look.h"
#include "cli/inject/tracee.h"
#include "cli/symbols/maps.h"
#include "common/wire.h"

/* What of it is mapped. */
struct whose {
	struct places places;        /* the segment alone */
	bool agent, released;
};

static bool is_agent(const char *name)
{
	return strstr(name, "/libsparkagent.so") || strstr(name, "/memfd:libsparkagent.so");
}

/* The session has told the agent that it is over. */
static bool header_released(pid_t pid, const struct space_map *map)
{
	struct wire_header header;

	return !map->offset && tracee_read(pid, map->start, &header, sizeof(header)) == sizeof(header) &&
	       header.magic == WIRE_MAGIC && header.released;
}

static int whose_find(struct whose *w, pid_t pid)
{
	struct space_map map;
	struct maps maps;
	int ret = maps_open(&maps, (u32)pid);

	if (ret)
		return ret;
	while (maps_next(&maps, &map)) {
		w->agent |= is_agent(map.name);
		if (!places_segment(&w->places, &map))
			continue;
		w->released |= header_released(pid, &map);
	}
	maps_close(&maps);
	return 0;
}

bool inject_whose(pid_t pid, char *text, size_t size)
{
	struct whose w = { .agent = false };
	char name[32];
	pid_t owner;

	if (whose_find(&w, pid) || !w.agent)
		return false;
	owner = w.places.segment && !w.released ? look_owner(&w.places) : 0;
	if (owner) {
		look_name(owner, name, sizeof(name));
		snprintf(text, size, "it is being measured by process %d (%s), whose report has the regions", (int)owner, name);
	} else if (!w.places.segment || w.released || geteuid() == 0) {
		snprintf(text, size, "the agent in it is of a session that is over; --inject begins another one");
	} else {
		snprintf(text, size, "the agent in it belongs to a session that is over, or to another user's");
	}
	return true;
}
