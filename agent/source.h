/* SPDX-License-Identifier: MIT */
/*
 * The row of a bracketed counter source: what is read at both ends of a bracket when sparkctl asked
 * for it. A file src_NAME.c defines source_NAME; the row in common/sources.def names it and
 * describes its cells. A cell that cannot be read is WIRE_ABSENT(), with the reason, never 0.
 */
#ifndef SPARK_AGENT_SOURCE_H
#define SPARK_AGENT_SOURCE_H

#include "common/base.h"
#include "common/source_table.h"
#include "common/wire.h"

enum source_scope { SOURCE_THREAD, SOURCE_PROCESS };

struct source {
	/* CTOR. Makes it readable in this process. 0 or -errno: then all its cells are absent. */
	int (*open)(void);
	/* MARKER. The thread's running totals, one for each cell of the row; never decreasing. */
	void (*read)(u64 *cells);
	/* SAFE. Gives back what open took; the process goes on. */
	void (*close)(void);
	/*
	 * SAFE. The same of the calling thread or of its process, asked for in regions or not:
	 * for windows and roots. NULL: there is no such figure.
	 */
	void (*usage)(enum source_scope scope, struct wire_usage *usage, u64 *cells);
};

/* CTOR. Opens the sources of the mask. Returns the mask of those that there are. */
u32 source_open_all(u32 mask);
/* MARKER. Reads all open sources, in the order of the table, and the events of the plan: agent.cells cells. */
void source_read_all(u64 *cells);
/* SAFE. */
void source_close_all(void);
/* SAFE. Adds what came between two readings of a cell; if one of them is absent, the sum is. */
void source_charge(u64 *sum, u64 begin, u64 end);
/* SAFE. The same for all cells of a node. */
void source_charge_all(u64 *sums, const u64 *begin, const u64 *end);
/* SAFE. The usage of the sources of the mask; the cells of others are absent, as not asked for. */
void source_usage_all(enum source_scope scope, u32 mask, struct wire_usage *usage);

/*
 * src_sched.c: THREAD. A thread was released with these readings of the source: they stay in its
 * process's sum.
 */
void sched_thread_ended(u32 tid, const u64 *cells);

#endif
