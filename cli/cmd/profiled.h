/* SPDX-License-Identifier: MIT */
/* Recordings with samples, for the commands that look at these. */
#ifndef CLI_CMD_PROFILED_H
#define CLI_CMD_PROFILED_H

#include "cli/store/store.h"

/*
 * Whether a recording has samples, and some in the function that *word names; NULL: any. It may be what a table
 * prints, with an ellipsis for any text, or lack arguments, and then what stands before its last "::"; *word becomes the
 * whole name, which the recording owns. 0, or -1 after a message.
 */
int profiled_check(const struct recording *recording, const char *path, const char **word);

#endif
