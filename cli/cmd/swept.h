/* SPDX-License-Identifier: MIT */
/* run --memory-sweep: a run for each limit of memory. */
#ifndef CLI_CMD_SWEPT_H
#define CLI_CMD_SWEPT_H

#include "cli/cmd/limited.h"
#include "cli/cmd/print.h"
#include "cli/session/session.h"
#include "cli/store/store.h"

/* What of each run is kept. */
struct swept_record {
	const char *pattern;         /* of its recording, behind which the limit comes; NULL: none is made */
	struct store_options options;
};

/*
 * Runs the command once with each limit, and writes the report. The exit status: that of the first run which failed
 * otherwise than by its limit.
 */
int swept_run(struct limited *limited, const struct session_options *options, const struct print_options *print,
	      const struct swept_record *record, FILE *file, const char *report);

#endif
