/* SPDX-License-Identifier: MIT */
/* See watch.h. Each look costs a copy of the segments, so the recording and the live line share them. */
#include "cli/cmd/watch.h"

#include <stdlib.h>
#include <time.h>

#include "cli/cmd/cmd.h"

/* The recording is written anew while the run goes on. */
#define WATCH_RECORD_FIRST_NS (50 * NSEC_PER_MSEC)
#define WATCH_RECORD_MOST_NS (800 * NSEC_PER_MSEC) /* reached by doubling: short runs are written more often */
#define WATCH_LIVE_NS (500 * NSEC_PER_MSEC)

static u64 watch_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static u64 watch_look(void *context, const struct profile *profile, const struct session_facts *facts)
{
	struct watch *watch = context;
	u64 end, next;

	if (watch->live.on)
		live_look(&watch->live, profile, facts);
	if (watch->name && watch_now() >= watch->record_ns) {
		/* What cannot be written now may be at the end. */
		store_write(&watch->file, profile, facts, &watch->options);
		watch->pause_ns = MIN(MAX(WATCH_RECORD_FIRST_NS, 2 * watch->pause_ns), WATCH_RECORD_MOST_NS);
		watch->record_ns = watch_now() + watch->pause_ns;
	}
	end = watch_now();
	next = watch->live.on ? WATCH_LIVE_NS : watch->record_ns - MIN(end, watch->record_ns);
	if (watch->live.on && watch->name && watch->record_ns > end)
		next = MIN(next, watch->record_ns - end);
	return MAX(next, 1);
}

int watch_record(struct watch *watch, const char *pattern, const struct store_options *options)
{
	watch->name = store_expand(pattern, NULL);
	if (!watch->name)
		return STATUS_USAGE;
	watch->options = *options;
	return store_open(&watch->file, watch->name) ? STATUS_FAILURE : 0;
}

const struct session_watcher *watch_watcher(struct watch *watch)
{
	watch->watcher = (struct session_watcher){ watch_look, watch };
	return watch->name || watch->live.on ? &watch->watcher : NULL;
}

void watch_now_record(struct watch *watch, const struct profile *profile, const struct session_facts *facts)
{
	if (watch->name)
		store_write(&watch->file, profile, facts, &watch->options);
}

int watch_end(struct watch *watch, const struct profile *profile, const struct session_facts *facts)
{
	live_close(&watch->live);
	return watch->name ? store_write(&watch->file, profile, facts, &watch->options) : 0;
}

void watch_close(struct watch *watch)
{
	live_close(&watch->live);
	store_close(&watch->file);
	free(watch->name);
	watch->name = NULL;
}
