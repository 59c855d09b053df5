/* SPDX-License-Identifier: MIT */
/* Where distributions and builders put debug info that is not in the file itself (gdb, "Separate Debug Files"). */
#include "cli/symbols/debug_file.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEBUG_ROOT "/usr/lib/debug"

static u32 crc_table[256];

static void crc_init(void)
{
	for (u32 i = 0; i < 256; i++) {
		u32 c = i;

		for (int k = 0; k < 8; k++)
			c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
		crc_table[i] = c;
	}
}

/* The sum that .gnu_debuglink has of its file. */
static bool file_has_crc(int fd, u32 wanted)
{
	static u8 buffer[1 << 16];
	u32 crc = ~0u;
	off_t at = 0;
	ssize_t got;

	crc_init();
	while ((got = pread(fd, buffer, sizeof(buffer), at)) > 0) {
		for (ssize_t i = 0; i < got; i++)
			crc = crc_table[(crc ^ buffer[i]) & 0xff] ^ (crc >> 8);
		at += got;
	}
	return got == 0 && ~crc == wanted;
}

/* Opens a candidate and takes it if it is of the same build. crc: NULL, unless that is what tells. */
static bool file_try(struct debug_file *file, const char *build_id, const u32 *crc)
{
	char id[2 * ELF_FILE_ID_MOST + 1];
	bool same;

	file->fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file->fd < 0)
		return false;
	if (elf_file_open(&file->elf, file->fd) == 0) {
		if (build_id && elf_file_build_id(&file->elf, id))
			same = !strcmp(id, build_id);
		else
			same = crc && file_has_crc(file->fd, *crc);
		if (same)
			return true;
		elf_file_close(&file->elf);
	}
	close(file->fd);
	file->fd = -1;
	return false;
}

static bool find_by_id(struct debug_file *file, const char *id)
{
	const char *home = getenv("HOME"), *cache = getenv("XDG_CACHE_HOME");

	if (strlen(id) < 3)
		return false;
	snprintf(file->path, sizeof(file->path), DEBUG_ROOT "/.build-id/%.2s/%s.debug", id, id + 2);
	strcpy(file->tried, file->path);
	if (file_try(file, id, NULL))
		return true;
	/* What a debuginfod client has fetched before costs nothing. */
	if (cache && *cache)
		snprintf(file->path, sizeof(file->path), "%s/debuginfod_client/%s/debuginfo", cache, id);
	else
		snprintf(file->path, sizeof(file->path), "%s/.cache/debuginfod_client/%s/debuginfo", home ? home : "",
			id);
	return file_try(file, id, NULL);
}

/* The name and the sum in .gnu_debuglink; NULL: there is none. */
static char *link_read(const struct elf_file *elf, u32 *crc)
{
	const struct elf_section *section = elf_file_section(elf, ".gnu_debuglink");
	char *link = section && section->size < 4096 ? elf_file_part(elf, section->offset, section->size) : NULL;
	size_t sum = link ? ALIGN_UP(strlen(link) + 1, 4) : 0;

	if (!link || sum + sizeof(*crc) > section->size || !*link || strchr(link, '/')) {
		free(link);
		return NULL;
	}
	memcpy(crc, link + sum, sizeof(*crc));
	return link;
}

static bool find_by_link(struct debug_file *file, const struct object *object)
{
	static const char *const before[] = { "", "", DEBUG_ROOT }, *const behind[] = { "", "/.debug", "" };
	u32 crc;
	char *name = link_read(&object->elf, &crc), *path = strdup(object->path), *folder = path ? dirname(path) : NULL;
	bool found = false;
	size_t i;

	for (i = 0; name && folder && i < ARRAY_SIZE(before) && !found; i++) {
		snprintf(file->path, sizeof(file->path), "%s%s%s/%s", before[i], folder, behind[i], name);
		found = file_try(file, object->build_id, &crc);
		if (!found && !*file->tried)
			strcpy(file->tried, file->path);
	}
	free(name);
	free(path);
	return found;
}

bool debug_file_find(struct object *object, bool debuginfod, u64 until_ns, struct debug_file *file)
{
	const char *id = object->build_id;

	file->fd = -1;
	file->path[0] = file->tried[0] = '\0';
	if (id && find_by_id(file, id))
		return true;
	if (object->is_elf && find_by_link(file, object))
		return true;
	return debuginfod && id && debuginfod_fetch(id, until_ns, file->path, sizeof(file->path)) &&
		file_try(file, id, NULL);
}

void debug_file_close(struct debug_file *file)
{
	if (file->fd < 0)
		return;
	elf_file_close(&file->elf);
	close(file->fd);
	file->fd = -1;
}
