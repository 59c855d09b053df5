/* SPDX-License-Identifier: MIT */
/*
 * sparkctl list: what can be asked for. A listing is one row with its two printers; the lines come
 * from the tables of metrics and capabilities, and from the catalog of events.
 */
#include <string.h>
#include <unistd.h>

#include "cli/analyze/derived.h"
#include "cli/caps/caps.h"
#include "cli/cmd/cmd.h"
#include "cli/cmd/list.h"
#include "cli/cmd/outcome.h"
#include "cli/log.h"
#include "cli/term.h"
#include "cli/text.h"
#include "common/base.h"

enum { LIST_NARROW = 72, LIST_METRIC_CELLS = 6 };

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
	{ "sparkctl list events", "what can be counted, and what can't be here" },
	{ "sparkctl list events 'sched:*,msr/*'", "tracepoints and others by pattern" },
	{ "sparkctl list groups", "events and metrics that belong together, for run and stat --group" },
	{ "sparkctl list sets", "functions that belong together, for run --wrap" },
	{ "sparkctl list markers", "other tools' markers that can be regions, for run --markers" },
	{ "sparkctl list symbols gzip 'read*'", "functions that a program and its libraries call in each other" },
	{ "sparkctl list probes python3", "static probes of a program and its libraries, for run --sdt" },
	{ "sparkctl list --json", "everything, for programs" },
	{ NULL, NULL },
};

static bool list_is_narrow(size_t width)
{
	return width && width < LIST_NARROW;
}

/* Texts of one line, the last of which is wrapped; the widths belong to all but the last. */
static void list_print_line(const char *const *cell, const size_t *columns, size_t n, size_t width)
{
	bool narrow = list_is_narrow(width);
	size_t indent = 0, i;

	for (i = 0; i + 1 < n; i++) {
		text_pad(stdout, cell[i], narrow && i + 2 == n ? 0 : columns[i]);
		indent += columns[i];
	}
	if (narrow)
		fputs("\n  ", stdout);
	text_wrap(stdout, cell[n - 1], narrow ? 2 : indent, width);
}

/* Metric i of those that are measured, computed from others, and made by a program; NULL: no more. */
static const struct metric *list_metric(size_t i)
{
	size_t n, nderived;
	const struct metric *table = metric_table(&n);
	const struct derived_row *derived = derived_table(&nderived);

	if (i < n)
		return &table[i];
	if (i < n + nderived)
		return &derived[i - n].metric;
	i -= n + nderived;
	if (!i)
		return metric_event_example();
	return i <= METRIC_CLIENT_COLUMNS ? &metric_client_examples()[i - 1] : NULL;
}

bool list_wants(const struct list_options *options, const char *name)
{
	return !options->globs || metric_glob(options->globs, name);
}

/* What a metric rests on: the first row whose pattern matches. */
static const struct { const char *metrics, *capability; } list_needs[] = {
	{ "cpu,cpu.*,offcpu,cpu-utilization", "switch-detector" },
	{ "ipc,cpi,branch-m*,llc-m*,l1d-m*,dtlb-mpki,stalled-*end,instructions-per-unit,cycles-per-unit,"
	  "effective-clock,p*-cycles",
	  "counting-hardware" },
	{ "*", "preload" },
};

/* Outcomes that several metrics share, each tried once. */
struct list_outcomes {
	struct outcome of[ARRAY_SIZE(list_needs)];
};

static void list_try_needs(struct list_outcomes *outcomes)
{
	struct caps_context context;
	size_t i;

	caps_init(&context, "");
	for (i = 0; i < ARRAY_SIZE(list_needs); i++)
		outcomes->of[i] = caps_find(list_needs[i].capability)->probe(&context);
}

static const struct outcome *list_metric_outcome(const struct list_outcomes *outcomes,
	const struct metric *metric)
{
	const struct outcome *preload = &outcomes->of[ARRAY_SIZE(list_needs) - 1];
	size_t i = 0;

	/* Without the agent there are no regions, whatever else is here. */
	while (preload->available != CAPS_NO && !metric_glob(list_needs[i].metrics, metric->name))
		i++;
	return preload->available == CAPS_NO ? preload : &outcomes->of[i];
}

static void list_print_metric(const struct list_options *options, const struct metric *metric,
	const struct outcome *outcome, const size_t *columns, size_t width)
{
	const char *here = caps_available_name(outcome->available);
	struct outcome_layout layout = { .width = width, .indent = 4 };
	char below[512];

	if (list_is_narrow(width)) {
		snprintf(below, sizeof(below), "%s, %s: %s", metric->class_name, metric->source,
			metric->meaning);
		list_print_line((const char *const[]) { metric->name, metric->unit, here, below },
			columns, 4, width);
	} else {
		list_print_line((const char *const[]) { metric->name, metric->unit, here,
				metric->class_name, metric->source, metric->meaning },
			columns, LIST_METRIC_CELLS, width);
	}
	if (outcome->available == CAPS_NO) {
		fputs("    ", stdout);
		outcome_print_texts(&layout, outcome);
	}
	if (options->bias) {
		fputs("    bias: ", stdout);
		text_wrap(stdout, metric->bias, 10, width);
	}
}

static int list_print_metrics(const struct list_options *options, size_t width)
{
	const char *const head[] = { "metric", "unit", "here",
		list_is_narrow(width) ? "class, source: meaning" : "class", "source", "meaning" };
	size_t columns[] = { 8, 6, 6, 7, 8 };
	struct list_outcomes outcomes;
	const struct metric *metric;
	size_t i;
	int shown = 0;

	for (i = 0; (metric = list_metric(i)); i++) {
		columns[0] = MAX(columns[0], text_width(metric->name) + 2);
		columns[1] = MAX(columns[1], text_width(metric->unit) + 2);
		columns[3] = MAX(columns[3], text_width(metric->class_name) + 2);
		columns[4] = MAX(columns[4], text_width(metric->source) + 2);
	}
	list_try_needs(&outcomes);
	for (i = 0; (metric = list_metric(i)); i++) {
		if (!list_wants(options, metric->name))
			continue;
		if (!shown++)
			list_print_line(head, columns, list_is_narrow(width) ? 4 : LIST_METRIC_CELLS,
				width);
		list_print_metric(options, metric, list_metric_outcome(&outcomes, metric),
			columns, width);
	}
	return shown;
}

static int list_json_metrics(const struct list_options *options, json_t *root)
{
	struct list_outcomes outcomes;
	const struct metric *metric;
	json_t *all = json_array(), *one;
	size_t i;

	list_try_needs(&outcomes);
	for (i = 0; (metric = list_metric(i)); i++) {
		if (!list_wants(options, metric->name))
			continue;
		one = json_pack("{ss ss ss ss ss ss}",
			"name", metric->name, "unit", metric->unit,
			"class", metric->class_name, "source", metric->source,
			"meaning", metric->meaning, "bias", metric->bias);
		if (caps_json_outcome(one, list_metric_outcome(&outcomes, metric)) ||
		    json_array_append_new(all, one))
			return error("out of memory");
	}
	json_object_set_new(root, "metrics", all);
	return (int)json_array_size(all);
}

/* Probes those that are asked for; wanted has CAPS_MOST places. */
static void list_try_capabilities(const struct list_options *options, bool *wanted,
	struct outcome *outcomes)
{
	struct caps_context context;
	const struct capability *row;
	size_t i, n;

	caps_init(&context, "");
	row = caps_table(&n);
	for (i = 0; i < n; i++)
		wanted[i] = list_wants(options, row[i].name);
	caps_probe(&context, wanted, outcomes);
}

static int list_print_capabilities(const struct list_options *options, size_t width)
{
	static const char *const head[] = { "capability", "here", "meaning" };
	static const size_t columns[] = { 20, 6 };
	struct outcome outcomes[CAPS_MOST];
	bool wanted[CAPS_MOST] = { false };
	const struct capability *row;
	size_t i, n;
	int shown = 0;

	row = caps_table(&n);
	list_try_capabilities(options, wanted, outcomes);
	for (i = 0; i < n; i++) {
		if (!wanted[i])
			continue;
		if (!shown++)
			list_print_line(head, columns, ARRAY_SIZE(head), width);
		list_print_line((const char *const[]) { row[i].name,
				caps_available_name(outcomes[i].available), row[i].meaning },
			columns, ARRAY_SIZE(head), width);
	}
	return shown;
}

/* The outcomes with the meaning beside each. */
static int list_json_capabilities(const struct list_options *options, json_t *root)
{
	json_t *all = json_array(), *one;
	struct outcome outcomes[CAPS_MOST];
	bool wanted[CAPS_MOST] = { false };
	const struct capability *row;
	size_t i, n;

	row = caps_table(&n);
	list_try_capabilities(options, wanted, outcomes);
	for (i = 0; i < n; i++) {
		if (!wanted[i])
			continue;
		one = json_pack("{ss ss}", "name", row[i].name, "meaning", row[i].meaning);
		if (caps_json_outcome(one, &outcomes[i]) || json_array_append_new(all, one))
			return error("out of memory");
	}
	n = json_array_size(all);
	json_object_set_new(root, "capabilities", all);
	return (int)n;
}

/* Each returns how many names it has, or -1 after one sentence. */
static const struct listing {
	const char *name;
	int (*print)(const struct list_options *options, size_t width);
	int (*json)(const struct list_options *options, json_t *root);
} listings[] = {
	{ "metrics", list_print_metrics, list_json_metrics },
	{ "events", list_print_events, list_json_events },
	{ "groups", list_print_groups, list_json_groups },
	{ "sets", list_print_sets, list_json_sets },
	{ "markers", list_print_markers, list_json_markers },
	{ "capabilities", list_print_capabilities, list_json_capabilities },
};

/* One of the two listings that are of a program, by its beginning as the others; "s" alone is sets. */
static bool list_is_symbols(const char *word)
{
	return strlen(word) > 1 && !strncmp("symbols", word, strlen(word));
}

static const struct listing *list_find(const char *word)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(listings); i++)
		if (*word && !strncmp(listings[i].name, word, strlen(word)))
			return &listings[i];
	return NULL;
}

/* One listing, or all if only is NULL. Returns how many names there are, or -1. */
static int list_print(const struct list_options *options, const struct listing *only)
{
	size_t width = term_width(STDOUT_FILENO), i;
	int got, n = 0;

	for (i = 0; i < ARRAY_SIZE(listings); i++) {
		if (only && only != &listings[i])
			continue;
		if (n)
			putchar('\n');
		got = listings[i].print(options, width);
		if (got < 0)
			return -1;
		n += got;
	}
	return n;
}

static int list_print_json(const struct list_options *options, const struct listing *only)
{
	json_t *root = json_pack("{ss}", "schema", "spark-list/1");
	int got = root ? 0 : error("out of memory"), n = 0;
	size_t i;

	for (i = 0; got >= 0 && i < ARRAY_SIZE(listings); i++) {
		if (only && only != &listings[i])
			continue;
		got = listings[i].json(options, root);
		n += got;
	}
	/* A failed write is left to command_end_output, which knows what to say. */
	if (got >= 0 && n && !json_dumpf(root, stdout, JSON_INDENT(2)))
		putchar('\n');
	json_decref(root);
	return got < 0 ? -1 : n;
}

static int list_run(int argc, char **argv)
{
	struct list_options options = { .json = false };
	const struct listing *only = NULL;
	int status, n, first = command_parse(&command_list, &options, argc, argv, &status);

	if (first < 0)
		return status;
	if (first < argc && list_is_symbols(argv[first])) {
		if (argc - first < 2)
			return command_misused(&command_list, "symbols needs a program", NULL);
		return list_symbols(&options, argv[first + 1], argv + first + 2);
	}
	if (first < argc && *argv[first] && !strncmp("probes", argv[first], strlen(argv[first]))) {
		if (argc - first < 2)
			return command_misused(&command_list, "probes needs a program", NULL);
		return list_probes(&options, argv[first + 1], argv + first + 2);
	}
	if (argc - first > 2)
		return command_misused(&command_list, "takes two operands, not also",
			argv[first + 2]);
	if (first < argc) {
		only = list_find(argv[first]);
		if (!only)
			return command_misused(&command_list,
				"lists metrics, events, groups, sets, markers, capabilities, symbols or probes, not", argv[first]);
	}
	if (argc - first == 2)
		options.globs = argv[first + 1];
	n = options.json ? list_print_json(&options, only) : list_print(&options, only);
	if (n < 0)
		return STATUS_FAILURE;
	if (n)
		return STATUS_OK;
	if (options.globs)
		error("none of the %s matches '%s'", only ? only->name : "names", options.globs);
	else
		error("no %s are installed", only ? only->name : "names");
	return STATUS_USAGE;
}

const struct command command_list = {
	.name = "list",
	.summary = "list what can be asked for: metrics, events, groups, sets, markers, capabilities, symbols, probes",
	.usage = "[OPTION...] [metrics|events|groups|sets|markers|capabilities|symbols|probes [PROGRAM|PATTERNS] [PATTERN...]]",
	.options = list_rows,
	.examples = list_examples,
	.run = list_run,
};
