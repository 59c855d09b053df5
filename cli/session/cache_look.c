/* SPDX-License-Identifier: MIT */
/*
 * See cache_look.h. Two calls tell, and each lies about some files. cachestat(2) looks at the pages of the file that
 * was opened, which has none on a file system in layers: those are the layer's. mincore(2), which sees those, says of
 * a file that one neither owns nor may write that all of it is in memory (can_do_mincore() of mm/mincore.c).
 */
#define _GNU_SOURCE
#include "cli/session/cache_look.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/caps/caps.h"

#define CACHESTAT 451                /* the same on all architectures */
#define LOOK_WINDOW ((off_t)1 << 30)  /* bytes that mincore() is asked for at once */
#define LOOK_FILES 100000u
#define LOOK_DEPTH 64
#define ATTRIBUTE_DAX 0x200000ull     /* STATX_ATTR_DAX, which older headers lack */

struct cachestat_counts {
	u64 cached, dirty, writeback, evicted, recently_evicted;
};

static int cachestat_of(int fd, struct cachestat_counts *counts)
{
	u64 all[2] = { 0, 0 };

	*counts = (struct cachestat_counts){ .cached = 0 };
	return syscall(CACHESTAT, fd, all, counts, 0u) ? -errno : 0;
}

/* A kernel that has the call and refuses it of a file of our own has a filter in front of it. */
void residency_try(struct residency *r)
{
	int fd = memfd_create("spark-cachestat", MFD_CLOEXEC), err, major = 0, minor = 0;
	struct cachestat_counts counts;
	struct utsname u;

	err = fd < 0 ? -errno : cachestat_of(fd, &counts);
	if (fd >= 0)
		close(fd);
	r->works = !err;
	if (!err)
		return;
	if (!uname(&u))
		sscanf(u.release, "%d.%d", &major, &minor);
	if (err == -ENOSYS && (major < 6 || (major == 6 && minor < 5)))
		snprintf(r->why, sizeof(r->why), "Linux %d.%d has no cachestat(2)", major, minor);
	else
		snprintf(r->why, sizeof(r->why), "a seccomp filter refuses cachestat(2) (%s)", advice_errno_name(-err));
}

/* Pages by mincore(); -errno. */
static s64 resident_pages(int fd, off_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (size_t)(MIN(size, LOOK_WINDOW) + (off_t)page - 1) / page;
	unsigned char *present = malloc(n ? n : 1);
	s64 sum = present ? 0 : -ENOMEM;

	for (off_t at = 0; sum >= 0 && at < size; at += LOOK_WINDOW) {
		size_t length = (size_t)MIN(size - at, LOOK_WINDOW);
		void *map = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, at);

		if (map == MAP_FAILED || mincore(map, length, present))
			sum = -errno;
		if (map != MAP_FAILED)
			munmap(map, length);
		for (size_t i = 0; sum >= 0 && i < (length + page - 1) / page; i++)
			sum += present[i] & 1;
	}
	free(present);
	return sum;
}

/* As the kernel asks itself before it answers mincore(): O_NOATIME is for owners, and for who may act as one. */
static bool mincore_tells(int fd)
{
	char path[64];
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0 && !fcntl(fd, F_SETFL, flags | O_NOATIME))
		return true;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return !faccessat(AT_FDCWD, path, W_OK, AT_EACCESS);
}

/* File systems whose pages may be those of another file. */
static bool residency_stacked(int fd)
{
	static const u64 magics[] = { OVERLAYFS_SUPER_MAGIC, ECRYPTFS_SUPER_MAGIC, 0x65735546 /* fuse */, 0x61756673 /* aufs */ };
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(magics); i++)
		if ((u64)fs.f_type == magics[i])
			return true;
	return false;
}

/* Pages of the file that are in memory, dirty ones where that is known; -1 with the reason. */
static s64 residency_pages(const struct residency *r, int fd, off_t size, u64 *dirty, char *why)
{
	struct cachestat_counts counts;
	int err = r->works && !residency_stacked(fd) ? cachestat_of(fd, &counts) : -ENOSYS;
	s64 pages;

	*dirty = err ? 0 : counts.dirty + counts.writeback;
	if (!err)
		return (s64)MIN(counts.cached, (u64)INT64_MAX);
	if (!mincore_tells(fd)) {
		snprintf(why, RESIDENCY_WHY, "the kernel does not tell of a file that one neither owns nor may write%s%s",
			 r->works ? "" : "; ", r->works ? "" : r->why);
		return -1;
	}
	pages = resident_pages(fd, size);
	if (pages >= 0)
		return pages;
	snprintf(why, RESIDENCY_WHY, "mincore(2): %s%s%s", advice_errno_name((int)-pages), r->works ? "" : "; ",
		 r->works ? "" : r->why);
	return -1;
}

bool residency_fixed(int fd, char *why, size_t size)
{
	struct statfs fs;
	struct statx x;

	if (!fstatfs(fd, &fs)) {
		const char *type = fs.f_type == TMPFS_MAGIC ? "tmpfs" : fs.f_type == RAMFS_MAGIC ? "ramfs" :
				   fs.f_type == HUGETLBFS_MAGIC ? "hugetlbfs" : NULL;

		if (type) {
			snprintf(why, size, "on %s pages are the file itself, and stay", type);
			return true;
		}
	}
	if (!statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &x) && x.stx_attributes & ATTRIBUTE_DAX) {
		snprintf(why, size, "the file is memory itself (DAX), and has no page cache");
		return true;
	}
	return false;
}

static void residency_unknown(struct cache_look *look, const char *why)
{
	if (!look->unknown++)
		snprintf(look->why, sizeof(look->why), "%s", why);
}

void residency_add_unopened(struct cache_look *look, int err)
{
	char why[RESIDENCY_WHY];

	look->files++;
	snprintf(why, sizeof(why), "it cannot be read: %s", strerror(err));
	residency_unknown(look, why);
}

void residency_add(const struct residency *r, int fd, const struct stat *stat, struct cache_look *look)
{
	u64 page = (u64)sysconf(_SC_PAGESIZE), pages = ((u64)stat->st_size + page - 1) / page, dirty;
	char why[RESIDENCY_WHY];
	bool fixed = residency_fixed(fd, why, sizeof(why));
	s64 resident;

	look->files++;
	if (fixed && !look->fixed++)
		snprintf(look->fixed_why, sizeof(look->fixed_why), "%s", why);
	if (!pages)
		return;
	resident = residency_pages(r, fd, stat->st_size, &dirty, why);
	if (resident < 0 && fixed)
		look->uncounted = true;
	else if (resident < 0)
		residency_unknown(look, why);
	if (resident < 0)
		return;
	look->pages += pages;
	/* Large folios reach beyond the end of a file. */
	look->resident += MIN((u64)resident, pages);
	look->dirty += dirty;
}

/* ---- files below a name ---------------------------------------------------------------------------- */

struct walk {
	bool (*visit)(void *context, int fd, const struct stat *stat);
	void *context;
	dev_t device;
	u32 files;
	bool more;
};

static bool walk_folder(struct walk *w, int fd, u32 depth);

/* A file that is none any more is left out: nobody else may be opened, such as a fifo. */
static bool walk_entry(struct walk *w, int at, const char *name, const struct stat *seen, u32 depth)
{
	bool folder = S_ISDIR(seen->st_mode), go_on;
	struct stat stat;
	int fd, err;

	if (!folder && !S_ISREG(seen->st_mode))
		return true;
	if (!folder && w->files++ >= LOOK_FILES)
		return !(w->more = true);
	fd = openat(at, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (depth ? O_NOFOLLOW : 0));
	err = errno;
	if (fd < 0 && err == ENOENT)
		return true;
	if (fd < 0)
		return w->visit(w->context, -err, seen);
	if (fstat(fd, &stat))
		return !close(fd);
	if (folder && S_ISDIR(stat.st_mode))
		return stat.st_dev == w->device ? walk_folder(w, fd, depth + 1) : !close(fd);
	go_on = !S_ISREG(stat.st_mode) || w->visit(w->context, fd, &stat);
	close(fd);
	return go_on;
}

/* Takes fd. */
static bool walk_folder(struct walk *w, int fd, u32 depth)
{
	DIR *dir = depth <= LOOK_DEPTH ? fdopendir(fd) : NULL;
	struct dirent *entry;
	struct stat stat;
	bool go_on = true;

	if (!dir) {
		w->more = true;
		close(fd);
		return true;
	}
	while (go_on && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    !fstatat(dirfd(dir), entry->d_name, &stat, AT_SYMLINK_NOFOLLOW))
			go_on = walk_entry(w, dirfd(dir), entry->d_name, &stat, depth);
	closedir(dir);
	return go_on;
}

int files_walk(const char *name, bool (*visit)(void *context, int fd, const struct stat *stat), void *context, bool *more)
{
	struct walk w = { .visit = visit, .context = context };
	struct stat first;

	if (stat(name, &first))
		return -errno;
	w.device = first.st_dev;
	walk_entry(&w, AT_FDCWD, name, &first, 0);
	*more = *more || w.more;
	return 0;
}
