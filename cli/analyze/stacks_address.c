/* SPDX-License-Identifier: MIT */
/* Sums by address of the code; see stacks.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/stacks_build.h"

struct stacks_placing {
	const struct samples *samples;
	struct stacks_tally *frames;
};

static int stacks_address_row(void *context, u32 number)
{
	struct stacks_placing *placing = context;
	const struct samples_row *row = &placing->samples->rows[number];
	u32 chain = row->chain, met = 0;

	for (; chain != SAMPLES_NONE && met < STACKS_DEPTH_MAX; chain = placing->samples->chains[chain].parent, met++) {
		struct stacks_tally *tally = &placing->frames[placing->samples->chains[chain].frame];

		if (!met)
			stacks_count(&tally->self, row);
		if (tally->row != number + 1)
			stacks_count(&tally->total, row);
		tally->row = number + 1;
	}
	return 0;
}

static bool stacks_frame_has(const struct samples *samples, const struct samples_frame *frame, const char *function)
{
	u32 i, name;

	for (i = 0; i < frame->nlines; i++) {
		name = samples->lines[frame->first_line + i].function;
		if (name != SAMPLES_NONE && !strcmp(samples->strings[name].bytes, function))
			return true;
	}
	return false;
}

static int stacks_address_order(const void *a, const void *b, void *context)
{
	const struct samples *samples = context;
	const struct samples_frame *x = &samples->frames[((const struct stacks_address *)a)->frame];
	const struct samples_frame *y = &samples->frames[((const struct stacks_address *)b)->frame];

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

int stacks_addresses(const struct stacks *stacks, const struct stacks_scope *scope, const char *function,
		     struct stacks_address **addresses, size_t *n)
{
	struct samples *samples = (struct samples *)(uintptr_t)stacks->samples; /* for qsort_r() */
	struct stacks_placing placing = { .samples = samples };
	u32 i;

	*n = 0;
	placing.frames = calloc((size_t)samples->nframes + 1, sizeof(*placing.frames));
	*addresses = placing.frames ? calloc((size_t)samples->nframes + 1, sizeof(**addresses)) : NULL;
	if (*addresses)
		stacks_each(stacks, scope, stacks_address_row, &placing);
	for (i = 0; *addresses && i < samples->nframes; i++)
		if (placing.frames[i].total.count)
			(*addresses)[(*n)++] = (struct stacks_address){
				.frame = i, .of_function = stacks_frame_has(samples, &samples->frames[i], function),
				.self = placing.frames[i].self, .total = placing.frames[i].total };
	if (*n)
		qsort_r(*addresses, *n, sizeof(**addresses), stacks_address_order, samples);
	free(placing.frames);
	return *addresses ? 0 : -1;
}
