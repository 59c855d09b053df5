/* SPDX-License-Identifier: MIT */
/*
 * What a whole process, thread or window has used: one cell for each cell of each source, with its
 * own state, since each may be absent alone.
 */
#ifndef CLI_ANALYZE_USAGE_H
#define CLI_ANALYZE_USAGE_H

#include "cli/analyze/cell.h"
#include "common/source_table.h"
#include "common/wire.h"

/* All zero is the sum of nothing. */
struct usage {
	struct cell cpu;             /* ns */
	struct cell cell[WIRE_CELLS]; /* by the number of the cell among those of all sources */
};

/* Why a cell of a source is absent; static. */
const char *usage_absent_note(u64 cell);
/* A running total, or a sum of differences, as a cell: counted, or unavailable with the reason. */
struct cell usage_cell(u64 cell);
/* Everything is absent. */
void usage_fill_absent(struct usage *usage, const char *note);
/* What lies between two readings; begin NULL: since there was nothing. */
void usage_between(struct usage *usage, const struct wire_usage *begin, const struct wire_usage *end);
/* Worst state of each cell wins. */
void usage_add(struct usage *sum, const struct usage *part);

#endif
