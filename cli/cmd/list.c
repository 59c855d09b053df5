/* SPDX-License-Identifier: MIT */
/*
 * sparkctl list: what can be asked for. A listing is one row with its two printers; the lines come
 * from the tables of metrics and capabilities.
 */
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "cli/analyze/metric.h"
#include "cli/caps/caps.h"
#include "cli/cmd/cmd.h"
#include "cli/log.h"
#include "cli/term.h"
#include "cli/text.h"
#include "common/base.h"

enum { LIST_NARROW = 72 };

struct list_options {
	bool json;
	bool bias;
};

static const struct opt list_rows[] = {
	{ .name = "bias", .letter = 'b', .kind = OPT_FLAG,
	  .offset = offsetof(struct list_options, bias),
	  .help = "print the known bias of each metric, too" },
	{ .name = "json", .kind = OPT_FLAG, .offset = offsetof(struct list_options, json),
	  .help = "print JSON, schema spark-list/1" },
	{ .name = NULL },
};

static const struct command_example list_examples[] = {
	{ "sparkctl list metrics", "the columns that run can show" },
	{ "sparkctl list capabilities", "what the machine may allow or not" },
	{ "sparkctl list --json", "everything, for programs" },
	{ NULL, NULL },
};

/* Texts of one line, the last of which is wrapped; the widths belong to all but the last. */
static void list_print_line(const char *const *cell, const size_t *columns, size_t n, size_t width)
{
	bool narrow = width && width < LIST_NARROW;
	size_t indent = 0, i;

	for (i = 0; i + 1 < n; i++) {
		text_pad(stdout, cell[i], narrow && i + 2 == n ? 0 : columns[i]);
		indent += columns[i];
	}
	if (narrow)
		fputs("\n  ", stdout);
	text_wrap(stdout, cell[n - 1], narrow ? 2 : indent, width);
}

/* Metric i of those that there are and then of those that a program makes; NULL: no more. */
static const struct metric *list_metric(size_t i)
{
	size_t n;
	const struct metric *table = metric_table(&n);

	if (i < n)
		return &table[i];
	return i < n + METRIC_CLIENT_COLUMNS ? &metric_client_examples()[i - n] : NULL;
}

static void list_print_metrics(const struct list_options *options, size_t width)
{
	static const char *const head[] = { "metric", "unit", "class", "source", "meaning" };
	size_t columns[] = { 8, 6, 7, 8 };
	const struct metric *metric;
	size_t i;

	for (i = 0; (metric = list_metric(i)); i++) {
		columns[0] = MAX(columns[0], text_width(metric->name) + 2);
		columns[1] = MAX(columns[1], text_width(metric->unit) + 2);
		columns[2] = MAX(columns[2], text_width(metric->class_name) + 2);
		columns[3] = MAX(columns[3], text_width(metric->source) + 2);
	}
	list_print_line(head, columns, ARRAY_SIZE(head), width);
	for (i = 0; (metric = list_metric(i)); i++) {
		const char *cell[] = { metric->name, metric->unit, metric->class_name, metric->source,
				       metric->meaning };

		list_print_line(cell, columns, ARRAY_SIZE(cell), width);
		if (!options->bias)
			continue;
		fputs("    bias: ", stdout);
		text_wrap(stdout, metric->bias, 10, width);
	}
}

static json_t *list_json_metrics(void)
{
	const struct metric *metric;
	json_t *all = json_array();
	size_t i;

	for (i = 0; (metric = list_metric(i)); i++)
		json_array_append_new(all, json_pack("{ss ss ss ss ss ss}",
			"name", metric->name, "unit", metric->unit,
			"class", metric->class_name, "source", metric->source,
			"meaning", metric->meaning, "bias", metric->bias));
	return all;
}

static void list_print_capabilities(const struct list_options *options, size_t width)
{
	static const char *const head[] = { "capability", "here", "meaning" };
	static const char *const here[] = { "no", "part", "yes" };
	static const size_t columns[] = { 19, 6 };
	const struct capability *row;
	struct caps_context context;
	struct outcome outcome;
	size_t i, n;

	(void)options;
	caps_init(&context, "");
	row = caps_table(&n);
	list_print_line(head, columns, ARRAY_SIZE(head), width);
	for (i = 0; i < n; i++) {
		outcome = row[i].probe(&context);
		list_print_line((const char *const[]) { row[i].name, here[outcome.available],
				row[i].meaning }, columns, ARRAY_SIZE(head), width);
	}
}

/* The outcomes with the meaning beside each. */
static json_t *list_json_capabilities(void)
{
	struct caps_context context;
	const struct capability *row;
	json_t *all;
	size_t i, n;

	caps_init(&context, "");
	all = caps_json(&context);
	row = caps_table(&n);
	for (i = 0; all && i < n; i++)
		json_object_set_new(json_array_get(all, i), "meaning", json_string(row[i].meaning));
	return all;
}

static const struct listing {
	const char *name;
	void (*print)(const struct list_options *options, size_t width);
	json_t *(*json)(void);
} listings[] = {
	{ "metrics", list_print_metrics, list_json_metrics },
	{ "capabilities", list_print_capabilities, list_json_capabilities },
};

static const struct listing *list_find(const char *word)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(listings); i++)
		if (*word && !strncmp(listings[i].name, word, strlen(word)))
			return &listings[i];
	return NULL;
}

/* One listing, or all if only is NULL. */
static void list_print(const struct list_options *options, const struct listing *only)
{
	size_t width = term_width(STDOUT_FILENO), i;
	bool first = true;

	for (i = 0; i < ARRAY_SIZE(listings); i++) {
		if (only && only != &listings[i])
			continue;
		if (!first)
			putchar('\n');
		listings[i].print(options, width);
		first = false;
	}
}

static int list_print_json(const struct listing *only)
{
	json_t *root = json_pack("{ss}", "schema", "spark-list/1");
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(listings); i++)
		if (!only || only == &listings[i])
			json_object_set_new(root, listings[i].name, listings[i].json());
	if (!root)
		return error("out of memory");
	err = json_dumpf(root, stdout, JSON_INDENT(2));
	json_decref(root);
	if (!err)
		putchar('\n');
	return 0;
}

static int list_run(int argc, char **argv)
{
	struct list_options options = { .json = false };
	const struct listing *only = NULL;
	int status, first = command_parse(&command_list, &options, argc, argv, &status);

	if (first < 0)
		return status;
	if (argc - first > 1)
		return command_misused(&command_list, "takes one operand, not also",
			argv[first + 1]);
	if (first < argc) {
		only = list_find(argv[first]);
		if (!only)
			return command_misused(&command_list,
				"lists metrics or capabilities, not", argv[first]);
	}
	if (options.json)
		return list_print_json(only) ? STATUS_FAILURE : STATUS_OK;
	list_print(&options, only);
	return STATUS_OK;
}

const struct command command_list = {
	.name = "list",
	.summary = "list what can be asked for: metrics, capabilities",
	.usage = "[OPTION...] [metrics|capabilities]",
	.options = list_rows,
	.examples = list_examples,
	.run = list_run,
};
