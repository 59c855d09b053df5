/* SPDX-License-Identifier: MIT */
/* A run's own control group: made, limited, joined and removed; see cgroup_own.h. */
#define _GNU_SOURCE
#include "cli/session/cgroup_own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/session/cgroup.h"

#define CGROUP_V2_MAGIC 0x63677270     /* statfs(2) */
#define PROCS_MOST 65536               /* bytes of cgroup.procs that are looked at */

/* ---- files ----------------------------------------------------------------------------------------- */

static int file_open(const char *directory, const char *file, int flags)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	return open(path, flags | O_CLOEXEC);
}

long cgroup_file_read(const char *directory, const char *file, char *text, size_t size)
{
	int fd = file_open(directory, file, O_RDONLY), err;
	size_t have = 0;
	ssize_t n = 0;

	text[0] = '\0';
	if (fd < 0)
		return -errno;
	while (have + 1 < size && ((n = read(fd, text + have, size - 1 - have)) > 0 || (n < 0 && errno == EINTR)))
		have += n > 0 ? (size_t)n : 0;
	err = errno;
	close(fd);
	text[have] = '\0';
	return n < 0 ? -err : (long)have;
}

int cgroup_file_write(const char *directory, const char *file, const char *text)
{
	int fd = file_open(directory, file, O_WRONLY), err = 0;
	ssize_t n;

	if (fd < 0)
		return errno;
	do {
		n = write(fd, text, strlen(text));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		err = errno;
	close(fd);
	return err;
}

/* ---- making it ------------------------------------------------------------------------------------- */

/* There is no group: where it was to limit something that is the end. */
static int without_group(struct cgroup_own *own)
{
	if (!own->asked->nsettings)
		return 0;
	return error("%s cannot be set: %s", own->asked->setting[0].option, own->because);
}

static int parent_find(struct cgroup_own *own, const struct caps_context *caps)
{
	struct statfs fs;

	if (!own->asked->root)
		return cgroup_find_own(caps, own->parent, sizeof(own->parent), own->because, sizeof(own->because));
	if (statfs(own->asked->root, &fs))
		return error("--cgroup-root %s: %s", own->asked->root, strerror(errno));
	if (fs.f_type != CGROUP_V2_MAGIC || !realpath(own->asked->root, own->parent))
		return error("--cgroup-root %s is no directory of control groups of version 2", own->asked->root);
	return 0;
}

static int group_make(struct cgroup_own *own, const struct caps_context *caps)
{
	char name[CGROUP_NAME_SIZE];
	struct outcome why;

	cgroup_name_next(name);
	snprintf(own->path, sizeof(own->path), "%s/%s", own->parent, name);
	if (!mkdir(own->path, 0755))
		return 0;
	why = advice_cgroup(caps, errno, own->parent);
	snprintf(own->because, sizeof(own->because), "%s%s%s", why.because, why.remedy[0] ? "; " : "", why.remedy);
	own->path[0] = '\0';
	return -1;
}

static int settings_write(struct cgroup_own *own)
{
	for (u32 i = 0; i < own->asked->nsettings; i++) {
		const struct cgroup_setting *setting = &own->asked->setting[i];
		enum cgroup_controller controller = cgroup_controller_of(setting->file);
		int err = cgroup_file_write(own->path, setting->file, setting->value);

		if (err && controller < CGROUP_CONTROLLERS && own->without[controller][0])
			return error("%s cannot be set: %s", setting->option, own->without[controller]);
		if (err)
			return error("%s cannot be set: %s does not take '%s': %s", setting->option, setting->file, setting->value,
				     strerror(err));
	}
	return 0;
}

int cgroup_own_open(struct cgroup_own *own, const struct cgroup_asked *asked, const struct caps_context *caps)
{
	own->asked = asked;
	if (parent_find(own, caps))
		return own->because[0] ? without_group(own) : -1;
	cgroup_sweep_stale(own->parent);
	if (group_make(own, caps))
		return without_group(own);
	cgroup_own_enable(own, caps);
	return settings_write(own);
}

int cgroup_own_join(struct cgroup_own *own, pid_t pid)
{
	char text[24];
	int err;

	if (!own->path[0])
		return 0;
	snprintf(text, sizeof(text), "%d", (int)pid);
	err = cgroup_file_write(own->path, "cgroup.procs", text);
	if (!err)
		return 0;
	if (err == EACCES || err == EPERM)
		snprintf(own->because, sizeof(own->because), "uid %u may not move processes from the group of this one into "
			 "%.200s", (unsigned int)geteuid(), own->parent);
	else
		snprintf(own->because, sizeof(own->because), "the command cannot be moved into %.200s: %s", own->path,
			 strerror(err));
	cgroup_own_close(own);
	return without_group(own);
}

/* ---- removing it ----------------------------------------------------------------------------------- */

static size_t processes_in(const struct cgroup_own *own)
{
	char *text = malloc(PROCS_MOST);
	size_t n = 0;

	if (text && cgroup_file_read(own->path, "cgroup.procs", text, PROCS_MOST) > 0)
		for (const char *at = text; (at = strchr(at, '\n')); at++)
			n++;
	free(text);
	return n;
}

/* Pages of files would be there for the next run, and nobody would have read them. */
static void memory_reclaim(const struct cgroup_own *own)
{
	enum { ROUNDS = 8 };
	char text[32];

	for (int i = 0; i < ROUNDS; i++) {
		if (cgroup_file_read(own->path, "memory.current", text, sizeof(text)) <= 0 || !strtoull(text, NULL, 10))
			return;
		/* What cannot be had of it is EAGAIN. */
		if (cgroup_file_write(own->path, "memory.reclaim", text) == ENOENT)
			return;
	}
}

bool cgroup_directory_remove(const char *path, unsigned int tries)
{
	while (rmdir(path) && errno != ENOENT) {
		if (errno != EBUSY || !--tries)
			return false;
		nanosleep(&(struct timespec){ .tv_nsec = 2 * NSEC_PER_MSEC }, NULL);
	}
	return true;
}

static bool group_remove(const struct cgroup_own *own)
{
	size_t n;

	/* Who has just ended may still be on his way out. */
	if (cgroup_directory_remove(own->path, 25))
		return true;
	n = processes_in(own);
	if (n)
		warning("the control group %s stays: %zu process%s in it still run%s; a later run removes it", own->path, n,
			n == 1 ? "" : "es", n == 1 ? "s" : "");
	else
		warning("the control group %s stays: there are groups in it, or it cannot be removed", own->path);
	return false;
}

void cgroup_own_close(struct cgroup_own *own)
{
	if (own->path[0] && own->asked->reclaim)
		memory_reclaim(own);
	/* Who goes on in it keeps his limits. */
	if (!own->path[0] || group_remove(own))
		cgroup_own_disable(own);
	own->path[0] = '\0';
}
