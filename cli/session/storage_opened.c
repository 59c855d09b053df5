/* SPDX-License-Identifier: MIT */
/*
 * The regular files that a run's processes have open for reading, by /proc/PID/fd at the looks that are made anyway.
 * A look takes a bounded time, and goes on where the one before it left off; what is found is described at the end.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cli/session/storage_build.h"

enum {
	OPENED_SLOTS = 1024,         /* twice as many as files that are told apart; a power of 2 */
	OPENED_LOOK = 256,           /* descriptors of a look: 1.4 ms in a virtual machine */
	OPENED_PROCESS = 8,          /* what a process without any takes, in descriptors */
};

struct opened_file {
	char *path;
	const char *role;
	struct storage_place place;
};

struct storage_opened_list {
	struct opened_id {
		u64 device, inode;
		struct timespec born;        /* a number that is used again is another file; zero: not known */
		bool used;
	} seen[OPENED_SLOTS];
	size_t nseen;
	struct opened_file files[STORAGE_OPENED];
	size_t nfiles;
	size_t described;            /* of files: these are in the facts, from path first on */
	u32 left;                    /* of this look */
	bool counted;                /* this look */
};

static struct storage_opened_list *opened_list(struct storage *s)
{
	if (!s->opened)
		s->opened = calloc(1, sizeof(*s->opened));
	return s->opened;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* The place where it is, or would be. */
static struct opened_id *opened_seen(struct storage_opened_list *o, const struct stat *stat)
{
	u64 device = stat->st_dev, inode = stat->st_ino, slot = (inode * 0x9e3779b97f4a7c15ull ^ device) % OPENED_SLOTS;
	struct opened_id *id;

	for (; (id = &o->seen[slot])->used; slot = (slot + 1) % OPENED_SLOTS)
		if (id->device == device && id->inode == inode && same_time(&id->born, &stat->st_ctim))
			break;
	return id;
}

/* Whether it is seen for the first time, and there is room. */
static bool opened_new(struct storage *s, const struct stat *stat)
{
	struct storage_opened_list *o = s->opened;
	struct opened_id *id = opened_seen(o, stat);

	if (id->used)
		return false;
	if (o->nseen == OPENED_SLOTS / 2) {
		s->fact.more = true;
		return false;
	}
	*id = (struct opened_id){ .device = stat->st_dev, .inode = stat->st_ino, .born = stat->st_ctim, .used = true };
	o->nseen++;
	return true;
}

/* Files of the kernel's own, and memory with a descriptor, are on no storage. */
static bool opened_counts(const char *path)
{
	return path[0] == '/' && strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/sys/", 5) != 0 && strncmp(path, "/memfd:", 7) != 0;
}

/*
 * What a server would have to tell is not waited for. The change time is the time of birth, which stays: zero where the
 * file system has none.
 */
static bool regular_stat(int dir, const char *name, struct stat *stat)
{
	struct statx x;

	if (statx(dir, name, AT_STATX_DONT_SYNC, STATX_BASIC_STATS | STATX_BTIME, &x) || !S_ISREG(x.stx_mode))
		return false;
	*stat = (struct stat){ .st_dev = makedev(x.stx_dev_major, x.stx_dev_minor), .st_ino = x.stx_ino, .st_mode = x.stx_mode,
			       .st_size = (off_t)x.stx_size, .st_blocks = (blkcnt_t)x.stx_blocks,
			       .st_mtim = { x.stx_mtime.tv_sec, x.stx_mtime.tv_nsec } };
	if (x.stx_mask & STATX_BTIME)
		stat->st_ctim = (struct timespec){ x.stx_btime.tv_sec, x.stx_btime.tv_nsec };
	return true;
}

/* Of a descriptor that is open for reading. */
static bool opened_stat(int dir, const char *name, struct stat *stat)
{
	return fstatat(dir, name, stat, AT_SYMLINK_NOFOLLOW) == 0 && stat->st_mode & S_IRUSR && regular_stat(dir, name, stat);
}

static void opened_add(struct storage *s, int dir, const char *folder, const char *name, const char *role)
{
	struct storage_opened_list *o = s->opened;
	char path[PATH_MAX], fdinfo[NAME_MAX + 64];
	struct stat stat, again;
	ssize_t n;

	if (!opened_stat(dir, name, &stat) || opened_seen(o, &stat)->used)
		return;
	n = readlinkat(dir, name, path, sizeof(path) - 1);
	path[MAX(n, 0)] = '\0';
	snprintf(fdinfo, sizeof(fdinfo), "%sinfo/%s", folder, name);
	/* It may be another file by now. */
	if (n <= 0 || !opened_counts(path) || !opened_new(s, &stat) || !opened_stat(dir, name, &again) || again.st_dev != stat.st_dev || again.st_ino != stat.st_ino)
		return;
	if (o->nfiles == STORAGE_OPENED) {
		s->fact.more = true;
		return;
	}
	o->files[o->nfiles] = (struct opened_file){
		.path = strdup(path), .role = role,
		.place = { .mount = storage_mount_number(s, fdinfo), .major = major(stat.st_dev), .minor = minor(stat.st_dev), .stat = stat },
	};
	o->nfiles += o->files[o->nfiles].path != NULL;
}

void storage_opened_given(struct storage *s)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	struct stat agent;

	s->fact.looks = 0;
	if (dir && opened_list(s)) {
		while ((entry = readdir(dir)))
			if (entry->d_name[0] != '.' && fcntl(atoi(entry->d_name), F_GETFD) == 0)
				opened_add(s, dirfd(dir), "/proc/self/fd", entry->d_name, "inherited");
		if (s->caps->agent[0] && regular_stat(AT_FDCWD, s->caps->agent, &agent))
			opened_new(s, &agent);
	}
	if (dir)
		closedir(dir);
}

void storage_opened_begin(struct storage *s)
{
	s->fact.looks = MAX(s->fact.looks, (s64)0);
	if (opened_list(s)) {
		s->opened->left = OPENED_LOOK;
		s->opened->counted = false;
	}
}

void storage_opened_refused(struct storage *s)
{
	s->fact.refused++;
}

enum storage_look storage_opened_look(struct storage *s, u32 pid, u64 *at)
{
	char folder[64], full[PATH_MAX];
	struct storage_opened_list *o = s->opened;
	struct dirent *entry = NULL;
	DIR *dir;

	if (!o || o->left < OPENED_PROCESS)
		return STORAGE_LOOK_OVER;
	o->left -= OPENED_PROCESS;
	snprintf(folder, sizeof(folder), "/proc/%u/fd", pid);
	snprintf(full, sizeof(full), "%s%s", s->caps->root, folder);
	dir = opendir(full);
	if (!dir)
		return errno == EACCES || errno == EPERM ? STORAGE_LOOK_REFUSED : STORAGE_LOOK_ON;
	s->fact.looks += !o->counted;
	o->counted = true;
	if (*at)
		seekdir(dir, (long)*at);
	while (o->left && (entry = readdir(dir)))
		if (entry->d_name[0] != '.') {
			opened_add(s, dirfd(dir), folder, entry->d_name, "opened");
			o->left--;
		}
	*at = entry ? (u64)telldir(dir) : 0;
	closedir(dir);
	return entry ? STORAGE_LOOK_OVER : STORAGE_LOOK_ON;
}

/* On the same mount is on the same devices, but in layers. */
static bool opened_like(struct storage *s, struct storage_path *path, const struct storage_place *place, size_t before)
{
	for (size_t i = 0; place->mount && i < before; i++) {
		const struct opened_file *file = &s->opened->files[i];
		const struct storage_path *like;

		if (file->place.mount != place->mount)
			continue;
		like = &s->fact.paths[s->fact.npaths - 1 - (before - i)];
		if (!like->type || !strcmp(like->type, "overlay"))
			return false;
		path->devices = malloc((like->ndevices + 1) * sizeof(*path->devices));
		if (!path->devices)
			return false;
		*path = (struct storage_path){
			.path = path->path, .role = path->role, .type = like->type, .source = like->source, .mount = like->mount,
			.options = like->options, .super_options = like->super_options, .devices = path->devices,
			.ndevices = like->ndevices, .because = like->because,
		};
		if (like->ndevices)
			memcpy(path->devices, like->devices, like->ndevices * sizeof(*path->devices));
		return true;
	}
	return false;
}

void storage_opened_describe(struct storage *s)
{
	struct storage_opened_list *o = s->opened;

	for (; o && o->described < o->nfiles; o->described++) {
		const struct opened_file *file = &o->files[o->described];
		struct storage_path *path = storage_path_new(s, file->path, file->role);

		if (!path)
			return;
		if (!opened_like(s, path, &file->place, o->described))
			storage_devices(s, path, &file->place, 0);
	}
}

void storage_opened_free(struct storage_opened_list *o)
{
	for (size_t i = 0; o && i < o->nfiles; i++)
		free(o->files[i].path);
	free(o);
}
