/* SPDX-License-Identifier: MIT */
/*
 * A figure of two sides whose runs were made by turns: run i of each side is of round i. What the values of a round have
 * in common is gone in their ratio, and is noise for a test that does not know of rounds: a drift hides what it is asked
 * for. Where there is nothing in common that test sees more, since a value far away spoils one round and not two, and
 * ten rounds tell nothing below p 0.002. So both are made, and p is twice the lesser one, which holds whatever they have
 * to do with each other. The ratio is that of rounds where their values are alike, by which none of them is greater.
 */
#include <math.h>

#include "cli/analyze/compare.h"
#include "cli/analyze/diff_build.h"
#include "cli/analyze/signed.h"

/* Those of rounds in which both sides have a value; *n of them. False: one is not above 0. */
static bool rounds_take(const struct diff_side *a, const struct diff_side *b, const struct diff_row_at *at,
			struct diff_rounds *to)
{
	u32 n = MIN(a->nruns, b->nruns);
	u8 state;

	to->n = 0;
	for (u32 i = 0; i < n; i++) {
		double x = diff_value(&a->runs[i], at->kind, at->metric, at->row, &state);
		double y = diff_value(&b->runs[i], at->kind, at->metric, at->row, &state);

		if (isnan(x) || isnan(y))
			continue;
		if (x <= 0 || y <= 0)
			return false;
		to->values[0][to->n] = x;
		to->values[1][to->n++] = y;
	}
	return true;
}

void diff_rounds_compare(struct rank *rank, const struct diff_side *a, const struct diff_side *b,
			 const struct diff_row_at *at, double rate, struct diff_rounds *rounds)
{
	const double *x = rounds->values[0], *y = rounds->values[1];
	struct comparison c;
	bool higher;
	double p;

	if (!rounds_take(a, b, at, rounds) || 2 * signed_least(rounds->n) > rate)
		return;
	p = signed_p(x, y, rounds->n, &higher, rounds->scratch);
	if (p < rank->p)
		rank->higher = higher;
	rank->p = MIN(2 * MIN(p, rank->p), 1.0);
	if (!signed_alike(x, y, rounds->n, rounds->scratch))
		return;
	compare_rounds(&c, x, y, rounds->n, SPREAD_95, rounds->scratch);
	rank->known = c.known;
	rank->ratio = c.ratio;
	rank->bounded = c.bounded;
	rank->low = c.low;
	rank->high = c.high;
}
