/* SPDX-License-Identifier: MIT */
/* Sums by function and by line; see stacks.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/stacks_build.h"

struct stacks_tallying {
	struct stacks *stacks;
	struct stacks_tally *functions, *places;
};

/* Adds a row to a function or place of one of its steps; to what it has in all once. */
static void stacks_tally_add(struct stacks_tally *tally, const struct samples_row *row, u32 number, u32 line, bool self)
{
	if (self)
		stacks_count(&tally->self, row);
	if (tally->row == number + 1)
		return;
	tally->row = number + 1;
	stacks_count(&tally->total, row);
	if (row->weight > tally->best || tally->total.count == row->count) {
		tally->best = row->weight;
		tally->best_line = line;
	}
}

static int stacks_tally_row(void *context, u32 number)
{
	struct stacks_tallying *tallying = context;
	struct stacks *stacks = tallying->stacks;
	const struct samples_row *row = &stacks->samples->rows[number];
	u32 i, n = stacks_steps(stacks, number);

	for (i = 0; i < n; i++) {
		const struct stacks_step *step = &stacks->steps[i];

		stacks_tally_add(&tallying->functions[step->function], row, number, step->line, !i);
		if (step->line != SAMPLES_NONE && step->function != STACKS_INSTRUMENTATION)
			stacks_tally_add(&tallying->places[stacks->place[step->line]], row, number, step->line, !i);
	}
	return 0;
}

static int stacks_tally(struct stacks_tallying *tallying, struct stacks *stacks, const struct stacks_scope *scope)
{
	tallying->stacks = stacks;
	tallying->functions = calloc((size_t)stacks->nfunctions + 1, sizeof(*tallying->functions));
	tallying->places = calloc((size_t)stacks->nplaces + 1, sizeof(*tallying->places));
	return tallying->functions && tallying->places ? stacks_each(stacks, scope, stacks_tally_row, tallying) : -1;
}

static void stacks_tally_fini(struct stacks_tallying *tallying)
{
	free(tallying->functions);
	free(tallying->places);
}

/* ---- functions ------------------------------------------------------------------------------------- */

/* Those of the first are hotter: by its own samples, for a function that has any, else by those in all. */
static bool stacks_hotter(const struct stacks_tally *a, const struct stacks_tally *b)
{
	int order = stacks_sum_order(&a->self, &b->self);

	return (order ? order : stacks_sum_order(&a->total, &b->total)) < 0;
}

/* The hottest place of each function: its number + 1; NULL when memory is short. */
static u32 *stacks_hottest(const struct stacks_tallying *tallying)
{
	const struct stacks *stacks = tallying->stacks;
	u32 *hottest = calloc((size_t)stacks->nfunctions + 1, sizeof(*hottest));
	u32 i, *of;

	for (i = 0; hottest && i < stacks->nplaces; i++) {
		of = &hottest[stacks->places[i].function];
		if (tallying->places[i].total.count && stacks->places[i].function != STACKS_INSTRUMENTATION &&
		    (!*of || stacks_hotter(&tallying->places[i], &tallying->places[*of - 1])))
			*of = i + 1;
	}
	return hottest;
}

static struct stacks_entry stacks_entry(const struct stacks_tallying *tallying, u32 function, u32 place)
{
	const struct stacks *stacks = tallying->stacks;
	const struct stacks_tally *tally = &tallying->functions[function];
	struct stacks_entry entry = { .function = function, .self = tally->self, .total = tally->total,
				      .place = { function, SAMPLES_NONE, 0 } };
	const struct samples_frame *frame;
	u32 line;

	if (!place)
		return entry;
	entry.place = stacks->places[place - 1];
	line = tallying->places[place - 1].best_line;
	frame = &stacks->samples->frames[stacks->line_frame[line]];
	entry.first_line = line + 1;
	entry.nlines = frame->first_line + frame->nlines - line - 1;
	return entry;
}

static int stacks_entry_order(const void *a, const void *b)
{
	const struct stacks_entry *x = a, *y = b;
	int order = stacks_sum_order(&x->self, &y->self);

	if (!order)
		order = stacks_sum_order(&x->total, &y->total);
	return order ? order : x->function < y->function ? -1 : 1;
}

int stacks_flat(struct stacks *stacks, const struct stacks_scope *scope, struct stacks_entry **entries, size_t *n)
{
	struct stacks_tallying tallying = { .stacks = NULL };
	int err = stacks_tally(&tallying, stacks, scope);
	u32 *hottest = err ? NULL : stacks_hottest(&tallying), i;

	*n = 0;
	*entries = hottest ? calloc((size_t)stacks->nfunctions + 1, sizeof(**entries)) : NULL;
	for (i = 0; *entries && i < stacks->nfunctions; i++)
		if (tallying.functions[i].total.count)
			(*entries)[(*n)++] = stacks_entry(&tallying, i, hottest[i]);
	if (*n)
		qsort(*entries, *n, sizeof(**entries), stacks_entry_order);
	free(hottest);
	stacks_tally_fini(&tallying);
	return *entries ? 0 : -1;
}

/* ---- lines ----------------------------------------------------------------------------------------- */

static int stacks_text_order(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : a ? 1 : b ? -1 : 0;
}

static int stacks_line_order(const void *a, const void *b, void *context)
{
	const struct stacks_line *x = a, *y = b;
	const struct stacks *stacks = context;
	u32 i = stacks->functions[x->place.function].object, k = stacks->functions[y->place.function].object;
	int order;

	if (i != k)
		return i < k ? -1 : 1;
	order = stacks_text_order(stacks_string(stacks, x->place.file), stacks_string(stacks, y->place.file));
	if (order)
		return order;
	return x->place.line < y->place.line ? -1 : x->place.line > y->place.line;
}

int stacks_lines(struct stacks *stacks, const struct stacks_scope *scope, const char *function,
		 struct stacks_line **lines, size_t *n)
{
	struct stacks_tallying tallying = { .stacks = NULL };
	int err = stacks_tally(&tallying, stacks, scope);
	u32 i;

	*n = 0;
	*lines = err ? NULL : calloc((size_t)stacks->nplaces + 1, sizeof(**lines));
	for (i = 0; *lines && i < stacks->nplaces; i++) {
		const char *name = stacks_string(stacks, stacks->functions[stacks->places[i].function].name);

		if (tallying.places[i].total.count && name && !strcmp(name, function))
			(*lines)[(*n)++] = (struct stacks_line){ stacks->places[i], tallying.places[i].self,
								 tallying.places[i].total };
	}
	if (*n)
		qsort_r(*lines, *n, sizeof(**lines), stacks_line_order, stacks);
	stacks_tally_fini(&tallying);
	return *lines ? 0 : -1;
}
