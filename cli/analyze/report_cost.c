/* SPDX-License-Identifier: MIT */
/*
 * What a call of a region costs: its percentiles less what the markers read, in ns and in cycles, and what its CPU time
 * goes to by buckets of functions. For regions of short calls, such as a switch to another thread and back.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/report_build.h"
#include "cli/analyze/spread.h"

/* Clocks that go alike are apart by no more than the time that it takes to read both. */
#define APART_NS 5000.0
#define APART_PPM 100.0
#define PAIRS_LEAST 3

static const struct cell *cell_of(const struct report *report, const struct report_row *row, const char *name)
{
	static const struct cell none = { .state = CELL_UNAVAILABLE };

	for (size_t c = 0; c < report->ncolumns; c++)
		if (!strcmp(report->columns[c].metric->name, name))
			return &row->cells[c];
	return &none;
}

static bool cost_wanted(const struct report *report, size_t row)
{
	const char *globs = report->options.profile.costs;
	char path[4096];
	size_t at = sizeof(path) - 1;

	if (report->rows[row].root || report->rows[row].context)
		return false;
	if (metric_glob(globs, report->rows[row].name))
		return true;
	path[at] = '\0';
	for (size_t i = row; !report->rows[i].root; i = report->rows[i].parent) {
		const struct report_row *r = &report->rows[i];

		if (r->len + 1 > at)
			return false;
		at -= r->len;
		memcpy(path + at, r->name, r->len);
		if (report->rows[r->parent].root)
			break;
		path[--at] = ';';
	}
	return metric_glob(globs, path + at);
}

/* The region of the samples with that path, + 1; 0: it has none. */
static u32 cost_region(const struct report *report, size_t row)
{
	const struct samples *samples = report->facts->samples;
	const struct report_row *r = &report->rows[row];
	u32 parent;

	if (r->root)
		return 0;
	parent = cost_region(report, r->parent);
	if (!parent && !report->rows[r->parent].root)
		return 0;
	for (u32 i = 0; i < samples->nregions; i++) {
		const struct samples_string *name = &samples->strings[samples->regions[i].name];

		if (samples->regions[i].parent == (parent ? parent - 1 : SAMPLES_NONE) && name->length == r->len &&
		    !memcmp(name->bytes, r->name, r->len))
			return i + 1;
	}
	return 0;
}

/* The clock is the mean one of the region's calls. */
static void cost_figures(const struct report *report, struct report_cost *cost, const struct report_row *row)
{
	static const char *const names[REPORT_COST_FIGURES] = {
		[REPORT_COST_P50] = "wall.p50", [REPORT_COST_P90] = "wall.p90", [REPORT_COST_P99] = "wall.p99",
	};
	const struct cell *cycles = cell_of(report, row, "cycles");
	struct cell calls = cell_counted((double)row->calls);

	cost->floor = *cell_of(report, row, "wall.floor");
	cost->cpu = cell_divide(*cell_of(report, row, "cpu"), calls, 1);
	cost->clock = *cell_of(report, row, "effective-clock");
	/* Cycles of user mode alone are not those of the time. */
	if (!cell_has_value(&cost->clock) && cycles->note)
		cost->clock.note = cycles->note;
	if (cell_of_user(&cost->clock))
		cost->clock = cell_absent(CELL_UNAVAILABLE, "cycles were counted in " CELL_NOTE_USER);
	for (u32 i = 0; i < REPORT_COST_FIGURES; i++) {
		cost->time[i] = i == REPORT_COST_MEAN ? cell_divide(*cell_of(report, row, "wall"), calls, 1) :
				*cell_of(report, row, names[i]);
		cost->cycles[i] = cost->clock;
		if (cell_has_value(&cost->clock) && cell_has_value(&cost->time[i]))
			cost->cycles[i].value = cost->clock.value * cost->time[i].value;
		else if (cell_has_value(&cost->clock))
			cost->cycles[i] = cost->time[i];
	}
}

static double share_of(const struct stacks_sum *sum, const struct stacks_sum *of)
{
	if (of->weight)
		return (double)sum->weight / (double)of->weight;
	return of->count ? (double)sum->count / (double)of->count : 0;
}

static int cost_buckets(const struct report *report, struct report_cost *cost, const struct report_row *row, u32 region)
{
	static const struct buckets none = { .nnames = 0 };
	const struct buckets *rules = report->options.profile.buckets ? report->options.profile.buckets : &none;
	const struct stacks_scope scope = { .region = region, .inner = true, .process = row->process };
	struct stacks_bucket *sums = NULL;
	size_t n = 0;

	cost->samples = stacks_sum(report->stacks, &scope);
	if (!cost->samples.count) {
		cost->no_buckets = "no samples were taken in it";
		return 0;
	}
	if (stacks_buckets(report->stacks, &scope, rules, &sums, &n))
		return -1;
	cost->buckets = calloc(n + 1, sizeof(*cost->buckets));
	for (size_t i = 0; cost->buckets && i < n; i++) {
		double share = share_of(&sums[i].sum, &cost->samples);

		cost->buckets[i] = (struct report_cost_bucket){ .name = sums[i].name, .samples = sums[i].sum.count,
								.share = 100 * share, .cpu = cost->cpu };
		cost->buckets[i].cpu.value *= share;
		if (cell_has_value(&cost->cpu))
			cost->buckets[i].cpu.state = CELL_ESTIMATE;
	}
	cost->nbuckets = cost->buckets ? n : 0;
	free(sums);
	return cost->buckets ? 0 : -1;
}

static int cost_fill(const struct report *report, struct report_cost *cost, size_t row)
{
	const struct samples *samples = report->facts->samples;
	u32 region = samples && report->stacks ? cost_region(report, row) : 0;

	cost->row = row;
	cost_figures(report, cost, &report->rows[row]);
	cost->sampled = cell_absent(CELL_UNAVAILABLE, "samples have no time of their own");
	if (!samples || !report->stacks) {
		cost->no_buckets = "the run was not sampled: --profile";
		return 0;
	}
	/* A call stack's region has all threads' samples. */
	if (report->rows[row].tid) {
		cost->no_buckets = "samples are not told apart by thread";
		return 0;
	}
	if (!region) {
		cost->no_buckets = "no samples were taken in it";
		return 0;
	}
	if (cost_buckets(report, cost, &report->rows[row], region))
		return -1;
	if (!samples->clock || !cost->samples.weight)
		return 0;
	cost->sampled = (struct cell){ .value = (double)cost->samples.weight / (double)report->rows[row].calls,
				       .state = CELL_ESTIMATE };
	/* Of so few samples the share is no better known. */
	cost->missed = cell_has_value(&cost->cpu) &&
		       cost->sampled.value * (1 + 3 / spread_root((double)cost->samples.count)) < 0.9 * cost->cpu.value;
	return 0;
}

/*
 * Ticks against CLOCK_MONOTONIC_RAW: pairs that were taken all the time should lie on a line. How far the one that is
 * farthest off is, in ns.
 */
static void clocks_compare(struct report_clocks *clocks, const struct session_facts *facts)
{
	const struct clock_map *map = facts->clock_map;
	const struct clock_pair *first, *last;
	long double slope;

	if (!map || map->identity || map->count < PAIRS_LEAST) {
		clocks->why = !map || map->identity ? "markers read CLOCK_MONOTONIC_RAW itself" :
			      "the run was too short for both to be read some times";
		return;
	}
	first = map->pairs;
	last = first + map->count - 1;
	slope = (long double)(last->ns - first->ns) / (long double)(last->ticks - first->ticks);
	for (const struct clock_pair *pair = first; pair < last; pair++) {
		long double by = (long double)(pair->ticks - first->ticks) * slope - (long double)(pair->ns - first->ns);
		double apart = (double)(by < 0 ? -by : by);

		clocks->apart_ns = MAX(clocks->apart_ns, apart);
	}
	clocks->known = true;
	clocks->pairs = map->count;
	clocks->over_ns = last->ns - first->ns;
	clocks->ghz = slope > 0 ? (double)(1 / slope) : 0;
	clocks->agree = clocks->apart_ns <= MAX(APART_NS, (double)clocks->over_ns * APART_PPM / 1e6);
}

int report_add_costs(struct report *report)
{
	if (!report->options.profile.costs)
		return 0;
	clocks_compare(&report->clocks, report->facts);
	for (size_t row = 0; row < report->nrows; row++) {
		struct report_cost *costs;

		if (!cost_wanted(report, row))
			continue;
		costs = report_grow(report->costs, report->ncosts, sizeof(*costs));
		if (!costs)
			return -1;
		report->costs = costs;
		if (cost_fill(report, &costs[report->ncosts++], row))
			return -1;
	}
	return 0;
}

void report_free_costs(struct report *report)
{
	for (size_t i = 0; i < report->ncosts; i++)
		free(report->costs[i].buckets);
	free(report->costs);
}
