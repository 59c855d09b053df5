/* SPDX-License-Identifier: MIT */
/* The lines of the table format about which portion of the run was measured. */
#include <stdlib.h>

#include "cli/output/format.h"
#include "cli/output/lines.h"

void lines_measured(struct lines_row *row, const struct session_facts *facts, bool utf8)
{
	char time[FORMAT_SIZE];

	if (!facts->partial)
		return;
	format_ns(time, (double)facts->measured_ns, utf8);
	if (!facts->nspans)
		lines_piece(row, "never measured");
	else if (facts->nspans == 1)
		lines_piece(row, "measured for %s of it", time);
	else
		lines_piece(row, "measured for %s of it, in %zu spans", time, facts->nspans);
}

void lines_inside(const struct lines *lines)
{
	const struct session_facts *facts = lines->report->facts;

	for (size_t i = 0; i < facts->ninside; i++) {
		char *name = lines_name(facts->inside[i], lines_name_most(lines));

		lines_print(lines, STYLE_PLAIN, "inside", "%s, and nothing else", name ? name : "?");
		free(name);
	}
}
