/* SPDX-License-Identifier: MIT */
/*
 * Control groups: of version 2, or of the hierarchy perf_event of version 1, which has the events as soon as
 * it is mounted; see count.h.
 */
#define _GNU_SOURCE
#include "cli/session/count_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/log.h"

#define CGROUP_V1_MAGIC 0x27e0eb       /* statfs(2) */
#define CGROUP_V2_MAGIC 0x63677270

/* ---- where the hierarchy is ------------------------------------------------------------------------ */

/* Undoes the \NNN that the kernel writes for blanks, in place. */
static void mount_unescape(char *text)
{
	char *to = text;

	for (; *text; to++) {
		unsigned int code;

		if (text[0] == '\\' && sscanf(text + 1, "%3o", &code) == 1) {
			*to = (char)code;
			text += 4;
		} else {
			*to = *text++;
		}
	}
	*to = '\0';
}

/* One of the words between commas. */
static bool has_option(const char *options, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = options; at && *at; at = strchr(at, ','), at = at ? at + 1 : NULL)
		if (!strncmp(at, word, len) && (at[len] == ',' || !at[len]))
			return true;
	return false;
}

/* 36 35 98:0 /root /place options... - type source options: proc_pid_mountinfo(5) */
static bool root_of_line(char *line, int version, char *path, size_t size)
{
	char *mark = strstr(line, " - "), *rest, *type, *options = NULL, *place = line;

	if (!mark)
		return false;
	*mark = '\0';
	type = strtok_r(mark + 3, " ", &rest);
	for (int i = 0; type && i < 2; i++)
		options = strtok_r(NULL, " ", &rest);
	if (!type || strcmp(type, version == 1 ? "cgroup" : "cgroup2") != 0)
		return false;
	if (version == 1 && (!options || !has_option(options, "perf_event")))
		return false;
	for (int i = 0; i < 4 && place; i++) {
		place = strchr(place, ' ');
		place = place ? place + 1 : NULL;
	}
	if (!place)
		return false;
	place[strcspn(place, " ")] = '\0';
	mount_unescape(place);
	return (size_t)snprintf(path, size, "%s", place) < size;
}

bool cgroup_parse_root(char *mountinfo, int version, char *path, size_t size)
{
	char *rest, *line;

	for (line = strtok_r(mountinfo, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (root_of_line(line, version, path, size))
			return true;
	return false;
}

int cgroup_find_root(const struct caps_context *caps, char *path, size_t size, char *why, size_t room)
{
	enum { MOUNTS_MOST = 1 << 20 };
	char *text = malloc(MOUNTS_MOST);
	long got = text ? 0 : -ENOMEM;

	for (int version = 1; text && version <= 2; version++) {
		got = facts_read(caps, "/proc/self/mountinfo", text, MOUNTS_MOST);
		if (got < 0)
			break;
		if (cgroup_parse_root(text, version, path, size)) {
			free(text);
			return 0;
		}
	}
	free(text);
	if (got < 0)
		snprintf(why, room, "/proc/self/mountinfo cannot be read: %s", strerror((int)-got));
	else
		snprintf(why, room, "neither cgroup2 nor the version 1 hierarchy perf_event is mounted "
			 "(/proc/self/mountinfo); sudo mount -t cgroup2 cgroup2 /sys/fs/cgroup");
	return -ENOENT;
}

/* ---- groups ---------------------------------------------------------------------------------------- */

/* What a place that is no hierarchy of events is; NULL: it may be one. */
static const char *root_obstacle(const char *root)
{
	struct statfs fs;

	if (statfs(root, &fs))
		return strerror(errno);
	if (fs.f_type != CGROUP_V1_MAGIC && fs.f_type != CGROUP_V2_MAGIC)
		return "no file system of control groups is mounted there";
	return NULL;
}

/* Of version 2: there groups below the root get events together with the first controller that somebody enables. */
static bool groups_bare(const struct count *count, const char *events_root)
{
	struct statfs fs, events;

	return !fstatfs(count->part[0].fd, &fs) && fs.f_type == CGROUP_V2_MAGIC &&
	       !statfs(events_root, &events) && events.f_type == CGROUP_V2_MAGIC;
}

int count_refuse_cgroup(struct count *count)
{
	char root[PATH_MAX], why[512];
	bool found = !cgroup_find_root(&count->caps, root, sizeof(root), why, sizeof(why));

	if (found && groups_bare(count, root))
		error("%s cannot be counted: groups of version 2 have no events before the first controller is enabled; "
		      "echo +pids | sudo tee %s/cgroup.subtree_control", count->target, root);
	else if (count->options->cgroup_root && found)
		error("%s cannot be counted: the hierarchy at %s has no events; %s has", count->target,
		      count->options->cgroup_root, root);
	else
		error("%s cannot be counted: its hierarchy has no events", count->target);
	return -EPERM;
}

static const char *group_error(int err)
{
	return err == ENOENT ? "there is no such group" : err == ENOTDIR ? "it is a file" : strerror(err);
}

static int group_open(struct count *count, const char *root, const char *name)
{
	struct count_part *part;
	char path[2 * PATH_MAX];
	int fd;

	while (*name == '/')
		name++;
	snprintf(path, sizeof(path), "%.4095s/%.4095s", root, name);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		error("cannot open the control group %s: %s", path, group_error(errno));
		return -EPERM;
	}
	part = count_add_part(count, 0, "%s", *name ? name : "/");
	if (!part) {
		close(fd);
		return -EPERM;
	}
	part->fd = fd;
	return 0;
}

static int group_places(struct count *count, u32 part, const cpu_set_t *set)
{
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET((size_t)i, set) && count_add_place(count, count->part[part].fd, i, part))
			return -EPERM;
	return 0;
}

static void groups_name(struct count *count)
{
	size_t len = (size_t)snprintf(count->target, sizeof(count->target), "control group%s",
				      count->nparts == 1 ? "" : "s");

	for (size_t i = 0; i < count->nparts && len < sizeof(count->target); i++)
		len += (size_t)snprintf(count->target + len, sizeof(count->target) - len, "%s %s", i ? "," : "",
					count->part[i].name);
	if (count->options->cpus && len < sizeof(count->target))
		snprintf(count->target + len, sizeof(count->target) - len, " on CPU%s %s",
			 strpbrk(count->options->cpus, ",-") ? "s" : "", count->options->cpus);
}

int count_cgroups(struct count *count)
{
	const struct opt_list *names = count->options->cgroups;
	char root[PATH_MAX], why[512];
	const char *obstacle;
	cpu_set_t set;
	int err = count_cpu_set(count, &set);

	if (err)
		return err;
	if (count->options->cgroup_root) {
		snprintf(root, sizeof(root), "%s", count->options->cgroup_root);
	} else if (cgroup_find_root(&count->caps, root, sizeof(root), why, sizeof(why))) {
		error("there are no control groups to count: %s", why);
		return -EPERM;
	}
	obstacle = root_obstacle(root);
	if (obstacle) {
		error("control groups cannot be counted below %s: %s", root, obstacle);
		return -EPERM;
	}
	count->flags = PERF_FLAG_PID_CGROUP;
	for (size_t i = 0; !err && i < names->n; i++)
		err = group_open(count, root, names->item[i]);
	for (u32 i = 0; !err && i < count->nparts; i++)
		err = group_places(count, i, &set);
	groups_name(count);
	return err;
}
