/* SPDX-License-Identifier: MIT */
/* When a run's counting starts and ends, and looks at it while it goes on; see steer.h. */
#include "cli/session/count.h"
#include "cli/session/internal.h"
#include "cli/session/portion.h"
#include "cli/session/steer.h"

static void run_enable(void *what, bool on)
{
	struct session *s = what;

	if (on)
		portion_switch(s, on);
	if (s->options->count)
		count_enable(s->options->count, on);
	else
		totals_enable(&s->totals, on);
	if (on)
		return;
	/* What wait4(2) gives is more than what was counted. */
	s->totals.deferred = true;
	portion_switch(s, on);
}

static void run_report(void *what)
{
	session_report(what);
}

static const struct session_facts *run_read(void *what, u64 counted_ns, u64 elapsed_ns)
{
	struct session *s = what;

	if (s->options->count) {
		count_read(s->options->count, counted_ns, elapsed_ns);
		return count_facts(s->options->count);
	}
	s->facts.duration_ns = elapsed_ns;
	totals_read(&s->totals, &s->caps, counted_ns, &s->usage, false, TOTALS_SEEN);
	s->facts.totals = s->totals.facts;
	s->facts.ntotals = s->totals.nfacts;
	return &s->facts;
}

static const struct steer_ops run_ops = { run_enable, run_read, NULL };
static const struct steer_ops run_ops_reporting = { run_enable, run_read, run_report };

void session_steer_start(struct session *s)
{
	steer_start(s->options->steer, s->options->reporter ? &run_ops_reporting : &run_ops, s, s->start_ns);
	/* The tree's own begin with the exec. */
	if (s->options->count && !steer_defers(s->options->steer))
		count_enable(s->options->count, true);
}

void session_steer_ended(struct session *s)
{
	/* What the command leaves behind still counts for the tree, in the last interval unless it is waited for. */
	if (s->options->count)
		steer_stop(s->options->steer, s->end_ns);
	if ((!s->options->follow || s->options->count) && s->options->steer) {
		steer_hold(s->options->steer);
		/* Nothing begins behind the end. */
		s->options->steer->enable_ns = 0;
	}
}

void session_steer_over(struct session *s, u64 now)
{
	struct steer *steer = s->options->steer;

	if (s->options->follow && !s->options->count && steer && steer->edge_ns)
		steer_end(steer, now, run_read(s, steer_counted(steer, now), now - s->start_ns));
}

u64 session_counted(const struct session *s, u64 end)
{
	if (s->portion && s->portion->steered)
		return portion_measured(s, end);
	return s->options->steer ? steer_counted(s->options->steer, end) : end - s->start_ns;
}

void session_steer_facts(struct session *s, u64 end)
{
	const struct session_facts *counted;

	if (!s->options->count)
		return;
	count_read(s->options->count, session_counted(s, end), s->facts.duration_ns);
	counted = count_facts(s->options->count);
	portion_totals(s, (struct total_fact *)(uintptr_t)counted->totals, counted->ntotals);
	s->facts.target = counted->target;
	s->facts.totals = counted->totals;
	s->facts.ntotals = counted->ntotals;
	s->facts.parts = counted->parts;
	s->facts.nparts = counted->nparts;
	s->facts.uncounted = counted->uncounted;
}
