/* SPDX-License-Identifier: MIT */
/*
 * Files in which JIT compilers tell of their code: the perf map /tmp/perf-PID.map (Linux, tools/perf/Documentation/
 * jit-interface.txt) and jitdump files (jitdump-specification.txt). They lie where the process sees /tmp and have the
 * pid that it knows itself by: it is asked while it lives. Some write only when they end.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/symbols/object_build.h"

#define LOOK_NS (50 * NSEC_PER_MSEC)
#define JIT_OPEN_MOST 64u            /* descriptors of such files */

static u32 open_files;

bool object_is_jitdump(const char *name)
{
	const char *base = strrchr(name, '/');

	if (!base || strncmp(base, "/jit-", 5) != 0 || !isdigit((unsigned char)base[5]))
		return false;
	base += 5 + strspn(base + 5, "0123456789");
	return !strcmp(base, ".dump") || !strcmp(base, ".dump (deleted)");
}

/* Of a process: what it is called in its own PID namespace, and whose it is. False: it is gone. */
static bool status_read(u32 pid, u32 *inner, uid_t *real, uid_t *effective)
{
	char path[32], line[256], *last;
	bool uid = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	file = fopen(path, "re");
	*inner = pid;
	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "NSpid:", 6) && (last = strrchr(line, '\t')))
			*inner = (u32)strtoul(last, NULL, 10);
		else if (sscanf(line, "Uid: %u %u", real, effective) == 2)
			uid = true;
	}
	if (file)
		fclose(file);
	return uid;
}

/* Notes a descriptor, as long as there are few; else closes it. */
static int jit_keep(int fd)
{
	if (fd < 0)
		return -1;
	if (open_files < JIT_OPEN_MOST) {
		open_files++;
		return fd;
	}
	close(fd);
	return -1;
}

/* Anybody may write into /tmp: a file of a stranger is none of the process's. */
static int jit_open(int folder, const char *path, const uid_t owners[2])
{
	int fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat about;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &about) && S_ISREG(about.st_mode) &&
	    (about.st_uid == owners[0] || about.st_uid == owners[1] || about.st_uid == 0))
		return jit_keep(fd);
	close(fd);
	return -1;
}

/* Asks the process, once. */
static void jit_know(struct object *object)
{
	struct jit *jit = &object->jit;
	struct stat own, its;
	char path[64];
	int fd;

	jit->known = status_read(object->pid, &jit->pid, &jit->owners[0], &jit->owners[1]);
	if (!jit->known)
		return;
	snprintf(path, sizeof(path), "/proc/%u/root/tmp", object->pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &its) && !stat("/tmp", &own) &&
	    (own.st_dev != its.st_dev || own.st_ino != its.st_ino))
		jit->folder = jit_keep(fd);
	else if (fd >= 0)
		close(fd);
}

void object_jit_look(struct object *object)
{
	struct jit *jit = &object->jit;
	u64 now = clock_ns(CLOCK_MONOTONIC);
	char path[64];

	if (jit->map >= 0 || now - jit->looked_ns < LOOK_NS)
		return;
	jit->looked_ns = now;
	if (!jit->known)
		jit_know(object);
	if (!jit->known)
		return;
	snprintf(path, sizeof(path), "perf-%u.map", jit->pid);
	if (jit->folder >= 0) {
		jit->map = jit_open(jit->folder, path, jit->owners);
		return;
	}
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", jit->pid);
	jit->map = jit_open(AT_FDCWD, path, jit->owners);
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", object->pid);
	if (jit->map < 0)
		jit->map = jit_open(AT_FDCWD, path, jit->owners);
}

void object_jitdump(struct object *object, const struct space_map *map)
{
	uid_t owners[2];
	char *path;
	u32 inner;

	if (object->jit.dump >= 0 || !status_read(map->pid, &inner, &owners[0], &owners[1]) ||
	    asprintf(&path, "/proc/%u/root%s", map->pid, map->name) < 0)
		return;
	object->jit.dump = jit_open(AT_FDCWD, path, owners);
	if (object->jit.dump < 0)
		object->jit.dump = jit_open(AT_FDCWD, map->name, owners);
	free(path);
}

void object_jit_close(struct object *object)
{
	int *files[] = { &object->jit.map, &object->jit.dump, &object->jit.folder };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (*files[i] >= 0) {
			close(*files[i]);
			*files[i] = -1;
			open_files--;
		}
}
