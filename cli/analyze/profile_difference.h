/* SPDX-License-Identifier: MIT */
/*
 * A part of a run: what lies between two looks at it.
 *
 * Markers know nothing of this: regions are measured all the time, and what was added up until a look is
 * taken off from what was added up until a later one. So it costs nothing where the regions are.
 */
#ifndef CLI_ANALYZE_PROFILE_DIFFERENCE_H
#define CLI_ANALYZE_PROFILE_DIFFERENCE_H

#include "cli/analyze/profile.h"

/*
 * Adds to `to` what `now` has and `before` had not: calls that ended in between, and of open ones the time in
 * between. Both are looks at one run, grouped alike and with no limit of threads; before may be empty. What is
 * open in `to` is what is open now. 0, or -1 after a message when memory is short.
 */
int profile_add_difference(struct profile *to, const struct profile *now, const struct profile *before);

#endif
