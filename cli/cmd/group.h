/* SPDX-License-Identifier: MIT */
/*
 * Groups of metrics: data files with a sentence of meaning, the events to count and formulas of them,
 * in several ways where CPUs differ. sparkctl-run(1) describes the format.
 */
#ifndef CLI_CMD_GROUP_H
#define CLI_CMD_GROUP_H

#include "cli/analyze/derived.h"
#include "cli/names/names.h"
#include "cli/opt.h"

enum { GROUP_FILE_MAX = 64 * 1024, GROUP_WAYS_MAX = 8, GROUP_EVENTS_MAX = 32, GROUP_METRICS_MAX = 32 };

struct group_metric {
	const char *text;            /* a formula */
	unsigned int line;
};

struct group_way {
	const char *events[GROUP_EVENTS_MAX]; /* each one, or a list in braces */
	size_t nevents;
	struct group_metric metrics[GROUP_METRICS_MAX];
	size_t nmetrics;
};

struct group {
	char *name;                  /* that of the file without .group */
	char *path;
	char *text;                  /* of the file, taken apart: the rest points into it */
	const char *meaning;
	struct group_way ways[GROUP_WAYS_MAX];
	size_t nways;
};

/* ---- group.c */

/* Takes a file's text apart. 0, or -1 after a message with file and line; free it in any case. */
int group_parse(struct group *group, const char *path, const char *text, size_t len);
void group_free(struct group *group);

/* ---- group_find.c */

/* By its name, or by the name of a file, which has a slash or ends in .group. 0, or -1 after a message. */
int group_load(struct group *group, const char *word);
/* The names of all that are installed, in order, into list. 0, or -1 after a message. */
int group_names(struct opt_list *list);

/* ---- group_use.c */

/*
 * Which way to take: the first whose events all open here, else the first whose events are all known,
 * else the first. *outcome: whether it is available, and why not; events: those of that way.
 */
size_t group_choose(const struct group *group, struct names_context *names, struct outcome *outcome);
/*
 * Appends the events and metrics of the groups of an option. An event that nobody knows here becomes
 * one that says so. 0, or -1 after a message.
 */
int group_use_all(const struct opt_list *words, struct names_context *names, struct event_list *events,
		  struct definitions *definitions);

#endif
