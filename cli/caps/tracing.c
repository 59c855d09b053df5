/* SPDX-License-Identifier: MIT */
/*
 * The probe "event-tracing": the number of a tracepoint is read from tracefs, and the tracepoint
 * counts what this thread does. Where tracefs is, the list of mounts tells, and nothing else.
 */
#include "cli/caps/try.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base.h"
#include "common/perf.h"

int tracing_find(const struct caps_context *context, char *path, size_t size)
{
	char text[8];
	long err = facts_mount(context, "tracefs", path, size);

	if (err != -ENOENT)
		return (int)err;
	/* Older systems have it below debugfs alone, where the kernel mounts it on the first look. */
	err = facts_mount(context, "debugfs", path, size);
	if (err)
		return (int)err;
	if (strlen(path) + sizeof("/tracing") > size)
		return -ENAMETOOLONG;
	strcat(path, "/tracing");
	return facts_exists(context, path) || facts_read(context, path, text, 8) == -EACCES ?
		0 : -ENOENT;
}

long tracing_id(const struct caps_context *context, const char *name, struct outcome *advice)
{
	char mount[PATH_MAX / 2], path[PATH_MAX], text[32], *end;
	long id, got = tracing_find(context, mount, sizeof(mount));

	if (got) {
		*advice = advice_tracefs(context, (int)-got, NULL, name);
		return got;
	}
	snprintf(path, sizeof(path), "%s/events/%s/id", mount, name);
	got = facts_read(context, path, text, sizeof(text));
	if (got < 0) {
		*advice = advice_tracefs(context, (int)-got, mount, name);
		return got;
	}
	id = strtol(text, &end, 10);
	if (end != text && id > 0)
		return id;
	*advice = outcome_no("", "%.200s holds no number", path);
	return -EINVAL;
}

struct outcome tracing_probe(struct caps_context *context)
{
	struct perf_event_attr attr;
	struct outcome advice;
	char mount[PATH_MAX];
	long id = tracing_id(context, "sched/sched_switch", &advice);
	int result;

	if (id < 0)
		return advice;
	/* The user side alone would open, and count nothing: tracepoints are the kernel's. */
	perf_attr_init(&attr, PERF_TYPE_TRACEPOINT, (uint64_t)id);
	tracing_find(context, mount, sizeof(mount));
	result = try_count(&attr, try_sleep);
	if (result < 0)
		return advice_perf(context, -result, true);
	if (!result)
		return outcome_no("", "sched:sched_switch opens but counts nothing");
	return outcome_yes("tracepoints by %.200s; sched:sched_switch counts", mount);
}
