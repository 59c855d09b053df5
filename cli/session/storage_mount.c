/* SPDX-License-Identifier: MIT */
/* The mount of a path, and the devices of its file system, which not all tell by a number; see storage.h. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cli/session/storage_build.h"

enum { STORAGE_MOUNTS = 1 << 20 };

/* ---- where a path is ------------------------------------------------------------------------------- */

u64 storage_mount_number(const struct storage *s, const char *fdinfo)
{
	char text[1024], *line = facts_read(s->caps, fdinfo, text, sizeof(text)) > 0 ? strstr(text, "mnt_id:") : NULL;

	if (line)
		line[strcspn(line, "\n")] = '\0';
	return line ? (u64)MAX(storage_number(line + 7), (s64)0) : 0;
}

bool storage_place(const struct storage *s, const char *path, struct storage_place *place)
{
	char full[2 * PATH_MAX];
	int fd;

	*place = (struct storage_place){ .mount = 0 };
	snprintf(full, sizeof(full), "%s%s", s->caps->root, path);
	fd = open(full, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (fstat(fd, &place->stat)) {
		close(fd);
		return false;
	}
	place->major = major(place->stat.st_dev);
	place->minor = minor(place->stat.st_dev);
	snprintf(full, sizeof(full), "/proc/self/fdinfo/%d", fd);
	place->mount = storage_mount_number(s, full);
	close(fd);
	return true;
}

/* ---- file systems without a device of their own ---------------------------------------------------- */

/* btrfs lists all of its devices below its identifier, which is not known: the one that has this device. */
static bool btrfs_devices(struct storage *s, struct storage_path *path, const char *source, u32 depth)
{
	char full[PATH_MAX], dir[PATH_MAX], base[PATH_MAX];
	char *real = realpath(source, NULL);
	struct dirent **list;
	bool found = false;
	int n;

	snprintf(base, sizeof(base), "%s", strrchr(real ? real : source, '/') + 1);
	free(real);
	snprintf(full, sizeof(full), "%s/sys/fs/btrfs", s->caps->root);
	n = scandir(full, &list, storage_not_dots, alphasort);
	for (int i = 0; i < n; i++) {
		snprintf(dir, sizeof(dir), "/sys/fs/btrfs/%s", list[i]->d_name);
		snprintf(full, sizeof(full), "%.300s/devices/%.1000s", dir, base);
		if (!found && facts_exists(s->caps, full)) {
			found = true;
			storage_device_all(s, path, dir, "devices", depth);
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return found;
}

/*
 * Whether two are the same. A file that was copied up keeps the inode number that it had below, but then has its times;
 * one without blocks has its data elsewhere, where metacopy is on.
 */
static bool layer_same(const struct stat *shown, const struct stat *layer)
{
	bool times = shown->st_mtim.tv_sec == layer->st_mtim.tv_sec && shown->st_mtim.tv_nsec == layer->st_mtim.tv_nsec;

	if ((shown->st_mode & S_IFMT) != (layer->st_mode & S_IFMT) || (shown->st_ino != layer->st_ino && !times))
		return false;
	return !S_ISREG(shown->st_mode) || (shown->st_size == layer->st_size && (layer->st_blocks || !layer->st_size));
}

/* In the layer at dir, the file that an overlay shows at this path below its root. */
static bool layer_has(const struct storage *s, const char *dir, size_t length, const char *below, const struct storage_place *shown,
		      char *file, size_t size, struct storage_place *place)
{
	if (!length || dir[0] != '/' || (size_t)snprintf(file, size, "%.*s%s", (int)length, dir, below) >= size)
		return false;
	return storage_place(s, file, place) && layer_same(&shown->stat, &place->stat);
}

/* The upper layer goes first; lower ones are in their order. */
static bool layer_find(const struct storage *s, const char *options, const char *below, const struct storage_place *shown, char *file,
		       size_t size, struct storage_place *place)
{
	static const char *const names[] = { "upperdir", "lowerdir", "lowerdir+", "datadir+" };
	size_t length, one;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		for (const char *at = storage_option(options, names[i], &length); at; at = storage_option(at + length, names[i], &length))
			for (const char *dir = at; dir < at + length; dir += one + 1) {
				one = i == 0 ? length : strcspn(dir, ":");
				one = MIN(one, (size_t)(at + length - dir));
				if (layer_has(s, dir, one, below, shown, file, size, place))
					return true;
			}
	return false;
}

static void overlay_devices(struct storage *s, struct storage_path *path, const struct storage_place *shown, const char *at, u32 depth)
{
	char *real = realpath(at, NULL), below[2 * PATH_MAX], file[2 * PATH_MAX];
	size_t n = path->mount ? strlen(path->mount) : 0;
	struct storage_place place;

	/* "/" has its slash already. */
	n -= n == 1;
	if (real && n <= strlen(real) && !strncmp(real, path->mount, n)) {
		snprintf(below, sizeof(below), "%s", real + n);
		if (layer_find(s, path->super_options, below, shown, file, sizeof(file), &place)) {
			path->layer = storage_keep(s, file);
			storage_devices(s, path, &place, depth);
			free(real);
			return;
		}
	}
	path->because = "which layer of the overlay has it is not seen from here";
	free(real);
}

/* Why a file system has no devices here; NULL: it may have. */
static const char *no_devices(struct storage *s, const char *type, const char *source)
{
	static const char *const memory[] = { "tmpfs", "ramfs", "hugetlbfs", "devtmpfs", "proc", "sysfs", "cgroup", "cgroup2" };
	static const char *const host[] = { "9p", "virtiofs" };
	static const char *const server[] = { "nfs", "nfs4", "cifs", "smb3", "ceph", "fuse.sshfs", "fuse.glusterfs", "afs" };

	for (size_t i = 0; i < ARRAY_SIZE(memory); i++)
		if (!strcmp(type, memory[i]))
			return storage_keep_format(s, "%s is in memory", type);
	for (size_t i = 0; i < ARRAY_SIZE(host); i++)
		if (!strcmp(type, host[i]))
			return storage_keep_format(s, "the devices are those of the host that shares %s", source);
	for (size_t i = 0; i < ARRAY_SIZE(server); i++)
		if (!strcmp(type, server[i]))
			return storage_keep_format(s, "the devices are those of the server, %s", source);
	return NULL;
}

/* By the device that it was mounted by, which may be one of several. */
static void source_devices(struct storage *s, struct storage_path *path, const char *type, const char *source, u32 depth)
{
	char number[64], full[2 * PATH_MAX];
	struct stat stat_of;

	snprintf(full, sizeof(full), "%s%s", s->caps->root, source);
	if (source[0] != '/') {
		path->because = storage_keep_format(s, "%s tells no device here, only %s", type, source);
	} else if (!strcmp(type, "btrfs") && btrfs_devices(s, path, source, depth)) {
		return;
	} else if (!stat(full, &stat_of) && S_ISBLK(stat_of.st_mode)) {
		snprintf(number, sizeof(number), "%u:%u", major(stat_of.st_rdev), minor(stat_of.st_rdev));
		storage_device_numbered(s, path, number, depth);
		path->because = storage_keep_format(s, "%s may have more devices than the one that it was mounted by", type);
	} else {
		path->because = storage_keep_format(s, "%s was mounted from %s, which is no block device here", type, source);
	}
}

/* ---- mounts ---------------------------------------------------------------------------------------- */

/* Of the path itself its mount is told; of what it stands on, a layer or a file behind a loop device, the devices alone. */
static void mount_take(struct storage *s, struct storage_path *path, const struct storage_mount *m)
{
	path->type = storage_keep(s, m->type);
	path->source = storage_keep(s, m->source);
	path->mount = storage_keep(s, m->place);
	path->options = storage_keep(s, m->options);
	path->super_options = storage_keep(s, m->super_options);
}

static void mount_devices(struct storage *s, struct storage_path *path, const struct storage_place *place, const struct storage_mount *m,
			  u32 depth)
{
	char number[64];

	if (m->major) {
		snprintf(number, sizeof(number), "%llu:%llu", (unsigned long long)m->major, (unsigned long long)m->minor);
		storage_device_numbered(s, path, number, depth);
	} else if (!strcmp(m->type, "overlay") && !depth && !path->layer && path->super_options) {
		overlay_devices(s, path, place, path->path, depth);
	} else {
		const char *why = no_devices(s, m->type, m->source);

		if (why)
			path->because = why;
		else
			source_devices(s, path, m->type, m->source, depth);
	}
}

void storage_devices(struct storage *s, struct storage_path *path, const struct storage_place *place, u32 depth)
{
	char *text = malloc(STORAGE_MOUNTS);
	struct storage_mount m;
	long got = text ? facts_read(s->caps, "/proc/self/mountinfo", text, STORAGE_MOUNTS) : -ENOMEM;

	if (got < 0)
		path->because = storage_keep_format(s, "/proc/self/mountinfo: %s", strerror((int)-got));
	else if (depth > STORAGE_DEPTH)
		path->because = "the stack has more devices than these";
	else if (!storage_find_mount(text, place->mount, place->major, place->minor, &m))
		path->because = "/proc/self/mountinfo does not have its mount";
	else {
		if (!path->type)
			mount_take(s, path, &m);
		mount_devices(s, path, place, &m, depth);
	}
	free(text);
}
