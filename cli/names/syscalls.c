/* SPDX-License-Identifier: MIT */
/*
 * Calls of the system by name: the tracepoint raw_syscalls:sys_enter for all of them together, and
 * syscalls:sys_enter_NAME for each; the events are called syscalls and syscalls.NAME. A call fails if it
 * returns a number below 0: syscalls:sys_exit_NAME with a filter counts that.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/names/names.h"

/* Appends one tracepoint under a name of ours. 0, or -1 after a message. */
static int syscalls_add(struct names_context *context, struct event_list *list, const char *tracepoint, const char *name)
{
	size_t from = list->n;
	char *copy;

	if (names_parse(context, tracepoint, list))
		return -1;
	for (; from < list->n; from++) {
		copy = strdup(name);
		if (!copy)
			return error("out of memory");
		free(list->event[from].name);
		list->event[from].name = copy;
	}
	return 0;
}

int names_syscalls(struct names_context *context, const char *names, struct event_list *list)
{
	char tracepoint[96], name[96];
	size_t len;

	if (syscalls_add(context, list, "raw_syscalls:sys_enter", "syscalls"))
		return -1;
	for (names += strspn(names, ", "); *names; names += len, names += strspn(names, ", ")) {
		len = strcspn(names, ", ");
		if (len > 64 || strspn(names, "abcdefghijklmnopqrstuvwxyz0123456789_") < len)
			return error("'%.*s' is no name of a system call", (int)len, names);
		snprintf(tracepoint, sizeof(tracepoint), "syscalls:sys_enter_%.*s", (int)len, names);
		snprintf(name, sizeof(name), "syscalls.%.*s", (int)len, names);
		if (syscalls_add(context, list, tracepoint, name))
			return -1;
	}
	return 0;
}

/* Calls that the kernel's tracepoints name by the function behind them, and all others by what is called. */
static const char *syscalls_name(const char *name)
{
	static const struct { const char *kernel, *call; } rows[] = {
		{ "newfstat", "fstat" }, { "newlstat", "lstat" }, { "newstat", "stat" }, { "newuname", "uname" },
		{ "sendfile64", "sendfile" }, { "umount", "umount2" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].kernel, name))
			return rows[i].call;
	return name;
}

/* Appends the tracepoints that begin so, under names of ours. 0, or -1 after a message. */
static int syscalls_add_each(struct names_context *context, struct event_list *list, const char *begin, const char *end,
			     const char *filter)
{
	size_t from = list->n;
	char pattern[64], *name;

	snprintf(pattern, sizeof(pattern), "%s*", begin);
	if (names_parse(context, pattern, list))
		return -1;
	for (; from < list->n; from++) {
		struct event *event = &list->event[from];

		if (asprintf(&name, "syscalls.%s%s", syscalls_name(event->name + strlen(begin)), end) < 0)
			return error("out of memory");
		free(event->name);
		event->name = name;
		event->filter = filter;
	}
	return 0;
}

int names_syscalls_all(struct names_context *context, struct event_list *list)
{
	if (syscalls_add(context, list, "raw_syscalls:sys_enter", "syscalls"))
		return -1;
	return syscalls_add_each(context, list, "syscalls:sys_enter_", "", NULL) ||
	       syscalls_add_each(context, list, "syscalls:sys_exit_", ".errors", "ret < 0") ? -1 : 0;
}
