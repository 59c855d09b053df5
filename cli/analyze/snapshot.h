/* SPDX-License-Identifier: MIT */
/*
 * The system and the control group at both edges of a window: which files are read, and what their bytes
 * mean. The rows stand in snapshot.def. Nothing is believed of the bytes: they come by the target's memory.
 */
#ifndef CLI_ANALYZE_SNAPSHOT_H
#define CLI_ANALYZE_SNAPSHOT_H

#include "cli/analyze/cell.h"
#include "common/wire.h"

enum snapshot_place { SNAPSHOT_SYSTEM, SNAPSHOT_CGROUP };

enum snapshot_flags {
	SNAPSHOT_SHOWN = 1 << 0,     /* a column of the table of windows, unasked */
	SNAPSHOT_GAUGE = 1 << 1,     /* as it is at the end, not what came since the begin */
};

enum {
#define SNAPSHOT(source, class_name, place, path, parser, cells) + 1
	SNAPSHOT_FILES = 0
#include "cli/analyze/snapshot.def"
	,
#undef SNAPSHOT
#define SNAPSHOT(source, class_name, place, path, parser, cells) cells
#define CELL(key, name, unit, format, scale, flags, meaning, bias) + 1
	SNAPSHOT_CELLS = 0
#include "cli/analyze/snapshot.def"
#undef CELL
#undef SNAPSHOT
};

_Static_assert(SNAPSHOT_FILES <= WIRE_FILES, "more than the segment lists");

struct snapshot_cell {
	const char *key;             /* in the file */
	const char *name;
	const char *unit, *format;
	u64 scale;
	u32 flags;                   /* enum snapshot_flags */
	const char *meaning, *bias;
};

struct snapshot_file {
	const char *source, *class_name;
	enum snapshot_place place;
	const char *path;
	/* The number of the key, or WIRE_ABSENT(WIRE_ABSENT_FIELD). */
	u64 (*find)(const char *text, size_t size, const char *key, const char *disks);
	u32 cells;
};

extern const struct snapshot_file snapshot_files[SNAPSHOT_FILES];
extern const struct snapshot_cell snapshot_cells[SNAPSHOT_CELLS];

/* The number of the file that a cell is of, and of a file's first cell. */
u32 snapshot_file_of(u32 cell);
u32 snapshot_first(u32 file);
/*
 * values[SNAPSHOT_CELLS] of file number file (of snapshot_files) from its bytes; those of other files are
 * left. disks: names of the disks to add up, each with a blank before and behind it; NULL: all lines.
 */
void snapshot_parse(u64 *values, u32 file, const char *text, size_t size, const char *disks);
/* Its values, where it could not be read. */
void snapshot_absent(u64 *values, u32 file, u32 reason);
/* What lies between the values at both edges, as cells[SNAPSHOT_CELLS]. */
void snapshot_between(struct cell *cells, const u64 *begin, const u64 *end);
void snapshot_add(struct cell *sum, const struct cell *part);
/* What is looked at once stays. */
void snapshot_subtract(struct cell *cells, const struct cell *before);
void snapshot_fill_absent(struct cell *cells, const char *note);

#endif
