/* SPDX-License-Identifier: MIT */
/* What was measured between two looks at a run; see profile_difference.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/profile_build.h"
#include "cli/analyze/profile_difference.h"
#include "cli/log.h"

struct difference {
	struct profile all;          /* now, of which before is taken off */
	const struct profile *before;
	u32 *rows;                   /* of before, as numbers in all */
	u32 *names;
};

static u64 less(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

/* ---- rows ------------------------------------------------------------------------------------------ */

static void less_hist(struct hist *hist, const struct hist *before)
{
	for (u32 octave = 0; octave < WIRE_HIST_OCTAVES; octave++)
		for (u32 i = 0; hist->octave[octave] && before->octave[octave] && i < WIRE_HIST_SUB; i++)
			hist->octave[octave][i] = less(hist->octave[octave][i], before->octave[octave][i]);
}

/* An absent one stays so. */
static void less_cells(const struct profile *profile, struct profile_row *row, const struct profile_row *before)
{
	for (u32 i = 0; row->cells && before->cells && i < profile_cells(profile); i++)
		if (!wire_absent(row->cells[i]) && !wire_absent(before->cells[i]))
			row->cells[i] = less(row->cells[i], before->cells[i]);
}

/* A duration of a bucket without the cost of an empty bracket. */
static u64 bucket_ticks(const struct profile_row *row, u64 ticks)
{
	return less(ticks, (u64)(row->bracket / (double)row->calls));
}

/* A new record is exact; of other calls the histogram knows in which bucket they were. */
static void less_extremes(struct profile_row *row, const struct profile_row *before)
{
	u32 first = 0, last = HIST_BUCKETS;

	if (!row->calls) {
		row->min = ~0ULL;
		row->max = 0;
	}
	if (before->min > before->max || row->min > row->max)
		return;
	while (first < HIST_BUCKETS && !(row->hist.octave[first / WIRE_HIST_SUB] &&
					 row->hist.octave[first / WIRE_HIST_SUB][first % WIRE_HIST_SUB]))
		first++;
	while (last && !(row->hist.octave[(last - 1) / WIRE_HIST_SUB] &&
			 row->hist.octave[(last - 1) / WIRE_HIST_SUB][(last - 1) % WIRE_HIST_SUB]))
		last--;
	if (!last) {
		row->min = ~0ULL;
		row->max = 0;
		return;
	}
	if (row->min >= before->min) {
		row->min = MAX(row->min, bucket_ticks(row, hist_lower(first)));
		row->bounds = true;
	}
	if (row->max <= before->max) {
		row->max = MIN(row->max, bucket_ticks(row, hist_lower(last) - 1));
		row->bounds = true;
	}
	row->max = MAX(row->min, row->max);
}

static void less_row(const struct profile *profile, struct profile_row *row, const struct profile_row *before)
{
	u64 raw = less(row->raw_wall, before->raw_wall);
	double bracket = row->bracket - before->bracket;

	row->calls = less(row->calls, before->calls);
	row->left = less(row->left, before->left);
	row->wall = less(row->wall, before->wall);
	row->off -= before->off;
	row->bracket = MIN(MAX(bracket, 0), (double)raw);
	/* A call that was open then counts whole in that: what is finished takes no more than there is. */
	row->raw_wall = MIN(raw, row->wall + (u64)row->bracket);
	/* Switches of then may have become known since. */
	row->unsure = MIN(row->unsure + before->unsure, row->wall);
	row->units = less(row->units, before->units);
	row->crossed = MIN(before->open, row->calls);
	less_hist(&row->hist, &before->hist);
	less_cells(profile, row, before);
	less_extremes(row, before);
}

/* A thread may have become one of the further ones since, beyond profile.threads_most. */
static u32 root_of(const struct profile *all, const struct profile_row *root)
{
	u32 row = profile_find_row(all, root->process, root->tid, NULL, 0);

	return row == PROFILE_NONE ? profile_find_row(all, root->process, 0, NULL, 0) : row;
}

static void less_rows(struct difference *d)
{
	for (u32 i = 0; i < d->before->nrows; i++) {
		const struct profile_row *row = &d->before->rows[i];
		const struct profile_name *name = row->name == PROFILE_NONE ? NULL : &d->before->names[row->name];

		if (row->parent == PROFILE_NONE)
			d->rows[i] = root_of(&d->all, row);
		else
			d->rows[i] = profile_find_child(&d->all, d->rows[row->parent], name->bytes, name->len);
		if (d->rows[i] != PROFILE_NONE)
			less_row(&d->all, &d->all.rows[d->rows[i]], row);
	}
}

static void less_values(struct difference *d)
{
	for (u32 i = 0; i < d->before->nvalues; i++) {
		const struct profile_value *before = &d->before->values[i];
		u32 row = d->rows[before->row];
		struct profile_value *value = row == PROFILE_NONE ? NULL : profile_value(&d->all, row, d->names[before->name]);

		if (!value)
			continue;
		value->count = less(value->count, before->count);
		value->sum -= before->sum;
		value->bounds = before->count && !(value->min < before->min && value->max > before->max);
	}
}

/* ---- lists ----------------------------------------------------------------------------------------- */

static int thread_order(const void *a, const void *b)
{
	const struct profile_thread *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void threads_sort(struct profile *profile)
{
	if (profile->nthreads)
		qsort(profile->threads, profile->nthreads, sizeof(*profile->threads), thread_order);
}

static struct profile_thread *thread_of(struct profile *profile, const struct profile_thread *thread)
{
	return profile->nthreads ? bsearch(thread, profile->threads, profile->nthreads, sizeof(*thread), thread_order) : NULL;
}

/* Those that have run in between stay. What a thread has used is known from its begin to its end only. */
static void less_threads(struct difference *d)
{
	u32 n = 0;

	threads_sort(&d->all);
	for (u32 i = 0; i < d->before->nthreads; i++) {
		struct profile_thread *thread = thread_of(&d->all, &d->before->threads[i]);

		if (!thread)
			continue;
		thread->wall = less(thread->wall, d->before->threads[i].wall);
		usage_fill_absent(&thread->usage, "it began before measuring was switched on");
	}
	for (u32 i = 0; i < d->all.nthreads; i++)
		if (d->all.threads[i].wall)
			d->all.threads[n++] = d->all.threads[i];
	d->all.nthreads = n;
}

static int diag_order(const void *a, const void *b)
{
	const struct profile_diag *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* Each key once. */
static void diags_join(struct profile *profile)
{
	u32 n = 0;

	if (profile->ndiags)
		qsort(profile->diags, profile->ndiags, sizeof(*profile->diags), diag_order);
	for (u32 i = 0; i < profile->ndiags; i++)
		if (n && !diag_order(&profile->diags[n - 1], &profile->diags[i]))
			profile->diags[n - 1].count += profile->diags[i].count;
		else
			profile->diags[n++] = profile->diags[i];
	profile->ndiags = n;
}

static void less_diags(struct difference *d)
{
	u32 n = 0;

	diags_join(&d->all);
	for (u32 i = 0; d->all.ndiags && i < d->before->ndiags; i++) {
		struct profile_diag key = d->before->diags[i], *diag;

		key.name = key.name == PROFILE_NONE ? key.name : d->names[key.name];
		diag = bsearch(&key, d->all.diags, d->all.ndiags, sizeof(key), diag_order);
		if (diag)
			diag->count = less(diag->count, key.count);
	}
	for (u32 i = 0; i < d->all.ndiags; i++)
		if (d->all.diags[i].count)
			d->all.diags[n++] = d->all.diags[i];
	d->all.ndiags = n;
}

/* What a window has used is known at its end. */
static void less_windows(struct difference *d)
{
	u32 n = 0;

	for (u32 i = 0; i < d->before->nwindows; i++) {
		const struct profile_window *before = &d->before->windows[i];
		struct profile_window *window = profile_window(&d->all, before->process, before->pid, d->names[before->name]);

		if (!window)
			return;
		window->calls = less(window->calls, before->calls - before->open);
		window->wall = less(window->wall, before->wall);
		snapshot_subtract(window->snapshot, before->snapshot);
		if (before->open) {
			usage_fill_absent(&window->usage, "it began before measuring was switched on");
			snapshot_fill_absent(window->snapshot, "it began before measuring was switched on");
		}
		window->usage.cpu = cell_subtract(window->usage.cpu, before->usage.cpu);
		for (u32 k = 0; k < WIRE_CELLS; k++)
			window->usage.cell[k] = cell_subtract(window->usage.cell[k], before->usage.cell[k]);
	}
	for (u32 i = 0; i < d->all.nwindows; i++)
		if (d->all.windows[i].calls)
			d->all.windows[n++] = d->all.windows[i];
	d->all.nwindows = n;
}

/* ---- all ------------------------------------------------------------------------------------------- */

static void less_all(struct difference *d)
{
	for (u32 i = 0; i < d->before->nnames; i++)
		d->names[i] = profile_intern(&d->all, d->before->names[i].bytes, d->before->names[i].len);
	if (d->all.no_memory)
		return;
	less_rows(d);
	less_values(d);
	less_threads(d);
	less_diags(d);
	less_windows(d);
	for (u32 i = 0; i < PROFILE_LOSS_COUNT; i++)
		d->all.losses[i] = less(d->all.losses[i], d->before->losses[i]);
	d->all.repaired = less(d->all.repaired, d->before->repaired);
	d->all.pairs = MAX(d->all.pairs - d->before->pairs, 0);
	d->all.pair_cost = MAX(d->all.pair_cost - d->before->pair_cost, 0);
}

/* Threads that are there already: one entry for all intervals. */
static void threads_join(struct profile *to, struct profile *more)
{
	u32 n = 0;

	threads_sort(to);
	for (u32 i = 0; i < more->nthreads; i++) {
		struct profile_thread *thread = thread_of(to, &more->threads[i]);

		if (thread) {
			thread->wall += more->threads[i].wall;
			usage_add(&thread->usage, &more->threads[i].usage);
		} else {
			more->threads[n++] = more->threads[i];
		}
	}
	more->nthreads = n;
}

int profile_add_difference(struct profile *to, const struct profile *now, const struct profile *before)
{
	struct difference d = { .before = before };
	bool *keep = calloc((size_t)now->nrows + 1, sizeof(*keep));
	int err = -1;

	profile_init(&d.all, now->group);
	d.rows = calloc((size_t)before->nrows + 1, sizeof(*d.rows));
	d.names = calloc((size_t)before->nnames + 1, sizeof(*d.names));
	if (!keep || !d.rows || !d.names)
		error("out of memory for the regions");
	else if (profile_merge(&d.all, now) == 0)
		less_all(&d);
	else
		d.all.no_memory = true;
	if (keep && d.rows && d.names && !d.all.no_memory) {
		for (u32 i = 0; i < d.all.nrows; i++) {
			const struct profile_row *row = &d.all.rows[i];

			keep[i] = row->calls || row->open || row->wall || row->units;
		}
		for (u32 i = 0; i < to->nrows; i++)
			to->rows[i].open = 0;
		to->nopens = 0;
		threads_join(to, &d.all);
		err = profile_merge_rows(to, &d.all, keep);
		diags_join(to);
	}
	profile_fini(&d.all);
	free(d.rows);
	free(d.names);
	free(keep);
	return err;
}
