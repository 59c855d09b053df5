/* SPDX-License-Identifier: MIT */
/* The line on a terminal that shows how a run goes on. */
#ifndef CLI_CMD_LIVE_H
#define CLI_CMD_LIVE_H

#include "cli/analyze/hottest.h"
#include "cli/analyze/report.h"

struct live {
	bool on;
	bool drawn;
	u64 last_ns;                 /* of the run, at the last look */
	struct hottest hottest;
};

/* Shows nothing if standard error is no terminal, or one that cannot clear a line. */
void live_open(struct live *live);
/* Draws the line anew. */
void live_look(struct live *live, const struct profile *profile, const struct session_facts *facts);
/* Whether it can be seen at all, and if so its columns; else 0. */
size_t live_width(const struct live *live);
/* Draws this in its place. */
void live_draw(struct live *live, const char *line);
/* Clears it, for what comes next. */
void live_close(struct live *live);

#endif
