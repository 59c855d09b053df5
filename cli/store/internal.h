/* SPDX-License-Identifier: MIT */
/* What the files of cli/store share. */
#ifndef CLI_STORE_INTERNAL_H
#define CLI_STORE_INTERNAL_H

/* Its functions are macros then, by the table of sqlite.c. */
#include <sqlite3ext.h>

#include "cli/store/store.h"

/* ---- sqlite.c */

extern const sqlite3_api_routines *sqlite3_api;

/* SQLite is there. 0, or -1 after a message. Before its first use. */
int store_sqlite(void);

/* In the header of the SQLite file: "Sprk". */
#define STORE_APPLICATION 0x5370726b
#define STORE_HEADER_SIZE 100

/* Of a history: "SprH". */
#define HISTORY_APPLICATION 0x53707248

/* schema.c: what makes the tables and views of an empty database. */
extern const char store_schema[];
/* The names of the tables; NULL ends the list. */
extern const char *const store_tables[];
/* The same of those that only recordings with samples have. */
extern const char store_samples_schema[];
extern const char *const store_samples_tables[];

/* What a row of the table usage is of. */
#define STORE_SNAPSHOTS 256        /* number of the first cell of snapshot.h; those of sources and events come before */

enum store_usage_kind { STORE_USAGE_PROCESS, STORE_USAGE_THREAD, STORE_USAGE_WINDOW };

/* The words of enum process_end in the table process; NULL ends the list. */
extern const char *const store_ends[];

/* Those of enum samples_object_kind in code_object, and of enum samples_unresolved in frame. */
extern const char *const store_object_kinds[], *const store_unresolved[];

/* ---- pack.c: histograms as bytes: for each bucket that is not empty its distance from the one before and its count */

/* The packed form, to be freed; *size is 0 and NULL returned where nothing was counted or memory is short. */
u8 *store_pack_hist(const struct hist *hist, size_t *size);
/* Adds what was packed. 0, -EINVAL where it makes no sense, or -ENOMEM. */
int store_unpack_hist(struct hist *hist, const u8 *bytes, size_t size);

/*
 * n events of samples: of each the difference of its time to the one before, zigzag; its row, twice, + 1 if its CPU
 * is another one than of the row's last event here; then that CPU. The packed form, to be freed; NULL when memory is
 * short.
 */
u8 *store_pack_events(const struct samples *samples, u32 first, u32 n, size_t *size);
/* Adds what was packed. 0, -EINVAL where it makes no sense, or -ENOMEM. */
int store_unpack_events(struct samples *samples, const u8 *bytes, size_t size);

/* ---- file.c */

/* 0, or -1 after a message. */
int store_is_recording(const char *path);

enum store_file_kind { STORE_FILE_NONE, STORE_FILE_RECORDING, STORE_FILE_HISTORY };

/* By what its first bytes say. */
enum store_file_kind store_kind(int fd);

/* Puts bytes in the place of the file. 0, or -1 after a message. */
int store_replace(struct store_file *file, const void *bytes, size_t size);

/* ---- database.c */

/* A database and the first thing that went wrong with it. */
struct store_db {
	sqlite3 *handle;
	const char *path;            /* for messages */
	bool failed;
};

/* Says what SQLite has to say, once. -1. */
int store_failed(struct store_db *db);

/* A statement that is used again and again; NULL after a message. */
sqlite3_stmt *store_prepare(struct store_db *db, const char *sql);

/*
 * Binds values and runs the statement. Each letter of types is one argument: i u64 or s64; n the same, 0 being
 * NULL; m the same, negative ones being NULL; r double; t text, may be NULL; s bytes and size_t: text, or a blob where it is no UTF-8; b the same,
 * always a blob, NULL where the size is 0.
 */
void store_put(struct store_db *db, sqlite3_stmt *statement, const char *types, ...);

/* The same of a statement that returns a number, such as a row's; 0 after a message. */
s64 store_put_id(struct store_db *db, sqlite3_stmt *statement, const char *types, ...);

/* Calls row for each row of a query, until it returns nonzero (damage, after a message). 0 or -1 after a message. */
int store_each(struct store_db *db, const char *sql, int (*row)(void *context, sqlite3_stmt *statement), void *context);

/* ---- events.c */

void store_write_events(struct store_db *db, const struct profile *profile);
/* Rows of the table cell, by a statement for that. */
void store_write_event_cells(struct store_db *db, sqlite3_stmt *insert, const struct profile *profile);

/* ---- origins.c */

void store_write_origins(struct store_db *db, const struct profile *profile);

/* ---- portion.c */

/* Of each row of a profile: the row number of its root, and the number of its path. */
struct store_places {
	const u32 *root, *path;
};

void store_write_portion(struct store_db *db, const struct profile *profile, const struct session_facts *facts,
			 const struct store_places *places);

/* ---- storage.c: NULL: nothing is written */

void store_write_storage(struct store_db *db, const struct storage_fact *storage);
void store_write_cache(struct store_db *db, const struct cache_fact *cache);
void recording_free_storage(struct recording *recording);
/* ---- windows.c */

void store_write_windows(struct store_db *db, const struct session_facts *facts);
void recording_free_windows(struct recording *recording);

/* ---- samples_write.c */

void store_write_samples(struct store_db *db, const struct samples *samples);
/* block.c; NULL: nothing. */
void store_write_block(struct store_db *db, const struct block *block);
/* off.c */
void store_write_off(struct store_db *db, const struct samples *samples);

#endif
