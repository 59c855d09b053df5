/* SPDX-License-Identifier: MIT */
/* The file of run --trace, and the folder of run --samply-markers. */
#ifndef CLI_CMD_TRACED_H
#define CLI_CMD_TRACED_H

#include <stdio.h>

#include "cli/output/samply_markers.h"
#include "cli/session/session.h"

/* Opens it, before the command starts; NULL path: none. 0, or an exit status after a message. */
int traced_open(const char *path, FILE **file);
/* Writes the trace of a run that is over. 0, or -1 after a message. */
int traced_write(const char *path, FILE *file, const struct session *session);
/* NULL: there is none. 0, or -1 after a message. */
int traced_close(const char *path, FILE *file);

/* The folder of run --samply-markers, which is made; NULL: none. As the others. */
int marker_files_open(const char *folder, struct samply_moment *before);
int marker_files_write(const char *folder, const struct samply_moment *before, const struct session *session);

#endif
