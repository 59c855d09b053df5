/* SPDX-License-Identifier: MIT */
/*
 * The probe "cgroup": version 2 is mounted, the group of this process tells its controllers, and
 * a group can be made in it and removed again.
 */
#include "cli/caps/caps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base.h"

/*
 * The directory of this process's group. In a container that sees a part of the hierarchy alone,
 * the path is that of the host, and the mount is the group.
 */
static void cgroup_find_own(const struct caps_context *context, const char *mount, char *path,
	size_t size)
{
	char text[8192], *own;

	facts_read(context, "/proc/self/cgroup", text, sizeof(text));
	own = !strncmp(text, "0::/", 4) ? text : strstr(text, "\n0::/");
	if (own) {
		own = strchr(own, '/');
		own[strcspn(own, "\n")] = '\0';
		if ((size_t)snprintf(path, size, "%s%s", mount, own[1] ? own : "") < size &&
		    facts_exists(context, path))
			return;
	}
	snprintf(path, size, "%s", mount);
}

/* Makes a group and removes it. Returns 0 or an errno. */
static int cgroup_try(const struct caps_context *context, const char *group)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s/spark-probe-%d", context->root, group, (int)getpid());
	if (mkdir(path, 0755))
		return errno;
	return rmdir(path) ? errno : 0;
}

/* Writes the controllers that windows and limits need and the group lacks, by blanks. */
static void cgroup_list_missing(const char *controllers, char *missing, size_t size)
{
	static const char *const needed[] = { "cpu", "memory", "io" };
	char line[1024];
	size_t i, len = 0;

	snprintf(line, sizeof(line), "controllers: %s", controllers);
	missing[0] = '\0';
	for (i = 0; i < ARRAY_SIZE(needed); i++)
		if (!facts_has_word(line, "controllers", needed[i]))
			len += (size_t)snprintf(missing + len, size - len, " %s", needed[i]);
}

static struct outcome cgroup_absent(const struct caps_context *context, int err)
{
	char mount[256];

	if (err != ENOENT)
		return advice_errno(err, "/proc/self/mountinfo");
	if (!facts_mount(context, "cgroup", mount, sizeof(mount)))
		return outcome_no("boot with systemd.unified_cgroup_hierarchy=1",
			"cgroups of version 1 alone are mounted");
	return outcome_no("sudo mount -t cgroup2 cgroup2 /sys/fs/cgroup", "no cgroup is mounted");
}

struct outcome cgroup_probe(struct caps_context *context)
{
	char mount[PATH_MAX / 4], group[PATH_MAX / 2], path[PATH_MAX], text[1000], missing[32];
	struct outcome why;
	long got = facts_mount(context, "cgroup2", mount, sizeof(mount));
	int err;

	if (got)
		return cgroup_absent(context, (int)-got);
	cgroup_find_own(context, mount, group, sizeof(group));
	snprintf(path, sizeof(path), "%s/cgroup.controllers", group);
	got = facts_read(context, path, text, sizeof(text));
	if (got < 0)
		return advice_errno((int)-got, path);
	err = cgroup_try(context, group);
	if (err) {
		why = advice_cgroup(context, err, group);
		return outcome_partly(why.remedy, "statistics of groups, but no groups of one's "
			"own: %.180s", why.because);
	}
	cgroup_list_missing(text, missing, sizeof(missing));
	if (!missing[0])
		return outcome_yes("groups can be made in %.120s; controllers cpu, memory, io",
			group);
	return outcome_partly(facts_mount(context, "cgroup", path, sizeof(path)) ? "" :
			"boot with cgroup_no_v1=all",
		"groups can be made in %.120s, without the controllers%s", group, missing);
}
