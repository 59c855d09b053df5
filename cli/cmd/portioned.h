/* SPDX-License-Identifier: MIT */
/* Options of which portion of a run is measured: from when on, while a channel says so, inside which regions. */
#ifndef CLI_CMD_PORTIONED_H
#define CLI_CMD_PORTIONED_H

#include "cli/analyze/inside.h"
#include "cli/cmd/cmd.h"
#include "cli/session/session.h"
#include "cli/session/steer.h"

struct portioned {
	const char *delay, *control;
	struct opt_list roi;
	struct steer steer;
	struct inside inside;
	bool opened;                 /* steer is valid */
};

/* Rows for a struct with a member of this name: portioned. */
#define PORTIONED_TIME_ROWS(type) \
	{ "delay", 'D', OPT_STRING, offsetof(type, portioned.delay), "MS", NULL, \
	  "start measuring after so many ms; -1: when --control says so", "0", false }, \
	{ "control", 0, OPT_STRING, offsetof(type, portioned.control), "CHANNEL", NULL, \
	  "take commands that switch measuring on and off and ask for reports: fifo:CTL[,ACK] or fd:CTL[,ACK]", NULL, false }

#define PORTIONED_ROWS(type) \
	PORTIONED_TIME_ROWS(type), \
	{ "roi", 0, OPT_EACH, offsetof(type, portioned.roi), "REGION", NULL, \
	  "measure only what happens inside this region, a name or a path such as a;b", NULL, false }

/* -D and --control of a command. 0, or the exit status after a message; steer_close() in any case. */
int portioned_steer(const struct command *command, const char *delay, const char *control, struct steer *steer);
/* The same, and --roi. */
int portioned_parse(struct portioned *portioned, const struct command *command);
/* For the session, which it must outlive. */
void portioned_session(struct portioned *portioned, struct session_options *options);
bool portioned_in_time(const struct portioned *portioned);
void portioned_free(struct portioned *portioned);

#endif
