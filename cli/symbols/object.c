/* SPDX-License-Identifier: MIT */
/* The list of objects, and what they say of themselves; see object.h. */
#include "cli/symbols/object.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/symbols/object_build.h"

#define DELETED " (deleted)"

/* Which objects have a descriptor is a matter of the whole program, as descriptors are. */
static struct object *open_objects[OBJECTS_OPEN_MOST];
static u64 uses;

void objects_init(struct objects *objects)
{
	*objects = (struct objects){ .n = 0 };
}

static void object_free(struct object *object)
{
	object_close(object);
	elf_file_close(&object->elf);
	object_jit_close(object);
	if (object->image)
		munmap(object->image, object->image_size);
	free(object->copied);
	free(object->path);
	free(object->build_id);
	free(object->open_path);
	free(object->note);
	free(object->debug_file);
	free(object->debug_tried);
	free(object);
}

void objects_fini(struct objects *objects)
{
	u32 i;

	for (i = 0; i < objects->n; i++)
		object_free(objects->list[i]);
	free(objects->list);
	objects_init(objects);
}

struct object *objects_add(struct objects *objects, enum object_kind kind, const char *path)
{
	struct object *object, **list;
	u32 room = objects->room;

	if (objects->n >= OBJECTS_MOST)
		return NULL;
	if (objects->n == room) {
		room = room ? 2 * room : 64;
		list = realloc(objects->list, room * sizeof(struct object *));
		if (!list)
			return NULL;
		objects->list = list;
		objects->room = room;
	}
	object = calloc(1, sizeof(*object));
	if (object)
		object->path = strdup(path);
	if (!object || !object->path) {
		free(object);
		return NULL;
	}
	object->number = objects->n;
	object->kind = kind;
	object->fd = object->elf.fd = object->jit.map = object->jit.dump = object->jit.folder = -1;
	objects->list[objects->n++] = object;
	return object;
}

static u32 path_bucket(const char *path)
{
	u32 hash = 2166136261u;

	for (; *path; path++)
		hash = (hash ^ (u8)*path) * 16777619u;
	return hash & (OBJECTS_BUCKETS - 1);
}

static void id_text(const struct space_map *map, char *text)
{
	size_t i;

	text[0] = '\0';
	for (i = 0; map->build_id && i < map->build_id_size && i < ELF_FILE_ID_MOST; i++)
		sprintf(text + 2 * i, "%02x", map->build_id[i]);
}

/* Whether an object is what a record tells of: by what both know. */
static bool object_is(const struct object *object, const struct space_map *map, const char *id)
{
	if (*id)
		return object->build_id && !strcmp(object->build_id, id);
	if (!map->inode)
		return true;
	if (object->inode)
		return object->inode == map->inode && object->major == map->major && object->minor == map->minor;
	return object->open_path && object->about.st_ino == map->inode;
}

static struct object *object_new_file(struct objects *objects, const struct space_map *map, const char *path,
	const char *id)
{
	struct object *object = objects_add(objects, OBJECT_FILE, path);

	if (!object)
		return NULL;
	object->major = map->major;
	object->minor = map->minor;
	object->inode = *id ? 0 : map->inode;
	object->build_id = *id ? strdup(id) : NULL;
	object->id_told = object->build_id != NULL;
	object->state = OBJECT_GONE;
	return object;
}

/* A file's path without what the kernel adds to those that are gone. */
static char *path_plain(const char *name)
{
	size_t length = strlen(name), suffix = sizeof(DELETED) - 1;

	if (length > suffix && !strcmp(name + length - suffix, DELETED))
		length -= suffix;
	return strndup(name, length);
}

/* Names that begin like a path and are none. */
static bool path_is_memory(const char *path)
{
	static const char *const names[] = { "/memfd:", "/dev/zero", "/dev/shm/", "/SYSV", "/anon_hugepage", "//anon",
					     "/i915", "/drm mm object" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(path, names[i], strlen(names[i])))
			return true;
	return *path != '/';
}

struct object *objects_file(struct objects *objects, const struct space_map *map)
{
	char id[2 * ELF_FILE_ID_MOST + 1], *path;
	struct object *object, **bucket;

	if (!map->name || *map->name != '/' || !strcmp(map->name, "//anon"))
		return NULL;
	path = path_plain(map->name);
	if (!path)
		return NULL;
	id_text(map, id);
	bucket = &objects->buckets[path_bucket(path)];
	for (object = *bucket; object; object = object->next)
		if (!strcmp(object->path, path) && object_is(object, map, id))
			break;
	if (!object) {
		object = object_new_file(objects, map, path, id);
		if (object) {
			object->next = *bucket;
			*bucket = object;
		}
	}
	/* Another process may be a way to it. */
	if (object && object->state != OBJECT_FOUND)
		object_open(object, map);
	if (object && path_is_memory(path) && !object->is_elf)
		object = NULL;
	free(path);
	return object;
}

struct object *objects_jit(struct objects *objects, u32 pid)
{
	struct object *object = objects_add(objects, OBJECT_JIT, "[jit]");

	if (object)
		object->pid = pid;
	return object;
}

struct object *objects_kernel(struct objects *objects)
{
	return objects_add(objects, OBJECT_KERNEL, "[kernel]");
}

enum object_kind object_kind(const struct object *object)
{
	return object->kind;
}

const char *object_path(const struct object *object)
{
	return object->path;
}

const char *object_build_id(struct object *object)
{
	return object->build_id;
}

u32 object_number(const struct object *object)
{
	return object->number;
}

u32 object_pid(const struct object *object)
{
	return object->pid;
}

const char *object_note(const struct object *object)
{
	if (object->note)
		return object->note;
	switch (object->state) {
	case OBJECT_REPLACED:
		return "replaced during the run";
	case OBJECT_GONE:
		return "the file is gone";
	case OBJECT_DENIED:
		return "the file cannot be opened";
	default:
		return NULL;
	}
}

const char *object_debug_file(const struct object *object)
{
	return object->debug_file;
}

const char *object_debug_tried(const struct object *object)
{
	return object->debug_tried;
}

void object_close(struct object *object)
{
	size_t i;

	if (object->fd < 0)
		return;
	for (i = 0; i < OBJECTS_OPEN_MOST; i++)
		if (open_objects[i] == object)
			open_objects[i] = NULL;
	close(object->fd);
	object->fd = object->elf.fd = -1;
}

/* Notes that an object has a descriptor now; the one that was not used for longest loses its own. */
void object_opened(struct object *object, int fd)
{
	size_t i, oldest = 0;

	for (i = 0; i < OBJECTS_OPEN_MOST && open_objects[oldest]; i++)
		if (!open_objects[i] || open_objects[i]->used < open_objects[oldest]->used)
			oldest = i;
	if (open_objects[oldest])
		object_close(open_objects[oldest]);
	open_objects[oldest] = object;
	object->fd = object->elf.fd = fd;
	object->used = ++uses;
}

int object_descriptor(struct object *object)
{
	if (object->kind != OBJECT_FILE || object->state != OBJECT_FOUND)
		return -1;
	if (object->fd < 0)
		object_reopen(object);
	else if (!object_unchanged(object))
		object->state = OBJECT_REPLACED;
	object->used = ++uses;
	return object->state == OBJECT_FOUND ? object->fd : -1;
}

u64 object_delta(struct object *object, const struct space_map *map, u64 address, bool *whole)
{
	const struct elf_segment *segment;
	u64 offset = address - map->start + map->offset, last = map->offset + map->length - 1;

	*whole = true;
	if (object->kind == OBJECT_JIT)
		return 0;
	segment = elf_file_segment(&object->elf, offset);
	/* Without the file, which may still come, offsets are all that is known; mostly they are the addresses. */
	if (!segment) {
		*whole = object->is_elf;
		return map->offset - map->start;
	}
	*whole = segment == elf_file_segment(&object->elf, map->offset) &&
		segment == elf_file_segment(&object->elf, last);
	return map->offset - map->start + segment->address - segment->offset;
}
