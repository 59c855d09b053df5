/* SPDX-License-Identifier: MIT */
/* Where the loader looks for a library: ld.so(8), "DESCRIPTION" and "Dynamic string tokens". */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/symbols/closure.h"

#define CACHE "/etc/ld.so.cache"
#define CACHE_MOST (16 << 20)

struct search {
	const struct closure *closure;
	size_t from;                 /* the object that needs it */
	const char *name;
	char *path;
	size_t size;
};

/* The name that Debian has for folders of a machine, which $LIB and $PLATFORM are made of as well. */
static const char *machine_folder(const struct search *search)
{
	return search->closure->objects[0].machine == EM_AARCH64 ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
}

/* A file of the program's machine; others of the name are passed over. */
static int file_try(const struct search *search)
{
	int fd = open(search->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	Elf64_Ehdr head;
	struct stat about;

	if (fd < 0)
		return -1;
	if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && pread(fd, &head, sizeof(head), 0) == sizeof(head) &&
	    !memcmp(head.e_ident, ELFMAG, SELFMAG) && head.e_ident[EI_CLASS] == ELFCLASS64 &&
	    head.e_machine == search->closure->objects[0].machine)
		return fd;
	close(fd);
	return -1;
}

/* What a token stands for, and how long it is with braces or without; NULL: none begins here. */
static const char *token_value(const struct search *search, const struct closure_object *owner, const char *at,
	size_t *length, char *buffer, size_t size)
{
	static const char *const tokens[] = { "$ORIGIN", "${ORIGIN}", "$LIB", "${LIB}", "$PLATFORM", "${PLATFORM}" };
	const char *slash = strrchr(owner->path, '/');
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tokens); i++)
		if (!strncmp(at, tokens[i], strlen(tokens[i])))
			break;
	if (i == ARRAY_SIZE(tokens))
		return NULL;
	*length = strlen(tokens[i]);
	if (i < 2)
		snprintf(buffer, size, "%.*s", slash ? (int)(slash - owner->path) : 1, slash ? owner->path : ".");
	else if (i < 4)
		snprintf(buffer, size, "lib/%s", machine_folder(search));
	else
		snprintf(buffer, size, "%.*s", (int)strcspn(machine_folder(search), "-"), machine_folder(search));
	return buffer;
}

/* One folder of a list, with its tokens expanded. */
static int folder_try(const struct search *search, const struct closure_object *owner, const char *folder, size_t length)
{
	char value[PATH_MAX], folded[PATH_MAX];
	size_t used = 0, token;
	const char *end = folder + length, *text;

	while (folder < end && used < sizeof(folded) - 1) {
		text = *folder == '$' ? token_value(search, owner, folder, &token, value, sizeof(value)) : NULL;
		if (text) {
			used += (size_t)snprintf(folded + used, sizeof(folded) - used, "%s", text);
			folder += token;
		} else {
			folded[used++] = *folder++;
		}
	}
	if (used >= sizeof(folded) - 1)
		return -1;
	folded[used] = '\0';
	/* An empty one is the current folder. */
	if (snprintf(search->path, search->size, "%s%s%s", folded, used ? "/" : "", search->name) >= (int)search->size)
		return -1;
	return file_try(search);
}

/* Folders with colons between them, in the environment with semicolons too. */
static int list_try(const struct search *search, const struct closure_object *owner, const char *list)
{
	size_t length;
	int fd = -1;

	if (!list || !*list)
		return -1;
	for (; fd < 0; list += length + 1) {
		length = strcspn(list, ":;");
		fd = folder_try(search, owner, list, length);
		if (!list[length])
			break;
	}
	return fd;
}

static int cache_try(const struct search *search)
{
	int file = open(CACHE, O_RDONLY | O_CLOEXEC), fd = -1;
	struct stat about;
	u8 *bytes = NULL;
	u32 at = 0;

	if (file >= 0 && fstat(file, &about) == 0 && about.st_size > 0 && about.st_size <= CACHE_MOST)
		bytes = malloc((size_t)about.st_size);
	if (bytes && read(file, bytes, (size_t)about.st_size) == about.st_size)
		while (fd < 0 && loader_cache_find(bytes, (size_t)about.st_size, search->name, &at, search->path, search->size))
			fd = file_try(search);
	free(bytes);
	if (file >= 0)
		close(file);
	return fd;
}

static int default_try(const struct search *search)
{
	const struct closure_object *owner = &search->closure->objects[search->from];
	char list[256];

	snprintf(list, sizeof(list), "/lib/%s:/usr/lib/%s:/lib64:/usr/lib64:/lib:/usr/lib", machine_folder(search),
		machine_folder(search));
	return list_try(search, owner, list);
}

/* Of an object and those that it was loaded for; not where the object itself has the newer RUNPATH. */
static int rpath_try(const struct search *search)
{
	const struct closure_object *objects = search->closure->objects;
	size_t i = search->from;
	int fd = -1;

	if (*objects[i].dynamic.runpath)
		return -1;
	for (;; i = objects[i].from) {
		if (!*objects[i].dynamic.runpath)
			fd = list_try(search, &objects[i], objects[i].dynamic.rpath);
		if (fd >= 0 || !i)
			return fd;
	}
}

int closure_find(const struct closure *closure, size_t from, const char *name, char *path, size_t size)
{
	struct search search = { closure, from, name, path, size };
	const struct closure_object *owner = &closure->objects[from];
	int fd;

	if (!*name)
		return -1;
	if (strchr(name, '/')) {
		search.name = strrchr(name, '/') + 1;
		return folder_try(&search, owner, name, (size_t)(search.name - 1 - name));
	}
	fd = rpath_try(&search);
	fd = fd < 0 ? list_try(&search, owner, getenv("LD_LIBRARY_PATH")) : fd;
	fd = fd < 0 ? list_try(&search, owner, owner->dynamic.runpath) : fd;
	if (owner->dynamic.no_default)
		return fd;
	fd = fd < 0 ? cache_try(&search) : fd;
	return fd < 0 ? default_try(&search) : fd;
}
