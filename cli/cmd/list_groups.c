/* SPDX-License-Identifier: MIT */
/* The listing "groups" of the command list: groups of metrics, whether their events can be had, what they have. */
#include <stdio.h>
#include <string.h>

#include "cli/cmd/group.h"
#include "cli/cmd/list.h"
#include "cli/cmd/outcome.h"
#include "cli/log.h"
#include "cli/text.h"

enum { LIST_GROUP_NAME = 10 };

struct list_groups {
	const struct list_options *options;
	struct caps_context caps;
	struct names_context names;
	struct outcome_layout layout;
	json_t *json;                /* NULL: a table is printed */
	struct outcome first;        /* and its group: one cause may stop many */
	char first_name[64];
	int n;
};

/* The names of the metrics; their formulas are for JSON, and in the file. */
static void list_group_names(const struct group_way *way, char *out, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; i < way->nmetrics && len < size; i++)
		len += (size_t)snprintf(out + len, size - len, "%s%.*s", i ? ", " : "",
					(int)strcspn(way->metrics[i].text, " \t[="), way->metrics[i].text);
}

static void list_print_group(struct list_groups *list, const struct group *group, size_t way, struct outcome *outcome)
{
	char escaped[4 * FORMULA_TEXT_MAX + 1], names[GROUP_METRICS_MAX * (FORMULA_NAME_MAX + 2)];

	if (!list->n) {
		outcome_print_head(&list->layout, "group");
		list->first = *outcome;
		snprintf(list->first_name, sizeof(list->first_name), "%s", group->name);
	} else {
		outcome_shorten(outcome, &list->first, list->first_name);
	}
	outcome_print_row(&list->layout, group->name, outcome);
	fputs("  ", stdout);
	text_escape(escaped, sizeof(escaped), group->meaning, strlen(group->meaning));
	text_wrap(stdout, escaped, 2, list->layout.width);
	list_group_names(&group->ways[way], names, sizeof(names));
	fputs("  metrics: ", stdout);
	text_wrap(stdout, names, 11, list->layout.width);
}

static int list_json_group(struct list_groups *list, const struct group *group, size_t way,
			   const struct outcome *outcome)
{
	json_t *events = json_array(), *metrics = json_array();
	json_t *one = json_pack("{ss ss}", "group", group->name, "meaning", group->meaning);

	for (size_t i = 0; i < group->ways[way].nevents; i++)
		json_array_append_new(events, json_string(group->ways[way].events[i]));
	for (size_t i = 0; i < group->ways[way].nmetrics; i++)
		json_array_append_new(metrics, json_string(group->ways[way].metrics[i].text));
	json_object_set_new(one, "events", events);
	json_object_set_new(one, "metrics", metrics);
	return caps_json_outcome(one, outcome) || json_array_append_new(list->json, one) ? error("out of memory") : 0;
}

static int list_group(struct list_groups *list, const char *name)
{
	struct outcome outcome;
	struct group group;
	size_t way;
	int err = group_load(&group, name);

	if (!err) {
		way = group_choose(&group, &list->names, &outcome);
		if (list->json)
			err = list_json_group(list, &group, way, &outcome);
		else
			list_print_group(list, &group, way, &outcome);
		list->n++;
	}
	group_free(&group);
	return err;
}

static int list_all_groups(struct list_groups *list)
{
	struct opt_list names = { .n = 0 };
	int err = group_names(&names);

	caps_init(&list->caps, "");
	names_init(&list->names, &list->caps);
	for (size_t i = 0; !err && i < names.n; i++)
		if (list_wants(list->options, names.item[i]))
			err = list_group(list, names.item[i]);
	names_fini(&list->names);
	opt_list_free(&names);
	return err ? -1 : list->n;
}

int list_print_groups(const struct list_options *options, size_t width)
{
	struct list_groups list = { .options = options };

	outcome_layout_init(&list.layout, LIST_GROUP_NAME - 1, false);
	list.layout.width = width;
	return list_all_groups(&list);
}

int list_json_groups(const struct list_options *options, json_t *root)
{
	struct list_groups list = { .options = options, .json = json_array() };
	int n = list_all_groups(&list);

	json_object_set_new(root, "groups", list.json);
	return n;
}
