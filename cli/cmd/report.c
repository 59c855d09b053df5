/* SPDX-License-Identifier: MIT */
/* The command "report": what a recording holds, again or in another form. */
#include <locale.h>

#include "cli/cmd/print.h"
#include "cli/log.h"
#include "cli/pager.h"
#include "cli/store/store.h"

struct report_command_options {
	struct print_options print;
};

static const struct opt options[] = {
	PRINT_CHOICE_ROWS(struct report_command_options, "", "as in the run, else "),
	PRINT_DEFINE_ROW(struct report_command_options),
	PRINT_SHAPE_ROWS(struct report_command_options),
	{ .name = NULL },
};

static const struct command_example examples[] = {
	{ "sparkctl report out.spark", "the report that the run gave" },
	{ "sparkctl report --group-by thread --metrics 'wall*' out.spark", "the same run by thread, other columns" },
	{ "sparkctl report --define 'ns-per-row [ns] = cpu / units' out.spark", "a metric that the run did not have" },
	{ "sparkctl report --format csv out.spark", "for spreadsheets: a value and its state for each column" },
	{ .line = NULL },
};

/* What was not given is as the run had it. */
static struct print_options with_recorded(const struct print_options *given, const struct recording *recording)
{
	struct print_options o = *given;

	if (!o.metrics)
		o.metrics = recording->options.report.metrics;
	if (!o.regions)
		o.regions = recording->options.report.regions;
	if (!o.sort_by)
		o.sort_by = recording->options.report.sort_by;
	if (o.group < 0)
		o.group = (int)recording->options.group;
	return o;
}

/* Those of the recording, and of the option. 0, or the exit status after a message. */
static int report_define(struct print_options *o, const struct print_options *given, const struct recording *recording)
{
	o->definitions = (struct definitions){ .item = NULL };
	if (define_recorded(&o->definitions, recording->options.define, given->metrics != NULL))
		return STATUS_FAILURE;
	if (define_all(&o->definitions, &given->define, true, NULL))
		return STATUS_USAGE;
	for (size_t i = 0; i < recording->facts.ntotals; i++)
		if (definitions_find(&o->definitions, recording->facts.totals[i].name)) {
			error("--define: the name '%s' is taken by a total of the run", recording->facts.totals[i].name);
			return STATUS_USAGE;
		}
	return STATUS_OK;
}

/* The exit status, after a message if it is not 0. */
static int report_file(const struct print_options *given, const struct output *format, const char *path)
{
	struct recording *recording = recording_read(path);
	struct print_options o;
	int status;

	if (!recording)
		return STATUS_FAILURE;
	o = with_recorded(given, recording);
	status = report_define(&o, given, recording);
	if (!status && print_report(&o, format, stdout, &recording->profile, &recording->facts))
		status = STATUS_FAILURE;
	definitions_free(&o.definitions);
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

static int report_with(struct print_options *o, char **paths, int n)
{
	const struct output *format = print_format(&command_report, o);

	if (!format)
		return STATUS_USAGE;
	log_set_level(o->quiet ? LOG_LEVEL_QUIET : o->verbose);
	setlocale(LC_CTYPE, "");
	/* A mistake is told once, and before anything is printed. */
	if (define_all(&o->definitions, &o->define, true, NULL))
		return STATUS_USAGE;
	pager_start();
	return report_files(o, format, paths, n);
}

static int report_command(int argc, char **argv)
{
	struct report_command_options o = { .print = { .format = "table", .group = -1 } };
	int status, first = command_parse(&command_report, &o, argc, argv, &status);

	if (first >= argc)
		status = command_misused(&command_report, "needs a recording, made by run -o FILE", NULL);
	else if (first >= 0)
		status = report_with(&o.print, argv + first, argc - first);
	print_options_free(&o.print);
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
