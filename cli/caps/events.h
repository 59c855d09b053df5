/* SPDX-License-Identifier: MIT */
/*
 * The events that this machine knows, by group: generic ones, those of each PMU in sysfs, those of the
 * CPU's manual, breakpoints and tracepoints. Whether a group is available is tried once, with one of
 * its events.
 */
#ifndef SPARK_CLI_CAPS_EVENTS_H
#define SPARK_CLI_CAPS_EVENTS_H

#include "cli/names/names.h"

struct event_name {
	char *name;		/* as it is asked for: "cycles", "msr/tsc/", "sched:sched_switch" */
	char *detail;		/* another name, the terms it stands for, or its meaning; may be "" */
};

struct event_group {
	char *name;		/* "hardware", or that of a PMU */
	char *form;		/* how an event is written that has no name here; may be "" */
	struct outcome outcome;
	struct event_name *list;
	size_t n;
	size_t known;		/* how many there are, listed or not */
	bool listed;		/* false: what is in list is not all, or can't be told */
	const char *ask;	/* a pattern that lists what is not; NULL: none does */
};

struct event_catalog {
	struct event_group *groups;
	size_t n;
};

/*
 * Collects them all and tries each group; tracepoints are only counted unless they are asked for, and
 * the vendor's names are not looked up. Returns 0 or -ENOMEM; in both cases the caller releases the
 * catalog.
 */
int events_load(struct caps_context *context, bool tracepoints, bool vendor,
	struct event_catalog *catalog);
void events_fini(struct event_catalog *catalog);

/* Below: for events.c. */

/* An event of PERF_TYPE_HW_CACHE counts here. */
struct outcome events_try_cache(const struct caps_context *context);
/* A watched variable of our own is seen to change. */
struct outcome events_try_breakpoint(const struct caps_context *context);
/* An event of a PMU, one of its names or terms of it, on this thread or a CPU. */
struct outcome events_try_pmu(struct names_context *names, const struct names_pmu *pmu, const char *event);

#endif
