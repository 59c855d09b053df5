/* SPDX-License-Identifier: MIT */
/*
 * The listing "events" of the command list: groups, whether each is here, and the names in it.
 * Tracepoints are thousands: they are counted, and listed when a pattern asks for them. So are the
 * hundreds of names of the CPU's manual.
 */
#include <ctype.h>
#include <string.h>

#include "cli/caps/events.h"
#include "cli/cmd/list.h"
#include "cli/cmd/outcome.h"
#include "cli/log.h"
#include "cli/text.h"
#include "common/base.h"

enum { LIST_EVENT_NAME = 24 };

/* Where a name of the manual begins in "table::NAME"; NULL: it is none. */
static const char *list_vendor_name(const char *name)
{
	const char *colons = strstr(name, "::");

	return colons ? colons + 2 : NULL;
}

/* Patterns that may match such a name, or NAME alone, which is in capitals. */
static bool list_wants_vendor(const struct list_options *options)
{
	const char *at = options->globs ? options->globs : "";

	if (strstr(at, "::") || (options->globs && list_wants(options, "libpfm")))
		return true;
	for (; *at; at += strcspn(at, ","), at += *at == ',')
		if (isupper((unsigned char)*at) || strchr("*?[", *at))
			return true;
	return false;
}

/* Only tracepoints have a colon in their names. */
static bool list_wants_tracepoints(const struct list_options *options)
{
	return options->globs &&
		(strchr(options->globs, ':') || list_wants(options, "tracepoint"));
}

static int list_load_events(const struct list_options *options, struct event_catalog *catalog)
{
	struct caps_context context;

	caps_init(&context, "");
	if (!events_load(&context, list_wants_tracepoints(options), list_wants_vendor(options), catalog))
		return 0;
	events_fini(catalog);
	return error("out of memory");
}

/* A group's name asks for all of it. */
static bool list_wants_event(const struct list_options *options, const struct event_group *group,
	const struct event_name *event)
{
	const char *vendor = list_vendor_name(event->name);

	if (list_wants(options, group->name) || list_wants(options, event->name))
		return true;
	/* What is behind a name of the manual is prose. */
	return vendor ? list_wants(options, vendor) : event->detail[0] && list_wants(options, event->detail);
}

/*
 * A group is left out when its names are known and none is asked for. One whose names can't be
 * had is shown to whoever asks for them, since it tells why.
 */
static bool list_wants_group(const struct list_options *options, const struct event_group *group)
{
	size_t i;

	if (!options->globs || list_wants(options, group->name))
		return true;
	for (i = 0; i < group->n; i++)
		if (list_wants_event(options, group, &group->list[i]))
			return true;
	if (!strcmp(group->name, "libpfm"))
		return !group->listed && options->globs && strstr(options->globs, "::");
	return !group->listed && !group->known && list_wants_tracepoints(options);
}

/* The detail stands in a column of its own, or below where the terminal is too narrow for it. */
static void list_print_event(const struct outcome_layout *layout, const struct event_name *event)
{
	size_t used = 2 + text_width(event->name), column = MAX(used + 2, (size_t)LIST_EVENT_NAME);

	printf("  %s", event->name);
	if (!event->detail[0]) {
		putchar('\n');
	} else if (layout->width && column + text_width(event->detail) > layout->width) {
		fputs("\n    ", stdout);
		text_wrap(stdout, event->detail, 4, layout->width);
	} else {
		printf("%*s%s\n", (int)(column - used), "", event->detail);
	}
}

/* The groups before this one have been printed. */
static void list_print_group(const struct list_options *options,
	const struct outcome_layout *layout, const struct event_group *groups, size_t at)
{
	const struct event_group *group = &groups[at];
	struct outcome outcome = group->outcome;
	size_t i, used;

	for (i = 0; i < at; i++)
		if (list_wants_group(options, &groups[i]))
			outcome_shorten(&outcome, &groups[i].outcome, groups[i].name);
	used = strlen(outcome.because);
	if (group->ask && group->known)
		snprintf(outcome.because + used, sizeof(outcome.because) - used,
			"; %zu of them: sparkctl list events '%s'", group->known, group->ask);
	else if (group->ask)
		snprintf(outcome.because + used, sizeof(outcome.because) - used,
			"; sparkctl list events '%s'", group->ask);
	outcome_print_row(layout, group->name, &outcome);
	if (group->form[0]) {
		fputs("  ", stdout);
		text_wrap(stdout, group->form, 2, layout->width);
	}
	for (i = 0; i < group->n; i++)
		if (list_wants_event(options, group, &group->list[i]))
			list_print_event(layout, &group->list[i]);
}

int list_print_events(const struct list_options *options, size_t width)
{
	struct event_catalog catalog;
	struct outcome_layout layout;
	int n = 0;
	size_t i;

	if (list_load_events(options, &catalog))
		return -1;
	outcome_layout_init(&layout, LIST_EVENT_NAME - 1, false);
	layout.width = width;
	for (i = 0; i < catalog.n; i++) {
		if (!list_wants_group(options, &catalog.groups[i]))
			continue;
		if (!n++)
			outcome_print_head(&layout, "event");
		list_print_group(options, &layout, catalog.groups, i);
	}
	events_fini(&catalog);
	return n;
}

static json_t *list_json_group(const struct list_options *options, const struct event_group *group)
{
	json_t *names = json_array();
	json_t *one = json_pack("{ss so}", "group", group->name, "form",
		group->form[0] ? json_string(group->form) : json_null());
	size_t i;

	if (caps_json_outcome(one, &group->outcome))
		return NULL;
	json_object_set_new(one, "known", group->known || group->listed ?
		json_integer((json_int_t)group->known) : json_null());
	for (i = 0; i < group->n; i++)
		if (list_wants_event(options, group, &group->list[i]))
			json_array_append_new(names, json_pack("{ss ss}", "name",
				group->list[i].name, "detail", group->list[i].detail));
	json_object_set_new(one, "names", names);
	return one;
}

int list_json_events(const struct list_options *options, json_t *root)
{
	struct event_catalog catalog;
	json_t *all = json_array();
	int n = 0;
	size_t i;

	if (list_load_events(options, &catalog)) {
		json_decref(all);
		return -1;
	}
	for (i = 0; i < catalog.n; i++)
		if (list_wants_group(options, &catalog.groups[i])) {
			json_array_append_new(all, list_json_group(options, &catalog.groups[i]));
			n++;
		}
	events_fini(&catalog);
	json_object_set_new(root, "events", all);
	return n;
}
