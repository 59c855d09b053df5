/* SPDX-License-Identifier: MIT */
/* What the files of storage share: storage.c, storage_device.c, storage_mount.c, storage_opened.c. */
#ifndef CLI_SESSION_STORAGE_BUILD_H
#define CLI_SESSION_STORAGE_BUILD_H

#include <sys/stat.h>

#include "cli/session/storage.h"

enum { STORAGE_DEPTH = 8 };

struct dirent;
struct storage_opened_list;
struct storage_text;

struct storage {
	const struct caps_context *caps;
	struct storage_fact fact;
	struct storage_text *texts;
	struct storage_opened_list *opened; /* NULL: none yet */
};

/* A place of a path, as the kernel tells it. */
struct storage_place {
	u64 mount;                   /* 0: not known */
	u64 major, minor;
	struct stat stat;
};

/* ---- storage.c: texts live as long as storage does. NULL: no memory, or none was given */

const char *storage_keep(struct storage *s, const char *text);
const char *storage_keep_format(struct storage *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Another path. NULL: no memory. */
struct storage_path *storage_path_new(struct storage *s, const char *path, const char *role);

/* ---- storage_device.c */

/* The chosen word of a file below a folder; NULL: there is none. */
const char *storage_read_chosen(struct storage *s, const char *dir, const char *name);
/* The device of a number such as "254:0", and what it stands on. */
void storage_device_numbered(struct storage *s, struct storage_path *path, const char *number, u32 depth);
/* All devices that a folder has. */
void storage_device_all(struct storage *s, struct storage_path *path, const char *dir, const char *folder, u32 depth);
/* scandir(3) */
int storage_not_dots(const struct dirent *entry);

/* ---- storage_mount.c */

/* The number of a descriptor's mount, by its file below fdinfo; 0: not known. */
u64 storage_mount_number(const struct storage *s, const char *fdinfo);
/* False: there is no such path, see errno. */
bool storage_place(const struct storage *s, const char *path, struct storage_place *place);
/* What of its mount and devices is not known yet. */
void storage_devices(struct storage *s, struct storage_path *path, const struct storage_place *place, u32 depth);

/* ---- storage_opened.c */

void storage_opened_free(struct storage_opened_list *opened);

#endif
