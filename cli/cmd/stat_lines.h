/* SPDX-License-Identifier: MIT */
/* Intervals of sparkctl stat, and its lines in the formats of perf. */
#ifndef CLI_CMD_STAT_LINES_H
#define CLI_CMD_STAT_LINES_H

#include "cli/analyze/interval.h"
#include "cli/cmd/stat_scope.h"
#include "cli/output/counts.h"

struct stat_lines {
	FILE *file;
	const struct print_options *print;
	const struct event_list *events;
	size_t nstandard;            /* of them, in front; all, if no others were asked for */
	struct counts_style style;
	struct interval interval;
	struct profile profile;      /* an empty one */
	bool failed;
	bool closed;                 /* nobody reads them any more */
};

/* asked: whose events they are. */
void stat_lines_init(struct stat_lines *lines, FILE *file, const struct stat_scope *scope,
		     const struct print_options *print, const struct event_list *events,
		     const struct launch_asked *asked);
/* An edge of intervals: struct steer. */
bool stat_lines_edge(void *lines, u64 elapsed_ns, const struct session_facts *facts);
/* The whole, in one of perf's formats. 0, or -1 after a message. */
int stat_lines_whole(struct stat_lines *lines, const struct session_facts *facts);
void stat_lines_free(struct stat_lines *lines);

#endif
