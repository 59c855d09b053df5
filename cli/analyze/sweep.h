/* SPDX-License-Identifier: MIT */
/* Runs of one command under different limits of memory, beside each other. */
#ifndef CLI_ANALYZE_SWEEP_H
#define CLI_ANALYZE_SWEEP_H

#include "cli/analyze/report.h"

enum sweep_cell { SWEEP_WALL, SWEEP_MAJFLT, SWEEP_REFAULTS, SWEEP_PRESSURE, SWEEP_PEAK, SWEEP_KILLS, SWEEP_CELLS };

/* Their names in JSON, and their units. */
extern const char *const sweep_cell_names[SWEEP_CELLS], *const sweep_cell_units[SWEEP_CELLS];

struct sweep_row {
	u64 limit;                   /* bytes of memory.max */
	struct cell cells[SWEEP_CELLS];
	char notes[SWEEP_CELLS][160]; /* of cells */
	int status, signal;
	bool timeout;
};

struct sweep {
	const char *const *argv;
	struct sweep_row *rows;      /* in the order of the runs */
	size_t nrows;
	const struct sweep_row *knee; /* the least limit that is enough; NULL: see why */
	const char *why;             /* there is no knee */
};

/* Some process of it was killed since memory ran out. */
bool sweep_killed(const struct sweep_row *row);
/* Fills a row from the facts of its run, which may go afterwards. */
void sweep_take(struct sweep_row *row, const struct session_facts *facts);
/* Finds the knee. */
void sweep_judge(struct sweep *sweep);

#endif
