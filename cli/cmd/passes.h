/* SPDX-License-Identifier: MIT */
/* Counting passes: the command is run again for the events that there was no counter for. */
#ifndef CLI_CMD_PASSES_H
#define CLI_CMD_PASSES_H

#include "cli/cmd/input.h"
#include "cli/session/session.h"

#define PASSES_MOST 16

struct passes {
	struct session *list[PASSES_MOST]; /* those after the first */
	struct event_list events[PASSES_MOST]; /* what each counts, as long as it is there */
	struct pass_notes notes[PASSES_MOST];
	size_t n;
	struct input input;          /* as the first run found it */
};

/* Runs them, after the first has ended, and adds what they counted to its profile and totals. 0, or -1 after a message. */
int passes_run(struct passes *passes, struct session *first, const struct session_options *options);
/* The signal by which somebody wanted an end of the last of them; 0: nobody did. */
int passes_interrupted(const struct passes *passes);
/* After the first one's report, and before that is freed. */
void passes_free(struct passes *passes);

#endif
