/* SPDX-License-Identifier: MIT */
/*
 * Opening the file that was mapped, and no other. The process that maps it knows it for certain
 * (/proc/PID/map_files); where that is closed to us, its root directory and then ours may have it, which is believed
 * when the build id is the same, or device and inode.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cli/symbols/maps.h"
#include "cli/symbols/object_build.h"

bool object_file_has_id(int fd, const char *build_id)
{
	char id[2 * ELF_FILE_ID_MOST + 1];
	struct elf_file elf;
	bool same;

	if (elf_file_open(&elf, fd))
		return false;
	same = elf_file_build_id(&elf, id) && !strcmp(id, build_id);
	elf_file_close(&elf);
	return same;
}

/*
 * Device and inode as the kernel tells them of a mapping: file systems of layers show others by stat(2). So it is
 * asked for a mapping of our own.
 */
static bool descriptor_mapped_as(int fd, const struct object *object)
{
	void *page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	struct space_map map;
	struct maps maps;
	bool same = false;

	if (page == MAP_FAILED)
		return false;
	if (maps_open(&maps, (u32)getpid()) == 0) {
		while (maps_next(&maps, &map))
			if (map.start <= (u64)(uintptr_t)page && map.start + map.length > (u64)(uintptr_t)page) {
				same = map.inode == object->inode && map.major == object->major &&
					map.minor == object->minor;
				break;
			}
		maps_close(&maps);
	}
	munmap(page, 1);
	return same;
}

static bool descriptor_is(int fd, const struct object *object, const struct stat *about)
{
	if (object->id_told)
		return object_file_has_id(fd, object->build_id);
	if (!object->inode)
		return true;
	if (about->st_ino == object->inode && major(about->st_dev) == object->major &&
	    minor(about->st_dev) == object->minor)
		return true;
	return descriptor_mapped_as(fd, object);
}

/* A regular file's descriptor, or -errno. A FIFO of that name must not stop us, nor a terminal become ours. */
static int file_open(const char *path, struct stat *about)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), status = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, about))
		status = -errno;
	else if (!S_ISREG(about->st_mode))
		status = -ENOENT;
	if (!status)
		return fd;
	close(fd);
	return status;
}

static void object_found(struct object *object, int fd, const char *path, const struct stat *about)
{
	char id[2 * ELF_FILE_ID_MOST + 1];

	object_close(object);
	elf_file_close(&object->elf);
	object->state = OBJECT_FOUND;
	object->about = *about;
	free(object->open_path);
	object->open_path = strdup(path);
	object->is_elf = elf_file_open(&object->elf, fd) == 0;
	if (object->is_elf && !object->build_id && elf_file_build_id(&object->elf, id))
		object->build_id = strdup(id);
	object_opened(object, fd);
}

static bool object_try(struct object *object, const char *path)
{
	struct stat about;
	int fd = file_open(path, &about);

	if (fd < 0) {
		if (fd != -ENOENT && fd != -ENOTDIR && fd != -ESRCH && object->state == OBJECT_GONE)
			object->state = OBJECT_DENIED;
		return false;
	}
	if (descriptor_is(fd, object, &about)) {
		object_found(object, fd, path, &about);
		return true;
	}
	close(fd);
	object->state = OBJECT_REPLACED;
	return false;
}

/* Memory with a descriptor (memfd_create(2)) can be had by its user as long as the process keeps that. */
static bool object_try_descriptors(struct object *object, u32 pid)
{
	char path[64], name[PATH_MAX], link[PATH_MAX];
	size_t length = strlen(object->path);
	struct dirent *entry;
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	folder = strncmp(object->path, "/memfd:", 7) ? NULL : opendir(path);
	while (folder && !found && (entry = readdir(folder))) {
		ssize_t n = readlinkat(dirfd(folder), entry->d_name, link, sizeof(link));

		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		found = n >= (ssize_t)length && !memcmp(link, object->path, length) && object_try(object, name);
	}
	if (folder)
		closedir(folder);
	return found;
}

void object_open(struct object *object, const struct space_map *map)
{
	char through[64], *path;
	bool found;

	object->state = OBJECT_GONE;
	snprintf(through, sizeof(through), "/proc/%u/map_files/%llx-%llx", map->pid, (unsigned long long)map->start,
		(unsigned long long)(map->start + map->length));
	if (object_try(object, through))
		return;
	/* A program that is deleted can be had by its user, too. */
	snprintf(through, sizeof(through), "/proc/%u/exe", map->pid);
	if ((object->id_told || object->inode) && object_try(object, through))
		return;
	if (object_try_descriptors(object, map->pid))
		return;
	/* Only root may look through the process; what counts is whether the file itself is there. */
	object->state = OBJECT_GONE;
	if (asprintf(&path, "/proc/%u/root%s", map->pid, object->path) < 0)
		return;
	found = object_try(object, path);
	free(path);
	if (found)
		return;
	if (object->state == OBJECT_DENIED)
		object->state = OBJECT_GONE;
	object_try(object, object->path);
}

bool object_unchanged(struct object *object)
{
	struct stat now;
	char *id = object->build_id;

	if (fstat(object->fd, &now))
		return false;
	if (now.st_mtim.tv_sec == object->about.st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == object->about.st_mtim.tv_nsec &&
	    now.st_size == object->about.st_size)
		return true;
	if (!id || !object_file_has_id(object->fd, id))
		return false;
	object->about = now;
	return true;
}

void object_reopen(struct object *object)
{
	const char *paths[] = { object->open_path, object->path };
	struct stat about;
	int fd = -1;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(paths) && fd < 0; i++) {
		fd = paths[i] ? file_open(paths[i], &about) : -1;
		if (fd >= 0 && (about.st_ino != object->about.st_ino || about.st_dev != object->about.st_dev)) {
			close(fd);
			fd = -1;
			object->state = OBJECT_REPLACED;
		}
	}
	if (fd < 0) {
		if (object->state == OBJECT_FOUND)
			object->state = OBJECT_GONE;
		return;
	}
	object->state = OBJECT_FOUND;
	object_opened(object, fd);
	if (!object_unchanged(object))
		object->state = OBJECT_REPLACED;
}
