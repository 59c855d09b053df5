/* SPDX-License-Identifier: MIT */
/* Who ended a row's waits: by thread name and the function of the program that it was done in. */
#include <stdlib.h>

#include "cli/analyze/report_build.h"

enum { WAKERS_MOST = 32 }; /* of a row; what the others ended is added up */

/* Greatest first, so that what is added up is the least. */
static int wake_order(const void *a, const void *b)
{
	const struct samples_wake *const *x = a, *const *y = b;

	if ((*x)->ns != (*y)->ns)
		return (*x)->ns > (*y)->ns ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

static bool waker_same(const struct report_waker *a, const struct report_waker *b)
{
	return a->by == b->by && a->process == b->process && a->name == b->name && a->function == b->function;
}

static int waker_add(struct report_split *split, const struct report_waker *waker)
{
	struct report_waker *grown;
	struct report_waker others = { .by = SAMPLES_WAKER_OTHERS, .ns = waker->ns, .count = waker->count };
	size_t i;

	for (i = 0; i < split->nwakers; i++)
		if (waker_same(&split->wakers[i], waker)) {
			split->wakers[i].ns += waker->ns;
			split->wakers[i].count += waker->count;
			if (split->wakers[i].tid != waker->tid)
				split->wakers[i].tid = 0;
			return 0;
		}
	if (split->nwakers == WAKERS_MOST && waker->by != SAMPLES_WAKER_OTHERS)
		return waker_add(split, &others);
	grown = report_grow(split->wakers, split->nwakers, sizeof(*grown));
	if (!grown)
		return -1;
	split->wakers = grown;
	grown[split->nwakers++] = *waker;
	return 0;
}

static struct report_waker waker_of(const struct report *report, const struct samples_wake *wake)
{
	const struct samples *samples = report->facts->samples;
	struct report_waker waker = { .by = wake->by, .process = wake->waker_process, .pid = wake->waker_pid,
				      .tid = wake->waker_tid, .ns = (double)wake->ns, .count = wake->count };
	struct report_cause cause = report_cause_of(samples, wake->chain);

	if (wake->name != SAMPLES_NONE)
		waker.name = samples->strings[wake->name].bytes;
	else if (wake->waker_process && wake->waker_process <= report->facts->nprocesses)
		waker.name = report->facts->processes[wake->waker_process - 1].command;
	waker.function = cause.function;
	waker.file = cause.file;
	waker.line = cause.line;
	return waker;
}

static int waker_order(const void *a, const void *b)
{
	const struct report_waker *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->count > y->count ? -1 : x->count < y->count;
}

/* To all rows of the region, and of those that it lies in. */
static int wake_gather(struct report *report, const struct samples_wake *wake, const u32 *first, const u32 *next)
{
	const struct report_waker waker = waker_of(report, wake);
	u32 region, k;

	for (region = wake->region;; region = report->facts->samples->regions[region].parent) {
		for (k = first[region + 1]; k; k = next[k - 1]) {
			const struct report_row *row = &report->rows[k - 1];

			if (!row->split->absent && (!row->process || row->process == wake->process) &&
			    (!row->tid || row->tid == wake->tid) && waker_add(row->split, &waker) != 0)
				return -1;
		}
		if (region == SAMPLES_NONE)
			return 0;
	}
}

int report_add_wakers(struct report *report, const u32 *first, const u32 *next)
{
	const struct samples *samples = report->facts->samples;
	const struct samples_wake **order = calloc((size_t)samples->nwakes + 1, sizeof(*order));
	int err = order ? 0 : -1;
	size_t i;

	for (i = 0; order && i < samples->nwakes; i++)
		order[i] = &samples->wakes[i];
	if (order)
		qsort(order, samples->nwakes, sizeof(*order), wake_order);
	for (i = 0; !err && i < samples->nwakes; i++)
		err = wake_gather(report, order[i], first, next);
	for (i = 0; !err && i < report->nrows; i++)
		if (report->rows[i].split->nwakers)
			qsort(report->rows[i].split->wakers, report->rows[i].split->nwakers, sizeof(struct report_waker), waker_order);
	free(order);
	return err;
}
