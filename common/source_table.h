/* SPDX-License-Identifier: MIT */
/*
 * Names and meanings of the bracketed counter sources and their cells, made from the rows of
 * sources.def. The agent uses the indices and cell counts, sparkctl everything.
 */
#ifndef SPARK_COMMON_SOURCE_TABLE_H
#define SPARK_COMMON_SOURCE_TABLE_H

#include "base.h"

struct source_cell {
	const char *name;
	const char *unit;
	const char *format;
	const char *meaning;
	const char *bias;
};

struct source_desc {
	const char *name;
	const char *cost;
	const char *class_name;
	const char *meaning;
	const struct source_cell *cells; /* ends with a row without a name */
};

enum source_id {
#define CELL(name, unit, format, meaning, bias)
#define SOURCE(name, cost, class_name, meaning, cells) SOURCE_##name,
#include "sources.def"
#undef SOURCE
#undef CELL
	SOURCE_COUNT
};

/* Rows in the order of enum source_id. */
extern const struct source_desc source_table[SOURCE_COUNT];

/* Cells of the sources in the mask: how many follow each node. */
u32 source_cells(u32 mask);
/* Place of the first cell of source id among the cells of the sources in mask. */
u32 source_first_cell(u32 mask, u32 id);

#endif
