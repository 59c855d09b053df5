/* SPDX-License-Identifier: MIT */
/*
 * The catalog of events; see events.h. Generic names are perf's. A group is added empty, named and
 * tried; its events are added to the last group.
 */
#include "cli/caps/events.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/caps/sysfs.h"
#include "cli/caps/try.h"
#include "common/base.h"

struct events_generic {
	const char *name, *detail;
};

static const struct events_generic events_hardware[] = {
	{ "cycles", "cpu-cycles" },
	{ "instructions", "" },
	{ "branches", "branch-instructions" },
	{ "branch-misses", "" },
	{ "cache-references", "" },
	{ "cache-misses", "" },
	{ "bus-cycles", "" },
	{ "ref-cycles", "" },
	{ "stalled-cycles-frontend", "idle-cycles-frontend" },
	{ "stalled-cycles-backend", "idle-cycles-backend" },
};

static const struct events_generic events_software[] = {
	{ "task-clock", "" },
	{ "cpu-clock", "" },
	{ "page-faults", "faults" },
	{ "minor-faults", "" },
	{ "major-faults", "" },
	{ "context-switches", "cs" },
	{ "cpu-migrations", "migrations" },
	{ "alignment-faults", "" },
	{ "emulation-faults", "" },
	{ "cgroup-switches", "" },
	{ "bpf-output", "" },
	{ "dummy", "" },
};

/* Which operations make sense for a cache: loads, stores, prefetches. */
static const struct { const char *name; bool stores, prefetches; } events_caches[] = {
	{ "L1-dcache", true, true }, { "L1-icache", false, true }, { "LLC", true, true },
	{ "dTLB", true, true }, { "iTLB", false, false }, { "branch", false, false },
	{ "node", true, true },
};

static struct event_group *events_last(struct event_catalog *catalog)
{
	return &catalog->groups[catalog->n - 1];
}

static int events_add_group(struct event_catalog *catalog, const char *name, const char *form,
	struct outcome outcome)
{
	struct event_group *groups = realloc(catalog->groups, (catalog->n + 1) * sizeof(*groups));

	if (!groups)
		return -ENOMEM;
	catalog->groups = groups;
	groups += catalog->n;
	*groups = (struct event_group) {
		.name = strdup(name), .form = strdup(form), .outcome = outcome, .listed = true,
	};
	catalog->n++;
	return groups->name && groups->form ? 0 : -ENOMEM;
}

static int events_add(struct event_catalog *catalog, const char *detail, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int events_add(struct event_catalog *catalog, const char *detail, const char *format, ...)
{
	struct event_group *group = events_last(catalog);
	struct event_name *list = realloc(group->list, (group->n + 1) * sizeof(*list));
	va_list args;
	int len;

	if (!list)
		return -ENOMEM;
	group->list = list;
	list += group->n;
	va_start(args, format);
	len = vasprintf(&list->name, format, args);
	va_end(args);
	if (len < 0)
		return -ENOMEM;
	list->detail = strdup(detail);
	group->n++;
	group->known++;
	return list->detail ? 0 : -ENOMEM;
}

static int events_add_generic(struct event_catalog *catalog, const char *name,
	const struct events_generic *rows, size_t n, struct outcome outcome)
{
	int err = events_add_group(catalog, name, "", outcome);
	size_t i;

	for (i = 0; !err && i < n; i++)
		err = events_add(catalog, rows[i].detail, "%s", rows[i].name);
	return err;
}

static int events_add_caches(struct event_catalog *catalog, struct outcome outcome)
{
	static const char *const operations[] = { "load", "store", "prefetch" };
	int err = events_add_group(catalog, "cache", "", outcome);
	size_t i, k;

	for (i = 0; !err && i < ARRAY_SIZE(events_caches); i++)
		for (k = 0; !err && k < ARRAY_SIZE(operations); k++) {
			if ((k == 1 && !events_caches[i].stores) ||
			    (k == 2 && !events_caches[i].prefetches))
				continue;
			err = events_add(catalog, "", "%s-%s%s", events_caches[i].name,
				operations[k], k == 2 ? "es" : "s");
			if (!err)
				err = events_add(catalog, "", "%s-%s-misses",
					events_caches[i].name, operations[k]);
		}
	return err;
}

/* "pmu/event=...,umask=.../", from the names of its terms. */
static void events_write_form(const struct caps_context *context, const char *pmu, char *form,
	size_t size)
{
	struct sysfs_names terms;
	char path[PATH_MAX];
	size_t i, len;

	snprintf(path, sizeof(path), SYSFS_PMUS "/%s/format", pmu);
	form[0] = '\0';
	if (sysfs_list(context, path, false, &terms))
		return;
	len = (size_t)snprintf(form, size, "%s/", pmu);
	for (i = 0; i < terms.n && len < size; i++)
		len += (size_t)snprintf(form + len, size - len, "%s%s=N", i ? "," : "",
			terms.list[i]);
	if (len < size)
		snprintf(form + len, size - len, "/");
	sysfs_names_fini(&terms);
}

static int events_add_pmu(const struct caps_context *context, struct event_catalog *catalog,
	const char *pmu)
{
	struct sysfs_names events = { .n = 0 };
	char path[PATH_MAX], terms[256] = "", form[512];
	int err;
	size_t i;

	events_write_form(context, pmu, form, sizeof(form));
	snprintf(path, sizeof(path), SYSFS_PMUS "/%s/events", pmu);
	sysfs_list(context, path, true, &events);
	if (events.n) {
		snprintf(path, sizeof(path), SYSFS_PMUS "/%s/events/%s", pmu, events.list[0]);
		facts_read(context, path, terms, sizeof(terms));
	}
	err = events_add_group(catalog, pmu, form, events_try_pmu(context, pmu, terms));
	for (i = 0; !err && i < events.n; i++) {
		snprintf(path, sizeof(path), SYSFS_PMUS "/%s/events/%s", pmu, events.list[i]);
		facts_read(context, path, terms, sizeof(terms));
		terms[strcspn(terms, "\n")] = '\0';
		err = events_add(catalog, terms, "%s/%s/", pmu, events.list[i]);
	}
	sysfs_names_fini(&events);
	return err;
}

/* All but those that are groups of their own here. */
static int events_add_pmus(const struct caps_context *context, struct event_catalog *catalog)
{
	static const char *const others[] = { "software", "breakpoint", "tracepoint" };
	struct sysfs_names pmus;
	int err = sysfs_list(context, SYSFS_PMUS, false, &pmus);
	size_t i, k;

	if (err) {
		err = events_add_group(catalog, "sysfs", "",
			advice_sysfs(context, -err, SYSFS_PMUS));
		events_last(catalog)->listed = false;
		return err;
	}
	for (i = 0; !err && i < pmus.n; i++) {
		for (k = 0; k < ARRAY_SIZE(others) && strcmp(pmus.list[i], others[k]); k++)
			;
		if (k == ARRAY_SIZE(others))
			err = events_add_pmu(context, catalog, pmus.list[i]);
	}
	sysfs_names_fini(&pmus);
	return err;
}

/* Adds or counts the tracepoints of one folder: those that have a number. */
static int events_add_system(const struct caps_context *context, struct event_catalog *catalog,
	const char *folder, const char *system, bool listed)
{
	struct sysfs_names events;
	char path[PATH_MAX];
	size_t i, len;
	int err = 0;

	len = (size_t)snprintf(path, sizeof(path), "%s/%s", folder, system);
	if (len >= sizeof(path) || sysfs_list(context, path, false, &events))
		return 0;
	for (i = 0; !err && i < events.n; i++) {
		snprintf(path + len, sizeof(path) - len, "/%s/id", events.list[i]);
		if (!facts_exists(context, path))
			continue;
		if (listed)
			err = events_add(catalog, "", "%s:%s", system, events.list[i]);
		else
			events_last(catalog)->known++;
	}
	sysfs_names_fini(&events);
	return err;
}

static int events_add_tracepoints(struct caps_context *context, struct event_catalog *catalog,
	bool listed)
{
	int err = events_add_group(catalog, "tracepoint", "", tracing_probe(context));
	char folder[PATH_MAX / 2];
	struct sysfs_names systems;
	size_t i;

	if (err)
		return err;
	events_last(catalog)->listed = false;
	if (tracing_find(context, folder, sizeof(folder) - sizeof("/events")))
		return 0;
	strcat(folder, "/events");
	if (sysfs_list(context, folder, false, &systems))
		return 0;
	for (i = 0; !err && i < systems.n; i++)
		err = events_add_system(context, catalog, folder, systems.list[i], listed);
	events_last(catalog)->listed = listed;
	sysfs_names_fini(&systems);
	return err;
}

/* Without counters of the CPU there is nothing to try: the reason is that of the others. */
static struct outcome events_judge_caches(struct caps_context *context,
	const struct outcome *hardware)
{
	return hardware->available == CAPS_NO ? *hardware : events_try_cache(context);
}

int events_load(struct caps_context *context, bool tracepoints, struct event_catalog *catalog)
{
	struct outcome hardware = hardware_probe(context);
	int err;

	catalog->groups = NULL;
	catalog->n = 0;
	err = events_add_generic(catalog, "hardware", events_hardware,
		ARRAY_SIZE(events_hardware), hardware);
	if (!err)
		err = events_add_caches(catalog, events_judge_caches(context, &hardware));
	if (!err)
		err = events_add_generic(catalog, "software", events_software,
			ARRAY_SIZE(events_software), counting_probe(context));
	if (!err)
		err = events_add_pmus(context, catalog);
	if (!err)
		err = events_add_group(catalog, "breakpoint", "mem:ADDRESS[/BYTES][:rwx]",
			events_try_breakpoint(context));
	return err ? err : events_add_tracepoints(context, catalog, tracepoints);
}

void events_fini(struct event_catalog *catalog)
{
	struct event_group *group;
	size_t i, k;

	for (i = 0; i < catalog->n; i++) {
		group = &catalog->groups[i];
		for (k = 0; k < group->n; k++) {
			free(group->list[k].name);
			free(group->list[k].detail);
		}
		free(group->list);
		free(group->name);
		free(group->form);
	}
	free(catalog->groups);
	catalog->groups = NULL;
	catalog->n = 0;
}
