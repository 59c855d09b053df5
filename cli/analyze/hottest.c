/* SPDX-License-Identifier: MIT */
/* Differences of exclusive time by name; see hottest.h. */
#include "cli/analyze/hottest.h"

#include <stdlib.h>
#include <string.h>

#include "cli/analyze/profile_build.h"

/* Each row's wall without that of its children, added up by name; NULL when memory is short. */
static double *exclusive_by_name(struct hottest *hottest, const struct profile *profile)
{
	double *sum, *inner = calloc((size_t)profile->nrows + 1, sizeof(*inner));
	u32 i, name, *number = calloc((size_t)profile->nnames + 1, sizeof(*number));

	for (i = 0; number && i < profile->nnames; i++)
		number[i] = profile_intern(&hottest->names, profile->names[i].bytes, profile->names[i].len);
	sum = hottest->names.no_memory ? NULL : calloc((size_t)hottest->names.nnames + 1, sizeof(*sum));
	/* Children stand behind their parents. */
	for (i = profile->nrows; sum && inner && number && i--;) {
		const struct profile_row *row = &profile->rows[i];

		if (row->parent == PROFILE_NONE)
			continue;
		inner[row->parent] += (double)row->wall;
		name = number[row->name];
		sum[name] += (double)row->wall - inner[i];
	}
	if (!inner || !number) {
		free(sum);
		sum = NULL;
	}
	free(inner);
	free(number);
	return sum;
}

/* Puts one into the list, which is in order. */
static size_t hottest_insert(struct hottest_region *out, size_t n, size_t most, const struct hottest_region *region)
{
	size_t i = n < most ? n : most - 1;

	if (n == most && region->ticks <= out[most - 1].ticks)
		return n;
	for (; i && out[i - 1].ticks < region->ticks; i--)
		out[i] = out[i - 1];
	out[i] = *region;
	return MIN(n + 1, most);
}

size_t hottest_update(struct hottest *hottest, const struct profile *profile, struct hottest_region *out, size_t most)
{
	double *now = exclusive_by_name(hottest, profile);
	size_t n = 0;
	u32 i;

	if (!now)
		return 0;
	for (i = 0; most && i < hottest->names.nnames; i++) {
		struct hottest_region region = {
			hottest->names.names[i].bytes, hottest->names.names[i].len,
			now[i] - (i < hottest->room ? hottest->before[i] : 0),
		};

		if (region.ticks > 0)
			n = hottest_insert(out, n, most, &region);
	}
	free(hottest->before);
	hottest->before = now;
	hottest->room = hottest->names.nnames;
	return n;
}

void hottest_fini(struct hottest *hottest)
{
	profile_fini(&hottest->names);
	free(hottest->before);
	*hottest = (struct hottest){ .room = 0 };
}
