/* SPDX-License-Identifier: MIT */
/* The end of a run that takes too long: SIGTERM for all of it, then SIGKILL. */
#include "cli/session/internal.h"

#define KILL_AFTER_NS (2 * NSEC_PER_SEC)

/* Where no records tell of the tree: what is below the command as long as that is there. */
static void unknown_kill(const struct session *s, int n)
{
	const struct offspring none = { .list = NULL };
	struct offspring tree = { .list = NULL };

	if (s->track.count)
		return;
	offspring_find(&tree, s->spawn.pid, &none);
	offspring_kill(&tree, n, s->spawn.pid);
	offspring_free(&tree);
}

void session_timeout(struct session *s, u64 now)
{
	bool kill_now = s->kill_ns && now >= s->kill_ns;
	struct process **live;
	size_t n;

	if (!s->options->timeout_ns || now - s->start_ns < s->options->timeout_ns || (s->kill_ns && !kill_now))
		return;
	/* It was in time; survivors are not waited for. */
	if (s->main_ended && !s->options->follow && !s->timed_out)
		return;
	s->timed_out = true;
	s->kill_ns = now + KILL_AFTER_NS;
	live = processes_live(&s->processes, &n);
	for (size_t i = 0; i < n; i++)
		if (live[i]->facts.pid != (u32)s->spawn.pid)
			process_kill(live[i], kill_now ? SIGKILL : SIGTERM);
	if (kill_now && !s->killed_ns)
		s->killed_ns = now;
	if (s->main_ended)
		return;
	unknown_kill(s, kill_now ? SIGKILL : SIGTERM);
	/* Not waited for yet: the pid is its own. A stopped child would not see the SIGTERM. */
	kill(s->spawn.pid, kill_now ? SIGKILL : SIGTERM);
	kill(s->spawn.pid, SIGCONT);
}
