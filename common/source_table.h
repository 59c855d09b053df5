/* SPDX-License-Identifier: MIT */
/*
 * Names and meanings of the bracketed counter sources and their cells, made from the rows of
 * sources.def. The agent uses the indices and cell counts, sparkctl everything.
 */
#ifndef SPARK_COMMON_SOURCE_TABLE_H
#define SPARK_COMMON_SOURCE_TABLE_H

#include "base.h"

enum source_flags {
	SOURCE_IN_WINDOWS = 1 << 0,  /* a column of the table of windows, unasked */
	SOURCE_SAMPLED = 1 << 1,     /* an estimate: the kernel splits a sum by samples at its clock tick */
	SOURCE_BY_THREAD = 1 << 2,   /* a process's is the sum over its threads: those that ended may be missing */
};

struct source_cell {
	const char *name;
	const char *unit;
	const char *format;
	const char *meaning;
	const char *bias;
	u32 flags;
};

struct source_desc {
	const char *name;
	const char *cost;
	const char *class_name;
	const char *meaning;
	const struct source_cell *cells; /* ends with a row without a name */
};

enum source_id {
#define SOURCE(name, cost, class_name, meaning, cells) SOURCE_##name,
#include "sources.def"
#undef SOURCE
	SOURCE_COUNT
};

#define SOURCE_ALL ((1u << SOURCE_COUNT) - 1)

/* Places of cells within their source, for those who fill them. */
enum { RUSAGE_MINFLT, RUSAGE_MAJFLT, RUSAGE_NVCSW, RUSAGE_NIVCSW, RUSAGE_UTIME, RUSAGE_STIME, RUSAGE_CELLS };
enum {
	PROCIO_RCHAR, PROCIO_WCHAR, PROCIO_SYSCR, PROCIO_SYSCW, PROCIO_READ_BYTES, PROCIO_WRITE_BYTES,
	PROCIO_CANCELLED, PROCIO_CELLS
};
enum { SCHED_RUNTIME, SCHED_RUNWAIT, SCHED_TIMESLICES, SCHED_CELLS };

/* Rows in the order of enum source_id. */
extern const struct source_desc source_table[SOURCE_COUNT];

/* Cells of the sources in the mask: how many follow each node. */
u32 source_cells(u32 mask);
/* Place of the first cell of source id among the cells of the sources in mask. */
u32 source_first_cell(u32 mask, u32 id);
/* Of a cell's number among those of all sources: its source, and its row. */
u32 source_of_cell(u32 number);
const struct source_cell *source_cell_of(u32 number);

#endif
