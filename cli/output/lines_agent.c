/* SPDX-License-Identifier: MIT */
/* The lines of the table format about the agent: processes that have none, and what its markers cost. */
#include <stdlib.h>
#include <string.h>

#include "cli/output/format.h"
#include "cli/output/lines.h"

enum { AGENT_NAMED = 8 };

/* "COMMAND [PID], ...": the processes without an agent for that reason; to be freed. */
static char *lines_join_processes(const struct session_facts *facts, size_t first, size_t most)
{
	const struct process_facts *all = facts->processes;
	char *text = NULL, *longer, *name;
	size_t n = 0;

	for (size_t i = first; i < facts->nprocesses; i++) {
		if (!all[i].no_agent || strcmp(all[i].no_agent, all[first].no_agent))
			continue;
		if (n++ >= most)
			continue;
		name = all[i].command ? lines_name(all[i].command, 24) : NULL;
		if (asprintf(&longer, "%s%s%s [%u]", text ? text : "", text ? ", " : "", name ? name : "?", all[i].pid) < 0)
			longer = NULL;
		free(name);
		free(text);
		text = longer;
	}
	if (n > most && asprintf(&longer, "%s and %zu more", text ? text : "", n - most) >= 0) {
		free(text);
		text = longer;
	}
	return text;
}

/* Processes that are there with their own figures alone, one line for each reason. */
void lines_without_agent(const struct lines *lines)
{
	const struct session_facts *facts = lines->report->facts;
	const struct process_facts *all = facts->processes;
	size_t most = lines->options->verbose > 0 ? facts->nprocesses : AGENT_NAMED;
	char *names;

	for (size_t i = 0; i < facts->nprocesses; i++) {
		bool said = !all[i].no_agent;

		for (size_t k = 0; k < i && !said; k++)
			said = all[k].no_agent && !strcmp(all[k].no_agent, all[i].no_agent);
		if (said)
			continue;
		names = lines_join_processes(facts, i, most);
		lines_print(lines, STYLE_PLAIN, "not preloaded", "%s: %s", names ? names : "", all[i].no_agent);
		free(names);
	}
}

/* Why there are none. */
void lines_no_marker(const struct lines *lines)
{
	const struct session_facts *facts = lines->report->facts;
	bool entered = false;
	char *command;

	for (size_t i = 0; i < facts->nprocesses && !entered; i++)
		entered = facts->processes[i].agent;
	if (!facts->argv && entered) {
		lines_print(lines, STYLE_PLAIN, "no regions", "no marker was met meanwhile: the figures are of whole processes");
		return;
	}
	if (!facts->argv) {
		lines_print(lines, STYLE_PLAIN, "no regions", "nothing was loaded into what ran already: the figures are of whole "
			    "processes");
		return;
	}
	command = facts->argv[0] ? lines_name(facts->argv[0], lines_name_most(lines)) : NULL;
	lines_print(lines, STYLE_PLAIN, "no regions",
		    "%s met no marker: the figures are of whole processes; spark.h(3) tells how to mark "
		    "regions", command ? command : "the program");
	free(command);
}

void lines_markers(const struct lines *lines)
{
	const struct report_markers *markers = &lines->report->markers;
	char pairs[FORMAT_SIZE], pair[FORMAT_SIZE], cost[FORMAT_SIZE], share[FORMAT_SIZE];

	if (!markers->pairs || (lines->options->verbose < 0 && !markers->warn))
		return;
	format_count(pairs, markers->pairs);
	format_ns(pair, markers->pair_ns, lines->options->utf8);
	format_ns(cost, markers->cost_ns, lines->options->utf8);
	format_percent(share, markers->share);
	lines_print(lines, markers->warn ? STYLE_BAD : STYLE_PLAIN, "markers",
		    "%s pair%s at %s: %s, %s of wall, not subtracted%s", pairs,
		    markers->pairs == 1 ? "" : "s", pair, cost, share,
		    markers->warn ? "; warning: more than 5 %, the measurement disturbs the program" : "");
	if (markers->fine)
		lines_print(lines, STYLE_PLAIN, "fine regions",
			    "%s: a call takes less than 20 times what its markers take", markers->fine);
}
