/* SPDX-License-Identifier: MIT */
/*
 * Controllers of a run's own group: a group has those that the one around it hands down (cgroup.subtree_control),
 * which no group but the root may do that has processes itself; see cgroup_own.h.
 */
#define _GNU_SOURCE
#include "cli/session/cgroup.h"
#include "cli/session/cgroup_own.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/log.h"

#define LIST_MOST 4096

static const struct {
	const char *name, *v1;       /* what version 1 calls it */
} controllers[CGROUP_CONTROLLERS] = {
	[CGROUP_CPU] = { "cpu", "cpu" }, [CGROUP_MEMORY] = { "memory", "memory" }, [CGROUP_IO] = { "io", "blkio" },
};

enum cgroup_controller cgroup_controller_of(const char *file)
{
	size_t len = strcspn(file, ".");

	if (!strcmp(file + len, ".pressure"))
		return CGROUP_CONTROLLERS;
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		if (strlen(controllers[i].name) == len && !strncmp(file, controllers[i].name, len))
			return (enum cgroup_controller)i;
	return CGROUP_CONTROLLERS;
}

/* "4:memory:/path": version 1 has it. */
static bool version_1_has(const struct caps_context *caps, const char *name)
{
	char *text = malloc(1 << 16), *line, *rest;
	bool has = false;

	if (text && facts_read(caps, "/proc/self/cgroup", text, 1 << 16) > 0)
		for (line = strtok_r(text, "\n", &rest); line && !has; line = strtok_r(NULL, "\n", &rest)) {
			char *list = strchr(line, ':'), *end = list ? strchr(list + 1, ':') : NULL;

			if (!end)
				continue;
			*end = '\0';
			has = cgroup_has_word(list + 1, name);
		}
	free(text);
	return has;
}

/* The group around the new one was not given it. */
static void say_not_there(struct cgroup_own *own, const struct caps_context *caps, int i)
{
	if (version_1_has(caps, controllers[i].v1))
		snprintf(own->without[i], sizeof(own->without[i]), "version 1 owns the controller %s here; boot with cgroup_no_v1=all",
			 controllers[i].name);
	else
		snprintf(own->without[i], sizeof(own->without[i]), "the control group %.200s has no controller %s: it was not "
			 "delegated to it, or this kernel has none", own->parent, controllers[i].name);
}

static void say_refused(struct cgroup_own *own, int i, int err)
{
	char *why = own->without[i];
	size_t size = sizeof(own->without[i]);

	if (err == EBUSY)
		snprintf(why, size, "%.200s has processes itself, so no group in it may have the controller %s (EBUSY); "
			 "start sparkctl alone in a group, or give --cgroup-root one without processes", own->parent,
			 controllers[i].name);
	else if (err == EACCES || err == EPERM)
		snprintf(why, size, "uid %u may not enable the controller %s in %.200s/cgroup.subtree_control",
			 (unsigned int)geteuid(), controllers[i].name, own->parent);
	else
		snprintf(why, size, "the controller %s cannot be enabled in %.200s/cgroup.subtree_control: %s",
			 controllers[i].name, own->parent, strerror(err));
}

static int subtree_write(const struct cgroup_own *own, int i, char sign)
{
	char text[16];

	snprintf(text, sizeof(text), "%c%s", sign, controllers[i].name);
	return cgroup_file_write(own->parent, "cgroup.subtree_control", text);
}

/* The group has no process but us: as one that systemd has made for us with Delegate=. */
static bool alone_there(const struct cgroup_own *own)
{
	char text[64], pid[24];

	snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	return cgroup_file_read(own->parent, "cgroup.procs", text, sizeof(text)) > 0 && !strcmp(text, pid);
}

/*
 * The kernel would refuse memory and io there; cpu it would take, and make the group one of threads, whose groups can
 * have no processes of their own. The root, which has no cgroup.type, may have both.
 */
static bool parent_is_crowded(const struct cgroup_own *own)
{
	char text[64];

	return cgroup_file_read(own->parent, "cgroup.type", text, sizeof(text)) >= 0 &&
	       cgroup_file_read(own->parent, "cgroup.procs", text, sizeof(text)) > 0;
}

/* Out of the way, into a group beside the new one. */
static bool step_aside(struct cgroup_own *own)
{
	char name[CGROUP_NAME_SIZE], pid[24];

	if (!alone_there(own))
		return false;
	cgroup_name_next(name);
	snprintf(own->aside, sizeof(own->aside), "%s/%s", own->parent, name);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	if (!mkdir(own->aside, 0755) && !cgroup_file_write(own->aside, "cgroup.procs", pid))
		return true;
	rmdir(own->aside);
	own->aside[0] = '\0';
	return false;
}

static int controller_enable(struct cgroup_own *own, int i)
{
	return parent_is_crowded(own) && !step_aside(own) ? EBUSY : subtree_write(own, i, '+');
}

void cgroup_own_enable(struct cgroup_own *own, const struct caps_context *caps)
{
	char have[LIST_MOST] = "", handed[LIST_MOST] = "";

	cgroup_file_read(own->parent, "cgroup.controllers", have, sizeof(have));
	cgroup_file_read(own->parent, "cgroup.subtree_control", handed, sizeof(handed));
	for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
		int err;

		own->without[i][0] = '\0';
		if (cgroup_has_word(handed, controllers[i].name))
			continue;
		if (!cgroup_has_word(have, controllers[i].name)) {
			say_not_there(own, caps, i);
			continue;
		}
		err = controller_enable(own, i);
		if (err)
			say_refused(own, i, err);
		else
			own->enabled[i] = true;
	}
}

/* Others may rely on a controller by now; but where we stepped aside nobody else was, and we could not come back. */
void cgroup_own_disable(struct cgroup_own *own)
{
	char pid[24];

	if (!own->aside[0])
		return;
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		if (own->enabled[i])
			subtree_write(own, i, '-');
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	/* A child that closes descriptors in our stead may be there, for which the kernel takes some 100 ms. */
	if (cgroup_file_write(own->parent, "cgroup.procs", pid) || !cgroup_directory_remove(own->aside, 500))
		warning("the control group %s stays: this sparkctl went there meanwhile; a later run removes it", own->aside);
	own->aside[0] = '\0';
}
