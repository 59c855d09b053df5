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
	PRINT_SHAPE_ROWS(struct report_command_options),
	{ .name = NULL },
};

static const struct command_example examples[] = {
	{ "sparkctl report out.spark", "the report that the run gave" },
	{ "sparkctl report --group-by thread --metrics 'wall*' out.spark", "the same run by thread, other columns" },
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

static int report_file(const struct print_options *given, const struct output *format, const char *path)
{
	struct recording *recording = recording_read(path);
	struct print_options o;
	int ret;

	if (!recording)
		return -1;
	o = with_recorded(given, recording);
	ret = print_report(&o, format, stdout, &recording->profile, &recording->facts);
	recording_free(recording);
	return ret;
}

static int report_command(int argc, char **argv)
{
	struct report_command_options o = { .print = { .format = "table", .group = -1 } };
	const struct output *format;
	int first, status, i;

	first = command_parse(&command_report, &o, argc, argv, &status);
	if (first < 0)
		return status;
	if (first >= argc)
		return command_misused(&command_report, "needs a recording, made by run -o FILE", NULL);
	format = print_format(&command_report, &o.print);
	if (!format)
		return STATUS_USAGE;
	log_set_level(o.print.quiet ? LOG_LEVEL_QUIET : o.print.verbose);
	setlocale(LC_CTYPE, "");
	pager_start();
	status = STATUS_OK;
	for (i = first; i < argc; i++) {
		if (i > first && format == output_find("table"))
			putchar('\n');
		if (report_file(&o.print, format, argv[i]))
			status = STATUS_FAILURE;
	}
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
