/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints: system:name, both may be patterns. Their ids stand in tracefs, which is root's alone
 * unless it was mounted otherwise; then what root saved of it serves (cli/caps/ids.h).
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "cli/caps/ids.h"
#include "cli/log.h"
#include "cli/names/internal.h"

/* What stops a walk, after a message; errors of the folder itself are below 0. */
#define TRACEPOINT_FAILED 1

struct tracepoint_search {
	struct names_context *context;
	struct event_list *list;
	char mount[256];             /* of tracefs */
	const char *systems, *names; /* patterns */
	const char *system;          /* the one looked into */
	int refused;                 /* errno of an id that could not be read */
};

struct tracepoint_walk {
	struct names_context *context;
	char mount[256];
	const char *systems;         /* a pattern */
	const char *system;          /* the one looked into */
	int (*each)(void *data, const char *system, const char *name);
	void *data;
};

/* A part of a path, or a pattern of one; never the way out of a folder. */
static bool tracepoint_word(const char *word)
{
	return *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-*?[]!")];
}

/*
 * Whether its count under exclude_kernel means something: it is judged by the registers that it
 * gives the kernel, which are the program's at a system call (perf_syscall_enter() in
 * kernel/trace/trace_syscalls.c) and the kernel's elsewhere.
 */
static enum event_side tracepoint_side(const char *system)
{
	return strcmp(system, "syscalls") ? EVENT_KERNEL : EVENT_USER;
}

/* Returns TRACEPOINT_FAILED after a message. */
static int tracepoint_append(struct tracepoint_search *search, const char *system, const char *name, u64 id)
{
	struct event *event = event_add(search->list, PERF_TYPE_TRACEPOINT, id);

	if (!event || event_set(&event->name, "%s:%s", system, name))
		return TRACEPOINT_FAILED;
	event->side = tracepoint_side(system);
	return 0;
}

static int tracepoint_found(void *data, const char *name)
{
	struct tracepoint_search *search = data;
	char path[PATH_MAX], text[32];
	long len;
	u64 id;

	if (fnmatch(search->names, name, 0) != 0 || strlen(name) > 128)
		return 0;
	snprintf(path, sizeof(path), "%s/events/%s/%s/id", search->mount, search->system, name);
	len = facts_read(search->context->caps, path, text, sizeof(text));
	text[strcspn(text, "\n")] = '\0';
	if (len < 0 || !number_parse(text, &id)) {
		/* enable and filter are no tracepoints. */
		search->refused = len == -EACCES || len == -EPERM ? (int)-len : search->refused;
		return 0;
	}
	return tracepoint_append(search, search->system, name, id);
}

static int tracepoint_system(void *data, const char *system)
{
	struct tracepoint_search *search = data;
	char path[PATH_MAX];
	int result;

	if (fnmatch(search->systems, system, 0) != 0 || strlen(system) > 128)
		return 0;
	search->system = system;
	snprintf(path, sizeof(path), "%s/events/%s", search->mount, system);
	result = pmu_scan(search->context, path, tracepoint_found, search);
	return result == TRACEPOINT_FAILED ? result : 0;
}

static int tracepoint_suggest(void *data, const char *system, const char *name)
{
	(void)system;
	suggestion_offer(data, name);
	return 0;
}

static int tracepoint_suggest_system(void *data, const char *system, const char *name)
{
	(void)name;
	suggestion_offer(data, system);
	return 0;
}

static int tracepoint_any(void *data, const char *system, const char *name)
{
	(void)data;
	(void)system;
	(void)name;
	return 1;
}

static int tracepoint_unknown(struct tracepoint_search *search)
{
	struct suggestion near;
	char text[400];

	if (names_each_tracepoint(search->context, search->systems, tracepoint_any, NULL) == 1) {
		suggestion_init(&near, search->names);
		names_each_tracepoint(search->context, search->systems, tracepoint_suggest, &near);
		return error("there is no tracepoint '%s' in %s%s", search->names, search->systems,
			suggestion_text(&near, text, sizeof(text)));
	}
	suggestion_init(&near, search->systems);
	names_each_tracepoint(search->context, "*", tracepoint_suggest_system, &near);
	return error("there are no tracepoints '%s:%s'%s", search->systems, search->names,
		suggestion_text(&near, text, sizeof(text)));
}

/* It may well be there, but who knows. */
static int tracepoint_add_hidden(struct tracepoint_search *search, const struct outcome *why)
{
	struct event *event;

	if (tracepoint_append(search, search->systems, search->names, 0))
		return -1;
	event = &search->list->event[search->list->n - 1];
	return event_set(&event->obstacle, "%s%s%s", why->because, why->remedy[0] ? "; " : "", why->remedy) ? -1 : 1;
}

/* Those that the saved ids have of it. *known: they have others of such a system. */
static int tracepoint_add_listed(struct tracepoint_search *search, const struct ids *ids, bool *known)
{
	const char *at = NULL;
	struct ids_row row;

	while (ids_next(ids, &at, &row)) {
		if (fnmatch(search->systems, row.system, 0) != 0)
			continue;
		*known = true;
		if (fnmatch(search->names, row.name, 0) == 0 &&
		    tracepoint_append(search, row.system, row.name, row.id))
			return TRACEPOINT_FAILED;
	}
	return 0;
}

/* Without tracefs, which answers with err. */
static int tracepoint_add_saved(struct tracepoint_search *search, int err, const char *mount)
{
	size_t from = search->list->n;
	char name[300];
	struct outcome why;
	struct ids ids;
	bool known = false;
	int failed;

	snprintf(name, sizeof(name), "%.140s:%.140s", search->systems, search->names);
	why = advice_tracefs(search->context->caps, err, mount, name);
	if (ids_load(search->context->caps, &ids, &why))
		return tracepoint_add_hidden(search, &why);
	failed = tracepoint_add_listed(search, &ids, &known);
	ids_fini(&ids);
	if (failed)
		return -1;
	if (search->list->n > from)
		return (int)(search->list->n - from);
	if (known)
		return tracepoint_unknown(search);
	ids_lack(&why, mount, name);
	return tracepoint_add_hidden(search, &why);
}

int tracepoint_add(struct names_context *context, struct event_list *list, const char *system,
	const char *name)
{
	struct tracepoint_search search = { .context = context, .list = list, .systems = system, .names = name };
	size_t from = list->n;
	char path[PATH_MAX];
	int result;

	if (!tracepoint_word(system) || !tracepoint_word(name))
		return 0;
	result = tracing_find(context->caps, search.mount, sizeof(search.mount));
	if (result)
		return tracepoint_add_saved(&search, -result, NULL);
	snprintf(path, sizeof(path), "%s/events", search.mount);
	result = pmu_scan(context, path, tracepoint_system, &search);
	if (result == TRACEPOINT_FAILED)
		return -1;
	if (list->n > from)
		return (int)(list->n - from);
	if (result < 0 || search.refused)
		return tracepoint_add_saved(&search, result < 0 ? -result : search.refused, search.mount);
	return tracepoint_unknown(&search);
}

static int walk_name(void *data, const char *name)
{
	struct tracepoint_walk *walk = data;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/events/%s/%s/id", walk->mount, walk->system, name);
	return facts_exists(walk->context->caps, path) ? walk->each(walk->data, walk->system, name) : 0;
}

static int walk_system(void *data, const char *system)
{
	struct tracepoint_walk *walk = data;
	char path[PATH_MAX];
	int stop;

	if (fnmatch(walk->systems, system, 0) != 0)
		return 0;
	walk->system = system;
	snprintf(path, sizeof(path), "%s/events/%s", walk->mount, system);
	stop = pmu_scan(walk->context, path, walk_name, walk);
	return stop < 0 ? 0 : stop;
}

/* By the saved ids, or err. */
static int walk_saved(struct tracepoint_walk *walk, int err)
{
	struct outcome why = { .because = "" };
	const char *at = NULL;
	struct ids_row row;
	struct ids ids;
	int stop = 0;

	if (ids_load(walk->context->caps, &ids, &why))
		return err;
	while (!stop && ids_next(&ids, &at, &row))
		if (fnmatch(walk->systems, row.system, 0) == 0)
			stop = walk->each(walk->data, row.system, row.name);
	ids_fini(&ids);
	return stop;
}

int names_each_tracepoint(struct names_context *context, const char *systems,
	int (*each)(void *data, const char *system, const char *name), void *data)
{
	struct tracepoint_walk walk = { .context = context, .systems = systems, .each = each, .data = data };
	int stop = tracing_find(context->caps, walk.mount, sizeof(walk.mount));
	char path[PATH_MAX];

	if (stop == 0) {
		snprintf(path, sizeof(path), "%s/events", walk.mount);
		stop = pmu_scan(context, path, walk_system, &walk);
	}
	return stop < 0 ? walk_saved(&walk, stop) : stop;
}
