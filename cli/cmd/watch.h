/* SPDX-License-Identifier: MIT */
/* What run does while the command runs: a recording that is written anew, and the live line. */
#ifndef CLI_CMD_WATCH_H
#define CLI_CMD_WATCH_H

#include "cli/cmd/live.h"
#include "cli/session/session.h"
#include "cli/store/store.h"

struct watch {
	struct session_watcher watcher;
	char *name;                  /* of the recording; NULL: none is made */
	struct store_file file;
	struct store_options options;
	u64 record_ns, pause_ns;     /* when the recording is written next, and how long the pause was */
	struct live live;
};

/* Checks that the recording can be made, before the command starts. 0, or an exit status after a message. */
int watch_record(struct watch *watch, const char *pattern, const struct store_options *options);
/* For the session; NULL: there is nothing to watch for. */
const struct session_watcher *watch_watcher(struct watch *watch);
/* Writes the recording, if there is one, while the run goes on. */
void watch_now_record(struct watch *watch, const struct profile *profile, const struct session_facts *facts);
/* The command has ended: writes the recording for good. 0, or -1 after a message. */
int watch_end(struct watch *watch, const struct profile *profile, const struct session_facts *facts);
void watch_close(struct watch *watch);

#endif
