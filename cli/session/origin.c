/* SPDX-License-Identifier: MIT */
/* Where the figures of a run come from: its start, the environment, the files that were executed. */
#define _GNU_SOURCE
#include "cli/session/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "cli/symbols/build_id.h"

#define OBJECTS_MOST 4096          /* files; the rest is left out */

struct origin_object {
	u64 device, inode;
};

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* FNV-1a over the sorted variables. "_" is the shell's and different for each way of calling. */
static u64 environment_hash(void)
{
	u64 hash = 0xcbf29ce484222325ULL;
	size_t n = 0, i;
	char **sorted;

	while (environ && environ[n])
		n++;
	sorted = calloc(n + 1, sizeof(*sorted));
	for (i = 0; sorted && i < n; i++)
		sorted[i] = environ[i];
	if (sorted)
		qsort(sorted, n, sizeof(*sorted), compare_words);
	for (i = 0; sorted && i < n; i++) {
		if (!strncmp(sorted[i], "_=", 2))
			continue;
		/* With its end, so that no two lists run together. */
		for (const char *at = sorted[i]; at == sorted[i] || at[-1]; at++)
			hash = (hash ^ (u8)*at) * 0x100000001b3ULL;
	}
	free(sorted);
	return hash;
}

static struct note_fact *origin_note(u64 time_ns, const char *text)
{
	struct note_fact *note = malloc(sizeof(*note));

	if (note)
		*note = (struct note_fact){ time_ns, text };
	return note;
}

void origin_start(struct session *s)
{
	struct origin *o = &s->origin;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(o->environment, sizeof(o->environment), "%016llx", (unsigned long long)environment_hash());
	o->facts.version = PACKAGE_VERSION;
	o->facts.started_ns = (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
	o->facts.environment = o->environment;
	if (s->options->note && (o->facts.notes = origin_note(o->facts.started_ns, s->options->note)))
		o->facts.nnotes = 1;
	s->facts.provenance = &o->facts;
}

static bool object_known(const struct origin *o, u64 device, u64 inode)
{
	for (size_t i = 0; i < o->facts.nobjects; i++)
		if (o->objects[i].device == device && o->objects[i].inode == inode)
			return true;
	return false;
}

static bool object_room(struct origin *o)
{
	size_t room = o->room ? o->room * 2 : 64;
	struct object_fact *facts;
	struct origin_object *objects;

	if (o->facts.nobjects < o->room)
		return true;
	if (room > OBJECTS_MOST)
		return false;
	facts = realloc(o->facts.objects, room * sizeof(*facts));
	if (facts)
		o->facts.objects = facts;
	objects = realloc(o->objects, room * sizeof(*objects));
	if (objects)
		o->objects = objects;
	if (!facts || !objects)
		return false;
	o->room = room;
	return true;
}

/* The build id, if the path still leads to the file that is mapped. */
static char *object_id(int root, const char *path, u64 device, u64 inode)
{
	char text[BUILD_ID_TEXT], *id = NULL;
	struct stat st;
	int fd;

	fd = openat(root, path + strspn(path, "/"), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_ino == inode && st.st_dev == device &&
	    build_id_read(fd, text))
		id = strdup(text);
	close(fd);
	return id;
}

/* A line of /proc/PID/maps, proc(5): range, permissions, offset, device, inode, path. */
static void object_add(struct origin *o, int root, const char *line)
{
	unsigned int major, minor;
	unsigned long long inode;
	char permissions[5];
	int path = 0;

	if (sscanf(line, "%*x-%*x %4s %*x %x:%x %llu %n", permissions, &major, &minor, &inode, &path) != 4 || !path ||
	    permissions[2] != 'x' || line[path] != '/' || object_known(o, makedev(major, minor), inode) ||
	    !object_room(o))
		return;
	o->objects[o->facts.nobjects] = (struct origin_object){ makedev(major, minor), inode };
	o->facts.objects[o->facts.nobjects] = (struct object_fact){
		.path = strdup(line + path),
		.build_id = object_id(root, line + path, makedev(major, minor), inode),
	};
	if (o->facts.objects[o->facts.nobjects].path)
		o->facts.nobjects++;
}

void origin_map(const struct session *s, u32 pid, struct origin_map *map)
{
	char path[64];
	size_t size = 0;
	FILE *maps;

	*map = (struct origin_map){ .root = -1 };
	if (!s->options->objects)
		return;
	snprintf(path, sizeof(path), "/proc/%u/root", pid);
	map->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return;
	if (getdelim(&map->text, &size, '\0', maps) <= 0) {
		free(map->text);
		map->text = NULL;
	}
	fclose(maps);
}

void origin_objects(struct session *s, struct origin_map *map)
{
	char *line, *rest = map->text;

	while (rest && (line = strsep(&rest, "\n")))
		object_add(&s->origin, map->root, line);
	free(map->text);
	if (map->root >= 0)
		close(map->root);
}

void origin_free(struct origin *o)
{
	for (size_t i = 0; i < o->facts.nobjects; i++) {
		free((char *)(uintptr_t)o->facts.objects[i].path);
		free((char *)(uintptr_t)o->facts.objects[i].build_id);
	}
	free(o->facts.objects);
	free(o->facts.notes);
	free(o->objects);
}
