/* SPDX-License-Identifier: MIT */
/* What the files of stacks share.  Nothing else may use it. */
#ifndef CLI_ANALYZE_STACKS_BUILD_H
#define CLI_ANALYZE_STACKS_BUILD_H

#include "cli/analyze/stacks.h"

struct stacks_step {
	u32 function;
	u32 line;                    /* in samples.lines; SAMPLES_NONE: not known */
};

/* What a function or a place has been given, while a list is made. */
struct stacks_tally {
	struct stacks_sum self, total;
	u64 best;                    /* weight of the heaviest row, */
	u32 best_line;               /* and its line */
	u32 row;                     /* + 1: the one that was counted last */
};

struct stacks {
	const struct samples *samples;
	struct stacks_function *functions;
	u32 nfunctions;
	struct stacks_place *places;
	u32 nplaces;
	u32 *of_frame;               /* function of a frame without lines */
	u32 *of_line;                /* by lines */
	u32 *place;                  /* by lines */
	u32 *line_frame;             /* by lines: whose they are */
	u32 *order;                  /* rows by region, then process */
	struct stacks_step *steps;   /* of the row at hand, innermost first */
};

/* Fills stacks.steps; their number. */
u32 stacks_steps(struct stacks *stacks, u32 row);

/* Calls visit for each row of the scope, until it returns nonzero; that. */
int stacks_each(const struct stacks *stacks, const struct stacks_scope *scope, int (*visit)(void *context, u32 row),
		void *context);

/* Whether the scope has the row's region, whatever the process. */
bool stacks_in_region(const struct samples *samples, const struct samples_row *row, const struct stacks_scope *scope);

static inline void stacks_count(struct stacks_sum *sum, const struct samples_row *row)
{
	sum->count += row->count;
	sum->weight += row->weight;
}

/* For lists with the greatest first. */
static inline int stacks_sum_order(const struct stacks_sum *a, const struct stacks_sum *b)
{
	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return a->count < b->count ? 1 : a->count > b->count ? -1 : 0;
}

#endif
