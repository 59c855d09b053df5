/* SPDX-License-Identifier: MIT */
/*
 * What the kernel adds up for each thread: how long it waited for a CPU, and for block devices where that is accounted.
 * Both are read while it lives, ten times a second, so that of most the last of it is missing.
 *
 * Since Linux 6.12 a thread may stay in the run queue when it begins to wait, and the begin is noted later, for whoever
 * runs then. So a wait may be accounted from an earlier begin on, or from none, the start of the machine: in a run of 4 s
 * it was 3,418 s. That is seen where it is more than all waits were.
 */
#define _GNU_SOURCE
#include "cli/session/offcpu.h"

#include <stdio.h>
#include <string.h>

#include "cli/session/internal.h"
#include "cli/session/sampling.h"
#include "common/proc.h"

#define DELAYS_MOST 256u           /* threads at a time */

static void queue_read(struct offcpu_thread *t)
{
	u64 cells[SCHED_CELLS];

	if (!offcpu_schedstat(t->sums.pid, t->sums.tid, cells))
		return;
	t->delay_known = true;
	t->delay_ns = cells[SCHED_RUNWAIT] - MIN(cells[SCHED_RUNWAIT], t->delay_before_ns);
	t->delay_ready_ns = t->ready_ns;
	t->delay_blocked = t->sums.blocked;
}

static void disk_read(struct offcpu_thread *t)
{
	struct process_stat stat;

	if (!process_thread_stat(t->sums.pid, t->sums.tid, &stat))
		return;
	t->disk_ns = process_ticks_ns(stat.delay);
	t->disk_blocked_ns = t->blocked_ns;
	t->disk_read_ns = session_now();
}

void offcpu_delays(struct session *s)
{
	struct offcpu *o = s->sampling ? s->sampling->off : NULL;

	for (u32 i = 0; o && i < MIN(o->nthreads, DELAYS_MOST); i++) {
		if (!o->polled)
			queue_read(o->threads[i]);
		if (!s->sampling->samples.off_no_delay)
			disk_read(o->threads[i]);
	}
}

void offcpu_delay_become(struct offcpu_thread *t)
{
	t->disk_spill_ns = t->blocked_ns - t->disk_blocked_ns + (t->disk_read_ns ? 0 : t->disk_spill_ns);
	t->disk_before_ns = t->disk_ns;
	t->disk_blocked_ns = t->disk_read_ns = 0;
}

/* Polled, waits are told later than they are, or never. */
static u64 disk_most(const struct offcpu *o, const struct offcpu_thread *t)
{
	u64 ns = o->polled ? t->met_ns - MIN(t->met_ns, t->born_ns + t->sums.running_ns) : t->blocked_ns;

	return ns + t->sums.unknown_ns + process_ticks_ns(1);
}

void offcpu_delay_end(const struct offcpu *o, struct offcpu_thread *t)
{
	/* What the image before may have waited since it was read last, where that is more than the sums are read to. */
	u64 spill = t->disk_spill_ns > process_ticks_ns(1) ? t->disk_spill_ns : 0;

	t->sums.disk_ns = t->disk_ns - MIN(t->disk_ns, t->disk_before_ns + spill);
	/* Of a thread that is older than the accounting the kernel says 0, too. */
	if (!t->disk_read_ns || (t->older && !t->disk_ns))
		t->sums.disk_known = SAMPLES_DELAY_UNKNOWN;
	else if (t->sums.disk_ns > disk_most(o, t) + t->disk_spill_ns - spill)
		t->sums.disk_known = SAMPLES_DELAY_EXCESS;
	else
		t->sums.disk_known = t->disk_read_ns < t->since_ns || spill ? SAMPLES_DELAY_LEAST : SAMPLES_DELAY_WHOLE;
}

void offcpu_delay_open(struct session *s)
{
	struct outcome why = delay_probe(&s->caps);

	if (why.available == CAPS_YES)
		return;
	if (asprintf(&s->sampling->samples.off_no_delay, "%s%s%s", why.because, why.remedy[0] ? ": " : "", why.remedy) < 0)
		s->sampling->samples.off_no_delay = NULL;
}
