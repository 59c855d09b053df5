/* SPDX-License-Identifier: MIT */
/*
 * When no more records come: time blocked in which nobody looked is given to the causes that were seen, in the
 * proportion in which they were: of the same place of the code, else of the same thread in the same region, of the
 * region, of the process. Looks at short intervals count first, since long ones are nearly all looked at. Of a process
 * that no look was of nothing is known.
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

static int number_order(u32 a, u32 b)
{
	return a < b ? -1 : a > b;
}

/* By process, thread and region. */
static int place_order(const struct samples_row *x, const struct samples_row *y)
{
	int order = number_order(x->process, y->process);

	order = order ? order : number_order(x->tid, y->tid);
	return order ? order : number_order(x->region, y->region);
}

static int seen_order(const void *a, const void *b)
{
	const struct samples_row *x = a, *y = b;
	int order = place_order(x, y);

	order = order ? order : number_order(x->chain, y->chain);
	return order ? order : number_order(x->flags, y->flags);
}

/* Rows that were looked at, in order, each once. */
struct seen {
	struct samples_row *rows;
	u32 n;
};

static void seen_sort(struct seen *seen, bool whole)
{
	u32 n = 0;

	for (u32 i = 0; whole && i < seen->n; i++)
		seen->rows[i].tid = 0;
	qsort(seen->rows, seen->n, sizeof(*seen->rows), seen_order);
	for (u32 i = 0; i < seen->n; i++)
		if (n && !seen_order(&seen->rows[n - 1], &seen->rows[i])) {
			seen->rows[n - 1].count += seen->rows[i].count;
			seen->rows[n - 1].weight += seen->rows[i].weight;
		} else {
			seen->rows[n++] = seen->rows[i];
		}
	seen->n = n;
}

/* The first row that is not before a place. */
static u32 seen_first(const struct seen *seen, const struct samples_row *place)
{
	u32 low = 0, high = seen->n;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (place_order(&seen->rows[mid], place) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* A look at it tells of others that are like the row, at the row's place. */
static bool row_tells(const struct samples *samples, const struct samples_row *seen, const struct samples_row *row,
		      enum likeness level)
{
	if (level == LIKE_CHAIN) /* that of a look has the call in front */
		return row->chain != SAMPLES_NONE && seen->chain != SAMPLES_NONE &&
		       samples->chains[seen->chain].parent == row->chain;
	return level >= LIKE_THREAD_LONG || seen->flags & SAMPLES_OFF_SHARED;
}

/* Gives the row's time to the rows that tell of it; own: by thread, all: of all threads. False: none does. */
static bool row_share(struct samples *samples, const struct seen *own, const struct seen *all, const struct samples_row *row,
		      enum likeness level)
{
	const struct seen *seen = level == LIKE_THREAD || level == LIKE_THREAD_LONG ? own : all;
	struct samples_row place = { .process = row->process, .tid = seen == own ? row->tid : 0, .region = row->region };
	u32 first, end;
	u64 looks = 0;

	if (level == LIKE_PROCESS)
		place.region = 0;
	first = seen_first(seen, &place);
	for (end = first; end < seen->n && seen->rows[end].process == place.process && seen->rows[end].tid == place.tid &&
			  (level == LIKE_PROCESS || seen->rows[end].region == place.region); end++)
		looks += row_tells(samples, &seen->rows[end], row, level) ? seen->rows[end].count : 0;
	if (!looks)
		return false;
	for (u32 i = first; i < end; i++) {
		struct samples_row part = *row;
		double share = (double)seen->rows[i].count / (double)looks;

		if (!row_tells(samples, &seen->rows[i], row, level))
			continue;
		part.flags = seen->rows[i].flags | SAMPLES_OFF_SHARED;
		part.chain = seen->rows[i].chain;
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

		if (kind > SAMPLES_OFF_WOKEN && unseen == (kind == SAMPLES_OFF_UNSEEN))
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
	struct seen own, all;
	u32 nunseen;
	struct samples_row *unseen = rows_copy(samples, true, &nunseen);

	own.rows = rows_copy(samples, false, &own.n);
	all.rows = rows_copy(samples, false, &all.n);
	if (unseen && own.rows && all.rows) {
		seen_sort(&own, false);
		seen_sort(&all, true);
		for (u32 i = 0; i < samples->noff_rows; i++)
			if (samples_off_kind(samples->off_rows[i].flags) == SAMPLES_OFF_UNSEEN)
				samples->off_rows[i].weight = samples->off_rows[i].count = 0;
		for (u32 i = 0; i < nunseen; i++) {
			enum likeness level = LIKE_CHAIN;

			while (level < LIKE_LEVELS && !row_share(samples, &own, &all, &unseen[i], level))
				level++;
			if (level == LIKE_LEVELS)
				samples_off(samples, &unseen[i]);
		}
	}
	free(own.rows);
	free(all.rows);
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

/* Of a process that has ended: the record of the thread's end was lost, and what it did until then is not known. */
static void end_lost(struct session *s, struct offcpu_thread *t)
{
	u32 id = t->sums.process;
	bool ended = id && id <= s->processes.count && !s->processes.list[id - 1]->alive;

	if (s->sampling->off->polled || !ended || t->state == OFFCPU_UNKNOWN || !s->sampling->samples.off_lost)
		return;
	t->state = OFFCPU_UNKNOWN;
	s->sampling->samples.off_lost++;
}

void offcpu_end(struct session *s)
{
	struct sampling *p = s->sampling;
	struct offcpu *o = p->off;
	u64 end_ns = s->attached || (s->main_ended && !s->options->follow) ? s->end_ns : session_now();

	for (u32 i = 0; i < o->nthreads; i++)
		end_lost(s, o->threads[i]);
	for (u32 i = 0; s->attached && i < o->nthreads; i++)
		offcpu_unmoved(o, o->threads[i], end_ns);
	for (u32 i = 0; i < o->nthreads; i++)
		if (o->polled)
			offcpu_thread_end(p, o->threads[i], o->threads[i]->met_ns);
		else
			offcpu_thread_left(p, o->threads[i], end_ns);
	o->nthreads = 0;
	unseen_share(&p->samples);
	if (p->wakers_type)
		samples_wakes_share(&p->samples);
	/* Else it is recorded. */
	if (!o->wakes)
		woken_split(&p->samples);
}
