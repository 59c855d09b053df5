/* SPDX-License-Identifier: MIT */
/* Block devices by their folders in sysfs, and what they stand on; see storage.h. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/session/storage_build.h"

static void device_add(struct storage *s, struct storage_path *path, const char *dir, u32 depth);

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
	return text[0] ? storage_keep(s, text) : NULL;
}

const char *storage_read_chosen(struct storage *s, const char *dir, const char *name)
{
	char text[256];

	return device_read(s, dir, name, text, sizeof(text)) > 0 ? storage_keep(s, storage_chosen(text)) : NULL;
}

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

void storage_device_numbered(struct storage *s, struct storage_path *path, const char *number, u32 depth)
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
		storage_device_numbered(s, path, number, depth);
	else
		path->because = storage_keep_format(s, "%s/%s cannot be read", dir, file);
}

int storage_not_dots(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

void storage_device_all(struct storage *s, struct storage_path *path, const char *dir, const char *folder, u32 depth)
{
	char full[2 * PATH_MAX], below[NAME_MAX + 64];
	struct dirent **list;
	int n;

	snprintf(full, sizeof(full), "%s%s/%s", s->caps->root, dir, folder);
	n = scandir(full, &list, storage_not_dots, alphasort);
	if (n < 0)
		path->because = storage_keep_format(s, "%s/%s: %s", dir, folder, strerror(errno));
	for (int i = 0; i < n; i++) {
		snprintf(below, sizeof(below), "%s/%s", folder, list[i]->d_name);
		device_add_by_file(s, path, dir, below, depth);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

/* A loop device stands on the file system of its file. */
static void device_add_behind(struct storage *s, struct storage_path *path, const char *file, u32 depth)
{
	struct storage_place place;

	if (storage_place(s, file, &place) && S_ISREG(place.stat.st_mode))
		storage_devices(s, path, &place, depth);
	else
		path->because = storage_keep_format(s, "the file behind a loop device, %s, is not seen from here", file);
}

static void device_queue(struct storage *s, struct storage_device *device, const char *dir)
{
	s64 kb = device_number(s, dir, "queue/read_ahead_kb");

	device->scheduler = storage_read_chosen(s, dir, "queue/scheduler");
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
	device->name = storage_keep(s, name ? name : strrchr(dir, '/') + 1);
	if (got < 0) {
		device->because = storage_keep_format(s, "%s: %s", dir, strerror((int)-got));
		return;
	}
	device_queue(s, device, dir);
	if (device_number(s, dir, "partition") >= 0) {
		device->kind = "partition";
		device_add_by_file(s, path, dir, "..", depth + 1);
	} else if ((device->detail = device_text(s, dir, "loop/backing_file"))) {
		device->kind = "loop";
		device->direct = device_number(s, dir, "loop/dio");
		device_add_behind(s, path, device->detail, depth + 1);
	} else if ((device->detail = device_text(s, dir, "dm/name"))) {
		device->kind = "dm";
		storage_device_all(s, path, dir, "slaves", depth + 1);
	} else if ((device->detail = device_text(s, dir, "md/level"))) {
		device->kind = "md";
		storage_device_all(s, path, dir, "slaves", depth + 1);
	} else {
		device->kind = "disk";
		device->detail = device_text(s, dir, "device/model");
	}
}
