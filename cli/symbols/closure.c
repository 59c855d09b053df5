/* SPDX-License-Identifier: MIT */
/* See closure.h. */
#include "cli/symbols/closure.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OBJECTS_MOST 4096

/* A function and the object that has it. */
struct definition {
	const struct elf_function *function;
	size_t object;
};

/* ---- objects */

static bool closure_has(const struct closure *closure, const char *name)
{
	for (size_t i = 0; i < closure->n; i++)
		if ((closure->objects[i].name && !strcmp(closure->objects[i].name, name)) ||
		    !strcmp(closure->objects[i].dynamic.soname, name))
			return true;
	for (size_t i = 0; i < closure->nmissing; i++)
		if (!strcmp(closure->missing[i], name))
			return true;
	return false;
}

static bool closure_has_file(const struct closure *closure, const struct stat *about)
{
	for (size_t i = 0; i < closure->n; i++)
		if (closure->objects[i].device == about->st_dev && closure->objects[i].inode == about->st_ino)
			return true;
	return false;
}

static int object_fill(struct closure_object *object, int fd)
{
	struct elf_file elf;
	int status = elf_file_open(&elf, fd);

	if (status)
		return status;
	object->machine = elf.machine;
	status = elf_dynamic_read(&object->dynamic, &elf);
	elf_file_close(&elf);
	return status;
}

/* Adds the object of an open file, unless it is there. A library that is damaged has no functions. */
static int closure_add(struct closure *closure, int fd, const char *path, const char *name, size_t from)
{
	struct closure_object *object = &closure->objects[closure->n];
	struct stat about;
	int status = fstat(fd, &about) ? -errno : 0;

	if (!status && closure_has_file(closure, &about))
		return 0;
	if (!status) {
		*object = (struct closure_object){
			.device = about.st_dev, .inode = about.st_ino, .from = from, .path = strdup(path),
			.name = name ? strdup(name) : NULL, .dynamic = { .soname = "", .rpath = "", .runpath = "" },
		};
		status = object->path && (!name || object->name) ? object_fill(object, fd) : -ENOMEM;
	}
	if (!status || (name && status != -ENOMEM)) {
		closure->n++;
		return 0;
	}
	free(object->path);
	free(object->name);
	return status;
}

static int closure_miss(struct closure *closure, const char *name)
{
	char **grown = realloc(closure->missing, (closure->nmissing + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	closure->missing = grown;
	grown[closure->nmissing] = strdup(name);
	return grown[closure->nmissing++] ? 0 : -ENOMEM;
}

static int closure_need(struct closure *closure, size_t from, const char *name)
{
	char path[PATH_MAX];
	int fd, status;

	if (!*name || closure->n == OBJECTS_MOST || closure_has(closure, name))
		return 0;
	fd = closure_find(closure, from, name, path, sizeof(path));
	if (fd < 0)
		return closure_miss(closure, name);
	status = closure_add(closure, fd, path, name, from);
	close(fd);
	return status;
}

/* Of the environment (ld.so(8)): names with blanks or colons between them. */
static int closure_preload(struct closure *closure)
{
	const char *list = getenv("LD_PRELOAD");
	int status = 0;
	size_t length;
	char *name;

	for (; !status && list && *(list += strspn(list, " :")); list += length) {
		length = strcspn(list, " :");
		name = strndup(list, length);
		status = name ? closure_need(closure, 0, name) : -ENOMEM;
		free(name);
	}
	return status;
}

/* ---- calls */

static int definition_compare(const void *left, const void *right)
{
	const struct definition *a = left, *b = right;
	int order = strcmp(a->function->name, b->function->name);

	return order ? order : a->object < b->object ? -1 : a->object > b->object;
}

/* Of each name the first in the order of the search; n is how many. */
static struct definition *closure_definitions(const struct closure *closure, size_t *n)
{
	struct definition *list;
	size_t room = 1, all = 0, i, k;

	for (i = 0; i < closure->n; i++)
		room += closure->objects[i].dynamic.nfunctions;
	list = calloc(room, sizeof(*list));
	*n = 0;
	if (!list)
		return NULL;
	for (i = 0; i < closure->n; i++)
		for (k = 0; k < closure->objects[i].dynamic.nfunctions; k++)
			list[all++] = (struct definition){ &closure->objects[i].dynamic.functions[k], i };
	qsort(list, all, sizeof(*list), definition_compare);
	for (i = 0; i < all; i++)
		if (!*n || strcmp(list[*n - 1].function->name, list[i].function->name) != 0)
			list[(*n)++] = list[i];
	return list;
}

static int name_compare(const void *name, const void *element)
{
	return strcmp(name, ((const struct definition *)element)->function->name);
}

static int call_compare(const void *left, const void *right)
{
	const struct closure_call *a = left, *b = right;
	int order = strcmp(a->symbol, b->symbol);

	if (order)
		return order;
	if (a->library != b->library)
		return a->library < b->library ? -1 : 1;
	return a->caller < b->caller ? -1 : a->caller > b->caller;
}

/* The loader has slots for functions that it serves itself until libc is there: nobody else's calls. */
static bool object_is_loader(const struct closure_object *object)
{
	return !strncmp(object->dynamic.soname, "ld-linux", 8);
}

static void closure_call_add(struct closure *closure, const struct elf_slot *slot, size_t caller,
	const struct definition *found)
{
	if (!found || found->object == caller)
		return;
	closure->calls[closure->ncalls++] = (struct closure_call){
		.symbol = slot->name, .library = found->object, .caller = caller, .function = found->function,
		.kinds = slot->kinds, .variant = slot->variant || found->function->variant,
	};
}

static int closure_connect(struct closure *closure)
{
	size_t n, room = 1, i, k;
	struct definition *definitions = closure_definitions(closure, &n);

	for (i = 0; i < closure->n; i++)
		room += closure->objects[i].dynamic.nslots;
	closure->calls = calloc(room, sizeof(*closure->calls));
	for (i = 0; definitions && closure->calls && i < closure->n; i++) {
		const struct elf_dynamic *dynamic = &closure->objects[i].dynamic;

		for (k = 0; k < dynamic->nslots && !object_is_loader(&closure->objects[i]); k++)
			closure_call_add(closure, &dynamic->slots[k], i,
				bsearch(dynamic->slots[k].name, definitions, n, sizeof(*definitions), name_compare));
	}
	free(definitions);
	if (!definitions || !closure->calls)
		return -ENOMEM;
	qsort(closure->calls, closure->ncalls, sizeof(*closure->calls), call_compare);
	return 0;
}

int closure_open(struct closure *closure, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), status = fd < 0 ? -errno : 0;

	*closure = (struct closure){ .objects = calloc(OBJECTS_MOST, sizeof(*closure->objects)) };
	if (!closure->objects)
		status = -ENOMEM;
	status = status ? status : closure_add(closure, fd, path, NULL, 0);
	if (fd >= 0)
		close(fd);
	status = status ? status : closure_preload(closure);
	/* Breadth first, as the loader does: that is the order of its search, too. */
	for (size_t i = 0; !status && i < closure->n; i++)
		for (size_t k = 0; !status && k < closure->objects[i].dynamic.nneeded; k++)
			status = closure_need(closure, i, closure->objects[i].dynamic.needed[k]);
	status = status ? status : closure_connect(closure);
	if (status)
		closure_close(closure);
	return status;
}

void closure_close(struct closure *closure)
{
	while (closure->n) {
		closure->n--;
		elf_dynamic_free(&closure->objects[closure->n].dynamic);
		free(closure->objects[closure->n].path);
		free(closure->objects[closure->n].name);
	}
	while (closure->nmissing)
		free(closure->missing[--closure->nmissing]);
	free(closure->objects);
	free(closure->missing);
	free(closure->calls);
	*closure = (struct closure){ .n = 0 };
}
