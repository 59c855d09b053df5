/* SPDX-License-Identifier: MIT */
/* The line of the table format about the run's own control group. What it lacks stands with all that is missing. */
#include <string.h>

#include "cli/output/format.h"
#include "cli/output/lines.h"

#define PREFIX "cgroup."

bool lines_of_group(const struct total_fact *total)
{
	return total->source && !strcmp(total->source, "cgroup");
}

/* What did not happen has no place in a line for people. */
static bool group_told(const struct total_fact *total, bool verbose)
{
	return lines_of_group(total) && cell_has_value(&total->cell) && !strncmp(total->name, PREFIX, strlen(PREFIX)) &&
	       (verbose || total->cell.value > 0);
}

void lines_group(const struct lines *lines)
{
	const struct report *report = lines->report;
	char value[FORMAT_SIZE];
	struct lines_row row;
	const char *note = NULL;
	bool any = false;

	for (size_t i = 0; i < report->nshown; i++) {
		const struct total_fact *total = &report->totals[i];

		if (!group_told(total, lines->options->verbose > 0))
			continue;
		if (!any)
			row = lines_begin(lines, "own group", "   ");
		any = true;
		note = total->cell.note;
		format_total(value, total, lines->options->utf8);
		lines_piece(&row, "%s %s", total->name + strlen(PREFIX), value);
	}
	if (any && note)
		lines_piece(&row, "(%s)", note);
	if (any)
		lines_end(&row);
}
