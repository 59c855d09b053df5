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

/* Our own control group, which is the command's: "0::/path" of /proc/self/cgroup, below where v2 is mounted. */
static bool files_group(const struct caps_context *caps, char *path, size_t size)
{
	enum { ROOM = 1 << 18 };
	char *text = malloc(ROOM), *line = NULL, *rest;
	char own[PATH_MAX] = "";
	bool found = false;

	if (text && facts_read(caps, "/proc/self/cgroup", text, ROOM) > 0)
		for (line = strtok_r(text, "\n", &rest); line && strncmp(line, "0::", 3); line = strtok_r(NULL, "\n", &rest))
			;
	if (line && (size_t)snprintf(own, sizeof(own), "%s", line + 3) < sizeof(own) &&
	    facts_read(caps, "/proc/self/mountinfo", text, ROOM) > 0)
		found = cgroup_parse_root(text, 2, path, size);
	free(text);
	if (!found || strlen(path) + strlen(own) >= size)
		return false;
	strcat(path, strcmp(own, "/") ? own : "");
	return true;
}

struct wire_files *files_list(const struct caps_context *caps)
{
	char group[PATH_MAX], path[PATH_MAX + 64];
	bool grouped = files_group(caps, group, sizeof(group));
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

char *files_disks(void)
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
