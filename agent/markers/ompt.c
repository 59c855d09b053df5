/* SPDX-License-Identifier: MIT */
/*
 * OMPT, the tools interface of OpenMP 5: parallel regions, each thread's part of them, work-sharing constructs and
 * waits at barriers are regions, named by the kind and the place in the code that the runtime gives: "omp loop
 * prog+0x11f2".
 *
 * A runtime has room for one tool. Where the user named one, it is asked first, and gets the runtime's functions but
 * for those that set and get callbacks: what it sets for an event of ours is called by ours, with the runtime's
 * arguments.
 * All that belongs to a task or a region in the runtime is that tool's; ours keeps what each thread has begun.
 */
#define _GNU_SOURCE
#include "agent/markers/markers.h"
#include "agent/markers/ompt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES 1024                /* a power of two; what comes later has the kind alone for its name */
#define DEPTH_MOST 64
#define NAME_MOST 128

#define VARIABLE "OMP_TOOL_LIBRARIES"

MARKER_EXPORT struct ompt_tool *ompt_start_tool(unsigned version, const char *runtime);

static struct ompt_tool *theirs;
static ompt_lookup runtime_lookup;
static int (*runtime_set)(int event, ompt_function callback);
static int (*runtime_get)(int event, ompt_function *callback);
static ompt_function their_callbacks[OMPT_EVENTS];

/* Calls what the other tool has set for an event. */
#define PASS_ON(event, types, arguments) \
	do { \
		void (*real) types = (void (*) types)__atomic_load_n(&their_callbacks[event], __ATOMIC_ACQUIRE); \
		if (real) \
			real arguments; \
	} while (0)

/* ---- names */

struct place {
	const char *kind;
	const void *code;
	char name[NAME_MOST];
};

static struct place *place_new(const char *kind, const void *code)
{
	struct place *place = malloc(sizeof(*place));
	const char *file;
	Dl_info about;

	if (!place)
		return NULL;
	place->kind = kind;
	place->code = code;
	if (code && dladdr(code, &about) && about.dli_fname) {
		file = strrchr(about.dli_fname, '/');
		snprintf(place->name, sizeof(place->name), "omp %s %s+0x%zx", kind, file ? file + 1 : about.dli_fname,
			 (size_t)((const char *)code - (const char *)about.dli_fbase));
	} else {
		snprintf(place->name, sizeof(place->name), "omp %s", kind);
	}
	return place;
}

/* For good. Two threads that come first make the same, and one of both is kept. */
static const char *place_name(const char *kind, const void *code)
{
	static struct place *places[PLACES];
	size_t at = ((size_t)code >> 2 ^ (size_t)kind) * 0x9e3779b97f4a7c15u >> 32;
	struct place *place, *made = NULL;

	for (size_t i = 0; i < PLACES; i++, at++) {
		struct place **slot = &places[at & (PLACES - 1)];

		place = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
		if (!place) {
			made = made ? made : place_new(kind, code);
			if (!made)
				return NULL;
			if (__atomic_compare_exchange_n(slot, &place, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
				return made->name;
		}
		if (place->kind == kind && place->code == code) {
			free(made);
			return place->name;
		}
	}
	free(made);
	return kind;
}

/* ---- what a thread has begun */

static __thread struct {
	unsigned n;
	const char *names[DEPTH_MOST];
} begun;

static void begin(const char *name)
{
	if (begun.n < DEPTH_MOST) {
		begun.names[begun.n] = name;
		if (name)
			spark_region_begin(name);
	}
	begun.n++;
}

static void end(void)
{
	if (begun.n && --begun.n < DEPTH_MOST && begun.names[begun.n])
		spark_region_end(begun.names[begun.n]);
}

/* ---- callbacks */

static void parallel_begin(union ompt_data *task, const void *frame, union ompt_data *parallel, unsigned asked,
			   int flags, const void *code)
{
	PASS_ON(OMPT_PARALLEL_BEGIN, (union ompt_data *, const void *, union ompt_data *, unsigned, int, const void *),
		(task, frame, parallel, asked, flags, code));
	begin(place_name("parallel", code));
}

static void parallel_end(union ompt_data *parallel, union ompt_data *task, int flags, const void *code)
{
	end();
	PASS_ON(OMPT_PARALLEL_END, (union ompt_data *, union ompt_data *, int, const void *), (parallel, task, flags, code));
}

static void implicit_task(int endpoint, union ompt_data *parallel, union ompt_data *task, unsigned threads,
			  unsigned index, int flags)
{
	bool ours = !(flags & OMPT_TASK_INITIAL);

	if (ours && endpoint == OMPT_END)
		end();
	PASS_ON(OMPT_IMPLICIT_TASK, (int, union ompt_data *, union ompt_data *, unsigned, unsigned, int),
		(endpoint, parallel, task, threads, index, flags));
	if (ours && endpoint == OMPT_BEGIN)
		begin(place_name("implicit task", NULL));
}

static const char *work_kind(int kind)
{
	static const char *const kinds[] = {
		NULL, "loop", "sections", "single", "single elsewhere", "workshare", "distribute", "taskloop", "scope",
	};

	return kind > 0 && (size_t)kind < sizeof(kinds) / sizeof(*kinds) ? kinds[kind] : "work";
}

static void work(int kind, int endpoint, union ompt_data *parallel, union ompt_data *task, uint64_t count,
		 const void *code)
{
	if (endpoint == OMPT_END)
		end();
	PASS_ON(OMPT_WORK, (int, int, union ompt_data *, union ompt_data *, uint64_t, const void *),
		(kind, endpoint, parallel, task, count, code));
	if (endpoint == OMPT_BEGIN)
		begin(place_name(work_kind(kind), code));
}

static const char *wait_kind(int kind)
{
	static const char *const kinds[] = {
		NULL, "barrier", "barrier", "barrier", "barrier", "taskwait", "taskgroup", "reduction", "barrier", "barrier",
		"barrier",
	};

	return kind > 0 && (size_t)kind < sizeof(kinds) / sizeof(*kinds) ? kinds[kind] : "wait";
}

static void sync_wait(int kind, int endpoint, union ompt_data *parallel, union ompt_data *task, const void *code)
{
	if (endpoint == OMPT_END)
		end();
	PASS_ON(OMPT_SYNC_REGION_WAIT, (int, int, union ompt_data *, union ompt_data *, const void *),
		(kind, endpoint, parallel, task, code));
	if (endpoint == OMPT_BEGIN)
		begin(place_name(wait_kind(kind), code));
}

static const ompt_function our_callbacks[OMPT_EVENTS] = {
	[OMPT_PARALLEL_BEGIN] = (ompt_function)parallel_begin, [OMPT_PARALLEL_END] = (ompt_function)parallel_end,
	[OMPT_IMPLICIT_TASK] = (ompt_function)implicit_task, [OMPT_WORK] = (ompt_function)work,
	[OMPT_SYNC_REGION_WAIT] = (ompt_function)sync_wait,
};

/* ---- the other tool */

static bool event_is_ours(int event)
{
	return event > 0 && event < OMPT_EVENTS && our_callbacks[event];
}

static int set_callback(int event, ompt_function callback)
{
	if (!event_is_ours(event))
		return runtime_set(event, callback);
	__atomic_store_n(&their_callbacks[event], callback, __ATOMIC_RELEASE);
	return OMPT_SET_ALWAYS;
}

static int get_callback(int event, ompt_function *callback)
{
	int found = runtime_get ? runtime_get(event, callback) : 0;

	/* LLVM's has none before the tool is initialized. */
	if (!event_is_ours(event) || !found)
		return found;
	*callback = __atomic_load_n(&their_callbacks[event], __ATOMIC_ACQUIRE);
	return *callback != NULL;
}

static ompt_function lookup(const char *name)
{
	if (!strcmp(name, "ompt_set_callback"))
		return (ompt_function)set_callback;
	if (!strcmp(name, "ompt_get_callback"))
		return (ompt_function)get_callback;
	return runtime_lookup(name);
}

/* The first of the user's list that is willing, as the runtime looks for one. */
static struct ompt_tool *list_start(unsigned version, const char *runtime)
{
	const char *user = secure_getenv(MARKERS_NEXT VARIABLE);
	char *list = user ? strdup(user) : NULL, *rest = NULL;
	struct ompt_tool *tool = NULL;

	for (char *path = list ? strtok_r(list, ":", &rest) : NULL; path && !tool; path = strtok_r(NULL, ":", &rest)) {
		void *library = dlopen(path, RTLD_LAZY);
		struct ompt_tool *(*start)(unsigned, const char *) =
			library ? (struct ompt_tool *(*)(unsigned, const char *))dlsym(library, "ompt_start_tool") : NULL;

		if (start && start != ompt_start_tool)
			tool = start(version, runtime);
		if (library && !tool)
			dlclose(library);
	}
	dlerror();
	free(list);
	return tool;
}

/* ---- ours */

static int initialize(ompt_lookup find, int device, union ompt_data *data)
{
	(void)data;
	runtime_lookup = find;
	runtime_set = (int (*)(int, ompt_function))find("ompt_set_callback");
	runtime_get = (int (*)(int, ompt_function *))find("ompt_get_callback");
	if (!runtime_set)
		return theirs ? theirs->initialize(find, device, &theirs->data) : 0;
	if (theirs && !theirs->initialize(lookup, device, &theirs->data)) {
		theirs = NULL;
		memset(their_callbacks, 0, sizeof(their_callbacks));
	}
	for (int event = 0; event < OMPT_EVENTS; event++)
		if (our_callbacks[event])
			runtime_set(event, our_callbacks[event]);
	return 1;
}

static void finalize(union ompt_data *data)
{
	(void)data;
	if (theirs && theirs->finalize)
		theirs->finalize(&theirs->data);
}

struct ompt_tool *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct ompt_tool ours = { .initialize = initialize, .finalize = finalize };
	static struct next next = { .name = "ompt_start_tool" };
	static bool asked;
	struct ompt_tool *(*real)(unsigned, const char *);

	real = (struct ompt_tool *(*)(unsigned, const char *))next_find(&next);
	if (!marker_wanted(MARKER_ompt))
		return real ? real(version, runtime) : NULL;
	if (__atomic_exchange_n(&asked, true, __ATOMIC_ACQ_REL))
		return NULL;
	/* In the order of the runtime: one that is loaded, then those of the list. */
	theirs = real ? real(version, runtime) : NULL;
	theirs = theirs ? theirs : list_start(version, runtime);
	return &ours;
}
