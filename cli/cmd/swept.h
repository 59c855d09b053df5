/* SPDX-License-Identifier: MIT */
/* run --memory-sweep: a run for each limit of memory. */
#ifndef CLI_CMD_SWEPT_H
#define CLI_CMD_SWEPT_H

#include "cli/cmd/limited.h"
#include "cli/cmd/print.h"
#include "cli/cmd/run_file.h"
#include "cli/session/session.h"

/*
 * Runs the command once with each limit, and writes the report. The exit status: that of the first run which failed
 * otherwise than by its limit.
 */
int swept_run(struct limited *limited, const struct session_options *options, const struct print_options *print,
	      const struct run_record *record, FILE *file, const char *report);

#endif
