/* SPDX-License-Identifier: MIT */
/*
 * ITT, Intel's instrumentation interface (github.com/intel/ittapi: ittnotify_config.h, ittnotify_static.c and
 * itt_refcol_impl.c have what is rebuilt here). Each object that uses it has a static part of its own, which loads the
 * collector that INTEL_LIBITTNOTIFY64 names and has __itt_api_init() fill its table of functions.
 *
 * Where the user named a collector himself, that one is asked first, and ours call what it put into the table. Of a
 * function that it has not, the program works out the arguments now, since somebody listens.
 */
#include "agent/markers/itt.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define OLDEST 3                   /* major version of static parts whose tables are as described here */

/* One of a static part's functions. */
struct itt_api {
	const char *name;
	void **function;
	void *init, *null;           /* in the table before it is filled; where the collector has no such function */
	int group;
};

/* A static part. */
struct itt_global {
	unsigned char magic[8];
	unsigned long major, minor, build;
	volatile long initialized, mutex_initialized, counter;
	pthread_mutex_t mutex;
	void *library, *error_handler;
	const char **path;
	struct itt_api *apis;        /* ends with a name of NULL */
};

MARKER_EXPORT void __itt_api_init(struct itt_global *part, int groups);

static struct itt_hook *hook_find(const char *name)
{
	for (struct itt_hook *const *hook = itt_hooks; *hook; hook++)
		if (!strcmp((*hook)->name, name))
			return *hook;
	return NULL;
}

/* What the user's collector does with a part. False: there is none. */
static bool chain(struct itt_global *part, int groups)
{
	static void *library;
	void (*init)(struct itt_global *, int);
	void *real = __atomic_load_n(&library, __ATOMIC_ACQUIRE);

	if (!real) {
		real = next_open("INTEL_LIBITTNOTIFY64");
		__atomic_store_n(&library, real, __ATOMIC_RELEASE);
	}
	if (!real)
		return false;
	part->library = real;
	init = (void (*)(struct itt_global *, int))dlsym(real, "__itt_api_init");
	if (init) {
		init(part, groups);
		return true;
	}
	/* An older one has its functions by their names. */
	for (struct itt_api *api = part->apis; api->name; api++) {
		void *function = dlsym(real, api->name);

		*api->function = function ? function : api->null;
	}
	dlerror();
	return true;
}

static void part_fill(struct itt_global *part, bool chained)
{
	bool wanted = marker_wanted(MARKER_itt);

	for (struct itt_api *api = part->apis; api->name; api++) {
		struct itt_hook *hook = wanted ? hook_find(api->name) : NULL;
		bool real = chained && *api->function && *api->function != api->null && *api->function != api->init;

		bool ours = hook && !(hook->makes && real);

		if (ours && real)
			__atomic_store_n(&hook->real, *api->function, __ATOMIC_RELEASE);
		/* Once: other threads may be about to call it. */
		if (ours || !real)
			__atomic_store_n(api->function, ours ? hook->ours : api->null, __ATOMIC_RELEASE);
	}
}

void __itt_api_init(struct itt_global *part, int groups)
{
	if (part && part->major >= OLDEST && part->apis)
		part_fill(part, chain(part, groups));
}
