/* SPDX-License-Identifier: MIT */
/* Looking at a run that goes on: what the dead left, and what lies in the segments of the living. */
#include "cli/session/functions.h"
#include "cli/session/internal.h"

#define WATCH_SHARE 100 /* a hundredth of the time goes into looking, and no more */

void session_watch(struct session *s, u64 now)
{
	const struct session_watcher *watcher = s->options->watcher;
	u64 begin = session_now(), next;
	struct profile profile;

	/* When the command has ended the report is about to be made. */
	if (!s->watch_ns || now < s->watch_ns || (s->main_ended && !s->options->follow))
		return;
	profile_init(&profile, s->profile.group);
	profile.threads_most = s->profile.threads_most;
	if (profile_merge(&profile, &s->profile) == 0) {
		for (struct segment *g = s->segments; g; g = g->next)
			harvest_look(s, g, &profile);
		functions_name(s, &profile);
		session_collect_facts(s);
		next = watcher->look(watcher->context, &profile, &s->facts);
		s->watch_ns = next ? session_now() + MAX(next, (session_now() - begin) * WATCH_SHARE) : 0;
	} else {
		s->watch_ns = 0;
	}
	profile_fini(&profile);
}
