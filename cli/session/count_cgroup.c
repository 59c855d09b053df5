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
