/* SPDX-License-Identifier: MIT */
/* Which regions the time between two looks at a run went to. */
#ifndef CLI_ANALYZE_HOTTEST_H
#define CLI_ANALYZE_HOTTEST_H

#include "cli/analyze/profile.h"

/* Zero-initialized: nothing was looked at yet. */
struct hottest {
	struct profile names;        /* numbers that stay the same from look to look */
	double *before;              /* by name: ticks without inner regions, until the last look */
	u32 room;
};

struct hottest_region {
	const char *name;            /* raw bytes, terminated; valid until hottest_fini() */
	size_t len;
	double ticks;                /* without inner regions, of all threads, since the last look */
};

/*
 * The regions with most time since the last call, by name, greatest first; at most `most`. Returns their number; 0
 * also when memory is short.
 */
size_t hottest_update(struct hottest *hottest, const struct profile *profile, struct hottest_region *out, size_t most);
void hottest_fini(struct hottest *hottest);

#endif
