/* SPDX-License-Identifier: MIT */
/* What the files of history*.c share; nothing else may use it. */
#ifndef CLI_ANALYZE_HISTORY_BUILD_H
#define CLI_ANALYZE_HISTORY_BUILD_H

#include "cli/analyze/history.h"

/* A bit for each field in which two runs differ. */
u32 history_fields_between(const struct history *history, u32 a, u32 b);

/* history_changes.c: fills the changes of all. 0, or -1 when memory is short. */
int history_changes_find(struct histories *all);

#endif
