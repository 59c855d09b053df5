/* SPDX-License-Identifier: MIT */
/* Definitions of metrics: of the option --define, of groups, of recordings. */
#ifndef CLI_CMD_DEFINE_H
#define CLI_CMD_DEFINE_H

#include "cli/analyze/report.h"
#include "cli/names/names.h"
#include "cli/opt.h"

/*
 * Parses a definition and appends it. where begins the message about a mistake. A name may not be
 * that of another metric or total, or of one of the events (NULL: none were asked for); builtin:
 * those of the metrics that are built in may be defined anew. 0, or -1 after a message.
 */
int define_one(struct definitions *definitions, const char *where, const char *text, bool builtin,
	       const struct event_list *events);

/* Appends those of the option; anew: others that have their names give way. 0, or -1 after a message. */
int define_all(struct definitions *definitions, const struct opt_list *texts, bool anew,
	       const struct event_list *events);

/*
 * Those of a recording, a line each; aside: a table shows them only if --metrics names them. 0, or -1
 * after a message.
 */
int define_recorded(struct definitions *definitions, const char *lines, bool aside);
/* The lines for a recording, to be freed; NULL without definitions or memory. */
char *define_lines(const struct definitions *definitions);

/* The sources that must be read in regions for the definitions: a mask. */
u32 define_sources(const struct definitions *definitions);

#endif
