/* SPDX-License-Identifier: MIT */
/*
 * Where control groups are: those that events can be counted for (v1's perf_event, if it is mounted, else v2), and
 * our own group of version 2.
 */
#ifndef CLI_SESSION_CGROUP_H
#define CLI_SESSION_CGROUP_H

#include "cli/caps/caps.h"

/* 0, or -ENOENT with a reason. */
int cgroup_find_root(const struct caps_context *caps, char *path, size_t size, char *why, size_t room);
/* The same from the text of /proc/self/mountinfo, which it changes; version: 1 or 2. False: none. */
bool cgroup_parse_root(char *mountinfo, int version, char *path, size_t size);

/* The directory of our own group. 0, or -ENOENT with a reason. */
int cgroup_find_own(const struct caps_context *caps, char *path, size_t size, char *why, size_t room);
/* The name of a group of version 2 from the text of /proc/PID/cgroup. False: there is none. */
bool cgroup_parse_membership(const char *text, char *group, size_t size);
/* Where that group is, from the text of /proc/self/mountinfo, which it changes. False: nowhere. */
bool cgroup_parse_own(char *mountinfo, const char *group, char *path, size_t size);
/* One of the words between commas or blanks. */
bool cgroup_has_word(const char *list, const char *word);

#endif
