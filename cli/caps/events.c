/* SPDX-License-Identifier: MIT */
/*
 * The catalog of events; see events.h. What there is, cli/names tells. A group is added empty, named and
 * tried; its events are added to the last group.
 */
#include "cli/caps/events.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/caps/try.h"
#include "common/base.h"

/* What the callbacks of cli/names add to. */
struct events_load {
	struct caps_context *context;
	struct names_context names;
	struct event_catalog *catalog;
	bool listed;			/* tracepoints are, not only counted */
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

static int events_add_one(void *data, const char *name, const char *other)
{
	struct events_load *load = data;

	return events_add(load->catalog, other ? other : "", "%s", name);
}

static int events_add_generic(struct events_load *load, const char *name, uint32_t type,
	struct outcome outcome)
{
	int err = events_add_group(load->catalog, name, "", outcome);

	return err ? err : names_each_generic(type, events_add_one, load);
}

/* A text that grows to its room. */
struct events_text {
	char text[512];
	size_t len;
};

static int events_add_term(void *data, const struct names_format *format)
{
	struct events_text *form = data;

	if (form->len < sizeof(form->text))
		form->len += (size_t)snprintf(form->text + form->len, sizeof(form->text) - form->len,
			"%s=N,", format->name);
	return 0;
}

/* "pmu/event=N,umask=N/", from the names of its terms. */
static void events_write_form(struct names_context *names, const struct names_pmu *pmu,
	struct events_text *form)
{
	size_t empty;

	form->len = empty = (size_t)snprintf(form->text, sizeof(form->text), "%s/", pmu->name);
	names_each_format(names, pmu, events_add_term, form);
	if (form->len == empty)
		form->text[0] = '\0';
	else if (form->len < sizeof(form->text))
		form->text[form->len - 1] = '/';
}

static int events_take_first(void *data, const struct names_alias *alias)
{
	snprintf(data, 128, "%s", alias->name);
	return 1;
}

static int events_add_alias(void *data, const struct names_alias *alias)
{
	struct events_load *load = data;

	return events_add(load->catalog, alias->terms, "%s/%s/", events_last(load->catalog)->name,
		alias->name);
}

/* All but those that are groups of their own here. */
static int events_add_pmu(void *data, const struct names_pmu *pmu)
{
	static const char *const others[] = { "software", "breakpoint", "tracepoint" };
	struct events_load *load = data;
	struct events_text form;
	char first[128] = "config=0";
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(pmu->name, others[i]))
			return 0;
	events_write_form(&load->names, pmu, &form);
	names_each_alias(&load->names, pmu, events_take_first, first);
	err = events_add_group(load->catalog, pmu->name, form.text,
		events_try_pmu(&load->names, pmu, first));
	if (!err)
		err = names_each_alias(&load->names, pmu, events_add_alias, load);
	/* A folder that cannot be read has no names. */
	return err == -ENOMEM ? err : 0;
}

static int events_add_pmus(struct events_load *load)
{
	int err = names_each_pmu(&load->names, events_add_pmu, load);

	if (err || !load->names.folder_error)
		return err;
	err = events_add_group(load->catalog, "sysfs", "",
		advice_sysfs(load->context, load->names.folder_error, NAMES_PMUS));
	events_last(load->catalog)->listed = false;
	return err;
}

static int events_add_vendor_name(void *data, const char *name, const char *meaning)
{
	struct events_load *load = data;

	return events_add(load->catalog, meaning, "%s", name);
}

/* Names of the vendor's manual. libpfm is loaded for who asks for them: it takes 3 ms. */
static int events_add_vendor(struct events_load *load, bool listed, struct outcome hardware)
{
	bool there = names_built_with_pfm() && (!listed || names_have_pfm());
	int err;

	if (!there)
		hardware = outcome_no("", names_built_with_pfm() ? "libpfm4 is not installed" :
			"sparkctl was built without libpfm4");
	err = events_add_group(load->catalog, "libpfm", "table::NAME:attribute", hardware);
	if (err)
		return err;
	events_last(load->catalog)->listed = there && listed;
	events_last(load->catalog)->ask = there && !listed ? "*::*" : NULL;
	return there && listed ? names_each_pfm(&load->names, events_add_vendor_name, load) : 0;
}

static int events_add_tracepoint(void *data, const char *system, const char *name)
{
	struct events_load *load = data;

	if (load->listed)
		return events_add(load->catalog, "", "%s:%s", system, name) ? 1 : 0;
	events_last(load->catalog)->known++;
	return 0;
}

static int events_add_tracepoints(struct events_load *load)
{
	int err = events_add_group(load->catalog, "tracepoint", "", tracing_probe(load->context));

	if (err)
		return err;
	err = names_each_tracepoint(&load->names, "*", events_add_tracepoint, load);
	events_last(load->catalog)->listed = load->listed && err >= 0;
	events_last(load->catalog)->ask = events_last(load->catalog)->known && !load->listed ? "sched:*" : NULL;
	return err > 0 ? -ENOMEM : 0;
}

/* Without counters of the CPU there is nothing to try: the reason is that of the others. */
static struct outcome events_judge_caches(struct caps_context *context,
	const struct outcome *hardware)
{
	return hardware->available == CAPS_NO ? *hardware : events_try_cache(context);
}

static int events_add_all(struct events_load *load, bool vendor)
{
	struct outcome hardware = hardware_probe(load->context);
	int err = events_add_generic(load, "hardware", PERF_TYPE_HARDWARE, hardware);

	if (!err)
		err = events_add_generic(load, "cache", PERF_TYPE_HW_CACHE,
			events_judge_caches(load->context, &hardware));
	if (!err)
		err = events_add_generic(load, "software", PERF_TYPE_SOFTWARE,
			counting_probe(load->context));
	if (!err)
		err = events_add_pmus(load);
	if (!err)
		err = events_add_vendor(load, vendor, hardware);
	if (!err)
		err = events_add_group(load->catalog, "breakpoint", "mem:ADDRESS[/BYTES][:rwx]",
			events_try_breakpoint(load->context));
	return err ? err : events_add_tracepoints(load);
}

int events_load(struct caps_context *context, bool tracepoints, bool vendor,
	struct event_catalog *catalog)
{
	struct events_load load = { .context = context, .catalog = catalog, .listed = tracepoints };
	int err;

	catalog->groups = NULL;
	catalog->n = 0;
	names_init(&load.names, context);
	err = events_add_all(&load, vendor);
	names_fini(&load.names);
	return err;
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
