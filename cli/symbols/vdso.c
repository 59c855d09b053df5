/* SPDX-License-Identifier: MIT */
/*
 * The vDSO (vdso(7)): code that the kernel puts into each process. It is the same for all of a kind, so our own serves
 * where its size is the same; else, as for 32-bit programs, it is copied from the process.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "cli/symbols/maps.h"
#include "cli/symbols/object_build.h"

#define VDSO_MOST (1u << 20)

/* The bytes of our own; 0 where there is none. */
static u64 vdso_own_size(void)
{
	struct space_map map;
	struct maps maps;
	u64 size = 0;

	if (maps_open(&maps, (u32)getpid()))
		return 0;
	while (!size && maps_next(&maps, &map))
		if (!strcmp(map.name, "[vdso]"))
			size = map.length;
	maps_close(&maps);
	return size;
}

static u8 *vdso_copy(const struct space_map *map)
{
	u8 *bytes = malloc(map->length);
	char path[32];
	ssize_t got = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/mem", map->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && bytes)
		got = pread(fd, bytes, map->length, (off_t)map->start);
	if (fd >= 0)
		close(fd);
	if (got == (ssize_t)map->length)
		return bytes;
	free(bytes);
	return NULL;
}

struct object *objects_vdso(struct objects *objects, const struct space_map *map)
{
	struct object *object;
	u8 *own = (u8 *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	char id[2 * ELF_FILE_ID_MOST + 1];

	for (object = objects->vdso; object; object = object->next)
		if (object->image_size == map->length)
			return object;
	object = objects_add(objects, OBJECT_VDSO, "[vdso]");
	if (!object)
		return NULL;
	object->next = objects->vdso;
	objects->vdso = object;
	object->image_size = map->length;
	object->image_tried = true;
	if (own && vdso_own_size() == map->length)
		object->bytes = own;
	else if (map->length <= VDSO_MOST)
		object->bytes = object->copied = vdso_copy(map);
	object->is_elf = object->bytes && elf_file_open_bytes(&object->elf, object->bytes, map->length) == 0;
	if (object->is_elf && elf_file_build_id(&object->elf, id))
		object->build_id = strdup(id);
	object->state = object->is_elf ? OBJECT_FOUND : OBJECT_DENIED;
	return object;
}
