/* SPDX-License-Identifier: MIT */
/* What a block device is made of (Documentation/ABI/stable/sysfs-block): whose requests another one does once more. */
#include "cli/session/internal.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Others do its work: a device of device-mapper, say. */
static bool is_stacked(const char *folder)
{
	const struct dirent *entry;
	bool stacked = false;
	char path[PATH_MAX];
	DIR *dir;

	snprintf(path, sizeof(path), "%s/slaves", folder);
	dir = opendir(path);
	while (dir && !stacked && (entry = readdir(dir)))
		stacked = entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return stacked;
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

enum block_kind disk_kind(const char *name)
{
	char folder[128], path[160];

	snprintf(folder, sizeof(folder), "/sys/class/block/%.80s", name);
	/* "cciss/c0d0" */
	for (char *slash = strchr(folder + strlen("/sys/class/block/"), '/'); slash; slash = strchr(slash, '/'))
		*slash = '!';
	snprintf(path, sizeof(path), "%s/partition", folder);
	if (begins(name, "loop"))
		return access(path, F_OK) ? BLOCK_LOOP : BLOCK_PARTITION;
	if (begins(name, "ram") || begins(name, "zram"))
		return BLOCK_MEMORY;
	if (access(folder, F_OK))
		return BLOCK_UNKNOWN;
	if (!access(path, F_OK))
		return BLOCK_PARTITION;
	return begins(name, "dm-") || is_stacked(folder) ? BLOCK_STACKED : BLOCK_DISK;
}
