/* SPDX-License-Identifier: MIT */
/* The file of run --trace. */
#ifndef CLI_CMD_TRACED_H
#define CLI_CMD_TRACED_H

#include <stdio.h>

#include "cli/session/session.h"

/* Opens it, before the command starts; NULL path: none. 0, or an exit status after a message. */
int traced_open(const char *path, FILE **file);
/* Writes the trace of a run that is over. 0, or -1 after a message. */
int traced_write(const char *path, FILE *file, const struct session *session);
/* NULL: there is none. 0, or -1 after a message. */
int traced_close(const char *path, FILE *file);

#endif
