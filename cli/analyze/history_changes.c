/* SPDX-License-Identifier: MIT */
/*
 * Where the level of a row changed. In each regime the clearest place is looked for (change.h), whatever runs of others
 * stand between: two kinds of machines may take turns. At each edge of stretches both sides are compared (rank.h). p of
 * these first tests of all rows is adjusted, at half the rate; where one is found, both parts are searched in turn, each
 * at a quarter of the rate: a real change opens two searches at most, so that together about the rate of what is told is
 * false, and half of it where nothing changed at all.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/change.h"
#include "cli/analyze/discovery.h"
#include "cli/analyze/history_build.h"
#include "cli/analyze/rank.h"
#include "cli/analyze/report_build.h"

/* The order of a series' values: that of time, or regime by regime, each in that of time. */
enum order { BY_TIME, BY_REGIME };

/* A test of a series: within a regime, or of a stretch's edge. */
struct part {
	u32 history, series;
	bool edge;
	u32 from, at;                /* numbers of values: the regime's or stretch's first, the new level's first */
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

/* Those of a series that a regime has, counted in one way if that is one (else -1), behind the *n that there are. */
static void values_add(struct finder *f, const struct history *h, const struct history_series *s, u32 regime, int way,
		       u32 *n)
{
	for (u32 i = 0; i < history_nruns(h); i++) {
		double value = history_value(h, s, i);

		if (isnan(value) || (regime != DIFF_NONE && h->of[i].regime != regime) ||
		    (way >= 0 && history_way(h, s, i) != way))
			continue;
		f->values[*n] = value;
		f->ways[*n] = history_way(h, s, i);
		f->runs[(*n)++] = i;
	}
}

/* All of a series; *n of them. */
static void values_take(struct finder *f, const struct history *h, const struct history_series *s, enum order order,
			u32 *n)
{
	static const int ways[] = { 0, DIFF_USER, CELL_ESTIMATE, DIFF_USER | CELL_ESTIMATE };

	*n = 0;
	if (order == BY_TIME)
		values_add(f, h, s, DIFF_NONE, -1, n);
	for (u32 r = 0; order == BY_REGIME && r < h->nregimes; r++)
		for (size_t w = 0; w < (s->mixed ? ARRAY_SIZE(ways) : 1); w++)
			values_add(f, h, s, r, s->mixed ? ways[w] : -1, n);
}

/* Of one regime, and counted in one way. */
static bool alike(const struct finder *f, const struct history *h, u32 a, u32 b)
{
	return h->of[f->runs[a]].regime == h->of[f->runs[b]].regime && f->ways[a] == f->ways[b];
}

/* How many from there on are of the same regime. */
static u32 alike_len(const struct finder *f, const struct history *h, u32 from, u32 n)
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

static int regimes_test(struct finder *f, u32 history, u32 series)
{
	const struct history *h = &f->all->item[history];
	u32 n, len;

	values_take(f, h, &h->series[series], BY_REGIME, &n);
	for (u32 from = 0; from < n; from += len) {
		struct change change;

		len = alike_len(f, h, from, n);
		change_find(&change, f->values + from, len, &f->orders);
		if (len >= 2 * CHANGE_LEAST && test_add(f, history, series, false, from, from + (u32)change.at, change.p))
			return -1;
	}
	return 0;
}

static int edges_test(struct finder *f, u32 history, u32 series)
{
	const struct history *h = &f->all->item[history];
	u32 n, len, next;

	values_take(f, h, &h->series[series], BY_TIME, &n);
	for (u32 from = 0; from < n; from += len) {
		len = alike_len(f, h, from, n);
		next = from + len < n ? alike_len(f, h, from + len, n) : 0;
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

	values_take(f, h, &h->series[part->series], part->edge ? BY_TIME : BY_REGIME, &n);
	if (change_add(f, part, part->at, p, false))
		return -1;
	if (part->edge)
		return 0;
	len = alike_len(f, h, from, n);
	return search_on(f, part, from, part->at - from) || search_on(f, part, part->at, from + len - part->at);
}

static int change_order(const void *a, const void *b)
{
	const struct history_change *x = a, *y = b;

	return x->series != y->series ? (x->series > y->series) - (x->series < y->series) :
	       (x->run > y->run) - (x->run < y->run);
}

/* The number of the value of this run, n values in all. */
static u32 value_of_run(const struct finder *f, u32 n, u32 run)
{
	u32 i = 0;

	while (i + 1 < n && f->runs[i] != run)
		i++;
	return i;
}

/* The level of another change of the row begins with this value; in a regime none does where its stretches do. */
static bool level_begins(const struct finder *f, const struct history *h, const struct history_change *c, u32 at)
{
	for (u32 i = 0; i < h->nchanges; i++)
		if (h->changes[i].series == c->series && (c->outside || !h->changes[i].outside) && h->changes[i].run == f->runs[at])
			return true;
	return false;
}

/* A level ends at the changes beside it, and where its regime or, of an edge, its stretch does. */
static void change_levels(struct finder *f, const struct history *h, u32 i)
{
	struct history_change *c = &h->changes[i];
	u32 n, at, first, end;

	values_take(f, h, &h->series[c->series], c->outside ? BY_TIME : BY_REGIME, &n);
	at = value_of_run(f, n, c->run);
	for (first = at - 1; first > 0 && alike(f, h, first - 1, at - 1) && !level_begins(f, h, c, first);)
		first--;
	for (end = at + 1; end < n && alike(f, h, end, at) && !level_begins(f, h, c, end);)
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
			err = regimes_test(&f, i, s) || edges_test(&f, i, s) ? -1 : 0;
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
