/* SPDX-License-Identifier: MIT */
/* What lies in some regions: those of a name, or of a path "a;b" whose end is meant, with all in them. */
#ifndef CLI_ANALYZE_INSIDE_H
#define CLI_ANALYZE_INSIDE_H

#include "cli/analyze/profile.h"
#include "cli/analyze/samples.h"

struct inside {
	char *const *region;
	size_t n;
};

/* A region of samples (or of a trace) is one of them, or lies in one. */
bool inside_sampled(const struct inside *inside, const struct samples *samples, u32 region);

/*
 * Takes away all rows that are not inside; what is around them stays as a path without figures. Windows are of
 * whole processes, and go. *calls: what is left of calls, open ones too. 0, or -1 after a message when memory is short.
 */
int inside_keep(const struct inside *inside, struct profile *profile, u64 *calls);

#endif
