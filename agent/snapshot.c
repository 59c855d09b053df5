/* SPDX-License-Identifier: MIT */
/*
 * The bytes of the files that sparkctl has listed, at the edges of windows. What they mean is for
 * sparkctl to find out: formats differ by kernel, and bytes cost the program least.
 */
#define _GNU_SOURCE
#include "agent.h"
#include "proc.h"

#include "common/proc.h"

#include <fcntl.h>
#include <string.h>

#include "banned.h"

/* SAFE. The list, if it is sound: the program can write to the segment. */
static const struct wire_files *files_listed(void)
{
	u32 ref = agent.header->files;
	const struct wire_files *files = ref ? segment_ptr(ref) : NULL;

	return files && files->n <= WIRE_FILES && files->size <= WIRE_CHUNK - ref * (u64)WIRE_UNIT ? files : NULL;
}

/* SAFE. A record of the file as it is now; room has WIRE_FILE_ROOM bytes. 0: no memory. */
static u32 snapshot_file(u32 file, const char *path, char *room)
{
	long n = proc_read(AT_FDCWD, path, room, WIRE_FILE_ROOM);
	u32 ref = name_record((u32)sizeof(struct wire_snapshot) + (u32)MAX(n, 0));
	struct wire_snapshot *s;

	if (!ref)
		return 0;
	s = segment_ptr(ref);
	s->file = file;
	s->size = (u32)MAX(n, 0);
	s->absent = n < 0 ? 1 + (u32)proc_absent((int)-n) : 0;
	memcpy(s->bytes, room, s->size);
	return ref;
}

/* Whoever comes meanwhile, another thread or a handler, takes memory of his own. */
char *snapshot_room(void)
{
	char *room = exchange(&life->room, NULL);

	return room ? room : segment_private(WIRE_PAGE, PRIVATE_WIPED);
}

void snapshot_room_drop(char *room)
{
	if (room)
		room = exchange(&life->room, room);
	if (room)
		segment_private_drop(room, WIRE_PAGE);
}

u32 snapshot_take(void)
{
	const struct wire_files *files = agent_sealed() ? NULL : files_listed();
	u32 first = 0, ref;
	char *room;

	if (!files || !files->n)
		return 0;
	room = snapshot_room();
	for (u32 i = 0; room && i < files->n; i++) {
		if (files->path[i] >= files->size)
			break;
		ref = snapshot_file(i, (const char *)files + files->path[i], room);
		if (!ref)
			break;
		((struct wire_snapshot *)segment_ptr(ref))->next = first;
		first = ref;
	}
	snapshot_room_drop(room);
	return first;
}
