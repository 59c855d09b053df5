/* SPDX-License-Identifier: MIT */
/* The totals of a report, each with its ratio to another one where that tells something. */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/report_build.h"

/* value x scale / base; times are in ns. As perf-stat(1) has them: rates are of CPU time. */
static const struct total_ratio {
	const char *name, *base;
	double scale;
	const char *unit;
} ratios[] = {
	{ "task-clock", "elapsed", 1, "CPUs" },
	{ "user", "elapsed", 1, "CPUs" },
	{ "sys", "elapsed", 1, "CPUs" },
	{ "minor-faults", "task-clock", 1e9, "/s" },
	{ "major-faults", "task-clock", 1e9, "/s" },
	{ "context-switches", "task-clock", 1e9, "/s" },
	{ "cpu-migrations", "task-clock", 1e9, "/s" },
	{ "cycles", "task-clock", 1, "GHz" },
	{ "instructions", "cycles", 1, "per cycle" },
	{ "branches", "task-clock", 1e9, "/s" },
	{ "branch-misses", "branches", 100, "% of branches" },
};

static const struct total_fact *report_find_total(const struct total_fact *totals, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(totals[i].name, name))
			return &totals[i];
	return NULL;
}

/* part: NULL, or whose total it is; the time that elapsed is that of all. */
static struct report_ratio report_ratio_of(const struct session_facts *facts, const struct part_fact *part,
					   const struct total_fact *total)
{
	for (size_t i = 0; i < ARRAY_SIZE(ratios); i++) {
		const struct total_fact *base =
			part ? report_find_total(part->totals, part->ntotals, ratios[i].base) : NULL;

		if (!part || !strcmp(ratios[i].base, "elapsed"))
			base = report_find_total(facts->totals, facts->ntotals, ratios[i].base);

		if (!strcmp(ratios[i].name, total->name) && base)
			return (struct report_ratio){ cell_divide(total->cell, base->cell, ratios[i].scale),
						      ratios[i].unit };
	}
	return (struct report_ratio){ .unit = NULL };
}

int report_add_total(struct report *report, const struct total_fact *total)
{
	struct total_fact *totals = report_grow(report->totals, report->ntotals, sizeof(*totals));
	struct report_ratio *all;

	if (!totals)
		return -1;
	report->totals = totals;
	all = report_grow(report->ratios, report->ntotals, sizeof(*all));
	if (!all)
		return -1;
	report->ratios = all;
	totals[report->ntotals] = *total;
	all[report->ntotals++] = report_ratio_of(report->facts, NULL, total);
	return 0;
}

static int report_add_marker_totals(struct report *report)
{
	struct total_fact pairs = { .name = "markers", .unit = "count", .source = "time" };
	struct total_fact cost = { .name = "marker-cost", .unit = "ns", .source = "time" };

	pairs.cell = cell_counted(report->markers.pairs);
	cost.cell = cell_counted(report->markers.cost_ns);
	cost.cell.state = CELL_ESTIMATE;
	cost.cell.note = "pairs x cost of an empty pair, not subtracted";
	return report_add_total(report, &pairs) || report_add_total(report, &cost) ? -1 : 0;
}

void report_add_part_total(const struct report *report, struct report_part *part, const struct total_fact *total)
{
	part->ratios[part->ntotals] = report_ratio_of(report->facts, part->fact, total);
	part->totals[part->ntotals++] = *total;
}

/* With room for those that are computed. */
static int report_add_part(struct report *report, const struct part_fact *fact)
{
	struct report_part *part = &report->by_part[report->nby_part++];
	size_t room = fact->ntotals + report->nderived + 1;

	part->fact = fact;
	part->totals = calloc(room, sizeof(*part->totals));
	part->ratios = calloc(room, sizeof(*part->ratios));
	if (!part->totals || !part->ratios)
		return -1;
	for (size_t i = 0; i < fact->ntotals; i++) {
		const struct total_fact *total = &fact->totals[i];

		if (!report->options.metrics || metric_glob(report->options.metrics, total->name))
			report_add_part_total(report, part, total);
	}
	return 0;
}

static int report_add_parts(struct report *report)
{
	const struct session_facts *facts = report->facts;

	report->by_part = calloc(facts->nparts + 1, sizeof(*report->by_part));
	if (!report->by_part)
		return -1;
	for (size_t i = 0; i < facts->nparts; i++)
		if (report_add_part(report, &facts->parts[i]))
			return -1;
	return 0;
}

int report_add_totals(struct report *report)
{
	const struct report_options *options = &report->options;
	const struct total_fact *totals = report->facts->totals;

	for (size_t i = 0; i < report->facts->ntotals; i++) {
		if (options->totals_only && options->metrics && !metric_glob(options->metrics, totals[i].name))
			continue;
		if (options->all_calls && report_call_unmade(report->facts, &totals[i]))
			continue;
		if (report_add_total(report, &totals[i]) != 0)
			return -1;
	}
	if (!options->totals_only && report_add_marker_totals(report) != 0)
		return -1;
	if (report_add_parts(report) != 0 || report_add_calls(report) != 0)
		return -1;
	return report_add_derived_totals(report);
}
