/* SPDX-License-Identifier: MIT */
/* A group's events and metrics in a run; see group.h. */
#include "cli/cmd/group.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd/define.h"
#include "cli/log.h"
#include "common/perf.h"

static const char group_no_event[] = "this machine has no event of that name";

enum group_luck { GROUP_UNKNOWN, GROUP_KNOWN, GROUP_OPENS };

/* Opened on this thread and closed, with the kernel side or without. 0, or -errno. */
static int group_open(const struct event *event)
{
	struct perf_event_attr attr = event->attr;
	int fd;

	attr.disabled = 1;
	attr.sample_period = attr.freq = attr.precise_ip = 0;
	fd = perf_open(&attr, 0, -1, -1, 0);
	if (fd == -EACCES || fd == -EPERM) {
		attr.exclude_kernel = attr.exclude_hv = 1;
		fd = perf_open(&attr, 0, -1, -1, 0);
	}
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static struct outcome group_refusal(struct names_context *names, const struct event *event, int err)
{
	struct caps_context caps = *names->caps;
	struct outcome none;

	if (!event->hardware || !advice_means_absent(err))
		return advice_perf(names->caps, err, false);
	none = hardware_probe(&caps);
	return none.available == CAPS_NO ? none :
	       outcome_no("", "this PMU does not have the event (%s)", advice_errno_name(err));
}

/* One event of a group; *why is filled where it does not open. */
static enum group_luck group_try(struct names_context *names, const char *text, struct outcome *why)
{
	struct event_list list = { .event = NULL };
	bool before = log_hush(true);
	int err = names_parse(names, text, &list);
	enum group_luck luck = err ? GROUP_UNKNOWN : GROUP_OPENS;

	log_hush(before);
	if (err)
		*why = outcome_no("", "%.80s: %s", text, group_no_event);
	for (size_t i = 0; luck == GROUP_OPENS && i < list.n; i++) {
		struct event *event = &list.event[i];

		err = event->obstacle ? 0 : -group_open(event);
		if (!event->obstacle && !err)
			continue;
		luck = GROUP_KNOWN;
		*why = event->obstacle ? outcome_no("", "%s", event->obstacle) : group_refusal(names, event, err);
	}
	event_list_free(&list);
	return luck;
}

static enum group_luck group_try_way(const struct group_way *way, struct names_context *names, struct outcome *outcome)
{
	enum group_luck worst = GROUP_OPENS;
	struct outcome why;
	size_t opened = 0;

	for (size_t i = 0; i < way->nevents; i++) {
		enum group_luck luck = group_try(names, way->events[i], &why);

		opened += luck == GROUP_OPENS;
		if (luck < worst)
			*outcome = why;
		worst = MIN(worst, luck);
	}
	if (worst == GROUP_OPENS)
		*outcome = outcome_yes("all %zu events open on a thread", way->nevents);
	else if (opened)
		outcome->available = CAPS_PARTLY;
	return worst;
}

size_t group_choose(const struct group *group, struct names_context *names, struct outcome *outcome)
{
	enum group_luck best = GROUP_UNKNOWN;
	struct outcome one;
	size_t chosen = 0;

	for (size_t k = 0; k < group->nways && best < GROUP_OPENS; k++) {
		enum group_luck luck = group_try_way(&group->ways[k], names, &one);

		if (!k || luck > best) {
			chosen = k;
			*outcome = one;
		}
		best = MAX(best, luck);
	}
	return chosen;
}

static int group_add_event(struct names_context *names, const char *text, struct event_list *events)
{
	bool before = log_hush(true);
	int err = names_parse(names, text, events);

	log_hush(before);
	return err ? names_add_absent(events, text, group_no_event) : 0;
}

/* Whether an event of that name, in braces or not, is there already. */
static bool group_has_event(const struct event_list *events, const char *text)
{
	for (size_t i = 0; i < events->n; i++)
		if (!strcmp(events->event[i].name, text))
			return true;
	return false;
}

static int group_use(const struct group *group, struct names_context *names, struct event_list *events,
		     struct definitions *definitions)
{
	struct outcome outcome;
	const struct group_way *way = &group->ways[group_choose(group, names, &outcome)];
	char where[PATH_MAX + 32];
	int err = 0;

	for (size_t i = 0; !err && i < way->nevents; i++)
		if (!group_has_event(events, way->events[i]))
			err = group_add_event(names, way->events[i], events);
	for (size_t i = 0; !err && i < way->nmetrics; i++) {
		snprintf(where, sizeof(where), "%s:%u:", group->path, way->metrics[i].line);
		err = define_one(definitions, where, way->metrics[i].text, true, events);
	}
	return err;
}

int group_use_all(const struct opt_list *words, struct names_context *names, struct event_list *events,
		  struct definitions *definitions)
{
	int err = 0;

	for (size_t i = 0; !err && i < words->n; i++) {
		struct group group;

		err = group_load(&group, words->item[i]);
		if (!err)
			err = group_use(&group, names, events, definitions);
		group_free(&group);
	}
	return err;
}
