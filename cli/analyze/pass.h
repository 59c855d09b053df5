/* SPDX-License-Identifier: MIT */
/*
 * Passes that runs are made in, so that what takes time to measure is in no time: a timing pass has nothing armed but
 * markers, a counting pass events and sources, a profile pass samples.
 */
#ifndef CLI_ANALYZE_PASS_H
#define CLI_ANALYZE_PASS_H

#include <stdbool.h>

#include "common/base.h"

enum run_pass { PASS_TIMING, PASS_COUNTING, PASS_PROFILE, PASSES };

/* NULL ends them. */
extern const char *const pass_words[PASSES + 1];

/* The least of the passes that are there has a figure; timed: it is of the time alone, no counter is needed for it. */
u32 pass_rank(enum run_pass pass, bool timed);

#endif
