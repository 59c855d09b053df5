/* SPDX-License-Identifier: MIT */
/*
 * See steady.h. Values are steady from the first one on that is no outlier among itself and what follows, if those do
 * not drift. A test that has too few values finds no drift, whatever they do: where it cannot tell, neither can we, and
 * what is left of a series that drifts is steady only if going on as before can be ruled out.
 */
#include "cli/analyze/steady.h"

#include "cli/analyze/compare.h"
#include "common/base.h"

#define STEADY_LEAST 5               /* fewer have no scatter to speak of */
#define STEADY_STEP 20               /* of those left out already so large a part is added at a time */

/* Whether n values may have gone on with a drift that was found in more of them. */
static bool goes_on(const struct comparison *drift, size_t n, const struct comparison *found, size_t of)
{
	double part = (double)n / (double)of;

	if (!of)
		return false;
	if (found->ratio > 1)
		return drift->high >= 1 + (found->ratio - 1) * part;
	return drift->low <= 1 / (1 + (1 / found->ratio - 1) * part);
}

void steady_find(struct steady *steady, const double *values, size_t n, double *sorted)
{
	size_t least = MAX((n + 1) / 2, (size_t)STEADY_LEAST), drifting = 0;
	struct comparison drift, found = { .known = false };
	bool near = false;

	*steady = (struct steady){ .known = false };
	for (size_t after = 0; after + least <= n; after += 1 + after / STEADY_STEP) {
		size_t left = n - after;
		struct spread spread;

		spread_of(&spread, values + after, left, sorted);
		if (spread_far(&spread, values[after]))
			continue;
		if (!near)
			steady->cold = after;
		near = true;
		compare_drift(&drift, values + after, left, sorted);
		if (!drift.known || !drift.bounded)
			break;
		steady->tried = after;
		if (comparison_drifts(&drift) && !drifting) {
			drifting = left;
			found = drift;
		} else if (!comparison_drifts(&drift) && !goes_on(&drift, left, &found, drifting)) {
			steady->known = steady->is = true;
			steady->after = after;
			return;
		}
	}
	steady->known = drifting > 0;
}
