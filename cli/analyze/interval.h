/* SPDX-License-Identifier: MIT */
/*
 * What was counted between two looks. They share their edge, so that all intervals add up to the total.
 */
#ifndef CLI_ANALYZE_INTERVAL_H
#define CLI_ANALYZE_INTERVAL_H

#include "cli/analyze/report.h"

struct interval {
	struct total_fact *last;     /* as of the last look, of all parts one after the other */
	size_t nlast;
	struct total_fact *totals;   /* of the interval */
	struct part_fact *parts;
	struct session_facts facts;
};

/*
 * Takes the facts of a look. Returns those of the time since the one before, or since the start, valid until the
 * next call; NULL when memory is short.
 */
const struct session_facts *interval_next(struct interval *interval, const struct session_facts *facts);
void interval_free(struct interval *interval);

#endif
