/* SPDX-License-Identifier: MIT */
/*
 * The probe "page-cache-control": pages of a file of our own leave the cache and come back, and
 * the kernel tells so. The file never has a name where the file system allows that.
 */
#include "cli/caps/caps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/base.h"

enum { PAGECACHE_PAGES = 4, PAGECACHE_CACHESTAT = 451 };

/* A file that can leave the cache: not one in memory. Returns it, or -errno; -EXDEV: no disk. */
static int pagecache_open(void)
{
	const char *folders[] = { getenv("TMPDIR"), "/var/tmp", "/tmp", "." };
	char path[PATH_MAX];
	struct statfs fs;
	int fd, result = -EXDEV;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(folders); i++) {
		if (!folders[i] || !folders[i][0] || statfs(folders[i], &fs) ||
		    fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC)
			continue;
		fd = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
			snprintf(path, sizeof(path), "%s/spark-XXXXXX", folders[i]);
			fd = mkostemp(path, O_CLOEXEC);
			if (fd >= 0)
				unlink(path);
		}
		if (fd >= 0)
			return fd;
		result = -errno;
	}
	return result;
}

/* How many of the file's pages are in memory, by whichever call answers; else -errno. */
static int pagecache_count(int fd, char *how, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	unsigned char resident[PAGECACHE_PAGES];
	uint64_t range[2] = { 0, 0 }, stat[5] = { 0 };
	void *at = mmap(NULL, PAGECACHE_PAGES * page, PROT_READ, MAP_SHARED, fd, 0);
	int n = 0, err;

	if (at == MAP_FAILED)
		return -errno;
	err = mincore(at, PAGECACHE_PAGES * page, resident) ? errno : 0;
	munmap(at, PAGECACHE_PAGES * page);
	snprintf(how, size, "mincore");
	for (i = 0; !err && i < PAGECACHE_PAGES; i++)
		n += resident[i] & 1;
	if (!err)
		return n;
	snprintf(how, size, "cachestat (mincore: %s)", advice_errno_name(err));
	return syscall(PAGECACHE_CACHESTAT, fd, range, stat, 0U) ? -err : (int)stat[0];
}

static int pagecache_fill(int fd, const char *page, size_t size)
{
	struct sigaction before;
	int i, err = 0;

	caps_outlive_limit(&before);
	for (i = 0; !err && i < PAGECACHE_PAGES; i++)
		if (write(fd, page, size) != (ssize_t)size)
			err = errno;
	sigaction(SIGXFSZ, &before, NULL);
	return err;
}

/* Returns the call that failed with *err, "" if the cache did not follow, or NULL. */
static const char *pagecache_try(int fd, char *how, size_t room, int *err)
{
	char page[65536] = { 1 };
	size_t size = (size_t)sysconf(_SC_PAGESIZE), i;
	int cold, warm;

	*err = pagecache_fill(fd, page, size);
	if (*err)
		return "write";
	*err = fdatasync(fd) ? errno : 0;
	if (*err)
		return "fdatasync";
	*err = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (*err)
		return "fadvise64";
	cold = pagecache_count(fd, how, room);
	for (i = 0; i < PAGECACHE_PAGES; i++)
		if (pread(fd, page, size, (off_t)(i * size)) != (ssize_t)size) {
			*err = errno;
			return "read";
		}
	warm = pagecache_count(fd, how, room);
	*err = cold < 0 ? -cold : warm < 0 ? -warm : 0;
	if (*err)
		return "mincore";
	return cold == 0 && warm == PAGECACHE_PAGES ? NULL : "";
}

/* Whether all of the cache may be dropped; nothing is written. Returns 0 or an errno. */
static int pagecache_try_all(const struct caps_context *context)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/proc/sys/vm/drop_caches", context->root);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

struct outcome pagecache_probe(struct caps_context *context)
{
	char how[48] = "";
	const char *failed;
	int fd = pagecache_open(), err = 0;

	if (fd == -EXDEV)
		return outcome_no("TMPDIR=/path/on/a/disk", "TMPDIR, /var/tmp and /tmp are in memory, "
			"or not there: no file that could be cold");
	if (fd < 0)
		return advice_errno(-fd, "a temporary file");
	failed = pagecache_try(fd, how, sizeof(how), &err);
	close(fd);
	if (failed && !failed[0])
		return outcome_no("", "posix_fadvise succeeds, but the pages of a file stay in the "
			"cache");
	if (failed)
		return advice_call(context, err, failed);
	err = pagecache_try_all(context);
	if (!err)
		return outcome_yes("files leave and enter the cache, seen by %s; drop_caches", how);
	return outcome_partly("sudo sysctl vm.drop_caches=3", "own files leave and enter the cache, "
		"seen by %s; not drop_caches (%s)", how, advice_errno_name(err));
}
