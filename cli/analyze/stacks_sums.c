/* SPDX-License-Identifier: MIT */
/* Sums by object and bucket, and what is missing; see stacks.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/buckets.h"
#include "cli/analyze/stacks_build.h"

/* The frame that a row was taken in; NULL: nothing is known of it. */
static const struct samples_frame *stacks_leaf(const struct samples *samples, u32 row)
{
	u32 chain = samples->rows[row].chain;

	return chain == SAMPLES_NONE ? NULL : &samples->frames[samples->chains[chain].frame];
}

static bool stacks_named(const struct samples *samples, const struct samples_frame *frame)
{
	return frame->unresolved == SAMPLES_RESOLVED && frame->nlines &&
	       samples->lines[frame->first_line].function != SAMPLES_NONE;
}

/* ---- objects --------------------------------------------------------------------------------------- */

struct stacks_sorting {
	struct stacks *stacks;
	struct stacks_module *modules;
	struct stacks_bucket *sums;
	u32 *bucket;                 /* of each function, + 1; 0: not looked up yet */
	const struct buckets *buckets;
	const struct samples *samples;
};

static int stacks_module_row(void *context, u32 number)
{
	struct stacks_sorting *sorting = context;
	const struct samples_row *row = &sorting->samples->rows[number];
	const struct samples_frame *frame = stacks_leaf(sorting->samples, number);

	if (!frame)
		return 0;
	stacks_count(&sorting->modules[frame->object].self, row);
	if (stacks_named(sorting->samples, frame))
		sorting->modules[frame->object].named += row->count;
	return 0;
}

static int stacks_module_order(const void *a, const void *b)
{
	const struct stacks_module *x = a, *y = b;
	int order = stacks_sum_order(&x->self, &y->self);

	return order ? order : x->object < y->object ? -1 : 1;
}

int stacks_modules(const struct stacks *stacks, const struct stacks_scope *scope, struct stacks_module **modules,
		   size_t *n)
{
	const struct samples *samples = stacks->samples;
	struct stacks_sorting sorting = { .samples = samples };
	u32 i;

	*n = 0;
	*modules = sorting.modules = calloc((size_t)samples->nobjects + 1, sizeof(**modules));
	if (!*modules)
		return -1;
	for (i = 0; i < samples->nobjects; i++)
		(*modules)[i].object = i;
	stacks_each(stacks, scope, stacks_module_row, &sorting);
	if (samples->nobjects)
		qsort(*modules, samples->nobjects, sizeof(**modules), stacks_module_order);
	while (*n < samples->nobjects && (*modules)[*n].self.count)
		++*n;
	return 0;
}

/* ---- buckets --------------------------------------------------------------------------------------- */

/* The numbers of the rules' names; behind them that of the instrumentation and that of all others. */
static u32 stacks_bucket_find(const struct stacks_sorting *sorting, u32 function)
{
	const struct stacks_function *known = &sorting->stacks->functions[function];

	if (function == STACKS_INSTRUMENTATION)
		return sorting->buckets->nnames;
	return buckets_find(sorting->buckets, stacks_string(sorting->stacks, known->name),
			    sorting->samples->objects[known->object].path);
}

static int stacks_bucket_row(void *context, u32 number)
{
	struct stacks_sorting *sorting = context;
	u32 i, bucket = BUCKETS_NONE, n = stacks_steps(sorting->stacks, number);

	for (i = 0; i < n && bucket == BUCKETS_NONE; i++) {
		u32 *known = &sorting->bucket[sorting->stacks->steps[i].function];

		if (!*known) {
			bucket = stacks_bucket_find(sorting, sorting->stacks->steps[i].function);
			*known = bucket == BUCKETS_NONE ? BUCKETS_NONE : bucket + 1;
		}
		bucket = *known == BUCKETS_NONE ? BUCKETS_NONE : *known - 1;
	}
	if (bucket == BUCKETS_NONE)
		bucket = sorting->buckets->nnames + 1;
	stacks_count(&sorting->sums[bucket].sum, &sorting->samples->rows[number]);
	return 0;
}

static int stacks_bucket_order(const void *a, const void *b)
{
	const struct stacks_bucket *x = a, *y = b;
	int order = stacks_sum_order(&x->sum, &y->sum);

	return order ? order : strcmp(x->name, y->name);
}

int stacks_buckets(struct stacks *stacks, const struct stacks_scope *scope, const struct buckets *buckets,
		   struct stacks_bucket **sums, size_t *n)
{
	struct stacks_sorting sorting = { .stacks = stacks, .buckets = buckets, .samples = stacks->samples };
	u32 i;

	*n = (size_t)buckets->nnames + 2;
	sorting.bucket = calloc(stacks->nfunctions, sizeof(*sorting.bucket));
	*sums = sorting.sums = sorting.bucket ? calloc(*n, sizeof(**sums)) : NULL;
	if (*sums) {
		for (i = 0; i < buckets->nnames; i++)
			(*sums)[i].name = buckets->names[i];
		(*sums)[i].name = "[instrumentation]";
		(*sums)[i + 1].name = "[other]";
		stacks_each(stacks, scope, stacks_bucket_row, &sorting);
		qsort(*sums, *n, sizeof(**sums), stacks_bucket_order);
	}
	free(sorting.bucket);
	return *sums ? 0 : -1;
}

/* ---- what is missing ------------------------------------------------------------------------------- */

struct stacks_missing {
	const struct samples *samples;
	struct stacks_gaps gaps;
};

static int stacks_gaps_row(void *context, u32 number)
{
	struct stacks_missing *missing = context;
	const struct samples_row *row = &missing->samples->rows[number];
	const struct samples_frame *frame = stacks_leaf(missing->samples, number);
	struct stacks_gaps *gaps = &missing->gaps;

	gaps->samples += row->count;
	gaps->unattributed += row->flags & SAMPLES_UNATTRIBUTED ? row->count : 0;
	if (row->flags & SAMPLES_TRUNCATED) {
		gaps->truncated += row->count;
		gaps->truncations[samples_truncation(row->flags)] += row->count;
	}
	if (!frame)
		gaps->no_chain += row->count;
	else if (!stacks_named(missing->samples, frame))
		gaps->unresolved[frame->unresolved == SAMPLES_RESOLVED ? SAMPLES_STRIPPED : frame->unresolved] += row->count;
	return 0;
}

static void stacks_gaps_missed(struct stacks_missing *missing, const struct stacks_scope *scope)
{
	const struct samples *samples = missing->samples;
	u32 i;

	for (i = 0; i < samples->nmissed; i++) {
		const struct samples_missed *missed = &samples->missed[i];
		const struct samples_row row = { .region = missed->region, .flags = missed->flags };

		if ((scope->process && scope->process != missed->process) || !stacks_in_region(samples, &row, scope))
			continue;
		missing->gaps.lost += missed->lost;
		missing->gaps.throttled += missed->throttled;
	}
}

struct stacks_gaps stacks_gaps(const struct stacks *stacks, const struct stacks_scope *scope)
{
	struct stacks_missing missing = { .samples = stacks->samples };

	stacks_each(stacks, scope, stacks_gaps_row, &missing);
	if (scope->whole && !scope->process) {
		missing.gaps.lost = stacks->samples->lost;
		missing.gaps.throttled = stacks->samples->throttled;
	} else {
		stacks_gaps_missed(&missing, scope);
	}
	return missing.gaps;
}
