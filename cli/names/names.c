/* SPDX-License-Identifier: MIT */
/*
 * The grammar of a list of events, as perf-list(1) has it: events separated by commas, groups of
 * them in braces, modifiers behind both. What an event's own text means is told by its form, then
 * by who knows the name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/names/internal.h"

/* The place of a list that is being read. */
struct names_cursor {
	struct names_context *context;
	struct event_list *list;
	const char *at;
};

static bool names_begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool names_is_probe(const char *text)
{
	return names_begins(text, "uprobe:") || names_begins(text, "uretprobe:");
}

/* The length of what stands between slashes, both included; quotes protect any character. */
static size_t names_slashed(const char *text)
{
	bool quoted = false;
	size_t len;

	for (len = 1; text[len] && (quoted || text[len] != '/'); len++)
		quoted ^= text[len] == '\'';
	return len + (text[len] == '/');
}

/* The length of one event's text: up to a comma or brace that is no part of it. */
static size_t names_span(const char *text)
{
	bool probe = names_is_probe(text), slashes = !probe && !names_begins(text, "mem:");
	size_t len = 0;

	while (text[len] && !strchr(",{}", text[len])) {
		if (probe && text[len] == '\\' && text[len + 1])
			len += 2;
		else if (slashes && text[len] == '/') {
			len += names_slashed(text + len);
			slashes = false;
		} else
			len++;
	}
	return len;
}

/* The braced names of perf's older forms end in a colon too: cpu/.../:u. */
static const char *names_skip_colon(const char *text)
{
	return text + (*text == ':');
}

/* Events of one name without anything behind it. */
static int names_add_word(struct names_context *context, struct event_list *list, const char *word)
{
	int n = generic_add(context, list, word);

	n = n ? n : alias_add(context, list, word);
	n = n ? n : raw_add(context, list, word);
	return n ? n : pfm_add(context, list, word);
}

/* NUMBER:NUMBER, a type and a config; or raw:rHEX. */
static int names_add_numbers(struct names_context *context, struct event_list *list, const char *head,
	const char *tail)
{
	u64 type, config;

	if (!strcmp(head, "raw"))
		return raw_add(context, list, tail);
	if (!number_parse(head, &type) || type > UINT32_MAX || !number_parse(tail, &config))
		return 0;
	return event_add(list, (u32)type, config) ? 1 : -1;
}

/* HEAD:TAIL, numbers or a tracepoint's name; modifiers after a further colon. */
static int names_add_pair(struct names_context *context, struct event_list *list, const char *head,
	char *tail, const char **rest)
{
	char *more = strchr(tail, ':');
	int n;

	if (more)
		*more = '\0';
	n = names_add_numbers(context, list, head, tail);
	n = n ? n : tracepoint_add(context, list, head, tail);
	*rest = more ? more + 1 : NULL;
	return n;
}

/* A tracepoint by its number may be any, and most happen in the kernel alone. */
static void names_settle(struct event *event)
{
	if (event->attr.type == PERF_TYPE_TRACEPOINT && event->side == EVENT_EITHER)
		event->side = EVENT_KERNEL;
}

/* pmu/terms/modifiers, or a generic name in the place of the PMU. */
static int names_add_terms(struct names_context *context, struct event_list *list, char *text, char *slash,
	const char **rest)
{
	char *end = slash + names_slashed(slash) - 1;
	size_t from = list->n;
	int n;

	if (end == slash || *end != '/')
		return error("'%s' lacks its second slash", text);
	if (end[1])
		*rest = names_skip_colon(end + 1);
	*slash = *end = '\0';
	if (!*text)
		return error("'/%s/' lacks the name of its PMU", slash + 1);
	n = generic_add(context, list, text);
	n = n ? n : raw_add(context, list, text);
	if (!n)
		return terms_add(context, list, text, slash + 1);
	for (; n > 0 && from < list->n; from++)
		if (terms_apply(context, NULL, &list->event[from], slash + 1))
			return -1;
	return n;
}

/* NAME, NAME:MODIFIERS, SYSTEM:NAME, NAME:ATTRIBUTE of libpfm. */
static int names_add_plain(struct names_context *context, struct event_list *list, char *text, const char **rest)
{
	char *colon = strchr(text, ':');
	int n;

	if (strstr(text, "::"))
		return pfm_add(context, list, text);
	if (!colon)
		return names_add_word(context, list, text);
	*colon = '\0';
	n = modifiers_valid(colon + 1) ? names_add_word(context, list, text) : generic_add(context, list, text);
	if (n) {
		*rest = colon + 1;
		return n;
	}
	*colon = ':';
	n = pfm_add(context, list, text);
	*colon = '\0';
	return n ? n : names_add_pair(context, list, text, colon + 1, rest);
}

/* By its form. *rest: its modifiers, if any. */
static int names_add(struct names_context *context, struct event_list *list, char *text, const char **rest)
{
	char *slash;

	if (names_is_probe(text))
		return uprobe_add(context, list, text, rest);
	if (names_begins(text, "mem:")) {
		int n = breakpoint_add(list, text, rest);

		*rest = *rest && **rest ? *rest + 1 : NULL;
		return n;
	}
	slash = strchr(text, '/');
	return slash ? names_add_terms(context, list, text, slash, rest) : names_add_plain(context, list, text, rest);
}

/* What is behind the second colon, with it. */
static const char *names_skip_pair(const char *text)
{
	const char *colon = strchr(text, ':');

	colon = colon ? strchr(colon + 1, ':') : NULL;
	return colon ? colon : "";
}

/* Where several PMUs have the event, each is called by its PMU. */
static int names_call(struct event_list *list, size_t from, const char *text)
{
	bool several = list->n - from > 1;
	const char *slash = names_is_probe(text) || names_begins(text, "mem:") ? NULL : strchr(text, '/');
	const char *inner = slash ? slash + 1 : names_begins(text, "raw:") ? text + strlen("raw:") : text;
	size_t len = slash ? names_slashed(slash) - 2 : strcspn(inner, ":");
	const char *rest = names_skip_colon(inner + len + (slash != NULL));
	size_t i;

	for (i = from; i < list->n; i++) {
		struct event *event = &list->event[i];
		char *own = event->name;
		int err;

		event->name = NULL;
		if (several && event->pmu)
			err = own ? event_set(&event->name, "%s/%s/", event->pmu, own) :
				    event_set(&event->name, "%s/%.*s/%s", event->pmu, (int)len, inner, rest);
		else if (own && event->attr.type == PERF_TYPE_TRACEPOINT && !slash)
			err = event_set(&event->name, "%s%s", own, names_skip_pair(text));
		else
			err = event_set(&event->name, "%s", own ? own : text);
		free(own);
		if (err)
			return -1;
	}
	return 0;
}

static int names_add_event(struct names_context *context, struct event_list *list, const char *text, size_t len)
{
	size_t from = list->n, i;
	const char *rest = NULL;
	char *whole, *work;
	int n = -1;

	whole = strndup(text, len);
	work = strndup(text, len);
	if (!whole || !work)
		error("out of memory");
	else
		n = names_add(context, list, work, &rest);
	if (n == 0)
		names_unknown(context, whole);
	for (i = from; n > 0 && i < list->n; i++) {
		names_settle(&list->event[i]);
		n = rest && modifiers_apply(&list->event[i], rest) ? -1 : n;
	}
	if (n > 0 && names_call(list, from, whole))
		n = -1;
	list->items++;
	free(whole);
	free(work);
	return n > 0 ? 0 : -1;
}

static void names_skip_blanks(struct names_cursor *cursor)
{
	cursor->at += strspn(cursor->at, " \t\n");
}

static int names_read_event(struct names_cursor *cursor)
{
	size_t len = names_span(cursor->at), used = len;
	const char *text = cursor->at;

	while (used && strchr(" \t\n", text[used - 1]))
		used--;
	if (!used)
		return error("an event is missing before '%.40s'", *text ? text : "the end of the list");
	if (used > NAMES_TEXT_MOST)
		return error("the event '%.40s...' is longer than %d bytes", text, NAMES_TEXT_MOST);
	cursor->at += len;
	return names_add_event(cursor->context, cursor->list, text, used);
}

/* Adds the group's modifiers to a name, which may have some. */
static int names_call_more(struct event *event, const char *modifiers)
{
	const char *colon = strrchr(event->name, ':'), *slash = strrchr(event->name, '/');
	bool open = slash ? slash > event->name && !colon : colon && modifiers_valid(colon + 1);

	return event_set(&event->name, "%s%s%s", event->name, open ? "" : ":", modifiers);
}

/* What is said of a group is true of its events; pinning and exclusiveness are its first one's. */
static int names_modify_group(struct names_cursor *cursor, size_t from)
{
	struct event_list *list = cursor->list;
	char text[32];
	size_t len, i;

	if (*cursor->at != ':')
		return 0;
	len = strcspn(++cursor->at, ", \t\n}{");
	if (!len || len >= sizeof(text))
		return error("'%.40s' are no modifiers of a group", cursor->at);
	snprintf(text, sizeof(text), "%.*s", (int)len, cursor->at);
	cursor->at += len;
	for (i = from; i < list->n; i++) {
		if (modifiers_apply(&list->event[i], text))
			return -1;
		if (i > from && strpbrk(text, "De"))
			list->event[i].attr.pinned = list->event[i].attr.exclusive = 0;
		if (names_call_more(&list->event[i], text))
			return -1;
	}
	return 0;
}

static int names_read_group(struct names_cursor *cursor)
{
	size_t from = cursor->list->n, i;
	int group = cursor->list->groups++;

	do {
		cursor->at++;
		names_skip_blanks(cursor);
		if (*cursor->at == '{')
			return error("a group of events cannot hold another one");
		if (names_read_event(cursor))
			return -1;
	} while (*cursor->at == ',');
	if (*cursor->at != '}')
		return error("the group of events lacks its closing brace");
	cursor->at++;
	for (i = from; i < cursor->list->n; i++)
		cursor->list->event[i].group = group;
	return names_modify_group(cursor, from);
}

static int names_read_list(struct names_cursor *cursor)
{
	for (;; cursor->at++) {
		names_skip_blanks(cursor);
		if (*cursor->at == '{' ? names_read_group(cursor) : names_read_event(cursor))
			return -1;
		names_skip_blanks(cursor);
		if (!*cursor->at)
			return 0;
		if (*cursor->at != ',')
			return error("a comma is missing before '%.40s'", cursor->at);
	}
}

int names_parse(struct names_context *context, const char *text, struct event_list *list)
{
	struct names_cursor cursor = { context, list, text };
	size_t from = list->n;
	int err = names_read_list(&cursor);

	if (err)
		event_list_cut(list, from);
	for (size_t i = from; i < list->n; i++)
		pmu_settle_event(context, &list->event[i]);
	return err;
}

int names_encode(struct names_context *context, const char *text, struct perf_event_attr *attr, char *wrong,
	size_t size)
{
	struct event_list list = { .event = NULL };
	const struct event *event;
	int err;

	log_capture(wrong, size);
	err = names_parse(context, text, &list);
	event = list.event;
	if (!err && event->obstacle)
		err = error("%s", event->obstacle);
	log_capture(NULL, 0);
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	if (!err) {
		attr->type = event->attr.type;
		attr->config = event->attr.config;
		attr->config1 = event->attr.config1;
		attr->config2 = event->attr.config2;
	}
	event_list_free(&list);
	return err;
}
