/* SPDX-License-Identifier: MIT */
/* Where the hierarchies of control groups are mounted, and where in them our own group is; see cgroup.h. */
#define _GNU_SOURCE
#include "cli/session/cgroup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MOST (1 << 20)            /* of /proc/self/mountinfo */

/* What a line of it tells of a hierarchy. */
struct mount {
	char *inside;                /* which of its groups is mounted: "/" is all of it */
	char *place;
};

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

bool cgroup_has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; at && *at; at = strpbrk(at, ", \n"), at = at ? at + 1 : NULL)
		if (!strncmp(at, word, len) && (!at[len] || strchr(", \n", at[len])))
			return true;
	return false;
}

/* 36 35 98:0 /root /place options... - type source options: proc_pid_mountinfo(5) */
static bool mount_of_line(char *line, int version, struct mount *mount)
{
	char *mark = strstr(line, " - "), *rest, *type, *options = NULL, *word;

	if (!mark)
		return false;
	*mark = '\0';
	type = strtok_r(mark + 3, " ", &rest);
	for (int i = 0; type && i < 2; i++)
		options = strtok_r(NULL, " ", &rest);
	if (!type || strcmp(type, version == 1 ? "cgroup" : "cgroup2") != 0)
		return false;
	if (version == 1 && (!options || !cgroup_has_word(options, "perf_event")))
		return false;
	word = strtok_r(line, " ", &rest);
	for (int i = 0; word && i < 3; i++)
		word = strtok_r(NULL, " ", &rest);
	mount->inside = word;
	mount->place = word ? strtok_r(NULL, " ", &rest) : NULL;
	if (!mount->place)
		return false;
	mount_unescape(mount->inside);
	mount_unescape(mount->place);
	return true;
}

bool cgroup_parse_root(char *mountinfo, int version, char *path, size_t size)
{
	struct mount mount;
	char *rest, *line;

	for (line = strtok_r(mountinfo, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (mount_of_line(line, version, &mount))
			return (size_t)snprintf(path, size, "%s", mount.place) < size;
	return false;
}

int cgroup_find_root(const struct caps_context *caps, char *path, size_t size, char *why, size_t room)
{
	char *text = malloc(TEXT_MOST);
	long got = text ? 0 : -ENOMEM;

	for (int version = 1; text && version <= 2; version++) {
		got = facts_read(caps, "/proc/self/mountinfo", text, TEXT_MOST);
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

/* ---- our own group --------------------------------------------------------------------------------- */

bool cgroup_parse_membership(const char *text, char *group, size_t size)
{
	const char *line = !strncmp(text, "0::/", 4) ? text : strstr(text, "\n0::/");
	size_t len;

	if (!line)
		return false;
	line = strchr(line, '/');
	len = strcspn(line, "\n");
	if (len >= size)
		return false;
	memcpy(group, line, len);
	group[len] = '\0';
	return true;
}

/* What of the group's name lies below what is mounted; NULL: it is not there. */
static const char *mount_rest(const struct mount *mount, const char *group)
{
	size_t len = strcmp(mount->inside, "/") ? strlen(mount->inside) : 0;

	if (strncmp(group, mount->inside, len) != 0 || (group[len] && group[len] != '/'))
		return NULL;
	return strcmp(group + len, "/") ? group + len : "";
}

bool cgroup_parse_own(char *mountinfo, const char *group, char *path, size_t size)
{
	struct mount mount;
	char *rest, *line;

	/* Of a namespace of groups we are outside of. */
	if (!strncmp(group, "/..", 3))
		return false;
	for (line = strtok_r(mountinfo, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		const char *below = mount_of_line(line, 2, &mount) ? mount_rest(&mount, group) : NULL;

		if (below)
			return (size_t)snprintf(path, size, "%s%s", mount.place, below) < size;
	}
	return false;
}

int cgroup_find_own(const struct caps_context *caps, char *path, size_t size, char *why, size_t room)
{
	char group[PATH_MAX] = "", *text = malloc(TEXT_MOST);
	bool member, found = false;

	member = text && facts_read(caps, "/proc/self/cgroup", text, TEXT_MOST) > 0 &&
		 cgroup_parse_membership(text, group, sizeof(group));
	if (member && facts_read(caps, "/proc/self/mountinfo", text, TEXT_MOST) > 0)
		found = cgroup_parse_own(text, group, path, size);
	free(text);
	if (found)
		return 0;
	if (!member)
		snprintf(why, room, "this process is in no control group of version 2 (/proc/self/cgroup)");
	else
		snprintf(why, room, "no mounted cgroup2 has the group of this process, %.200s (/proc/self/mountinfo); "
			 "sudo mount -t cgroup2 cgroup2 /sys/fs/cgroup", group);
	return -ENOENT;
}
