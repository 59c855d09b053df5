/* SPDX-License-Identifier: MIT */
/* See passes.h. Times, and all else that a report has, are of the first run. */
#include "cli/cmd/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"

/* Those that the profile lacks for want of a counter. The events stay the list's own. */
static struct event_list passes_left(const struct event_list *all, const struct profile *profile)
{
	struct event_list left = { .event = calloc(all->n + 1, sizeof(*left.event)), .groups = all->groups,
				   .items = all->items };

	for (size_t i = 0; left.event && i < all->n; i++)
		for (u32 k = 0; k < profile->nevents; k++)
			if (profile->events[k].deferred && !strcmp(profile->events[k].name, all->event[i].name)) {
				left.event[left.n++] = all->event[i];
				break;
			}
	return left;
}

static u32 passes_deferred(const struct profile *profile)
{
	u32 n = 0;

	for (u32 k = 0; k < profile->nevents; k++)
		n += profile->events[k].deferred;
	return n;
}

static bool same_end(const struct session_facts *a, const struct session_facts *b)
{
	return a->signal == b->signal && a->status == b->status;
}

int passes_run(struct passes *passes, struct session *first, const struct session_options *options)
{
	struct session_options so = *options;
	const struct profile *profile = session_profile(first);
	u32 left;

	so.watcher = NULL;
	so.sampling = NULL;
	so.off_cpu = false;
	so.block_io = false;
	so.trace = false;
	so.probes = NULL;
	so.probe_all = so.objects = false;
	while ((left = passes_deferred(profile)) && passes->n < PASSES_MOST) {
		struct event_list *events = &passes->events[passes->n];
		struct session **session = &passes->list[passes->n];
		struct pass_notes *note = &passes->notes[passes->n];
		enum session_end end;
		int ret = 0;

		*events = passes_left(options->events, profile);
		so.events = events;
		snprintf(note->any, sizeof(note->any), "counted in run %zu", passes->n + 2);
		snprintf(note->user, sizeof(note->user), CELL_NOTE_USER ", counted in run %zu", passes->n + 2);
		verbose(1, "run %zu of the command, for %u more events", passes->n + 2, left);
		input_rewind(&passes->input);
		end = session_run(session, &so);
		passes->n++;
		if (end == SESSION_ENDED && session_interrupted(*session))
			end = SESSION_INTERRUPTED;
		if (end == SESSION_ENDED)
			ret = session_add_pass(first, *session, note);
		if (end != SESSION_ENDED || ret)
			return ret ? ret : error("run %zu of the command did not end by itself: its events are missing", passes->n + 1);
		if (!same_end(session_facts(first), session_facts(*session)))
			warning("run %zu of the command did not end as the first did", passes->n + 1);
		if (passes_deferred(profile) == left)
			break;
	}
	return 0;
}

int passes_interrupted(const struct passes *passes)
{
	return passes->n ? session_interrupted(passes->list[passes->n - 1]) : 0;
}

void passes_free(struct passes *passes)
{
	while (passes->n) {
		session_free(passes->list[--passes->n]);
		free(passes->events[passes->n].event);
	}
}
