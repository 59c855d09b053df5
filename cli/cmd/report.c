/* SPDX-License-Identifier: MIT */
/* The command "report": what a recording holds, again or in another form. */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/open.h"
#include "cli/cmd/profiled.h"
#include "cli/cmd/recorded.h"
#include "cli/log.h"
#include "cli/pager.h"

enum { BUCKETS_FILE_MAX = 1 << 20 };

struct report_command_options {
	struct print_options print;
	const char *buckets_file;
	struct buckets buckets;
	bool open;
};

#define OFFSET(member) offsetof(struct report_command_options, member)

static const struct opt options[] = {
	PRINT_CHOICE_ROWS(struct report_command_options, "", "as in the run, else "),
	PRINT_DEFINE_ROW(struct report_command_options),
	{ "profile", 0, OPT_FLAG, OFFSET(print.profile.detail), NULL, NULL,
	  "tables of the functions and objects that the samples of run --profile were taken in", NULL, false },
	{ "off-cpu", 0, OPT_FLAG, OFFSET(print.profile.off), NULL, NULL,
	  "the same tables of where run --off-cpu found threads waiting, by time, instead of samples", NULL, false },
	{ "top", 0, OPT_UINT, OFFSET(print.profile.top), "N", NULL, "functions in a table of --profile; 0 for all", "10", false },
	{ "by-region", 0, OPT_FLAG, OFFSET(print.profile.by_region), NULL, NULL,
	  "tables of --profile for each region, instead of one for all samples", NULL, false },
	{ "inner", 0, OPT_FLAG, OFFSET(print.profile.inner), NULL, NULL,
	  "count samples of regions inside a region for it, too", NULL, false },
	{ "call-tree", 0, OPT_FLAG, OFFSET(print.profile.call_tree), NULL, NULL,
	  "who called whom, from the outermost function on", NULL, false },
	{ "lines", 0, OPT_STRING, OFFSET(print.profile.lines), "FUNCTION", NULL,
	  "the lines of this function that have samples", NULL, false },
	{ "buckets", 0, OPT_STRING, OFFSET(buckets_file), "FILE", NULL,
	  "a table of buckets, by the rules in this file: 'regular expression -> bucket' on each line", NULL, false },
	{ "per-call", 0, OPT_STRING, OFFSET(print.profile.costs), "GLOBS", NULL,
	  "what a call of these regions costs, less the markers: percentiles in ns and cycles, and shares of buckets", NULL,
	  false },
	{ "windows", 0, OPT_FLAG, OFFSET(print.each_window), NULL, NULL,
	  "a table of single windows, in the order in which they began: when, what their time was spent on, what stands out", NULL,
	  false },
	{ "open", 0, OPT_FLAG, OFFSET(open), NULL, NULL,
	  "write it as a page, --format html, to a temporary file, and open that in a browser", NULL, false },
	PRINT_SHAPE_ROWS(struct report_command_options),
	{ .name = NULL },
};

static const struct command_example examples[] = {
	{ "sparkctl report out.spark", "the report that the run gave" },
	{ "sparkctl report --group-by thread --metrics 'wall*' out.spark", "the same run by thread, other columns" },
	{ "sparkctl report --define 'ns-per-row [ns] = cpu / units' out.spark", "a metric that the run did not have" },
	{ "sparkctl report --by-region --call-tree out.spark", "where on the CPU, for each region" },
	{ "sparkctl report --off-cpu --call-tree out.spark", "where threads waited, and who called that" },
	{ "sparkctl report --per-call switch --buckets rules.txt out.spark", "what a short call costs" },
	{ "sparkctl report --format csv out.spark", "for spreadsheets: a value and its state for each column" },
	{ "sparkctl report --open out.spark", "regions and flame graphs, in a browser" },
	{ .line = NULL },
};

/* Each of these is of no use without the tables. */
static bool report_wants_profile(const struct report_profile *profile)
{
	return profile->detail || profile->off || profile->by_region || profile->inner || profile->call_tree || profile->lines ||
	       profile->buckets;
}

/* The rules of a file. The exit status, after a message if it is not 0. */
static int report_read_buckets(struct buckets *buckets, const char *path)
{
	char *text = calloc(1, BUCKETS_FILE_MAX + 2);
	FILE *file = text ? fopen(path, "re") : NULL;
	size_t len = file ? fread(text, 1, BUCKETS_FILE_MAX + 1, file) : 0;
	struct buckets_error mistake;
	int ret = 0;

	if (!text)
		ret = error("out of memory");
	else if (!file || ferror(file))
		ret = error("cannot read the buckets %s: %s", path, strerror(errno));
	else if (len > BUCKETS_FILE_MAX)
		ret = error("%s: rules for buckets have no more than %d bytes", path, BUCKETS_FILE_MAX);
	else if (memchr(text, '\0', len))
		ret = error("%s is no text", path);
	else if (buckets_parse(buckets, text, &mistake) != 0)
		ret = error("%s:%zu: %s", path, mistake.line, mistake.why);
	if (file)
		fclose(file);
	free(text);
	return ret ? STATUS_USAGE : STATUS_OK;
}

/* Intervals off the CPU in the place of the samples. The exit status, after a message if it is not 0. */
static int report_off(struct session_facts *facts, struct samples *off, const char *path)
{
	if (!facts->samples || !facts->samples->off) {
		error("%s has no times off the CPU: it was not recorded with run --off-cpu", path);
		return STATUS_FAILURE;
	}
	*off = samples_off_view(facts->samples);
	facts->samples = off;
	return STATUS_OK;
}

/* The exit status, after a message if it is not 0. */
static int report_file(const struct print_options *given, const struct output *format, const char *path)
{
	struct recording *recording = recording_read(path);
	struct print_options o = *given;
	struct session_facts facts;
	struct samples off;
	int status;

	if (!recording)
		return STATUS_FAILURE;
	facts = recording->facts;
	/* It gets the whole name of a function that tables cut. */
	status = o.profile.off ? report_off(&facts, &off, path) :
		 o.profile.detail && profiled_check(recording, path, &o.profile.lines) ? STATUS_FAILURE : STATUS_OK;
	if (!status)
		status = recorded_print(&o, format, stdout, recording, &facts);
	recording_free(recording);
	return status;
}

/* The exit status is that of the last file that failed. */
static int report_files(const struct print_options *given, const struct output *format, char **paths, int n)
{
	int status = STATUS_OK, failed;

	for (int i = 0; i < n; i++) {
		if (i && format == output_find("table"))
			putchar('\n');
		failed = report_file(given, format, paths[i]);
		status = failed ? failed : status;
	}
	return status;
}

static int report_with(struct report_command_options *command, char **paths, int n)
{
	struct print_options *o = &command->print;
	const struct output *format = print_format(&command_report, o);

	if (!format)
		return STATUS_USAGE;
	if (n > 1 && (command->open || format == output_find("html")))
		return command_misused(&command_report, "makes a page of one recording, not also of", paths[1]);
	log_set_level(o->quiet ? LOG_LEVEL_QUIET : o->verbose);
	setlocale(LC_CTYPE, "");
	/* A mistake is told once, and before anything is printed. */
	if (define_all(&o->definitions, &o->define, true, NULL))
		return STATUS_USAGE;
	if (command->buckets_file) {
		if (report_read_buckets(&command->buckets, command->buckets_file))
			return STATUS_USAGE;
		o->profile.buckets = &command->buckets;
	}
	if (o->profile.costs && (o->each_window || o->profile.off || command->open ||
				 (format != output_find("table") && format != output_find("json"))))
		return command_misused(&command_report, "has --per-call as a table and as JSON, without --windows and --off-cpu",
				       NULL);
	/* Of runs that were not sampled the rest is told. */
	o->profile.detail = !o->profile.costs && report_wants_profile(&o->profile);
	if (command->open)
		return open_report(o, paths[0]);
	pager_start();
	return report_files(o, format, paths, n);
}

static int report_command(int argc, char **argv)
{
	struct report_command_options o = { .print = { .format = "table", .group = -1, .profile = { .top = 10 } } };
	int status, first = command_parse(&command_report, &o, argc, argv, &status);

	if (first >= argc)
		status = command_misused(&command_report, "needs a recording, made by run -o FILE", NULL);
	else if (first >= 0)
		status = report_with(&o, argv + first, argc - first);
	print_options_free(&o.print);
	buckets_free(&o.buckets);
	return status;
}

const struct command command_report = {
	.name = "report",
	.summary = "print the report of a recording, as it was or in another form",
	.usage = "[OPTION...] FILE...",
	.options = options,
	.examples = examples,
	.run = report_command,
};
