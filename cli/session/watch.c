/* SPDX-License-Identifier: MIT */
/* Looking at a run that goes on: what the dead left, and what lies in the segments of the living. */
#include "cli/session/functions.h"
#include "cli/session/internal.h"
#include "cli/session/portion.h"
#include "cli/session/sampling.h"

#define WATCH_SHARE 100 /* a hundredth of the time goes into looking, and no more */

/* What the watcher returns; 0: it could not be shown. */
static u64 look(struct session *s, const struct session_watcher *watcher)
{
	struct profile profile;
	u64 next = 0;

	profile_init(&profile, s->profile.group);
	profile.threads_most = s->portion ? 0 : s->profile.threads_most;
	if (profile_merge(&profile, &s->profile) == 0) {
		for (struct segment *g = s->segments; g; g = g->next)
			harvest_look(s, g, &profile);
		if (portion_cut(s, &profile) == 0) {
			functions_name(s, &profile);
			session_collect_facts(s);
			next = watcher->look(watcher->context, &profile, &s->facts);
		}
	}
	profile_fini(&profile);
	return next;
}

void session_watch(struct session *s, u64 now)
{
	u64 begin = session_now(), next;

	/* When the command has ended the report is about to be made. */
	if (!s->watch_ns || now < s->watch_ns || (s->main_ended && !s->options->follow))
		return;
	next = look(s, s->options->watcher);
	s->watch_ns = next ? session_now() + MAX(next, (session_now() - begin) * WATCH_SHARE) : 0;
}

void session_report(struct session *s)
{
	struct sampling_named named;
	struct process **live;
	size_t n;

	live = processes_live(&s->processes, &n);
	for (size_t i = 0; i < n; i++)
		if (!live[i]->unwatched)
			process_look(live[i], s->options->sources);
	track_drain(s, true);
	sampling_drain(s, true);
	sampling_name_copy(s, &named);
	look(s, s->options->reporter);
	sampling_name_end(s, &named);
}
