/* SPDX-License-Identifier: MIT */
/*
 * The directory of a session: 0700, with the socket and a link to the agent in it. A lock on it
 * says that its session lives; the kernel takes the lock away with the process, so that the next
 * session can remove what one that was killed left behind. A probe by connect(2) would stay in the
 * backlog of a session that is stopped.
 */
#define _GNU_SOURCE
#include "cli/session/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/markers.h"

#define YOUNG_SECONDS 60           /* a directory without a socket may be one that is being made */

static void place_empty(int dir)
{
	unlinkat(dir, "s", 0);
	unlinkat(dir, "t", 0);
	unlinkat(dir, SERVER_AGENT_LINK, 0);
	unlinkat(dir, MARKERS_LIBRARY, 0);
	unlinkat(dir, SERVER_FOLDER_LINK, 0);
}

/*
 * Its session is gone: nobody holds the lock. It is asked for only where its session must have had
 * it: the socket comes after the lock.
 */
static bool place_is_stale(int dir)
{
	struct stat st;

	if (fstatat(dir, "s", &st, AT_SYMLINK_NOFOLLOW) ? fstat(dir, &st) || time(NULL) - st.st_mtime < YOUNG_SECONDS
							: !S_ISSOCK(st.st_mode))
		return false;
	return flock(dir, LOCK_EX | LOCK_NB) == 0;
}

static void stale_remove(int parent, const char *name)
{
	int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir < 0)
		return;
	if (place_is_stale(dir)) {
		place_empty(dir);
		unlinkat(parent, name, AT_REMOVEDIR);
	}
	close(dir);
}

/* The parent of this user's sessions. Its name can be guessed: it counts only if it is ours alone. */
static bool parent_ready(const char *path)
{
	struct dirent *e;
	struct stat st;
	DIR *dir;
	int fd;

	if (mkdir(path, 0700) && errno != EEXIST)
		return false;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) || st.st_uid != geteuid() || st.st_mode & 077 || !(dir = fdopendir(fd))) {
		close(fd);
		return false;
	}
	while ((e = readdir(dir)))
		if (e->d_name[0] != '.')
			stale_remove(fd, e->d_name);
	closedir(dir);
	return true;
}

/*
 * A short path, since sun_path has 108 bytes: BASE/spark-UID/XXXXXX, or BASE/spark-XXXXXX where the
 * former is not safe.
 */
static bool place_make_in(struct place *p, const char *base)
{
	if (!base || base[0] != '/' || strlen(base) > SERVER_PLACE_MOST)
		return false;
	snprintf(p->parent, sizeof(p->parent), "%s/spark-%u", base, geteuid());
	if (parent_ready(p->parent)) {
		snprintf(p->dir, sizeof(p->dir), "%s/XXXXXX", p->parent);
		if (mkdtemp(p->dir))
			return true;
	}
	p->parent[0] = 0;
	snprintf(p->dir, sizeof(p->dir), "%s/spark-XXXXXX", base);
	return mkdtemp(p->dir) != NULL;
}

int place_make(struct place *p)
{
	const char *bases[] = { getenv("TMPDIR"), getenv("XDG_RUNTIME_DIR"), "/dev/shm", "/tmp", "/var/tmp" };

	for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
		if (!place_make_in(p, bases[i]))
			continue;
		p->lock = open(p->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		/* Where there are no locks nobody takes ours away, and nobody tidies up. */
		if (p->lock >= 0)
			flock(p->lock, LOCK_EX | LOCK_NB);
		return 0;
	}
	p->dir[0] = 0;
	return -1;
}

void place_remove(struct place *p)
{
	if (p->lock >= 0) {
		place_empty(p->lock);
		close(p->lock);
	}
	p->lock = -1;
	if (p->dir[0])
		rmdir(p->dir);
	/* Stays while another session is there. */
	if (p->parent[0])
		rmdir(p->parent);
	p->dir[0] = p->parent[0] = 0;
}
