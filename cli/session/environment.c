/* SPDX-License-Identifier: MIT */
/* The environment that the command gets: ours, with the agent and what markers of other tools need. */
#define _GNU_SOURCE
#include "cli/session/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "cli/log.h"
#include "common/markers.h"

extern char **environ;

static const struct session_marker markers[] = {
#define MARKER(name, environment, symbols, meaning) { #name, environment, symbols, meaning },
#include "common/markers.def"
#undef MARKER
};

const struct session_marker *session_markers(size_t *n)
{
	*n = ARRAY_SIZE(markers);
	return markers;
}

bool session_markers_library(const char *agent, char *path, size_t size)
{
	const char *slash = strrchr(agent, '/');

	return slash && snprintf(path, size, "%.*s/" MARKERS_LIBRARY, (int)(slash - agent), agent) < (int)size &&
	       access(path, R_OK) == 0;
}

/* ---- LD_PRELOAD */

/*
 * The agent by a name that suits all programs of the tree (agent/preload.sh makes the folder). ld.so puts
 * its own machine for $PLATFORM (ld.so(8)): a 32-bit one finds an empty library. musl's, which knows no
 * such thing, finds no file; both say nothing. And the runtime of the address sanitizer refuses to start
 * behind another library, but for one whose path has its own name in it; linked statically it refuses
 * files of that name, so the link's name has it and the file's has not.
 */
static bool preload_folder(const char *agent, char *folder, size_t size)
{
	const char *platform = (const char *)(uintptr_t)getauxval(AT_PLATFORM);
	char file[PATH_MAX];
	int n = snprintf(folder, size, "%.*s/" SERVER_FOLDER_LINK, (int)(strrchr(agent, '/') - agent), agent);

	return platform && n < (int)size &&
	       snprintf(file, sizeof(file), "%s/%s%s", folder, platform, strrchr(agent, '/')) < (int)sizeof(file) &&
	       access(file, R_OK) == 0;
}

/* ld.so splits LD_PRELOAD at colons and blanks (ld.so(8)): a path with one goes through a link in our directory. */
static const char *preload_path(const char *file, const char *dir, char *path, size_t size)
{
	bool split = strpbrk(file, ": \t") != NULL;
	char folder[PATH_MAX], link[160];

	if (preload_folder(file, folder, sizeof(folder))) {
		snprintf(link, sizeof(link), "%s/" SERVER_FOLDER_LINK, dir);
		if (split && symlink(folder, link) && errno != EEXIST)
			return NULL;
		snprintf(path, size, "%s/$PLATFORM%s", split ? link : folder, strrchr(file, '/'));
		return path;
	}
	if (!split)
		return file;
	snprintf(path, size, "%s%s", dir, strrchr(file, '/'));
	return symlink(file, path) ? NULL : path;
}

static bool path_ends(const char *path, size_t n, const char *tail)
{
	size_t length = strlen(tail);

	return n >= length && !strncmp(path + n - length, tail, length);
}

/* The user's own preloads, without libraries of ours that a session around this one put there. NULL: none. */
static char *preload_others(void)
{
	const char *old = getenv("LD_PRELOAD");
	char *list = old ? calloc(1, strlen(old) + 1) : NULL;
	size_t at = 0;

	if (list && !strstr(old, "/" SERVER_AGENT_LINK) && !strstr(old, "/" MARKERS_LIBRARY))
		return strcpy(list, old);

	for (old = list ? old : ""; *old;) {
		size_t n = strcspn(old, ": \t");
		bool ours = path_ends(old, n, "/" SERVER_AGENT_LINK) || path_ends(old, n, "/" MARKERS_LIBRARY);

		if (n && !ours)
			at += (size_t)sprintf(list + at, "%s%.*s", at ? ":" : "", (int)n, old);
		old += n + (old[n] != 0);
	}
	return list;
}

/* ---- variables */

struct variables {
	char **list;
	size_t n;
	bool failed;
};

static void __attribute__((format(printf, 2, 3))) variable_add(struct variables *all, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		all->failed = true;
	else
		all->list[all->n++] = text;
	va_end(arguments);
}

static bool variable_is(const char *entry, const char *prefix, const char *name)
{
	size_t a = strlen(prefix), b = strlen(name);

	return !strncmp(entry, prefix, a) && !strncmp(entry + a, name, b) && entry[a + b] == '=';
}

/* It gets another value, or none. */
static bool variable_is_ours(const char *entry, const struct session_options *options)
{
	bool ours = variable_is(entry, "", "LD_PRELOAD") || variable_is(entry, "", WIRE_ENV) || variable_is(entry, "", MARKERS_ENV);

	for (size_t i = 0; i < ARRAY_SIZE(markers); i++)
		if (options->markers & 1u << i && markers[i].environment[0])
			ours = ours || variable_is(entry, "", markers[i].environment) ||
			       variable_is(entry, MARKERS_NEXT, markers[i].environment);
	return ours;
}

/* A variable that leads programs to our library, and what the user had there: that is asked by ours. */
static void marker_add(struct variables *all, const struct session_marker *marker, const char *library)
{
	const char *old = getenv(marker->environment);
	char next[128];

	snprintf(next, sizeof(next), MARKERS_NEXT "%s", marker->environment);
	if (old && path_ends(old, strlen(old), "/" MARKERS_LIBRARY))
		old = getenv(next);
	if (old)
		variable_add(all, "%s=%s", next, old);
	variable_add(all, "%s=%s", marker->environment, library);
}

static void markers_add(struct variables *all, const struct session_options *options, const char *library)
{
	char list[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(markers); i++) {
		if (!(options->markers & 1u << i))
			continue;
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", used ? "," : "", markers[i].name);
		if (markers[i].environment[0])
			marker_add(all, &markers[i], library);
	}
	if (used)
		variable_add(all, MARKERS_ENV "=%s%s", options->no_inherit ? (const char[]){ MARKERS_ALONE, 0 } : "", list);
}

/* Some of what is wanted takes the place of functions, by being found before them. */
static bool markers_interpose(const struct session_options *options)
{
	for (size_t i = 0; i < ARRAY_SIZE(markers); i++)
		if (options->markers & 1u << i && !markers[i].environment[0])
			return true;
	return false;
}

/* The agent comes first, the user's own last. */
static void preload_add(struct variables *all, const struct session_options *options, const char *agent, const char *library,
			const char *dir)
{
	char path[PATH_MAX + 64], second[PATH_MAX + 64];
	const char *first = preload_path(agent, dir, path, sizeof(path));
	const char *behind = first && markers_interpose(options) ? preload_path(library, dir, second, sizeof(second)) : "";
	char *others = preload_others();

	if (first && behind)
		variable_add(all, "LD_PRELOAD=%s%s%s%s%s", first, *behind ? ":" : "", behind, others && *others ? ":" : "",
			others ? others : "");
	all->failed = all->failed || !first || !behind;
	free(others);
}

char **target_environment(const struct session_options *options, const char *agent, const char *invitation, const char *dir)
{
	struct variables all = { .n = 0 };
	char library[PATH_MAX] = "";
	size_t n = 0;

	while (environ[n])
		n++;
	all.list = calloc(n + 2 * MARKERS + 4, sizeof(*all.list));
	if (!all.list) {
		error("out of memory");
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		if (!variable_is_ours(environ[i], options))
			variable_add(&all, "%s", environ[i]);
	session_markers_library(agent, library, sizeof(library));
	preload_add(&all, options, agent, library, dir);
	variable_add(&all, "%s=%s", WIRE_ENV, invitation);
	markers_add(&all, options, library);
	if (!all.failed)
		return all.list;
	error("cannot prepare the environment: %s", strerror(errno));
	target_environment_free(all.list);
	return NULL;
}

void target_environment_free(char **env)
{
	for (size_t i = 0; env[i]; i++)
		free(env[i]);
	free(env);
}
