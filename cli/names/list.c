/* SPDX-License-Identifier: MIT */
/* Lists of events, and what an event is before anything is known of it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/names/internal.h"

struct event *event_add(struct event_list *list, u32 type, u64 config)
{
	size_t room = list->room ? 2 * list->room : 8;
	struct event *grown, *event;

	if (list->n >= NAMES_EVENTS_MOST) {
		error("more than %d events", NAMES_EVENTS_MOST);
		return NULL;
	}
	if (list->n == list->room) {
		grown = realloc(list->event, room * sizeof(*grown));
		if (!grown) {
			error("out of memory");
			return NULL;
		}
		list->event = grown;
		list->room = room;
	}
	event = &list->event[list->n++];
	*event = (struct event){ .group = -1, .scale = 1, .item = list->items };
	event->attr.size = sizeof(event->attr);
	event->attr.type = type;
	event->attr.config = config;
	event->attr.exclude_guest = 1;
	event->hardware = type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW;
	return event;
}

int event_set(char **to, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		return error("out of memory");
	free(*to);
	*to = text;
	return 0;
}

int names_add_absent(struct event_list *list, const char *name, const char *why)
{
	struct event *event = event_add(list, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);

	list->items++;
	return event && !event_set(&event->name, "%s", name) && !event_set(&event->obstacle, "%s", why) ? 0 : -1;
}

static void event_fini(struct event *event)
{
	free(event->name);
	free(event->pmu);
	free(event->cpus);
	free(event->unit);
	free(event->path);
	free(event->obstacle);
}

void event_list_cut(struct event_list *list, size_t from)
{
	while (list->n > from)
		event_fini(&list->event[--list->n]);
}

void event_list_free(struct event_list *list)
{
	event_list_cut(list, 0);
	free(list->event);
	*list = (struct event_list){ .event = NULL };
}
