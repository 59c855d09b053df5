/* SPDX-License-Identifier: MIT */
/* The recording of one of several runs, written when that is over, and its place in a history. */
#ifndef CLI_CMD_RUN_FILE_H
#define CLI_CMD_RUN_FILE_H

#include "cli/session/session.h"
#include "cli/store/store.h"

/* What of each run is kept. */
struct run_record {
	const char *pattern;         /* of the name: without %n the run comes behind it; NULL: none is made */
	struct store_options options;
	const char *history;         /* where the run is added, too; NULL: nowhere */
};

struct run_file {
	struct store_file file;
	char *name;                  /* "out.spark.32M"; NULL: none is made */
};

/* Whether that run can be recorded, before any is made. 0, or an exit status after a message. */
int run_file_check(const struct run_record *record, const char *run);
/* Before the run, so that there is none in vain. 0, or an exit status after a message; run_file_close() in any case. */
int run_file_open(struct run_file *file, const struct run_record *record, const char *run);
/* 0, or -1 after a message. */
int run_file_write(struct run_file *file, const struct run_record *record, const struct session *session);
void run_file_close(struct run_file *file);

#endif
