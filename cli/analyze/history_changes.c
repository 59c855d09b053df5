/* SPDX-License-Identifier: MIT */
/*
 * Where the level of a row changed. In each stretch the clearest place is looked for (change.h), and at each of their
 * edges both sides are compared (rank.h). p of these first tests of all rows is adjusted, at half the rate; where one
 * is found, both parts are searched in turn, each at a quarter of the rate: a real change opens two searches at most, so
 * that together about the rate of what is told is false, and half of it where nothing changed at all.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/change.h"
#include "cli/analyze/discovery.h"
#include "cli/analyze/history_build.h"
#include "cli/analyze/rank.h"
#include "cli/analyze/report_build.h"

/* A test of a series: within a stretch, or of its edge. */
struct part {
	u32 history, series;
	bool edge;
	u32 from, at;                /* numbers of values: the stretch's first, the new level's first */
};

struct finder {
	struct histories *all;
	struct change_orders orders;
	struct rank_lengths *lengths;
	struct part *parts;          /* a test each */
	double *p;
	u32 ntests;
	double *values, *sorted;     /* of the series that is looked at */
	u32 *runs;
	u8 *ways;
};

/* ---- values ---------------------------------------------------------------------------------------- */

/* Those of a series, one stretch behind the other; *n of them. */
static void values_take(struct finder *f, const struct history *h, const struct history_series *s, u32 *n)
{
	*n = 0;
	for (u32 i = 0; i < history_nruns(h); i++) {
		double value = history_value(h, s, i);

		if (isnan(value))
			continue;
		f->values[*n] = value;
		f->ways[*n] = history_way(h, s, i);
		f->runs[(*n)++] = i;
	}
}

/* Of one stretch, and counted in one way. */
static bool alike(const struct finder *f, const struct history *h, u32 a, u32 b)
{
	return h->of[f->runs[a]].stretch == h->of[f->runs[b]].stretch && f->ways[a] == f->ways[b];
}

/* How many from there on are of the same stretch. */
static u32 stretch_len(const struct finder *f, const struct history *h, u32 from, u32 n)
{
	u32 end = from;

	while (end < n && alike(f, h, end, from))
		end++;
	return end - from;
}

static double median_of(struct finder *f, const double *values, u32 n)
{
	struct spread spread;

	spread_of(&spread, values, n, f->sorted);
	return spread.median;
}

/* ---- the first tests ------------------------------------------------------------------------------- */

static int test_add(struct finder *f, u32 history, u32 series, bool edge, u32 from, u32 at, double p)
{
	struct part *parts = report_grow(f->parts, f->ntests, sizeof(*parts));
	double *all;

	if (!parts)
		return -1;
	f->parts = parts;
	all = report_grow(f->p, f->ntests, sizeof(*all));
	if (!all)
		return -1;
	f->p = all;
	parts[f->ntests] = (struct part){ .history = history, .series = series, .edge = edge, .from = from, .at = at };
	all[f->ntests++] = p;
	return 0;
}

/* a and b values from there on; a zero has no ratio, but a rank. */
static double edge_p(struct finder *f, u32 from, u32 a, u32 b)
{
	struct rank rank;

	memcpy(f->sorted, f->values + from, (a + b) * sizeof(*f->sorted));
	spread_sort(f->sorted, a);
	spread_sort(f->sorted + a, b);
	rank_compare(&rank, f->sorted, a, f->sorted + a, b, f->lengths);
	return rank.p;
}

static int series_test(struct finder *f, u32 history, u32 series)
{
	const struct history *h = &f->all->item[history];
	u32 n, len, next;

	values_take(f, h, &h->series[series], &n);
	for (u32 from = 0; from < n; from += len) {
		struct change change;

		len = stretch_len(f, h, from, n);
		change_find(&change, f->values + from, len, &f->orders);
		if (len >= 2 * CHANGE_LEAST && test_add(f, history, series, false, from, from + (u32)change.at, change.p))
			return -1;
		next = from + len < n ? stretch_len(f, h, from + len, n) : 0;
		if (next >= CHANGE_LEAST && len >= CHANGE_LEAST &&
		    test_add(f, history, series, true, from, from + len, edge_p(f, from, len, next)))
			return -1;
	}
	return 0;
}

/* ---- what was found -------------------------------------------------------------------------------- */

static int change_add(struct finder *f, const struct part *part, u32 at, double p, bool further)
{
	struct history *h = &f->all->item[part->history];
	struct history_change *changes = report_grow(h->changes, h->nchanges, sizeof(*changes));
	u32 run = f->runs[at], former = f->runs[at - 1];

	if (!changes)
		return -1;
	h->changes = changes;
	changes[h->nchanges++] = (struct history_change){
		.series = part->series, .run = run, .former = former, .outside = part->edge, .p = p, .further = further,
		.fields = history_fields_between(h, former, run) | (f->ways[at] != f->ways[at - 1] ? 1u << HISTORY_WAY : 0),
	};
	h->series[part->series].nchanges++;
	return 0;
}

/* Both sides of a change, until nothing more is found in any. */
static int search_on(struct finder *f, const struct part *part, u32 from, u32 n)
{
	struct change change;
	u32 at;

	change_find(&change, f->values + from, n, &f->orders);
	if (change.p > f->all->rate / 4)
		return 0;
	at = from + (u32)change.at;
	return change_add(f, part, at, change.p, true) || search_on(f, part, from, at - from) ||
	       search_on(f, part, at, from + n - at) ? -1 : 0;
}

static int found(struct finder *f, const struct part *part, double p)
{
	const struct history *h = &f->all->item[part->history];
	u32 n, from = part->from, len;

	values_take(f, h, &h->series[part->series], &n);
	if (change_add(f, part, part->at, p, false))
		return -1;
	if (part->edge)
		return 0;
	len = stretch_len(f, h, from, n);
	return search_on(f, part, from, part->at - from) || search_on(f, part, part->at, from + len - part->at);
}

static int change_order(const void *a, const void *b)
{
	const struct history_change *x = a, *y = b;

	return x->series != y->series ? (x->series > y->series) - (x->series < y->series) :
	       (x->run > y->run) - (x->run < y->run);
}

/* The number of the first value from this run on. */
static u32 value_of_run(const struct finder *f, u32 n, u32 run)
{
	u32 i = 0;

	while (i < n && f->runs[i] < run)
		i++;
	return i;
}

/* A level ends at the changes beside it, and where its stretch does. */
static void change_levels(struct finder *f, const struct history *h, u32 i)
{
	struct history_change *c = &h->changes[i];
	const struct history_change *before = i && c[-1].series == c->series ? c - 1 : NULL;
	const struct history_change *after = i + 1 < h->nchanges && c[1].series == c->series ? c + 1 : NULL;
	u32 n, at, first, end, least, most;

	values_take(f, h, &h->series[c->series], &n);
	at = value_of_run(f, n, c->run);
	least = before ? value_of_run(f, n, before->run) : 0;
	most = after ? value_of_run(f, n, after->run) : n;
	for (first = at - 1; first > least && alike(f, h, first - 1, at - 1);)
		first--;
	for (end = at + 1; end < most && alike(f, h, end, at);)
		end++;
	c->before = median_of(f, f->values + first, at - first);
	c->after = median_of(f, f->values + at, end - at);
}

static int all_judge(struct finder *f)
{
	const double **order = calloc(f->ntests + 1, sizeof(*order));

	if (!order)
		return -1;
	discovery_adjust(f->p, f->ntests, order);
	free(order);
	for (u32 i = 0; i < f->ntests; i++)
		if (f->p[i] <= f->all->rate / 2 && found(f, &f->parts[i], f->p[i]))
			return -1;
	for (u32 i = 0; i < f->all->n; i++) {
		struct history *h = &f->all->item[i];

		if (h->nchanges)
			qsort(h->changes, h->nchanges, sizeof(*h->changes), change_order);
		for (u32 c = 0; c < h->nchanges; c++)
			change_levels(f, h, c);
	}
	return 0;
}

int history_changes_find(struct histories *all)
{
	struct finder f = { .all = all, .lengths = calloc(1, sizeof(*f.lengths)) };
	u32 most = 1;
	int err;

	for (u32 i = 0; i < all->n; i++)
		most = MAX(most, history_nruns(&all->item[i]));
	f.values = calloc(most, sizeof(*f.values));
	f.sorted = calloc(most, sizeof(*f.sorted));
	f.runs = calloc(most, sizeof(*f.runs));
	f.ways = calloc(most, sizeof(*f.ways));
	err = f.values && f.sorted && f.runs && f.ways && f.lengths ? 0 : -1;
	for (u32 i = 0; i < all->n; i++)
		for (u32 s = 0; s < all->item[i].nseries && !err; s++)
			err = series_test(&f, i, s);
	err = err ? err : all_judge(&f);
	change_orders_free(&f.orders);
	free(f.lengths);
	free(f.parts);
	free(f.p);
	free(f.values);
	free(f.sorted);
	free(f.runs);
	free(f.ways);
	return err;
}
