/* SPDX-License-Identifier: MIT */
/* Which regions ran in a window, and for how long; see window.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/clock_map.h"
#include "cli/analyze/pair_map.h"
#include "cli/analyze/trace.h"
#include "cli/analyze/window.h"
#include "cli/log.h"

static const char regions_missing[] = "records of the trace are missing";

/* ---- of one window --------------------------------------------------------------------------------- */

static int path_order(const void *a, const void *b)
{
	const struct window_region *x = a, *y = b;

	return x->path < y->path ? -1 : x->path > y->path;
}

static int self_order(const void *a, const void *b)
{
	const struct window_region *x = a, *y = b;

	if (x->self_ns != y->self_ns)
		return x->self_ns > y->self_ns ? -1 : 1;
	return path_order(a, b);
}

int window_set_regions(struct window_fact *w, const struct samples *paths, struct window_region *list, u32 n)
{
	u64 sum = 0;

	if (n)
		qsort(list, n, sizeof(*list), path_order);
	for (u32 i = 0; i < n; i++)
		list[i].self_ns = list[i].ns;
	for (u32 i = 0; i < n; i++) {
		const struct window_region parent = { .path = paths->regions[list[i].path].parent };
		struct window_region *outer = bsearch(&parent, list, n, sizeof(*list), path_order);

		if (outer)
			outer->self_ns -= MIN(outer->self_ns, list[i].ns);
		else
			sum += list[i].ns;
	}
	w->cell[WINDOW_REGIONS] = cell_counted((double)sum);
	if (!n)
		return 0;
	qsort(list, n, sizeof(*list), self_order);
	n = MIN(n, (u32)WINDOW_REGIONS_MOST);
	w->regions = malloc(n * sizeof(*list));
	if (!w->regions)
		return -1;
	memcpy(w->regions, list, n * sizeof(*list));
	w->nregions = n;
	return 0;
}

/* ---- of all, by the trace -------------------------------------------------------------------------- */

struct traced_open {
	u32 region;
	u64 begin_ns;
};

struct traced_regions {
	struct window_fact *windows;
	u32 n;
	struct traced_place {
		u64 from_ns;
		u32 window;
	} *places;                   /* in the order in which they began */
	u64 *latest;                 /* a tree of their ends: below 2 * i are the first half of those below i; leaves from `leaves` on */
	u32 leaves;
	struct traced_thread {
		struct traced_open *open;
		u32 depth, room;
	} *threads;
	u32 nthreads;
	struct pair_map map;         /* window and region: a sum */
	struct traced_sum {
		u32 window;
		struct window_region region;
	} *sums;
	u32 nsums, room;
};

static int place_order(const void *a, const void *b)
{
	const struct traced_place *x = a, *y = b;

	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

static bool traced_open(struct traced_regions *t, u32 nthreads)
{
	t->leaves = 1;
	while (t->leaves < t->n)
		t->leaves *= 2;
	t->places = calloc((size_t)t->n + 1, sizeof(*t->places));
	t->latest = calloc(2 * (size_t)t->leaves, sizeof(*t->latest));
	t->threads = calloc((size_t)nthreads + 1, sizeof(*t->threads));
	t->nthreads = nthreads;
	if (!t->places || !t->latest || !t->threads)
		return false;
	for (u32 i = 0; i < t->n; i++)
		t->places[i] = (struct traced_place){ t->windows[i].from_ns, i };
	if (t->n)
		qsort(t->places, t->n, sizeof(*t->places), place_order);
	for (u32 i = 0; i < t->n; i++)
		t->latest[t->leaves + i] = t->windows[t->places[i].window].to_ns;
	for (u32 i = t->leaves; --i;)
		t->latest[i] = MAX(t->latest[2 * i], t->latest[2 * i + 1]);
	return true;
}

static void traced_free(struct traced_regions *t)
{
	for (u32 i = 0; t->threads && i < t->nthreads; i++)
		free(t->threads[i].open);
	free(t->places);
	free(t->latest);
	free(t->threads);
	free(t->sums);
	pair_map_fini(&t->map);
}

struct traced_call {
	u32 process, region;
	u64 begin_ns, end_ns;
};

static bool traced_add(struct traced_regions *t, u32 window, const struct traced_call *call)
{
	u64 from_ns = MAX(call->begin_ns, t->windows[window].from_ns), to_ns = MIN(call->end_ns, t->windows[window].to_ns);
	u32 next = t->nsums, number;
	struct traced_sum *sums;

	if (!pair_map_number(&t->map, window, call->region, &next, &number))
		return false;
	if (number == t->room) {
		sums = realloc(t->sums, (t->room ? 2 * (size_t)t->room : 256) * sizeof(*sums));
		if (!sums)
			return false;
		t->sums = sums;
		t->room = t->room ? 2 * t->room : 256;
	}
	sums = &t->sums[number];
	if (number == t->nsums)
		*sums = (struct traced_sum){ window, { .path = call->region, .first_ns = from_ns } };
	t->nsums = next;
	sums->region.calls++;
	sums->region.ns += to_ns - from_ns;
	sums->region.first_ns = MIN(sums->region.first_ns, from_ns);
	sums->region.last_ns = MAX(sums->region.last_ns, to_ns);
	return true;
}

/* Adds it to all windows below the node that it ran in; there are n leaves, from the place `first` on. */
static bool traced_below(struct traced_regions *t, const struct traced_call *call, u32 node, u32 first, u32 n)
{
	const struct window_fact *w;

	if (first >= t->n || t->places[first].from_ns >= call->end_ns || t->latest[node] <= call->begin_ns)
		return true;
	if (n > 1)
		return traced_below(t, call, 2 * node, first, n / 2) && traced_below(t, call, 2 * node + 1, first + n / 2, n / 2);
	w = &t->windows[t->places[first].window];
	return (w->process && w->process != call->process) || w->to_ns == w->from_ns || traced_add(t, t->places[first].window, call);
}

static bool traced_event(struct traced_regions *t, const struct trace *trace, const struct trace_event *e, u64 ns)
{
	struct traced_thread *thread = &t->threads[e->thread];
	struct traced_open *open;

	if (trace_begins(e->kind)) {
		if (thread->depth == thread->room) {
			u32 room = thread->room ? 2 * thread->room : 16;

			open = realloc(thread->open, room * sizeof(*open));
			if (!open)
				return false;
			thread->open = open;
			thread->room = room;
		}
		thread->open[thread->depth++] = (struct traced_open){ e->value, ns };
		return true;
	}
	if (!trace_ends(e->kind) || !thread->depth)
		return true;
	open = &thread->open[--thread->depth];
	return traced_below(t, &(struct traced_call){ trace->threads[e->thread].process, open->region, open->begin_ns, ns }, 1, 0, t->leaves);
}

static int sum_order(const void *a, const void *b)
{
	const struct traced_sum *x = a, *y = b;

	return x->window < y->window ? -1 : x->window > y->window;
}

/* Those of a window lie one behind the other. */
static int traced_set(struct traced_regions *t, const struct trace *trace)
{
	struct window_region *list = calloc((size_t)t->nsums + 1, sizeof(*list));
	u32 at = 0;
	int err = list ? 0 : -1;

	if (t->nsums)
		qsort(t->sums, t->nsums, sizeof(*t->sums), sum_order);
	for (u32 i = 0; !err && i < t->n; i++) {
		u32 n = 0;

		for (; at < t->nsums && t->sums[at].window == i; at++)
			list[n++] = t->sums[at].region;
		/* What was never measured has its reason already. */
		if (t->windows[i].to_ns == t->windows[i].from_ns)
			continue;
		err = window_set_regions(&t->windows[i], &trace->regions, list, n);
		if (trace->missing)
			t->windows[i].cell[WINDOW_REGIONS] = (struct cell){ t->windows[i].cell[WINDOW_REGIONS].value, CELL_ESTIMATE,
									    regions_missing };
	}
	free(list);
	return err;
}

int window_trace_regions(struct window_fact *list, u32 n, struct trace *trace, const struct clock_map *clock)
{
	struct traced_regions t = { .windows = list, .n = n };
	struct trace_event e;
	bool good = traced_open(&t, trace->nthreads);

	trace_rewind(trace);
	while (good && trace_next(trace, &e)) {
		u64 ns = clock_map_ns(clock, e.ticks);

		good = traced_event(&t, trace, &e, ns - MIN(ns, trace->start_ns));
	}
	if (!good || traced_set(&t, trace))
		good = error("out of memory for the regions of windows") && false;
	traced_free(&t);
	return good ? 0 : -1;
}
