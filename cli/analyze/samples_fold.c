/* SPDX-License-Identifier: MIT */
/*
 * Threads of a run that has many: what is kept of each would grow with their number. So of those that have ended the
 * ones with the longest lives keep rows of their own, and the others are added up, region by region and cause by cause.
 */
#include <stdlib.h>

#include "cli/analyze/samples.h"

/* A thread, by the numbers that rows have. */
struct fold_key {
	u32 process, tid;
};

struct fold {
	struct samples *samples;
	struct fold_key *gone;       /* those to be folded, in order */
	u32 ngone;
};

static int key_order(const void *a, const void *b)
{
	const struct fold_key *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int life_order(const void *a, const void *b)
{
	const struct samples_thread *x = a, *y = b;

	if (x->life_ns != y->life_ns)
		return x->life_ns > y->life_ns ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static bool key_find(const struct fold_key *list, u32 n, u32 process, u32 tid)
{
	const struct fold_key key = { process, tid };

	return tid && bsearch(&key, list, n, sizeof(*list), key_order);
}

void samples_delay_add(struct samples_thread *sum, const struct samples_thread *thread)
{
	bool first = !sum->blocked && !sum->disk_ns;

	/* Of one that never waited nothing is missing. */
	if (!thread->blocked && !thread->disk_ns)
		return;
	if (first)
		sum->disk_known = thread->disk_known;
	else if (sum->disk_known == SAMPLES_DELAY_EXCESS || thread->disk_known == SAMPLES_DELAY_EXCESS)
		sum->disk_known = SAMPLES_DELAY_EXCESS;
	else if (sum->disk_known != thread->disk_known)
		sum->disk_known = SAMPLES_DELAY_LEAST;
	sum->disk_ns += thread->disk_ns;
	sum->blocked += thread->blocked;
}

static void thread_sum(struct samples_thread *sum, const struct samples_thread *thread)
{
	samples_delay_add(sum, thread);
	sum->life_ns += thread->life_ns;
	sum->running_ns += thread->running_ns;
	sum->unknown_ns += thread->unknown_ns;
	sum->preempted += thread->preempted;
	sum->woken_ns += thread->woken_ns;
	sum->woken_known &= thread->woken_known || !thread->blocked;
}

/* The threads that go are added to the one of their process, which stands with those that stay. */
static void threads_fold(const struct fold *fold)
{
	struct samples *samples = fold->samples;
	u32 n = 0, k;

	for (u32 i = 0; i < samples->nthreads; i++) {
		struct samples_thread thread = samples->threads[i];

		if (!thread.tid || key_find(fold->gone, fold->ngone, thread.process, thread.tid)) {
			for (k = 0; k < n && (samples->threads[k].tid || samples->threads[k].process != thread.process); k++)
				;
			if (k < n) {
				thread_sum(&samples->threads[k], &thread);
				continue;
			}
			thread.tid = 0;
			thread.woken_known |= !thread.blocked;
			thread.disk_known = thread.blocked ? thread.disk_known : SAMPLES_DELAY_WHOLE;
		}
		samples->threads[n++] = thread;
	}
	samples->nthreads = n;
}

/* All rows are added once more, under their new numbers. */
static void rows_fold(const struct fold *fold)
{
	struct samples *samples = fold->samples;
	struct samples_row *rows = samples->off_rows;
	u32 n = samples->noff_rows;

	samples->off_rows = NULL;
	samples->noff_rows = samples->off_rows_room = 0;
	samples_off_sorted(samples);
	for (u32 i = 0; i < n; i++) {
		if (key_find(fold->gone, fold->ngone, rows[i].process, rows[i].tid))
			rows[i].tid = 0;
		samples_off(samples, &rows[i]);
	}
	free(rows);
}

static void wakes_fold(const struct fold *fold)
{
	struct samples *samples = fold->samples;
	struct samples_wake *wakes = samples->wakes;
	u32 n = samples->nwakes;

	samples->wakes = NULL;
	samples->nwakes = samples->wakes_room = 0;
	free(samples->wake_index.slots);
	samples->wake_index = (struct samples_index){ .slots = NULL };
	for (u32 i = 0; i < n; i++) {
		if (key_find(fold->gone, fold->ngone, wakes[i].process, wakes[i].tid))
			wakes[i].tid = 0;
		if (key_find(fold->gone, fold->ngone, wakes[i].waker_process, wakes[i].waker_tid))
			wakes[i].waker_tid = 0;
		samples_wake(samples, &wakes[i]);
	}
	free(wakes);
}

int samples_fold(struct samples *samples, u32 most, bool (*lives)(const void *context, u32 process, u32 tid),
		 const void *context)
{
	struct fold fold = { .samples = samples, .gone = calloc((size_t)samples->nthreads + 1, sizeof(*fold.gone)) };
	struct fold_key *kept = calloc((size_t)most + 1, sizeof(*kept));
	u32 nkept = 0, i;

	if (!fold.gone || !kept) {
		samples->no_memory = true;
		free(fold.gone);
		free(kept);
		return -1;
	}
	qsort(samples->threads, samples->nthreads, sizeof(*samples->threads), life_order);
	for (i = 0; i < samples->nthreads && nkept < most; i++)
		if (samples->threads[i].tid)
			kept[nkept++] = (struct fold_key){ samples->threads[i].process, samples->threads[i].tid };
	qsort(kept, nkept, sizeof(*kept), key_order);
	/* A number may have been given to several, one after the other, whose rows nobody can tell apart. */
	for (; i < samples->nthreads; i++) {
		const struct samples_thread *t = &samples->threads[i];

		if (t->tid && !key_find(kept, nkept, t->process, t->tid) && !lives(context, t->process, t->tid))
			fold.gone[fold.ngone++] = (struct fold_key){ t->process, t->tid };
	}
	qsort(fold.gone, fold.ngone, sizeof(*fold.gone), key_order);
	threads_fold(&fold);
	rows_fold(&fold);
	wakes_fold(&fold);
	free(fold.gone);
	free(kept);
	return 0;
}
