/* SPDX-License-Identifier: MIT */
/* Which files windows take at both edges, as the agents are told, and which disks are added up. */
#include "cli/session/internal.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/snapshot.h"
#include "cli/session/cgroup.h"
#include "cli/session/cgroup_own.h"

/* Whoever is attached to may be in any group: what ours does is not theirs. */
static bool groups_are_ours(const struct session *s)
{
	char ours[4096], theirs[4096];
	ssize_t n = process_read_file((u32)getpid(), "cgroup", ours, sizeof(ours));

	for (size_t i = 0; s->attached && i < s->processes.count; i++)
		if (n <= 0 || process_read_file(s->processes.list[i]->facts.pid, "cgroup", theirs, sizeof(theirs)) != n ||
		    memcmp(ours, theirs, (size_t)n) != 0)
			return false;
	return true;
}

/* The directory of the command's own group, or ours, where the command is. */
static bool group_find(const struct session *s, char *group, size_t size)
{
	char why[512];

	if (s->group && s->group->path[0])
		return (size_t)snprintf(group, size, "%s", s->group->path) < size;
	return groups_are_ours(s) && !cgroup_find_own(&s->caps, group, size, why, sizeof(why));
}

/* NULL: they do not fit, or there is no memory. */
static struct wire_files *files_list(const struct session *s)
{
	char group[PATH_MAX], path[PATH_MAX + 64];
	bool grouped = group_find(s, group, sizeof(group));
	size_t size = sizeof(struct wire_files) + SNAPSHOT_FILES * sizeof(u32);
	struct wire_files *files = calloc(1, WIRE_PAGE);

	if (!files)
		return NULL;
	for (u32 i = 0; i < SNAPSHOT_FILES; i++) {
		const struct snapshot_file *f = &snapshot_files[i];
		size_t length;

		/* A file that cannot be there is not looked for: "" is none. */
		snprintf(path, sizeof(path), "%s%s%s", f->place == SNAPSHOT_CGROUP && grouped ? group : "",
			 f->place == SNAPSHOT_CGROUP && grouped ? "/" : "",
			 f->place == SNAPSHOT_CGROUP && !grouped ? "" : f->path);
		length = strlen(path) + 1;
		if (size + length > WIRE_PAGE) {
			free(files);
			return NULL;
		}
		files->path[i] = (u32)size;
		memcpy((char *)files + size, path, length);
		size += length;
	}
	files->n = SNAPSHOT_FILES;
	files->size = (u32)size;
	return files;
}

/* For struct profile. */
static char *files_disks(void)
{
	DIR *dir = opendir("/sys/block");
	const struct dirent *entry;
	char *list = NULL;
	size_t size = 0;
	FILE *text = dir ? open_memstream(&list, &size) : NULL;

	/* Made of memory or of files: what they do a disk does once more, or nobody. */
	while (text && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && disk_kind(entry->d_name) == BLOCK_DISK)
			fprintf(text, " %s", entry->d_name);
	if (text && (fputc(' ', text) == EOF || fclose(text))) {
		free(list);
		list = NULL;
	}
	if (dir)
		closedir(dir);
	return list;
}

void files_choose(struct session *s)
{
	if (!s->files)
		s->files = files_list(s);
	if (!s->disks)
		s->profile.disks = s->disks = files_disks();
}
