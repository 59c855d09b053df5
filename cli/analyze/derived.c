/* SPDX-License-Identifier: MIT */
/* The rows of metrics that are computed from others, and the list of those that are defined; see derived.h. */
#include "cli/analyze/derived.h"

#include <stdlib.h>
#include <string.h>

static const char derived_bias[] = "that of its inputs";
static const char derived_mean_clock[] = "the clock is the mean of all calls";
static const char derived_loads[] = "loads alone, as the CPU's event has them; hardware prefetches may be in it or not";

#define DERIVED_METRIC(CLASS, NAME, TITLE, UNIT, FORMAT, IMPORTANCE, MEANING, BIAS) \
	.metric = { .name = NAME, .title = TITLE, .unit = UNIT, .class_name = CLASS, .source = "derived", \
		    .format = FORMAT, .in_windows = METRIC_ASKED, .place = 25, .importance = IMPORTANCE, \
		    .meaning = MEANING, .bias = BIAS }
/* Of events, whose columns are diagnostic. */
#define DERIVED_EVENTS(...) DERIVED_METRIC("diagnostic", __VA_ARGS__)
#define DERIVED_BOTH(...) .regions = { __VA_ARGS__ }, .totals = { __VA_ARGS__ }

static const struct derived_row derived_rows[] = {
	{ DERIVED_METRIC("quantitative", "cpu-utilization", "cpu util", "%", METRIC_PERCENT, 37,
			 "CPU time as a share of elapsed time; several busy threads of a process have more than 100",
			 derived_bias),
	  DERIVED_BOTH("100 * cpu / wall"), .told = DERIVED_IN_REGIONS | DERIVED_IN_RATIOS | DERIVED_IN_TOTALS },
	{ DERIVED_EVENTS("ipc", "ipc", "1/cycle", METRIC_RATIO, 65, "instructions in a cycle", derived_bias),
	  DERIVED_BOTH("instructions / cycles"), .told = DERIVED_IN_RATIOS },
	{ DERIVED_EVENTS("cpi", "cpi", "1/insn", METRIC_RATIO, 21, "cycles for an instruction", derived_bias),
	  DERIVED_BOTH("cycles / instructions"), .told = DERIVED_IN_REGIONS | DERIVED_IN_RATIOS | DERIVED_IN_TOTALS },
	{ DERIVED_EVENTS("effective-clock", "clock", "GHz", METRIC_RATIO, 40,
			 "cycles for each ns on a CPU: the clock that the CPU had while the region ran", derived_bias),
	  .regions = { "cycles / cpu" } },
	{ DERIVED_EVENTS("p50-cycles", "p50 cyc", "cycles", METRIC_COUNT, 27,
			 "wall.p50 in cycles, at the region's effective clock", derived_mean_clock),
	  .regions = { "wall.p50 * cycles / cpu" }, .told = DERIVED_IN_REGIONS },
	{ DERIVED_EVENTS("p90-cycles", "p90 cyc", "cycles", METRIC_COUNT, 26,
			 "wall.p90 in cycles, at the region's effective clock", derived_mean_clock),
	  .regions = { "wall.p90 * cycles / cpu" }, .told = DERIVED_IN_REGIONS },
	{ DERIVED_EVENTS("p99-cycles", "p99 cyc", "cycles", METRIC_COUNT, 25,
			 "wall.p99 in cycles, at the region's effective clock", derived_mean_clock),
	  .regions = { "wall.p99 * cycles / cpu" }, .told = DERIVED_IN_REGIONS },
	{ DERIVED_EVENTS("branch-miss-rate", "br miss", "%", METRIC_PERCENT, 44, "branches that were predicted wrong",
			 derived_bias),
	  DERIVED_BOTH("100 * branch-misses / branches"), .told = DERIVED_IN_RATIOS },
	{ DERIVED_EVENTS("branch-mpki", "br mpki", "1/kinsn", METRIC_RATIO, 33,
			 "mispredicted branches in 1000 instructions", derived_bias),
	  DERIVED_BOTH("1000 * branch-misses / instructions") },
	{ DERIVED_EVENTS("llc-miss-rate", "llc miss", "%", METRIC_PERCENT, 43,
			 "loads of the last cache level, or else its references, that missed", derived_loads),
	  DERIVED_BOTH("100 * LLC-load-misses / LLC-loads", "100 * cache-misses / cache-references") },
	{ DERIVED_EVENTS("llc-mpki", "llc mpki", "1/kinsn", METRIC_RATIO, 42,
			 "misses of the last cache level in 1000 instructions", derived_loads),
	  DERIVED_BOTH("1000 * LLC-load-misses / instructions", "1000 * cache-misses / instructions") },
	{ DERIVED_EVENTS("l1d-miss-rate", "l1d miss", "%", METRIC_PERCENT, 41,
			 "loads that missed the first cache level", derived_loads),
	  DERIVED_BOTH("100 * L1-dcache-load-misses / L1-dcache-loads") },
	{ DERIVED_EVENTS("l1d-mpki", "l1d mpki", "1/kinsn", METRIC_RATIO, 32,
			 "misses of the first cache level in 1000 instructions", derived_loads),
	  DERIVED_BOTH("1000 * L1-dcache-load-misses / instructions") },
	{ DERIVED_EVENTS("dtlb-mpki", "dtlb mpki", "1/kinsn", METRIC_RATIO, 31,
			 "loads that missed the data TLB in 1000 instructions", derived_loads),
	  DERIVED_BOTH("1000 * dTLB-load-misses / instructions") },
	{ DERIVED_EVENTS("stalled-frontend", "fe stall", "%", METRIC_PERCENT, 34,
			 "cycles without new instructions to execute", derived_bias),
	  DERIVED_BOTH("100 * stalled-cycles-frontend / cycles") },
	{ DERIVED_EVENTS("stalled-backend", "be stall", "%", METRIC_PERCENT, 34,
			 "cycles in which the CPU could not take further instructions", derived_bias),
	  DERIVED_BOTH("100 * stalled-cycles-backend / cycles") },
	{ DERIVED_EVENTS("instructions-per-unit", "insn/unit", "1/unit", METRIC_RATIO, 46,
			 "instructions for each unit of work", derived_bias),
	  .regions = { "instructions / units" } },
	{ DERIVED_EVENTS("cycles-per-unit", "cyc/unit", "1/unit", METRIC_RATIO, 46,
			 "cycles for each unit of work", derived_bias),
	  .regions = { "cycles / units" } },
};

const struct derived_row *derived_table(size_t *count)
{
	*count = ARRAY_SIZE(derived_rows);
	return derived_rows;
}

const struct derived_row *derived_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(derived_rows); i++)
		if (!strcmp(derived_rows[i].metric.name, name))
			return &derived_rows[i];
	return NULL;
}

const struct definition *definitions_find(const struct definitions *definitions, const char *name)
{
	for (size_t i = 0; definitions && i < definitions->n; i++)
		if (!strcmp(definitions->item[i].formula.name, name))
			return &definitions->item[i];
	return NULL;
}

/* Whether it uses itself, or one that comes later: inputs are computed first. */
static bool definitions_ordered(const struct definitions *definitions, const struct formula *formula, size_t at)
{
	for (size_t i = 0; i < formula->ninputs; i++) {
		const struct definition *used = definitions_find(definitions, formula->inputs[i]);

		if (!strcmp(formula->inputs[i], formula->name) || (used && (size_t)(used - definitions->item) > at))
			return false;
	}
	return true;
}

/* Where it goes: the place of the one with its name, or a new one; NULL without memory. */
static struct definition *definitions_place(struct definitions *definitions, const char *name)
{
	struct definition *item = (struct definition *)(uintptr_t)definitions_find(definitions, name);

	if (item)
		return item;
	item = realloc(definitions->item, (definitions->n + 1) * sizeof(*item));
	if (!item)
		return NULL;
	definitions->item = item;
	item[definitions->n] = (struct definition){ .aside = false };
	return &item[definitions->n++];
}

int definitions_add(struct definitions *definitions, struct formula *formula, bool aside, struct formula_error *error)
{
	const struct definition *old = definitions_find(definitions, formula->name);
	struct definition *place = NULL;

	*error = (struct formula_error){ 1, "out of memory" };
	if (!definitions_ordered(definitions, formula, old ? (size_t)(old - definitions->item) : definitions->n))
		*error = (struct formula_error){ 1, "it uses itself, or a metric that is defined behind it" };
	else if (!old && definitions->n == DERIVED_DEFINITIONS_MAX)
		*error = (struct formula_error){ 1, "there are too many definitions" };
	else
		place = definitions_place(definitions, formula->name);
	if (!place) {
		formula_free(formula);
		return -1;
	}
	formula_free(&place->formula);
	*place = (struct definition){ *formula, aside };
	*formula = (struct formula){ .name = NULL };
	return 0;
}

void definitions_free(struct definitions *definitions)
{
	for (size_t i = 0; i < definitions->n; i++)
		formula_free(&definitions->item[i].formula);
	free(definitions->item);
	*definitions = (struct definitions){ .item = NULL };
}
