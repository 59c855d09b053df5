/* SPDX-License-Identifier: MIT */
/* The functions behind ours; see markers.h. */
#define _GNU_SOURCE
#include "agent/markers/markers.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* ---- objects */

struct walk {
	size_t left;
	bool found;
	char name[PATH_MAX];
};

static int walk_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct walk *walk = data;

	(void)size;
	if (walk->left--)
		return 0;
	walk->found = true;
	strncpy(walk->name, info->dlpi_name, sizeof(walk->name) - 1);
	return 1;
}

static int walk_loads(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	*(unsigned long long *)data = info->dlpi_adds;
	return 1;
}

static bool is_ours(const void *function)
{
	static const char here;
	Dl_info own, other;

	return dladdr(&here, &own) && dladdr(function, &other) && own.dli_fbase == other.dli_fbase;
}

/* The first loaded object that has it, ours left out. The loader's lock is not held while it is asked. */
static void *objects_search(const char *name)
{
	struct walk walk = { .found = true };
	void *object, *function;

	for (size_t i = 0; walk.found; i++) {
		walk = (struct walk){ .left = i };
		dl_iterate_phdr(walk_object, &walk);
		object = walk.found && walk.name[0] ? dlopen(walk.name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
		function = object ? dlsym(object, name) : NULL;
		if (function && !is_ours(function))
			return function;
		if (object)
			dlclose(object);
	}
	return NULL;
}

/* Holds the object of a function for good: the program may close it and still call ours. */
static void object_hold(const void *function)
{
	Dl_info about;

	if (dladdr(function, &about) && about.dli_fname && about.dli_fname[0])
		dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

void *next_find(struct next *next)
{
	void *found = __atomic_load_n(&next->found, __ATOMIC_ACQUIRE);
	unsigned long long loads = 0;
	int saved = errno;

	if (found)
		return found;
	dl_iterate_phdr(walk_loads, &loads);
	if (__atomic_load_n(&next->tried, __ATOMIC_RELAXED) == loads + 1)
		return NULL;
	found = dlsym(RTLD_NEXT, next->name);
	if (!found || is_ours(found))
		found = objects_search(next->name);
	dlerror();
	if (found) {
		object_hold(found);
		__atomic_store_n(&next->found, found, __ATOMIC_RELEASE);
	} else {
		__atomic_store_n(&next->tried, loads + 1, __ATOMIC_RELAXED);
	}
	errno = saved;
	return found;
}

/* ---- libraries that a variable names */

void *next_open(const char *environment)
{
	char name[128] = MARKERS_NEXT;
	const char *path;
	void *library;

	strncat(name, environment, sizeof(name) - sizeof(MARKERS_NEXT));
	path = secure_getenv(name);
	library = path && *path ? dlopen(path, RTLD_LAZY) : NULL;
	dlerror();
	return library;
}
