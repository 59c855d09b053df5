/* SPDX-License-Identifier: MIT */
/* What read.c and read_rows.c share. */
#ifndef CLI_STORE_READ_H
#define CLI_STORE_READ_H

#include "cli/store/internal.h"

#define READ_NONE (~0u)
#define STORE_CELLS_MAX 512u
#define READ_SNAPSHOT 0x10000u    /* in cells: and the number of a cell of snapshot.h */
#define STORE_REASONS_MAX 256u

/* The file may be anybody's: numbers are checked before they are used as places. */
struct store_reader {
	struct store_db db;
	struct recording *recording;
	u32 narguments;
	bool snapshots[SNAPSHOT_CELLS]; /* the file has them */
	bool singles[WINDOW_CELLS];  /* the same of single windows */
	u32 cells[STORE_CELLS_MAX];  /* the numbers of the file's cells, 0 being cpu's; READ_NONE: not known here */
	u32 plan_cells;              /* met so far */
	const char *reasons[STORE_REASONS_MAX];
	u32 *names;                  /* the profile's numbers, by those of the file; READ_NONE: not there */
	u32 nnames;
	struct store_path {
		u32 parent, name;    /* of the file */
	} *paths;
	u32 npaths;
	u32 *roots;                  /* rows, by the file's numbers; READ_NONE: not there */
	u32 nroots;
	u32 root, *rows;             /* of the root met last: its rows by path */
};

/* Says what makes no sense. -1. */
int read_damaged(struct store_reader *reader, const char *what);
int read_no_memory(void);

/* A column's value. Text lives as long as the recording and is NULL for NULL; u32 is READ_NONE if it is none. */
const char *read_text(struct store_reader *reader, sqlite3_stmt *row, int column);
u64 read_u64(sqlite3_stmt *row, int column);
u32 read_u32(sqlite3_stmt *row, int column);
/* A state by its name. 0 or -1. */
int read_state(sqlite3_stmt *row, int column, enum cell_state *state);

/* Zeroed room for the rows of a table, and one more; NULL after a message. */
void *read_array(struct store_reader *reader, const char *table, size_t size);

/* events.c. 0 or -1 after a message. */
int read_events(struct store_reader *reader);

/* read.c. 1: there is such a table; 0; -1 after a message. */
int read_has_table(struct store_reader *reader, const char *name);

/* origins.c. 0 or -1 after a message. */
int read_origins(struct store_reader *reader);

/* portion.c. The same. */
int read_portion(struct store_reader *reader);

/* storage.c. The same. */
int read_storage(struct store_reader *reader);
/* windows.c. The same. */
int read_windows(struct store_reader *reader);

/* samples_read.c. 0 or -1 after a message. */
int read_samples(struct store_reader *reader);
/* block.c. The same. */
int read_block(struct store_reader *reader);
/* off.c: after them. */
int read_off(struct store_reader *reader);

/* read_rows.c: processes, threads, regions and what hangs on them. 0 or -1 after a message. */
int read_processes(struct store_reader *reader);
/* A name of the file as the profile has it; PROFILE_NONE for NULL. */
int read_name_at(struct store_reader *reader, sqlite3_stmt *row, int column, u32 *name);
/* The profile's row of a path of a root; READ_NONE after a message. */
u32 read_row_of(struct store_reader *reader, u32 root, u32 path);
int read_profile(struct store_reader *reader);

#endif
