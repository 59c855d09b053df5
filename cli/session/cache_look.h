/* SPDX-License-Identifier: MIT */
/* What of a file is in the page cache, as far as the kernel tells this user; and a walk over files. */
#ifndef CLI_SESSION_CACHE_LOOK_H
#define CLI_SESSION_CACHE_LOOK_H

#include <sys/stat.h>

#include "cli/analyze/cache.h"

enum { RESIDENCY_WHY = 192 };

/* Whether cachestat(2) answers at all. */
struct residency {
	bool works;
	char why[80];                /* not */
};

void residency_try(struct residency *residency);
/* Adds a file to look. */
void residency_add(const struct residency *residency, int fd, const struct stat *stat, struct cache_look *look);
/* Adds one that cannot be opened. */
void residency_add_unopened(struct cache_look *look, int err);
/* Pages of this file cannot leave memory. Says why. */
bool residency_fixed(int fd, char *why, size_t size);

/*
 * Calls visit for each regular file that name is or that is below it, on its file system, and no symbolic link but
 * name itself. visit returns whether to go on; fd is -errno where the file cannot be opened. Returns 0 or -errno of
 * name itself; *more is set where there are more files than are visited.
 */
int files_walk(const char *name, bool (*visit)(void *context, int fd, const struct stat *stat), void *context, bool *more);

#endif
