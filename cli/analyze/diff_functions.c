/* SPDX-License-Identifier: MIT */
/* Functions that samples were taken in, as rows of a diff. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/diff_build.h"

/* What was sampled is of the program's own file: that may be called something else in the other run. */
static bool of_program(const struct session_facts *facts, const char *object)
{
	for (size_t i = 0; i < facts->nprocesses; i++)
		if (facts->processes[i].image && !strcmp(facts->processes[i].image, object))
			return true;
	return false;
}

/* "name", or "name [libx.so]"; to be freed. */
static char *function_name(struct stacks *stacks, const struct session_facts *facts, u32 function)
{
	const struct stacks_function *f = stacks_function(stacks, function);
	char *name = stacks_function_name(stacks, function), *whole;
	const char *object = f->object == SAMPLES_NONE ? NULL : facts->samples->objects[f->object].path;
	const char *base = object ? strrchr(object, '/') : NULL;
	size_t size;

	if (!name || !object || of_program(facts, object) || f->name == SAMPLES_NONE)
		return name;
	base = base ? base + 1 : object;
	size = strlen(name) + strlen(base) + 4;
	whole = malloc(size);
	if (whole)
		snprintf(whole, size, *base == '[' ? "%s %s" : "%s [%s]", name, base);
	free(name);
	return whole;
}

/* Functions of one name, in files of the program, are one row: a value is added to what it has. */
static int function_put(struct diff *diff, struct diff_run *run, u32 metric, u32 row, double value)
{
	struct cell cell = { .value = value, .state = CELL_ESTIMATE };
	u8 state;
	double before = diff_value(run, DIFF_FUNCTIONS, metric, row, &state);

	cell.value += before > 0 ? before : 0;
	return diff_put(diff, run, DIFF_FUNCTIONS, metric, row, &cell);
}

static const char *const metric_names[] = { "self", "total" };

struct function_metrics {
	bool wanted[ARRAY_SIZE(metric_names)];
	u32 metric[ARRAY_SIZE(metric_names)];
};

static int add_entry(struct diff *diff, struct diff_run *run, const char *name, const struct stacks_entry *entry,
		     const struct function_metrics *metrics)
{
	const double weights[] = { (double)entry->self.weight, (double)entry->total.weight };
	size_t len = strlen(name);
	u32 row;

	name = diff_renamed(diff, run, name, &len);
	row = diff_row(diff, DIFF_FUNCTIONS, DIFF_NONE, name, len, "");
	if (row == DIFF_NONE || diff_put_within(diff, run, row, weights[1]))
		return -1;
	run->samples += entry->self.count;
	run->weight += weights[0];
	for (size_t i = 0; i < ARRAY_SIZE(metric_names); i++)
		if (metrics->wanted[i] && function_put(diff, run, metrics->metric[i], row, weights[i]))
			return -1;
	return 0;
}

static int add_entries(struct diff *diff, struct diff_run *run, const struct session_facts *facts, struct stacks *stacks,
		       const struct function_metrics *metrics)
{
	struct stacks_entry *entries = NULL;
	size_t n = 0;
	int err = stacks_flat(stacks, &(struct stacks_scope){ .whole = true }, &entries, &n) ? -1 : 0;

	for (size_t i = 0; i < n && !err; i++) {
		char *name = function_name(stacks, facts, entries[i].function);

		err = name ? add_entry(diff, run, name, &entries[i], metrics) : -1;
		free(name);
	}
	free(entries);
	return err;
}

int diff_add_functions(struct diff *diff, struct diff_run *run, const struct session_facts *facts)
{
	const struct samples *samples = facts->samples;
	struct function_metrics metrics;
	bool any = false;
	struct stacks *stacks;
	int err;

	if (!samples || !samples_taken(samples))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(metric_names); i++) {
		metrics.wanted[i] = diff_wanted(diff, metric_names[i]);
		any = any || metrics.wanted[i];
		metrics.metric[i] = !metrics.wanted[i] ? 0 :
			diff_metric(diff, DIFF_FUNCTIONS, metric_names[i], samples->clock ? "ns" : "count",
				    samples->clock ? METRIC_NS : METRIC_COUNT, true);
		if (metrics.metric[i] == DIFF_NONE)
			return -1;
	}
	if (!any)
		return 0;
	stacks = stacks_new(samples);
	if (!stacks)
		return -1;
	run->sampled = true;
	err = add_entries(diff, run, facts, stacks, &metrics);
	stacks_free(stacks);
	return err;
}
