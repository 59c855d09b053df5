/* SPDX-License-Identifier: MIT */
/* Which disk did most between two texts of /proc/diskstats; see window.h. */
#include "cli/analyze/window.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DISK_NAME 64
#define SECTOR 512

struct disk_line {
	char name[DISK_NAME];
	u64 read, written;           /* sectors */
};

/* The line at *at, which is moved behind it; false: the text ends. A line that is none has the name "". */
static bool disk_line(const char **at, const char *end, struct disk_line *disk)
{
	const char *newline = *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;
	char line[256];
	size_t size;

	if (!newline)
		return false;
	size = MIN((size_t)(newline - *at), sizeof(line) - 1);
	memcpy(line, *at, size);
	line[size] = '\0';
	*at = newline + 1;
	if (sscanf(line, "%*u %*u %63s %*u %*u %" SCNu64 " %*u %*u %*u %" SCNu64, disk->name, &disk->read, &disk->written) != 3)
		disk->name[0] = '\0';
	return true;
}

static bool disk_named(const char *disks, const char *name)
{
	size_t size = strlen(name);

	for (const char *at = disks; at && (at = strchr(at, ' ')); at++)
		if (!strncmp(at + 1, name, size) && at[1 + size] == ' ')
			return true;
	return !disks;
}

static bool disk_find(const char *text, size_t size, const char *name, struct disk_line *disk)
{
	const char *at = text, *end = text + size;

	while (disk_line(&at, end, disk))
		if (!strcmp(disk->name, name))
			return true;
	return false;
}

char *window_disk(const char *begin, size_t begin_size, const char *end, size_t end_size, const char *disks, u64 *read_bytes,
		  u64 *written)
{
	const char *at = end;
	struct disk_line now, before, most = { "", 0, 0 };

	*read_bytes = *written = 0;
	while (disk_line(&at, end + end_size, &now)) {
		if (!now.name[0] || !disk_named(disks, now.name) || !disk_find(begin, begin_size, now.name, &before))
			continue;
		now.read -= MIN(now.read, before.read);
		now.written -= MIN(now.written, before.written);
		if (now.read / 2 + now.written / 2 > most.read / 2 + most.written / 2)
			most = now;
	}
	if (!most.name[0] || most.read > UINT64_MAX / SECTOR || most.written > UINT64_MAX / SECTOR)
		return NULL;
	*read_bytes = most.read * SECTOR;
	*written = most.written * SECTOR;
	return strdup(most.name);
}
