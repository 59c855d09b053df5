/* SPDX-License-Identifier: MIT */
/* What sparkctl stat counts beside or instead of a command's tree, when, and in which lines it prints that. */
#ifndef CLI_CMD_STAT_SCOPE_H
#define CLI_CMD_STAT_SCOPE_H

#include "cli/cmd/launch.h"
#include "cli/session/count.h"
#include "cli/session/steer.h"

struct stat_scope {
	const char *pids, *tids, *cpus, *cgroup_root, *control, *delay, *separator;
	struct opt_list cgroups;
	unsigned long interval_ms;
	bool all, per_thread, json;
};

/* Rows for a struct with a member of this name: scope. */
#define STAT_SCOPE_ROWS(type) \
	{ "pid", 'p', OPT_STRING, offsetof(type, scope.pids), "PIDS", NULL, \
	  "count processes that run already, all their threads, until they end or Ctrl-C", NULL, false }, \
	{ "tid", 't', OPT_STRING, offsetof(type, scope.tids), "TIDS", NULL, "the same of single threads", NULL, false }, \
	{ "all-cpus", 'a', OPT_FLAG, offsetof(type, scope.all), NULL, NULL, "count all CPUs, whoever runs there", NULL, \
	  false }, \
	{ "cpu", 'C', OPT_STRING, offsetof(type, scope.cpus), "CPUS", NULL, \
	  "count these CPUs, such as 0-3,8; with --cgroup, the groups there", NULL, false }, \
	{ "cgroup", 0, OPT_LIST, offsetof(type, scope.cgroups), "NAMES", NULL, \
	  "count control groups, by their paths in the hierarchy", NULL, false }, \
	{ "cgroup-root", 0, OPT_STRING, offsetof(type, scope.cgroup_root), "DIR", NULL, \
	  "where the hierarchy is mounted", "what /proc/self/mountinfo says", false }, \
	{ "per-thread", 0, OPT_FLAG, offsetof(type, scope.per_thread), NULL, NULL, \
	  "with -p and -t: each thread by itself, too", NULL, false }

#define STAT_TIME_ROWS(type) \
	{ "interval-print", 'I', OPT_UINT, offsetof(type, scope.interval_ms), "MS", NULL, \
	  "print what was counted each time so many ms have passed", NULL, false }, \
	{ "delay", 'D', OPT_STRING, offsetof(type, scope.delay), "MS", NULL, \
	  "start counting after so many ms; -1: when --control says so", "0", false }, \
	{ "control", 0, OPT_STRING, offsetof(type, scope.control), "CHANNEL", NULL, \
	  "take commands, as perf does: fifo:CTL[,ACK] or fd:CTL[,ACK]", NULL, false }

#define STAT_LINES_ROWS(type) \
	{ "field-separator", 'x', OPT_STRING, offsetof(type, scope.separator), "SEP", NULL, \
	  "print the events as perf stat -x does, with this between fields", NULL, false }, \
	{ "json-output", 'j', OPT_FLAG, offsetof(type, scope.json), NULL, NULL, \
	  "print the events as perf stat -j does, one object a line", NULL, false }

/* Whether something else than a command's tree is to be counted. */
bool stat_scope_counts(const struct stat_scope *scope);
/* Any of its options was given. */
bool stat_scope_given(const struct stat_scope *scope);
/* Else after a message. */
bool stat_scope_interval_fits(const struct stat_scope *scope);
/* What goes together; has_command: there is one. 0, or STATUS_USAGE after a message. */
int stat_scope_check(const struct stat_scope *scope, const struct print_options *print, bool has_command);
/* The usual events of a count, where asked stands beside them. */
const char *stat_scope_standard(const struct launch_asked *asked);
/* As asked for. 0, or the exit status after a message. */
int stat_scope_steer(const struct stat_scope *scope, struct steer *steer);
int stat_scope_open(const struct stat_scope *scope, struct count_options *options, struct count **count);

#endif
