/* SPDX-License-Identifier: MIT */
/* What profile.c and profile_slot.c share: growing the profile.  Nothing else may use it. */
#ifndef CLI_ANALYZE_PROFILE_BUILD_H
#define CLI_ANALYZE_PROFILE_BUILD_H

#include "cli/analyze/profile.h"

/* Makes room for one more item; the array, or NULL (and profile.no_memory) when memory is short. */
void *profile_grow(struct profile *profile, void *array, u32 count, u32 *room, size_t size);

/* The number of a name, added if it is new; PROFILE_NONE when memory is short. */
u32 profile_intern(struct profile *profile, const char *bytes, size_t len);

/*
 * The row of a region below a row, added if it is new. Beyond PROFILE_ROWS_MAX that is the root's
 * "[other]", counted as lost. PROFILE_NONE when memory is short.
 */
u32 profile_child(struct profile *profile, u32 parent, u32 name);

/* The record of a client metric in a row, added if it is new; NULL when memory is short. */
struct profile_value *profile_value(struct profile *profile, u32 row, u32 name);

/* Appends to profile.diags or profile.opens. */
void profile_add_diag(struct profile *profile, const struct profile_diag *diag);
void profile_add_open(struct profile *profile, const struct profile_diag *open);

/* Appends to profile.threads. */
void profile_add_thread(struct profile *profile, const struct profile_thread *thread);

/* Appends to profile.origins, or counts it as lost. */
void profile_add_origin(struct profile *profile, const struct profile_origin *origin);

/* The sum of the windows of one name of a process, added if it is new; NULL when memory is short. */
struct profile_window *profile_window(struct profile *profile, u32 process, u32 pid, u32 name);

/* profile_merge() of the rows with keep[row], which becomes true of those above them, too. */
int profile_merge_rows(struct profile *to, const struct profile *from, bool *keep);

/* Adds to a sum of a source's cell: one that is absent makes the sum absent. */
static inline void profile_add_cell(u64 *sum, u64 value)
{
	if (wire_absent(*sum) || wire_absent(value))
		*sum = wire_absent(*sum) ? *sum : value;
	else
		*sum += value;
}

#endif
