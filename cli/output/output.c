/* SPDX-License-Identifier: MIT */
/* The table of formats; see output.h. */
#include "cli/output/output.h"

#include <errno.h>
#include <langinfo.h>
#include <stdio_ext.h>
#include <string.h>

#include "cli/log.h"
#include "cli/output/formats.h"

const struct output output_formats[] = {
	{ "table", "for people", table_write },
	{ "json", "for programs: schema spark-report/1", json_write },
	{ "csv", "for spreadsheets: RFC 4180, a state beside each value", csv_write },
	{ "html", "for a browser: one page, with flame graphs of samples", html_write },
	{ NULL, NULL, NULL },
};

const char *const output_words[] = { "table", "json", "csv", "html", NULL };

const struct output *output_find(const char *name)
{
	const struct output *output;

	for (output = output_formats; output->name; output++)
		if (!strcmp(output->name, name))
			return output;
	return NULL;
}

bool output_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

int output_write(const struct output *output, FILE *file, const struct report *report,
		 const struct output_options *options)
{
	errno = 0;
	if (output->write(file, report, options) != 0)
		return error("out of memory for the report");
	if (fflush(file) == 0 && !ferror(file))
		return 0;
	if (errno == EPIPE) {
		/* No failure of the stream's either, as which command_end_output would take it. */
		__fpurge(file);
		clearerr(file);
		return 0;
	}
	return error("cannot write the report: %s", strerror(errno));
}
