/* SPDX-License-Identifier: MIT */
/* Where control groups are that events can be counted for: v1's perf_event, if it is mounted, else v2. */
#ifndef CLI_SESSION_CGROUP_H
#define CLI_SESSION_CGROUP_H

#include "cli/caps/caps.h"

/* 0, or -ENOENT with a reason. */
int cgroup_find_root(const struct caps_context *caps, char *path, size_t size, char *why, size_t room);
/* The same from the text of /proc/self/mountinfo, which it changes; version: 1 or 2. False: none. */
bool cgroup_parse_root(char *mountinfo, int version, char *path, size_t size);

#endif
