/* SPDX-License-Identifier: MIT */
/* The command "history": runs that run --history has added to a file, over time. */
#include <locale.h>
#include <stdio_ext.h>

#include "cli/analyze/change.h"
#include "cli/cmd/cmd.h"
#include "cli/log.h"
#include "cli/output/history_output.h"
#include "cli/pager.h"
#include "cli/store/history.h"
#include "cli/term.h"

enum history_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV };

static const char *const format_words[] = { "table", "json", "csv", NULL };

struct history_command_options {
	const char *metrics, *regions, *rate;
	unsigned long top, last;
	int format;
	enum color_mode color;
	int quiet, verbose;
};

#define OFFSET(member) offsetof(struct history_command_options, member)

static const struct opt options[] = {
	{ "metrics", 0, OPT_STRING, OFFSET(metrics), "METRICS", NULL,
	  "show these metrics of regions and these totals: names or patterns, with commas between", "elapsed,wall", false },
	{ "regions", 0, OPT_STRING, OFFSET(regions), "GLOBS", NULL,
	  "show only regions whose name or path (a;b) matches", "all", false },
	{ "last", 0, OPT_UINT, OFFSET(last), "N", NULL, "the newest runs of each command, 1000 at most", "100", false },
	{ "false-alarms", 0, OPT_STRING, OFFSET(rate), "PERCENT", NULL,
	  "where nothing changed, at most so many reports tell of a change", "1", false },
	{ "top", 0, OPT_UINT, OFFSET(top), "N", NULL, "rows in a table; 0 for all", "20", false },
	{ "format", 0, OPT_ENUM, OFFSET(format), NULL, format_words, "the form of what is printed", "table", false },
	{ "color", 0, OPT_ENUM, OFFSET(color), NULL, color_words, "colours and bold type", "auto", false },
	{ "quiet", 'q', OPT_COUNT, OFFSET(quiet), NULL, NULL, "leave out by what rule changes are told", NULL, false },
	{ "verbose", 'v', OPT_COUNT, OFFSET(verbose), NULL, NULL,
	  "all that changed beside the figures, also hosts, environments and libraries", NULL, false },
	{ .name = NULL },
};

static const struct command_example examples[] = {
	{ "sparkctl history project.history", "the regions of each command over its newest runs, and where they changed" },
	{ "sparkctl history --regions parse --metrics wall.p99 project.history", "one figure" },
	{ "sparkctl history --format json --last 1000 project.history", "for programs: schema spark-history/1" },
	{ .line = NULL },
};

static int history_ask(const struct history_command_options *o, struct histories *all)
{
	all->metrics = o->metrics ? o->metrics : "elapsed,wall";
	all->regions = o->regions;
	all->rate = 0.01;
	if (o->rate && (!opt_number(o->rate, &all->rate) || all->rate <= 0 || all->rate > 50)) {
		error("--false-alarms: '%s' is no percentage above 0 and up to 50", o->rate);
		return STATUS_USAGE;
	}
	if (o->rate)
		all->rate /= 100;
	if (!o->last || o->last > CHANGE_MOST) {
		error("--last: it is 1 to %d runs, not %lu", CHANGE_MOST, o->last);
		return STATUS_USAGE;
	}
	return STATUS_OK;
}

static int history_print(const struct history_command_options *o, const struct histories *all)
{
	static int (*const writers[])(FILE *file, const struct histories *all, const struct history_options *options) = {
		[FORMAT_TABLE] = history_table, [FORMAT_JSON] = history_json, [FORMAT_CSV] = history_csv,
	};
	const struct history_options way = {
		.output = { .width = term_width(fileno(stdout)), .color = color_wanted(stdout, o->color),
			    .utf8 = output_utf8(), .verbose = o->quiet ? -1 : o->verbose },
		.top = o->top,
	};

	if (writers[o->format](stdout, all, &way) == 0)
		return STATUS_OK;
	error("out of memory for the history");
	__fpurge(stdout);
	return STATUS_FAILURE;
}

static int history_file(const struct history_command_options *o, const char *path)
{
	struct histories all = { .n = 0 };
	char text[DIFF_NOTE];
	const char *unknown;
	int status = history_ask(o, &all);

	if (!status && store_history_read(&all, path, (u32)o->last))
		status = STATUS_FAILURE;
	if (!status && history_judge(&all)) {
		error("out of memory for the history");
		status = STATUS_FAILURE;
	}
	unknown = !status && o->metrics && all.n ? history_unknown_metric(&all, text) : NULL;
	if (unknown) {
		error("no metric or total of these runs is called '%s'", unknown);
		status = STATUS_USAGE;
	}
	if (!status) {
		pager_start();
		status = history_print(o, &all);
	}
	histories_free(&all);
	return status;
}

static int history_command(int argc, char **argv)
{
	struct history_command_options o = { .format = FORMAT_TABLE, .top = 20, .last = 100 };
	int status, first = command_parse(&command_history, &o, argc, argv, &status);

	if (first < 0)
		return status;
	if (first >= argc)
		return command_misused(&command_history, "needs a file, made by run --history FILE", NULL);
	if (first + 1 < argc)
		return command_misused(&command_history, "takes one file, not also", argv[first + 1]);
	log_set_level(o.quiet ? LOG_LEVEL_QUIET : o.verbose);
	setlocale(LC_CTYPE, "");
	return history_file(&o, argv[first]);
}

const struct command command_history = {
	.name = "history",
	.summary = "show runs of a project over time, and where they changed",
	.usage = "[OPTION...] HISTORY",
	.options = options,
	.examples = examples,
	.run = history_command,
};
