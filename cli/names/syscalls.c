/* SPDX-License-Identifier: MIT */
/*
 * Calls of the system by name: the tracepoint raw_syscalls:sys_enter for all of them together, and
 * syscalls:sys_enter_NAME for each; the events are called syscalls and syscalls.NAME.
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
