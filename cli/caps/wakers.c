/* SPDX-License-Identifier: MIT */
/*
 * The probe "wakers": the tracepoint sched_waking of a CPU, whose fields tell who is woken and by whom. Their places are
 * in a file of tracefs, and its numbers of threads are those of the first PID namespace.
 */
#define _GNU_SOURCE
#include "cli/caps/try.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base.h"
#include "common/perf.h"

/* include/linux/proc_ns.h */
#define FIRST_NAMESPACE "pid:[4026531836]"

/* Kernels without such namespaces have no such file. */
static bool wakers_numbers_meant(const struct caps_context *context)
{
	char path[PATH_MAX + 32], space[64] = "";

	snprintf(path, sizeof(path), "%s/proc/self/ns/pid", context->root);
	return readlink(path, space, sizeof(space) - 1) < 0 || !strcmp(space, FIRST_NAMESPACE);
}

bool wakers_format(const struct caps_context *context, char *text, size_t size, struct outcome *why)
{
	if (wakers_numbers_meant(context))
		return tracing_format(context, "sched/sched_waking", text, size, why);
	*why = outcome_no("", "in a PID namespace of one's own the numbers in sched:sched_waking are others");
	return false;
}

struct outcome wakers_probe(struct caps_context *context)
{
	struct perf_event_attr attr;
	struct outcome why;
	char text[4096];
	const char *id;
	int fd;

	if (!wakers_format(context, text, sizeof(text), &why))
		return why;
	id = strstr(text, "ID: ");
	if (!id)
		return outcome_no("", "the tracepoint sched:sched_waking has no number");
	perf_attr_init(&attr, PERF_TYPE_TRACEPOINT, strtoul(id + 4, NULL, 10));
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
	fd = perf_open(&attr, -1, MAX(sched_getcpu(), 0), -1, 0);
	if (fd < 0)
		return advice_perf_scope(context, -fd, ADVICE_TRACE);
	try_close(fd);
	return outcome_yes("sched:sched_waking of a CPU opens, with its fields");
}
