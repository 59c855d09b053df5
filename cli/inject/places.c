/* SPDX-License-Identifier: MIT */
/*
 * See places.h. Functions are found in the file's table of dynamic symbols, opened through the process, since its root
 * directory may be another one; instructions in the memory itself.
 */
#define _GNU_SOURCE
#include "cli/inject/places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/inject/tracee.h"
#include "cli/symbols/elf_dynamic.h"
#include "cli/symbols/maps.h"

#define CODE_MOST (16u << 20)

static bool is_library(const char *name, const char *prefix)
{
	const char *slash = strrchr(name, '/');

	return slash && !strncmp(slash + 1, prefix, strlen(prefix));
}

static bool is_named(const char *name, const char *file)
{
	const char *slash = strrchr(name, '/');

	return slash && !strcmp(slash + 1, file);
}

/* By the mapping, else by the path in the process's root. */
static int file_open(pid_t pid, const struct space_map *map)
{
	char path[4096];
	struct stat st;
	int fd, place;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid, (unsigned long long)map->start,
		 (unsigned long long)(map->start + map->length));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	/* No device: to open one may do something. */
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, map->name);
	place = open(path, O_PATH | O_CLOEXEC);
	if (place < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	fd = fstat(place, &st) == 0 && S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	close(place);
	return fd;
}

static void function_take(struct places *p, const char *name, u64 address)
{
	const struct { const char *name; u64 *to; } wanted[] = {
		{ "__errno_location", &p->errno_location }, { "dlopen", &p->open }, { "dlerror", &p->why }, { "dlsym", &p->find },
	};

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		if (!strcmp(name, wanted[i].name) && !*wanted[i].to)
			*wanted[i].to = address;
}

/* The file's first mapping, which begins where its addresses do. */
static void library_read(struct places *p, pid_t pid, const struct space_map *map)
{
	struct elf_dynamic dynamic;
	int fd = file_open(pid, map);
	struct elf_file elf;

	if (fd < 0)
		return;
	if (elf_file_open(&elf, fd) == 0) {
		if (elf_dynamic_read(&dynamic, &elf) == 0) {
			for (size_t i = 0; i < dynamic.nfunctions; i++)
				if (!dynamic.functions[i].chosen)
					function_take(p, dynamic.functions[i].name, map->start + dynamic.functions[i].address);
			elf_dynamic_free(&dynamic);
		}
		elf_file_close(&elf);
	}
	close(fd);
}

static void code_read(struct places *p, pid_t pid, const struct space_map *map)
{
	size_t size = (size_t)MIN(map->length, CODE_MOST);
	u8 *code = malloc(size);

	if (code)
		arch_find(&p->gadgets, code, tracee_read(pid, map->start, code, size), map->start);
	free(code);
}

bool places_segment(struct places *p, const struct space_map *map)
{
	if (strcmp(map->name, "/memfd:spark (deleted)") != 0)
		return false;
	p->segment = map->inode;
	p->segment_major = map->major;
	p->segment_minor = map->minor;
	return true;
}

static void map_take(struct places *p, pid_t pid, const struct space_map *map)
{
	bool libc = is_library(map->name, "libc.so.6") || is_library(map->name, "libc-2.");
	/* Before glibc 2.34 the loader's functions are in a library of their own. */
	bool libdl = is_library(map->name, "libdl.so.2") || is_library(map->name, "libdl-2.");

	p->library |= libc;
	p->loader |= is_library(map->name, "ld-") || is_library(map->name, "ld64.so") || is_library(map->name, "ld.so");
	/* musl is "libc.so" on Debian, as bionic is on Android. */
	p->other |= is_library(map->name, "ld-musl") || is_library(map->name, "libc.musl") || is_library(map->name, "libc.so.0") ||
		    is_named(map->name, "libc.so");
	if ((libc || libdl) && !map->offset)
		library_read(p, pid, map);
	if ((libc || !strcmp(map->name, "[vdso]")) && map->protection & PROT_EXEC && (!p->gadgets.system_call || !p->gadgets.back))
		code_read(p, pid, map);
	if (!strcmp(map->name, "[stack]")) {
		p->stack_start = map->start;
		p->stack_end = map->start + map->length;
	}
	places_segment(p, map);
}

int places_find(struct places *p, pid_t pid)
{
	struct space_map map;
	struct maps maps;
	int ret;

	*p = (struct places){ .image = p->image };
	ret = maps_open(&maps, (u32)pid);
	if (ret)
		return ret;
	while (maps_next(&maps, &map))
		map_take(p, pid, &map);
	maps_close(&maps);
	return 0;
}
