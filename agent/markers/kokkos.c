/* SPDX-License-Identifier: MIT */
/*
 * Kokkos Tools (Kokkos_Profiling_C_Interface.h and Kokkos_Profiling.cpp of github.com/kokkos/kokkos): a program
 * opens the first library that KOKKOS_TOOLS_LIBS lists and looks its functions up by name. Regions, kernels and fences
 * have the names that they are given, sections those of their numbers.
 *
 * A tool that was listed before has all calls, ours in between. What makes no region is not ours at all: the look-up
 * of such a name finds the tool's function, or none, as what a tool has decides what Kokkos does.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/markers/opened.h"

#define SECTIONS_MOST 1024

struct Kokkos_Profiling_SpaceHandle {
	char name[64];
};

/* Kokkos_Tools_ToolSettings: whether to wait for each kernel, and what is to be added. */
struct Kokkos_Tools_ToolSettings {
	bool requires_global_fencing;
	bool padding[255];
};

typedef void begin_function(const char *name, uint32_t device, uint64_t *id);
typedef void end_function(uint64_t id);
typedef void section_function(uint32_t id);
typedef void copy_function(struct Kokkos_Profiling_SpaceHandle to, const char *to_name, const void *to_at,
			   struct Kokkos_Profiling_SpaceHandle from, const char *from_name, const void *from_at,
			   uint64_t size);

/* ---- the other tool */

static void *tool;
static bool tool_opened;

/* KOKKOS_PROFILE_LIBRARY is what it was called before, and counts where the newer one is not set. */
static void *tool_open(void)
{
	const char *list = secure_getenv(MARKERS_NEXT "KOKKOS_TOOLS_LIBS");
	char path[PATH_MAX];
	size_t length;

	if (!list)
		list = secure_getenv("KOKKOS_PROFILE_LIBRARY");
	length = list ? strcspn(list, ";") : 0;
	if (!length || length >= sizeof(path))
		return NULL;
	memcpy(path, list, length);
	path[length] = 0;
	return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

/* Asked first while the program looks for our functions, under the loader's lock. */
static void *tool_find(const char *name)
{
	void *function;

	if (!__atomic_load_n(&tool_opened, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&tool, tool_open(), __ATOMIC_RELAXED);
		__atomic_store_n(&tool_opened, true, __ATOMIC_RELEASE);
	}
	function = tool ? dlsym(tool, name) : NULL;
	dlerror();
	return function;
}

/* The tool's function behind one of ours. */
struct real {
	const char *name;
	void *function;
	bool asked;
};

static void *real_get(struct real *real)
{
	if (!__atomic_load_n(&real->asked, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&real->function, tool_find(real->name), __ATOMIC_RELAXED);
		__atomic_store_n(&real->asked, true, __ATOMIC_RELEASE);
	}
	return real->function;
}

/* ---- what the tool alone has */

#define PASS(call) \
	MARKER_EXPORT void kokkosp_##call(void); \
	__attribute__((used)) static void (*find_##call(void))(void) \
	{ \
		return (void (*)(void))tool_find("kokkosp_" #call); \
	} \
	void kokkosp_##call(void) __attribute__((ifunc("find_" #call)))

PASS(init_library);
PASS(finalize_library);
PASS(parse_args);
PASS(print_help);
PASS(provide_tool_programming_interface);
PASS(allocate_data);
PASS(deallocate_data);
PASS(profile_event);
PASS(dual_view_sync);
PASS(dual_view_modify);
PASS(declare_metadata);
PASS(declare_output_type);
PASS(declare_input_type);
PASS(declare_optimization_goal);
PASS(request_values);
PASS(begin_context);
PASS(end_context);

MARKER_EXPORT void kokkosp_request_tool_settings(uint32_t count, struct Kokkos_Tools_ToolSettings *settings);

/* For us alone no program has to wait for a device more often than it does. */
void kokkosp_request_tool_settings(uint32_t count, struct Kokkos_Tools_ToolSettings *settings)
{
	static struct real real = { .name = "kokkosp_request_tool_settings" };
	void (*function)(uint32_t, struct Kokkos_Tools_ToolSettings *) =
		(void (*)(uint32_t, struct Kokkos_Tools_ToolSettings *))real_get(&real);

	if (function)
		function(count, settings);
	else if (!tool && count > 0)
		settings->requires_global_fencing = false;
}

/* ---- kernels and fences: an end has the number that its begin gave */

static void kernel_begin(struct real *real, const char *name, uint32_t device, uint64_t *id)
{
	static uint64_t last;
	begin_function *function = (begin_function *)real_get(real);

	if (function)
		function(name, device, id);
	else
		*id = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	if (marker_wanted(MARKER_kokkos))
		opened_begin(real, *id, name);
}

static void kernel_end(struct real *begin, struct real *end, uint64_t id)
{
	end_function *function;

	opened_end(begin, id);
	function = (end_function *)real_get(end);
	if (function)
		function(id);
}

#define KERNEL(kind) \
	MARKER_EXPORT begin_function kokkosp_begin_##kind; \
	MARKER_EXPORT end_function kokkosp_end_##kind; \
	static struct real begin_##kind = { .name = "kokkosp_begin_" #kind }; \
	static struct real end_##kind = { .name = "kokkosp_end_" #kind }; \
	void kokkosp_begin_##kind(const char *name, uint32_t device, uint64_t *id) \
	{ \
		kernel_begin(&begin_##kind, name, device, id); \
	} \
	void kokkosp_end_##kind(uint64_t id) \
	{ \
		kernel_end(&begin_##kind, &end_##kind, id); \
	}

KERNEL(parallel_for)
KERNEL(parallel_reduce)
KERNEL(parallel_scan)
KERNEL(fence)

/* ---- regions and copies: the newest one ends */

MARKER_EXPORT void kokkosp_push_profile_region(const char *name);
MARKER_EXPORT void kokkosp_pop_profile_region(void);
MARKER_EXPORT copy_function kokkosp_begin_deep_copy;
MARKER_EXPORT void kokkosp_end_deep_copy(void);

static struct real push = { .name = "kokkosp_push_profile_region" }, copy = { .name = "kokkosp_begin_deep_copy" };

void kokkosp_push_profile_region(const char *name)
{
	void (*function)(const char *) = (void (*)(const char *))real_get(&push);

	if (function)
		function(name);
	if (marker_wanted(MARKER_kokkos))
		opened_begin(&push, 0, name);
}

static void newest_end(struct real *begin, struct real *end)
{
	void (*function)(void);

	opened_end(begin, 0);
	function = (void (*)(void))real_get(end);
	if (function)
		function();
}

void kokkosp_pop_profile_region(void)
{
	static struct real pop = { .name = "kokkosp_pop_profile_region" };

	newest_end(&push, &pop);
}

void kokkosp_begin_deep_copy(struct Kokkos_Profiling_SpaceHandle to, const char *to_name, const void *to_at,
			     struct Kokkos_Profiling_SpaceHandle from, const char *from_name, const void *from_at,
			     uint64_t size)
{
	copy_function *function = (copy_function *)real_get(&copy);

	if (function)
		function(to, to_name, to_at, from, from_name, from_at, size);
	if (marker_wanted(MARKER_kokkos)) {
		opened_begin(&copy, 0, "Kokkos::deep_copy");
		spark_metric("Kokkos::deep_copy bytes", (double)size);
	}
}

void kokkosp_end_deep_copy(void)
{
	static struct real end = { .name = "kokkosp_end_deep_copy" };

	newest_end(&copy, &end);
}

/* ---- sections: made once, started and stopped by their numbers */

MARKER_EXPORT void kokkosp_create_profile_section(const char *name, uint32_t *id);
MARKER_EXPORT section_function kokkosp_start_profile_section, kokkosp_stop_profile_section;
MARKER_EXPORT section_function kokkosp_destroy_profile_section;

static struct section {
	uint32_t id;
	char *name;                  /* NULL: free */
} sections[SECTIONS_MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* With the lock. */
static struct section *section_find(uint32_t id)
{
	for (size_t i = 0; i < SECTIONS_MOST; i++)
		if (sections[i].name && sections[i].id == id)
			return &sections[i];
	return NULL;
}

static void section_add(uint32_t id, const char *name)
{
	struct section *section;
	char *text = strdup(name);

	pthread_mutex_lock(&lock);
	section = section_find(id);
	for (size_t i = 0; !section && i < SECTIONS_MOST; i++)
		section = sections[i].name ? NULL : &sections[i];
	if (section) {
		char *old = section->name;

		*section = (struct section){ .id = id, .name = text };
		text = old;
	}
	pthread_mutex_unlock(&lock);
	free(text);
}

/* To be freed. */
static char *section_name(uint32_t id)
{
	struct section *section;
	char *name;

	pthread_mutex_lock(&lock);
	section = section_find(id);
	name = section ? strdup(section->name) : NULL;
	pthread_mutex_unlock(&lock);
	return name;
}

static void section_pass(struct real *real, uint32_t id)
{
	section_function *function = (section_function *)real_get(real);

	if (function)
		function(id);
}

void kokkosp_create_profile_section(const char *name, uint32_t *id)
{
	static struct real real = { .name = "kokkosp_create_profile_section" };
	static uint32_t last;
	void (*function)(const char *, uint32_t *) = (void (*)(const char *, uint32_t *))real_get(&real);

	if (function)
		function(name, id);
	else
		*id = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	if (name && marker_wanted(MARKER_kokkos))
		section_add(*id, name);
}

void kokkosp_start_profile_section(uint32_t id)
{
	static struct real real = { .name = "kokkosp_start_profile_section" };
	char *name = section_name(id);

	section_pass(&real, id);
	if (name)
		opened_begin(sections, id, name);
	free(name);
}

void kokkosp_stop_profile_section(uint32_t id)
{
	static struct real real = { .name = "kokkosp_stop_profile_section" };

	opened_end(sections, id);
	section_pass(&real, id);
}

void kokkosp_destroy_profile_section(uint32_t id)
{
	static struct real real = { .name = "kokkosp_destroy_profile_section" };
	struct section *section;
	char *name = NULL;

	pthread_mutex_lock(&lock);
	section = section_find(id);
	if (section) {
		name = section->name;
		section->name = NULL;
	}
	pthread_mutex_unlock(&lock);
	free(name);
	section_pass(&real, id);
}
