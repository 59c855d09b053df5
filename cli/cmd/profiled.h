/* SPDX-License-Identifier: MIT */
/* Recordings with samples, for the commands that look at these. */
#ifndef CLI_CMD_PROFILED_H
#define CLI_CMD_PROFILED_H

#include "cli/store/store.h"

/* Whether a recording has samples, and some in a function of that name (NULL: any). 0, or -1 after a message. */
int profiled_check(const struct recording *recording, const char *path, const char *function);

#endif
