/* SPDX-License-Identifier: MIT */
/* The option --markers: which other tools' markers are to be regions. */
#ifndef CLI_CMD_MARKED_H
#define CLI_CMD_MARKED_H

#include "cli/opt.h"
#include "common/base.h"

struct marked {
	struct opt_list names;       /* as they were given */
	u32 markers;                 /* mask of session_markers() */
};

/* The values, each row's name among them. */
extern const char *const marked_words[];

/* A row for a struct with a member marked. */
#define MARKED_ROW(type) \
	{ "markers", 0, OPT_LIST, offsetof(type, marked.names), "NAMES", marked_words, \
	  "make regions of these other tools' markers; auto: of those that the command's files use", "none", false }

/* Finds out what is meant for a command. 0, or an exit status after a message. */
int marked_prepare(struct marked *marked, const char *command);
void marked_free(struct marked *marked);

#endif
