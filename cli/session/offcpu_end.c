/* SPDX-License-Identifier: MIT */
/*
 * When no more records come: time blocked in which nobody looked is given to the causes that were seen, in the
 * proportion in which they were: of the same place of the code, else of the same thread in the same region, of the
 * region, of the process. Looks at short intervals count first, since long ones are nearly all looked at.
 *
 * Of the time blocked of each thread that is taken away which it waited for a CPU, once it was woken.
 */
#define _GNU_SOURCE
#include "cli/session/offcpu.h"

#include <stdlib.h>
#include <string.h>

#include "cli/session/internal.h"
#include "cli/session/sampling.h"

enum likeness { LIKE_CHAIN, LIKE_THREAD, LIKE_REGION, LIKE_THREAD_LONG, LIKE_REGION_LONG, LIKE_PROCESS, LIKE_LEVELS };

static int row_order(const void *a, const void *b)
{
	const struct samples_row *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return 0;
}

/* A look at it tells of others that are like the row. */
static bool row_tells(const struct samples *samples, const struct samples_row *seen, const struct samples_row *row,
		      enum likeness level)
{
	if (seen->process != row->process || (level != LIKE_CHAIN && level < LIKE_THREAD_LONG && !(seen->flags & SAMPLES_OFF_SHARED)))
		return false;
	switch (level) {
	case LIKE_CHAIN: /* that of a look has the call in front */
		return row->chain != SAMPLES_NONE && seen->region == row->region && seen->chain != SAMPLES_NONE &&
		       samples->chains[seen->chain].parent == row->chain;
	case LIKE_THREAD:
	case LIKE_THREAD_LONG:
		return seen->tid == row->tid && seen->region == row->region;
	case LIKE_REGION:
	case LIKE_REGION_LONG:
		return seen->region == row->region;
	default:
		return true;
	}
}

/* Gives the row's time to the rows that tell of it. False: none does. */
static bool row_share(struct samples *samples, const struct samples_row *seen, u32 nseen, const struct samples_row *row,
		      enum likeness level)
{
	u64 looks = 0;

	for (u32 i = 0; i < nseen; i++)
		looks += row_tells(samples, &seen[i], row, level) ? seen[i].count : 0;
	if (!looks)
		return false;
	for (u32 i = 0; i < nseen; i++) {
		struct samples_row part = *row;
		double share = (double)seen[i].count / (double)looks;

		if (!row_tells(samples, &seen[i], row, level))
			continue;
		part.flags = seen[i].flags | SAMPLES_OFF_SHARED;
		part.chain = seen[i].chain;
		part.count = (u64)((double)row->count * share + 0.5);
		part.weight = (u64)((double)row->weight * share + 0.5);
		samples_off(samples, &part);
	}
	return true;
}

/* A list of the rows that were looked at, or of the others; NULL: no memory. */
static struct samples_row *rows_copy(const struct samples *samples, bool unseen, u32 *n)
{
	struct samples_row *list = calloc((size_t)samples->noff_rows + 1, sizeof(*list));

	*n = 0;
	for (u32 i = 0; list && i < samples->noff_rows; i++) {
		const struct samples_row *row = &samples->off_rows[i];
		u32 kind = samples_off_kind(row->flags);

		if (kind != SAMPLES_OFF_PREEMPTED && unseen == (kind == SAMPLES_OFF_UNSEEN))
			list[(*n)++] = *row;
	}
	return list;
}

/* Rows of which all was given to others go; the index is made anew where it is needed: nobody adds to the list then. */
static void rows_drop_empty(struct samples *samples)
{
	u32 n = 0;

	for (u32 i = 0; i < samples->noff_rows; i++)
		if (samples->off_rows[i].weight || samples_off_kind(samples->off_rows[i].flags) != SAMPLES_OFF_UNSEEN)
			samples->off_rows[n++] = samples->off_rows[i];
	samples->noff_rows = n;
}

static void unseen_share(struct samples *samples)
{
	u32 nseen, nunseen;
	struct samples_row *seen = rows_copy(samples, false, &nseen), *unseen = rows_copy(samples, true, &nunseen);

	for (u32 i = 0; seen && unseen && i < samples->noff_rows; i++)
		if (samples_off_kind(samples->off_rows[i].flags) == SAMPLES_OFF_UNSEEN)
			samples->off_rows[i].weight = samples->off_rows[i].count = 0;
	for (u32 i = 0; seen && unseen && i < nunseen; i++) {
		struct samples_row other = unseen[i];
		enum likeness level = LIKE_CHAIN;

		while (level < LIKE_LEVELS && !row_share(samples, seen, nseen, &unseen[i], level))
			level++;
		other.flags = (other.flags & ~(15u << SAMPLES_OFF_SHIFT)) | SAMPLES_OFF_OTHER << SAMPLES_OFF_SHIFT |
			      SAMPLES_OFF_SHARED;
		if (level == LIKE_LEVELS)
			samples_off(samples, &other);
	}
	free(seen);
	free(unseen);
	rows_drop_empty(samples);
}

/* Takes the time between wake-ups and CPUs from the rows of a thread, by their numbers of intervals. */
static void woken_take(struct samples_row *rows, u32 n, double wait_ns, double blocked, struct samples_row *woken)
{
	for (u32 i = 0; i < n; i++) {
		u64 ns = (u64)(wait_ns / blocked * (double)rows[i].count);
		u32 kind = samples_off_kind(rows[i].flags);

		if (kind == SAMPLES_OFF_PREEMPTED || kind == SAMPLES_OFF_WOKEN)
			continue;
		ns = MIN(ns, rows[i].weight);
		rows[i].weight -= ns;
		woken[i] = rows[i];
		woken[i].chain = SAMPLES_NONE;
		woken[i].flags = (rows[i].flags & SAMPLES_UNATTRIBUTED) | SAMPLES_OFF_WOKEN << SAMPLES_OFF_SHIFT;
		woken[i].weight = ns;
	}
}

static int thread_order(const void *a, const void *b)
{
	const struct samples_thread *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void woken_split(struct samples *samples)
{
	u32 rows = samples->noff_rows, at = 0, n;
	struct samples_row *woken = calloc((size_t)rows + 1, sizeof(*woken));

	qsort(samples->off_rows, rows, sizeof(*samples->off_rows), row_order);
	qsort(samples->threads, samples->nthreads, sizeof(*samples->threads), thread_order);
	for (u32 i = 0; woken && i < samples->nthreads; i++) {
		const struct samples_thread *t = &samples->threads[i];
		const struct samples_row key = { .process = t->process, .tid = t->tid };

		while (at < rows && row_order(&samples->off_rows[at], &key) < 0)
			at++;
		for (n = 0; at + n < rows && !row_order(&samples->off_rows[at + n], &key);)
			n++;
		if (t->woken_ns && t->blocked)
			woken_take(samples->off_rows + at, n, (double)t->woken_ns, (double)t->blocked, woken + at);
	}
	samples_off_sorted(samples);
	for (u32 i = 0; woken && i < rows; i++)
		if (woken[i].weight)
			samples_off(samples, &woken[i]);
	free(woken);
}

void offcpu_end(struct session *s)
{
	struct sampling *p = s->sampling;
	struct offcpu *o = p->off;
	u64 end_ns = s->main_ended && !s->options->follow ? s->end_ns : session_now();

	for (u32 i = 0; i < o->nthreads; i++)
		if (o->polled)
			offcpu_thread_end(p, o->threads[i], o->threads[i]->met_ns);
		else
			offcpu_thread_left(p, o->threads[i], end_ns);
	o->nthreads = 0;
	unseen_share(&p->samples);
	woken_split(&p->samples);
}
