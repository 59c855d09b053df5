/* SPDX-License-Identifier: MIT */
/*
 * Opening events on all threads of processes that go on meanwhile; see attach.h. First of all come the records of
 * forks, so that of threads which begin while others are opened it is known who made them, and when.
 */
#define _GNU_SOURCE
#include "cli/session/attach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/log.h"
#include "cli/session/count.h"
#include "cli/session/internal.h"
#include "cli/session/sampling.h"

#define ROUNDS 5                     /* of looking for threads that came meanwhile */

struct attach_open {
	struct session *session;
	bool tracking;               /* those that were listed first have been added to the track */
};

static void attach_track(struct session *s)
{
	int err = 0;
	pid_t tid;

	/* Children are not measured, and threads inherit nothing. */
	if (s->options->no_inherit)
		return;
	track_open_attached(&s->track);
	for (size_t i = 0; s->track.count && err != -EMFILE && (tid = count_task(s->options->count, i)); i++)
		err = track_add(&s->track, tid);
	if (err != -EMFILE)
		return;
	verbose(1, "no records of forks and ends: too few descriptors");
	track_close(&s->track);
}

static int attach_before(void *context, pid_t tid)
{
	struct attach_open *open = context;
	struct session *s = open->session;

	return open->tracking && s->track.count ? track_add(&s->track, tid) : 0;
}

static int attach_after(void *context, pid_t tid)
{
	struct attach_open *open = context;

	return sampling_add(open->session, tid);
}

/* Those that the track has. *known: there were no others. To be freed. */
static struct count_birth *attach_births(struct session *s, size_t *n, bool *known)
{
	struct track *t = &s->track;
	struct count_birth *births;

	*known = s->options->no_inherit || (t->count && track_look(t));
	*n = 0;
	births = calloc(t->nevents + 1, sizeof(*births));
	for (size_t i = 0; births && i < t->nevents; i++)
		if (t->events[i].type == PERF_RECORD_FORK)
			births[(*n)++] = (struct count_birth){ t->events[i].tid, t->events[i].ptid, t->events[i].time_ns };
	t->nevents = 0;
	return births;
}

/* The kernel shows a thread a little before it writes the record of its birth. */
static void attach_pause(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = NSEC_PER_MSEC }, NULL);
}

static void attach_late(struct session *s)
{
	size_t armed = 1;

	for (u32 round = 0; armed && round < ROUNDS && count_find_late(s->options->count); round++) {
		struct count_birth *births;
		bool known;
		size_t n;

		attach_pause();
		births = attach_births(s, &n, &known);
		armed = count_arm_late(s->options->count, births, n, births && known);
		free(births);
	}
}

int attach_open(struct session *s)
{
	struct attach_open open = { .session = s };
	const struct count_also also = { attach_before, attach_after, &open };
	struct count *count = s->options->count;

	attach_track(s);
	if (s->options->sampling || s->options->off_cpu)
		sampling_open_attached(s, count_task(count, 0));
	if (count_arm(count, &also))
		return -1;
	open.tracking = true;
	/* Without events there is none that they could lack. */
	if (!count_bare(count))
		attach_late(s);
	count_settle(count);
	return 0;
}
