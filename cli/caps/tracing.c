/* SPDX-License-Identifier: MIT */
/*
 * The probe "event-tracing": the number of a tracepoint is read from tracefs, or from what root saved
 * of it, and the tracepoint counts what this thread does. Where tracefs is, the list of mounts tells,
 * and nothing else.
 */
#include "cli/caps/try.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/caps/ids.h"

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

/* By what root saved; *advice says why tracefs does not tell. */
static long tracing_id_saved(const struct caps_context *context, const char *mount, const char *name,
	struct outcome *advice)
{
	char system[64], event[160];
	struct ids ids;
	long id;

	if (ids_load(context, &ids, advice))
		return -EACCES;
	snprintf(system, sizeof(system), "%.*s", (int)strcspn(name, "/"), name);
	id = ids_find(&ids, system, strchr(name, '/') + 1);
	ids_fini(&ids);
	snprintf(event, sizeof(event), "%s:%.80s", system, strchr(name, '/') + 1);
	if (!id)
		ids_lack(advice, mount, event);
	return id ? id : -ENOENT;
}

long tracing_id(const struct caps_context *context, const char *name, struct outcome *advice)
{
	char mount[PATH_MAX / 2], path[PATH_MAX], text[32], *end;
	long id, got = tracing_find(context, mount, sizeof(mount));

	if (got) {
		*advice = advice_tracefs(context, (int)-got, NULL, name);
		return tracing_id_saved(context, NULL, name, advice);
	}
	snprintf(path, sizeof(path), "%s/events/%s/id", mount, name);
	got = facts_read(context, path, text, sizeof(text));
	if (got < 0)
		*advice = advice_tracefs(context, (int)-got, mount, name);
	if (got == -EACCES || got == -EPERM)
		return tracing_id_saved(context, mount, name, advice);
	if (got < 0)
		return got;
	id = strtol(text, &end, 10);
	if (end != text && id > 0)
		return id;
	*advice = outcome_no("", "%.200s holds no number", path);
	return -EINVAL;
}

bool tracing_format(const struct caps_context *context, const char *name, char *text, size_t size, struct outcome *why)
{
	char mount[PATH_MAX / 2], path[PATH_MAX];
	long got = tracing_find(context, mount, sizeof(mount));

	if (got) {
		*why = advice_tracefs(context, (int)-got, NULL, name);
		return false;
	}
	snprintf(path, sizeof(path), "%s/events/%s/format", mount, name);
	got = facts_read(context, path, text, size);
	if (got > 0)
		return true;
	*why = got ? advice_tracefs(context, (int)-got, mount, name) : outcome_no("", "%.200s is empty", path);
	/* Saved numbers of tracepoints do not tell of fields. */
	if (got == -EACCES || got == -EPERM)
		advice_remount(mount, why->remedy, sizeof(why->remedy));
	return false;
}

static void tracing_call(void)
{
	syscall(SYS_getppid);
}

/* Where the numbers come from: tracefs, or what was saved of it. */
static void tracing_source(const struct caps_context *context, char *source, size_t size)
{
	char path[PATH_MAX + 64], text[32];

	if (tracing_find(context, source, size) == 0) {
		snprintf(path, sizeof(path), "%s/events/sched/sched_switch/id", source);
		if (facts_read(context, path, text, sizeof(text)) > 0)
			return;
	}
	snprintf(source, size, "%s", ids_path(context));
}

/*
 * System calls happen by the program: the kernel lets a user count them without its own side, to which
 * other tracepoints belong. why is what keeps those.
 */
static struct outcome tracing_try_calls(const struct caps_context *context, const char *source,
	struct outcome why)
{
	struct perf_event_attr attr;
	struct outcome none;
	long id = tracing_id(context, "syscalls/sys_enter_getppid", &none);

	if (id < 0)
		return why;
	perf_attr_init(&attr, PERF_TYPE_TRACEPOINT, (uint64_t)id);
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	if (try_count(&attr, tracing_call) <= 0)
		return why;
	return outcome_partly(why.remedy, "system calls alone (syscalls:*), by %.60s: %.150s", source,
		why.because);
}

struct outcome tracing_probe(struct caps_context *context)
{
	struct perf_event_attr attr;
	struct outcome advice;
	char source[PATH_MAX];
	long id = tracing_id(context, "sched/sched_switch", &advice);
	int result;

	if (id < 0)
		return advice;
	tracing_source(context, source, sizeof(source));
	/* The user side alone would open, and count nothing: tracepoints are the kernel's. */
	perf_attr_init(&attr, PERF_TYPE_TRACEPOINT, (uint64_t)id);
	result = try_count(&attr, try_sleep);
	if (result < 0)
		return tracing_try_calls(context, source, advice_perf(context, -result, true));
	if (!result)
		return outcome_no("", "sched:sched_switch opens but counts nothing");
	return outcome_yes("tracepoints by %.200s; sched:sched_switch counts", source);
}
