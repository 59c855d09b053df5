/* SPDX-License-Identifier: MIT */
/*
 * See steady.h. Values are steady from the first one on that is no outlier among itself and what follows, if those do
 * not drift.
 */
#include "cli/analyze/steady.h"

#include "cli/analyze/compare.h"
#include "common/base.h"

#define STEADY_LEAST 5               /* fewer have no scatter to speak of */
#define STEADY_STEP 20               /* of those left out already so large a part is added at a time */

static bool steady_from(const double *values, size_t n, double *sorted)
{
	struct comparison drift;
	struct spread spread;

	spread_of(&spread, values, n, sorted);
	if (spread_far(&spread, values[0]))
		return false;
	compare_drift(&drift, values, n, sorted);
	return !comparison_drifts(&drift);
}

void steady_find(struct steady *steady, const double *values, size_t n, double *sorted)
{
	size_t least = MAX((n + 1) / 2, (size_t)STEADY_LEAST);

	*steady = (struct steady){ .known = n >= SPREAD_LEAST };
	for (size_t after = 0; after + least <= n; after += 1 + after / STEADY_STEP)
		if (steady_from(values + after, n - after, sorted)) {
			steady->is = true;
			steady->after = after;
			return;
		}
}
