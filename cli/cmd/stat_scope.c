/* SPDX-License-Identifier: MIT */
/* What sparkctl stat counts, and when; see stat_scope.h. */
#include "cli/cmd/stat_scope.h"

#include <errno.h>
#include <string.h>

#include "cli/cmd/portioned.h"
#include "cli/log.h"

#define STANDARD_SOFTWARE "task-clock,minor-faults,major-faults,context-switches,cpu-migrations"
#define STANDARD_HARDWARE "cycles,instructions,branches,branch-misses"
#define SCOPE_MS_MOST (INT64_MAX / NSEC_PER_MSEC) /* as for times in seconds: opt_parse_seconds() */

bool stat_scope_counts(const struct stat_scope *scope)
{
	return scope->pids || scope->tids || scope->cpus || scope->all || scope->cgroups.n;
}

bool stat_scope_given(const struct stat_scope *scope)
{
	return stat_scope_counts(scope) || scope->interval_ms || scope->delay || scope->control || scope->separator ||
	       scope->json || scope->per_thread || scope->cgroup_root;
}

static int scope_misused(const char *what)
{
	return command_misused(&command_stat, what, NULL);
}

bool stat_scope_interval_fits(const struct stat_scope *scope)
{
	if (scope->interval_ms > SCOPE_MS_MOST)
		error("option --interval-print: '%lu' is too large", scope->interval_ms);
	return scope->interval_ms <= SCOPE_MS_MOST;
}

int stat_scope_check(const struct stat_scope *s, const struct print_options *print, bool has_command)
{
	bool tasks = s->pids || s->tids, lines = s->separator || s->json;

	if (!has_command && !stat_scope_counts(s))
		return scope_misused("needs a command to run, or what to count: -p, -t, -a, -C or --cgroup");
	if ((s->pids != NULL) + (s->tids != NULL) + (s->all || (s->cpus && !s->cgroups.n)) + (s->cgroups.n != 0) > 1)
		return scope_misused("counts one of -p, -t, -a or -C, and --cgroup at a time");
	if (s->per_thread && !tasks)
		return scope_misused("--per-thread is of -p and -t");
	if (s->cgroup_root && !s->cgroups.n)
		return scope_misused("--cgroup-root is of --cgroup");
	if (s->separator && s->json)
		return scope_misused("prints in the way of -x or of -j, not both");
	if (s->separator && !*s->separator)
		return scope_misused("-x needs a separator");
	if (!stat_scope_interval_fits(s))
		return STATUS_USAGE;
	if (s->interval_ms && !lines && strcmp(print->format, "table") != 0)
		return scope_misused("-I prints lines: as a table, by -x or by -j, and in no other format");
	return 0;
}

const char *stat_scope_standard(const struct launch_asked *asked)
{
	bool more = asked->events.n || asked->groups.n || asked->syscalls.n;

	return more ? STANDARD_SOFTWARE : STANDARD_SOFTWARE "," STANDARD_HARDWARE;
}

int stat_scope_steer(const struct stat_scope *scope, struct steer *steer)
{
	int status = portioned_steer(&command_stat, scope->delay, scope->control, steer);

	steer->interval_ns = scope->interval_ms * NSEC_PER_MSEC;
	return status;
}

int stat_scope_open(const struct stat_scope *scope, struct count_options *options, struct count **count)
{
	int err;

	options->kind = scope->pids ? COUNT_PROCESSES : scope->tids ? COUNT_THREADS :
			scope->cgroups.n ? COUNT_CGROUPS : COUNT_CPUS;
	options->ids = scope->pids ? scope->pids : scope->tids;
	options->cpus = scope->cpus;
	options->cgroups = &scope->cgroups;
	options->cgroup_root = scope->cgroup_root;
	options->apart = scope->per_thread;
	err = count_open(count, options);
	return err == -EINVAL ? STATUS_USAGE : err ? STATUS_FAILURE : 0;
}
