/* SPDX-License-Identifier: MIT */
/* What the files of cli/store/history*.c share. */
#ifndef CLI_STORE_HISTORY_BUILD_H
#define CLI_STORE_HISTORY_BUILD_H

#include "cli/store/history.h"
#include "cli/store/read.h"

/* Says what SQLite has to say, once, of a file that is written in place. -1. */
int history_failed(struct store_db *db);
/* 0, or -1 after a message. */
int history_run_sql(struct store_db *db, const char *sql);

/* Under a limit of file sizes a write fails, instead of ending the process; *before is for sigaction() afterwards. */
struct sigaction;
void history_outlive_limit(struct sigaction *before);

/*
 * Opens the database and begins a transaction, one that others wait for if it writes, and that waits for others so
 * long. Close it in any case.
 */
enum { HISTORY_WAIT_MS = 5000, HISTORY_WAIT_LONG_MS = 60000 };
int history_open_write(struct store_db *db, int wait_ms);
int history_open_read(struct store_db *db);

#endif
