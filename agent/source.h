/* SPDX-License-Identifier: MIT */
/*
 * The row of a bracketed counter source: what is read at both ends of a bracket when sparkctl asked
 * for it. A file src_NAME.c defines source_NAME; the row in common/sources.def names it and
 * describes its cells.
 */
#ifndef SPARK_AGENT_SOURCE_H
#define SPARK_AGENT_SOURCE_H

#include "common/base.h"

struct source {
	/* CTOR. Makes it readable in this process. 0 or -errno. */
	int (*open)(void);
	/* MARKER. The thread's running totals, one for each cell of the row; they never decrease. */
	void (*read)(u64 *cells);
	/* SAFE. Gives back what open took; the process goes on. */
	void (*close)(void);
};

/* CTOR. Opens the sources of the mask; those that fail are taken out of it. Returns the mask left. */
u32 source_open_all(u32 mask);
/* MARKER. Reads all open sources, in the order of the table. */
void source_read_all(u64 *cells);
/* SAFE. */
void source_close_all(void);

#endif
