/* SPDX-License-Identifier: MIT */
/*
 * Histories: one SQLite file with what many runs have measured of each region. Unlike a recording it is written in
 * place, by transactions of SQLite's: several runs may end at once, and none may be lost. sparkctl-history(1) describes
 * the tables.
 */
#ifndef CLI_STORE_HISTORY_H
#define CLI_STORE_HISTORY_H

#include "cli/analyze/history.h"

#define HISTORY_VERSION 1

/*
 * Whether runs can be added to the file, which is made if there is none. Before the command starts. 0, or -1 after a
 * message.
 */
int store_history_check(const char *path);

/*
 * Adds a run; more: globs of columns that it has beside the usual ones, NULL: none. While another run is being added it
 * waits, for some seconds at most. 0, or -1 after a message: then nothing was added.
 */
int store_history_add(const char *path, const struct profile *profile, const struct session_facts *facts,
		      const char *more);

/*
 * Reads the newest runs of each command, last of them at most, into all, which is empty but for what is asked for. path
 * must outlive it. 0, or -1 after a message; free it in any case.
 */
int store_history_read(struct histories *all, const char *path, u32 last);

#endif
