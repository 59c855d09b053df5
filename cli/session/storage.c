/* SPDX-License-Identifier: MIT */
/* See storage.h. What sysfs does not have, or keeps from us, is not known, with the reason; nothing of it is an error. */
#define _GNU_SOURCE
#include "cli/session/storage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { STORAGE_MOUNTS = 1 << 20, STORAGE_DEPTH = 8 };

struct storage_text {
	struct storage_text *next;
	char text[];
};

struct storage {
	const struct caps_context *caps;
	struct storage_fact fact;
	struct storage_text *texts;
};

/* A place of a path, as the kernel tells it. */
struct place {
	u64 mount;                   /* 0: not known */
	u64 major, minor;
	struct stat stat;
};

static void device_add(struct storage *s, struct storage_path *path, const char *dir, u32 depth);
static void path_devices(struct storage *s, struct storage_path *path, const struct place *place, u32 depth);

/* ---- texts and files ------------------------------------------------------------------------------- */

static const char *keep(struct storage *s, const char *text)
{
	struct storage_text *kept = text ? malloc(sizeof(*kept) + strlen(text) + 1) : NULL;

	if (!kept)
		return NULL;
	strcpy(kept->text, text);
	kept->next = s->texts;
	s->texts = kept;
	return kept->text;
}

static const char *keep_format(struct storage *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static const char *keep_format(struct storage *s, const char *format, ...)
{
	char text[2 * PATH_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return keep(s, text);
}

/* A file of a device's folder; -errno, or its length. */
static long device_read(const struct storage *s, const char *dir, const char *name, char *text, size_t size)
{
	char path[PATH_MAX];

	text[0] = '\0';
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >= sizeof(path))
		return -ENAMETOOLONG;
	return facts_read(s->caps, path, text, size);
}

static s64 device_number(const struct storage *s, const char *dir, const char *name)
{
	char text[64];

	return device_read(s, dir, name, text, sizeof(text)) > 0 ? storage_number(text) : -1;
}

/* The text of a file without its end; NULL: there is none. */
static const char *device_text(struct storage *s, const char *dir, const char *name)
{
	char text[PATH_MAX];
	size_t n;

	if (device_read(s, dir, name, text, sizeof(text)) <= 0)
		return NULL;
	for (n = strlen(text); n && strchr(" \t\n", text[n - 1]); n--)
		text[n - 1] = '\0';
	return text[0] ? keep(s, text) : NULL;
}

static const char *device_chosen(struct storage *s, const char *dir, const char *name)
{
	char text[256];

	return device_read(s, dir, name, text, sizeof(text)) > 0 ? keep(s, storage_chosen(text)) : NULL;
}

/* ---- where a path is ------------------------------------------------------------------------------- */

static bool path_place(const struct storage *s, const char *path, struct place *place)
{
	char full[2 * PATH_MAX], text[1024], *line;
	int fd;

	*place = (struct place){ .mount = 0 };
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
	if (facts_read(s->caps, full, text, sizeof(text)) > 0) {
		line = strstr(text, "mnt_id:");
		if (line)
			line[strcspn(line, "\n")] = '\0';
		if (line && storage_number(line + 7) > 0)
			place->mount = (u64)storage_number(line + 7);
	}
	close(fd);
	return true;
}

/* ---- devices --------------------------------------------------------------------------------------- */

static struct storage_device *device_new(struct storage_path *path)
{
	struct storage_device *grown = path->ndevices == STORAGE_DEVICES ? NULL :
		realloc(path->devices, (path->ndevices + 1) * sizeof(*grown));

	if (!grown) {
		path->because = "the stack has more devices than these";
		return NULL;
	}
	path->devices = grown;
	grown += path->ndevices++;
	*grown = (struct storage_device){ .rotational = -1, .read_ahead = -1, .requests = -1, .queue_depth = -1, .direct = -1 };
	return grown;
}

/* By the number that a file dev has, such as "254:0". */
static void device_add_numbered(struct storage *s, struct storage_path *path, const char *number, u32 depth)
{
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "/sys/dev/block/%s", number);
	device_add(s, path, dir, depth);
}

static void device_add_by_file(struct storage *s, struct storage_path *path, const char *dir, const char *below, u32 depth)
{
	char file[PATH_MAX];
	const char *number;

	snprintf(file, sizeof(file), "%s/dev", below);
	number = device_text(s, dir, file);
	if (number && strspn(number, "0123456789:") == strlen(number))
		device_add_numbered(s, path, number, depth);
	else
		path->because = keep_format(s, "%s/%s cannot be read", dir, file);
}

static int not_dots(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* All devices that a folder has. */
static void device_add_all(struct storage *s, struct storage_path *path, const char *dir, const char *folder, u32 depth)
{
	char full[2 * PATH_MAX], below[NAME_MAX + 64];
	struct dirent **list;
	int n;

	snprintf(full, sizeof(full), "%s%s/%s", s->caps->root, dir, folder);
	n = scandir(full, &list, not_dots, alphasort);
	if (n < 0)
		path->because = keep_format(s, "%s/%s: %s", dir, folder, strerror(errno));
	for (int i = 0; i < n; i++) {
		snprintf(below, sizeof(below), "%s/%s", folder, list[i]->d_name);
		device_add_by_file(s, path, dir, below, depth);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

/* A loop device stands on the file system of its file. */
static void device_add_file(struct storage *s, struct storage_path *path, const char *file, u32 depth)
{
	struct place place;

	if (path_place(s, file, &place) && S_ISREG(place.stat.st_mode))
		path_devices(s, path, &place, depth);
	else
		path->because = keep_format(s, "the file behind a loop device, %s, is not seen from here", file);
}

static void device_queue(struct storage *s, struct storage_device *device, const char *dir)
{
	s64 kb = device_number(s, dir, "queue/read_ahead_kb");

	device->scheduler = device_chosen(s, dir, "queue/scheduler");
	device->write_cache = device_text(s, dir, "queue/write_cache");
	device->rotational = device_number(s, dir, "queue/rotational");
	device->read_ahead = kb < 0 || kb > INT64_MAX / 1024 ? -1 : kb * 1024;
	device->requests = device_number(s, dir, "queue/nr_requests");
	device->queue_depth = device_number(s, dir, "device/queue_depth");
}

/* The device of a folder of sysfs, and what it stands on. */
static void device_add(struct storage *s, struct storage_path *path, const char *dir, u32 depth)
{
	struct storage_device *device = depth < STORAGE_DEPTH ? device_new(path) : NULL;
	char uevent[4096], *name;
	long got;

	if (!device) {
		path->because = "the stack has more devices than these";
		return;
	}
	device->depth = depth;
	got = device_read(s, dir, "uevent", uevent, sizeof(uevent));
	name = got > 0 ? storage_device_name(uevent) : NULL;
	device->name = keep(s, name ? name : strrchr(dir, '/') + 1);
	if (got < 0) {
		device->because = keep_format(s, "%s: %s", dir, strerror((int)-got));
		return;
	}
	device_queue(s, device, dir);
	if (device_number(s, dir, "partition") >= 0) {
		device->kind = "partition";
		device_add_by_file(s, path, dir, "..", depth + 1);
	} else if ((device->detail = device_text(s, dir, "loop/backing_file"))) {
		device->kind = "loop";
		device->direct = device_number(s, dir, "loop/dio");
		device_add_file(s, path, device->detail, depth + 1);
	} else if ((device->detail = device_text(s, dir, "dm/name"))) {
		device->kind = "dm";
		device_add_all(s, path, dir, "slaves", depth + 1);
	} else if ((device->detail = device_text(s, dir, "md/level"))) {
		device->kind = "md";
		device_add_all(s, path, dir, "slaves", depth + 1);
	} else {
		device->kind = "disk";
		device->detail = device_text(s, dir, "device/model");
	}
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
	n = scandir(full, &list, not_dots, alphasort);
	for (int i = 0; i < n; i++) {
		snprintf(dir, sizeof(dir), "/sys/fs/btrfs/%s", list[i]->d_name);
		snprintf(full, sizeof(full), "%.300s/devices/%.1000s", dir, base);
		if (!found && facts_exists(s->caps, full)) {
			found = true;
			device_add_all(s, path, dir, "devices", depth);
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
static bool layer_has(const struct storage *s, const char *dir, size_t length, const char *below, const struct place *shown,
		      char *file, size_t size, struct place *place)
{
	if (!length || dir[0] != '/' || (size_t)snprintf(file, size, "%.*s%s", (int)length, dir, below) >= size)
		return false;
	return path_place(s, file, place) && layer_same(&shown->stat, &place->stat);
}

/* The upper layer goes first; lower ones are in their order. */
static bool layer_find(const struct storage *s, const char *options, const char *below, const struct place *shown, char *file,
		       size_t size, struct place *place)
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

static void overlay_devices(struct storage *s, struct storage_path *path, const struct place *shown, const char *at, u32 depth)
{
	char *real = realpath(at, NULL), below[2 * PATH_MAX], file[2 * PATH_MAX];
	size_t n = path->mount ? strlen(path->mount) : 0;
	struct place place;

	/* "/" has its slash already. */
	n -= n == 1;
	if (real && n <= strlen(real) && !strncmp(real, path->mount, n)) {
		snprintf(below, sizeof(below), "%s", real + n);
		if (layer_find(s, path->super_options, below, shown, file, sizeof(file), &place)) {
			path->layer = keep(s, file);
			path_devices(s, path, &place, depth);
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
			return keep_format(s, "%s is in memory", type);
	for (size_t i = 0; i < ARRAY_SIZE(host); i++)
		if (!strcmp(type, host[i]))
			return keep_format(s, "the devices are those of the host that shares %s", source);
	for (size_t i = 0; i < ARRAY_SIZE(server); i++)
		if (!strcmp(type, server[i]))
			return keep_format(s, "the devices are those of the server, %s", source);
	return NULL;
}

/* By the device that it was mounted by, which may be one of several. */
static void source_devices(struct storage *s, struct storage_path *path, const char *type, const char *source, u32 depth)
{
	char number[64], full[2 * PATH_MAX];
	struct stat stat_of;

	snprintf(full, sizeof(full), "%s%s", s->caps->root, source);
	if (source[0] != '/') {
		path->because = keep_format(s, "%s tells no device here, only %s", type, source);
	} else if (!strcmp(type, "btrfs") && btrfs_devices(s, path, source, depth)) {
		return;
	} else if (!stat(full, &stat_of) && S_ISBLK(stat_of.st_mode)) {
		snprintf(number, sizeof(number), "%u:%u", major(stat_of.st_rdev), minor(stat_of.st_rdev));
		device_add_numbered(s, path, number, depth);
		path->because = keep_format(s, "%s may have more devices than the one that it was mounted by", type);
	} else {
		path->because = keep_format(s, "%s was mounted from %s, which is no block device here", type, source);
	}
}

/* ---- paths ----------------------------------------------------------------------------------------- */

/* Of the path itself its mount is told; of what it stands on, a layer or a file behind a loop device, the devices alone. */
static void mount_take(struct storage *s, struct storage_path *path, const struct storage_mount *m)
{
	path->type = keep(s, m->type);
	path->source = keep(s, m->source);
	path->mount = keep(s, m->place);
	path->options = keep(s, m->options);
	path->super_options = keep(s, m->super_options);
}

static void mount_devices(struct storage *s, struct storage_path *path, const struct place *place, const struct storage_mount *m,
			  u32 depth)
{
	char number[64];

	if (m->major) {
		snprintf(number, sizeof(number), "%llu:%llu", (unsigned long long)m->major, (unsigned long long)m->minor);
		device_add_numbered(s, path, number, depth);
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

static void path_devices(struct storage *s, struct storage_path *path, const struct place *place, u32 depth)
{
	char *text = malloc(STORAGE_MOUNTS);
	struct storage_mount m;
	long got = text ? facts_read(s->caps, "/proc/self/mountinfo", text, STORAGE_MOUNTS) : -ENOMEM;

	if (got < 0)
		path->because = keep_format(s, "/proc/self/mountinfo: %s", strerror((int)-got));
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

/* NULL: no memory. */
static struct storage_path *path_new(struct storage *s, const char *path, const char *role)
{
	struct storage_path *grown = realloc(s->fact.paths, (s->fact.npaths + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	s->fact.paths = grown;
	grown += s->fact.npaths++;
	*grown = (struct storage_path){ .path = keep(s, path), .role = role };
	return grown;
}

long storage_add(struct storage *s, const char *path, const char *role)
{
	struct storage_path *added = path_new(s, path, role);
	struct place place;

	if (!added)
		return -1;
	if (path_place(s, path, &place))
		path_devices(s, added, &place, 0);
	else
		added->because = keep_format(s, "%s", strerror(errno));
	return (long)s->fact.npaths - 1;
}

long storage_add_at(struct storage *s, const char *path, const char *role, u64 mount, u64 major, u64 minor)
{
	struct storage_path *added = path_new(s, path, role);

	if (!added)
		return -1;
	path_devices(s, added, &(struct place){ .mount = mount, .major = major, .minor = minor }, 0);
	return (long)s->fact.npaths - 1;
}

bool storage_behind(const struct storage_path *path, char *why, size_t size)
{
	static const char *const servers[] = { "nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "ceph" };

	if (path->type && !strcmp(path->type, "zfs")) {
		snprintf(why, size, "zfs has a cache of its own (ARC), which may have it");
		return true;
	}
	for (size_t i = 0; path->type && i < ARRAY_SIZE(servers); i++)
		if (!strcmp(path->type, servers[i])) {
			snprintf(why, size, "whoever serves this %s may have it in memory", path->type);
			return true;
		}
	for (size_t i = 0; i < path->ndevices; i++)
		if (path->devices[i].kind && !strcmp(path->devices[i].kind, "loop") && path->devices[i].direct != 1) {
			snprintf(why, size, "the file behind %s may be in memory", path->devices[i].name ? path->devices[i].name : "it");
			return true;
		}
	return false;
}

/* ---- the machine ----------------------------------------------------------------------------------- */

struct storage *storage_new(const struct caps_context *caps, const struct storage_asked *asked)
{
	struct storage *s = calloc(1, sizeof(*s));
	char text[8192], swaps[1024];

	if (!s)
		return NULL;
	s->caps = caps;
	s->fact.io_model = asked->io_model;
	s->fact.page_size = sysconf(_SC_PAGESIZE);
	s->fact.huge_pages = device_chosen(s, "/sys/kernel/mm/transparent_hugepage", "enabled");
	if (facts_read(caps, "/proc/swaps", text, sizeof(text)) > 0) {
		storage_swaps(text, swaps, sizeof(swaps));
		s->fact.swap = keep(s, swaps);
	}
	return s;
}

const struct storage_fact *storage_facts(const struct storage *storage)
{
	return &storage->fact;
}

void storage_free(struct storage *s)
{
	struct storage_text *next;

	if (!s)
		return;
	for (size_t i = 0; i < s->fact.npaths; i++)
		free(s->fact.paths[i].devices);
	free(s->fact.paths);
	for (; s->texts; s->texts = next) {
		next = s->texts->next;
		free(s->texts);
	}
	free(s);
}
