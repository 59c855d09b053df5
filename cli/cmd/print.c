/* SPDX-License-Identifier: MIT */
/* Printing a report; see print.h. */
#include "cli/cmd/print.h"

#include <stdio_ext.h>

#include "cli/log.h"

const struct output *print_format(const struct command *command, const struct print_options *options)
{
	const struct output *format = output_find(options->format);

	if (!format)
		command_misused(command, "knows the formats table, json, csv and html, not", options->format);
	return format;
}

void print_options_free(struct print_options *options)
{
	opt_list_free(&options->define);
	definitions_free(&options->definitions);
}

static int print_grouped(const struct print_options *options, const struct output *format, FILE *file,
			 const struct profile *profile, const struct session_facts *facts)
{
	struct report_options ro = { .metrics = options->metrics, .regions = options->regions,
				     .sort_by = options->sort_by, .totals_only = options->totals_only,
				     .all_calls = options->all_calls, .each_window = options->each_window,
				     .definitions = &options->definitions, .profile = options->profile };
	struct output_options oo = {
		.width = term_width(fileno(file)),
		.color = color_wanted(file, options->color),
		.utf8 = output_utf8(),
		.verbose = options->quiet ? -1 : options->verbose,
	};
	struct report *report = report_build(profile, facts, &ro);
	int ret;

	if (!report)
		return -1;
	ret = output_write(format, file, report, &oo);
	if (ret) { /* it was said: nothing more of it */
		__fpurge(file);
		clearerr(file);
	}
	report_free(report);
	return ret;
}

int print_report(const struct print_options *options, const struct output *format, FILE *file,
		 const struct profile *profile, const struct session_facts *facts)
{
	struct profile grouped;
	int ret;

	/* One write for all of it: standard error is not buffered. */
	if (file == stderr)
		setvbuf(file, NULL, _IOFBF, 1 << 16);
	if (profile->group == (enum profile_group)options->group && !profile->threads_most)
		return print_grouped(options, format, file, profile, facts);
	profile_init(&grouped, (enum profile_group)options->group);
	ret = profile_merge(&grouped, profile);
	if (!ret)
		ret = print_grouped(options, format, file, &grouped, facts);
	profile_fini(&grouped);
	return ret;
}
