/* SPDX-License-Identifier: MIT */
/*
 * The session's side of hostile segments, in a memfd: copied, looked through for processes, slots
 * of the dead read and emptied, all of it read at the end.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/session/functions.h"
#include "cli/session/internal.h"
#include "cli/session/tracing.h"
#include "cli/session/windows.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"

enum { PID = 1234 };            /* as in the sound segments */

static struct session session;

/* One segment, of an image that forked: some of it has ended. */
static struct segment *segment_take(const u8 *bytes, size_t size)
{
	const struct segment_params params = { WIRE_CLOCK_VDSO, 1ULL << 32, 0, NULL, NULL, NULL };
	struct segment *g = segment_new(&params);

	if (!g || pwrite(g->fd, bytes, size, 0) != (ssize_t)size)
		abort();
	g->pid = g->wire_pid = PID;
	g->live = 1;
	g->next = NULL;
	return g;
}

static void session_begin(enum profile_group group)
{
	static struct session_options options;

	options.group = group;
	session = (struct session){ .options = &options, .clock_kind = WIRE_CLOCK_VDSO, .clock.identity = true,
				    .signal_fd = -1 };
	profile_init(&session.profile, group);
	if (windows_open(&session))
		abort();
}

/* As a run does it at its end. */
static void trace_end(void)
{
	struct trace_event e;

	tracing_end(&session);
	trace_rewind(&session.tracing->trace);
	while (trace_next(&session.tracing->trace, &e))
		fuzz_check(e.thread < session.tracing->trace.nthreads, "events are of threads");
	tracing_free(&session);
}

/* Regions of windows are of paths that there are. */
static void windows_end_all(void)
{
	const struct windows *w = session.windows;

	for (u32 i = 0; i < w->n; i++)
		for (u32 k = 0; k < w->list[i].nregions; k++) {
			const struct window_region *region = &w->list[i].regions[k];

			fuzz_check(region->path < w->paths.nregions, "a region of a window has a path");
			fuzz_check(region->self_ns <= region->ns, "its own time is part of it");
		}
	windows_free(&session);
}

static void session_end(struct segment *g)
{
	windows_end_all();
	if (session.tracing)
		trace_end();
	processes_free(&session.processes);
	profile_fini(&session.profile);
	functions_free(session.functions);
	segment_free(g);
}

static void harvest_run(const u8 *bytes, size_t size)
{
	const struct wire_header *header = (const void *)bytes;
	u64 how = size < sizeof(*header) ? size : header->free_slots;
	struct segment *g = segment_take(bytes, size);
	struct process *p;

	session_begin((enum profile_group)(how % 3));
	if (!(how >> 10 & 1) && tracing_open(&session))
		abort();
	p = process_add(&session.processes, PID, 0, 0);
	if (!p)
		abort();
	process_join(p, g);
	p->wire_pid = PID;
	for (u32 round = 0; round < 2; round++) {
		harvest_discover(&session, g);
		tracing_read(&session, g, false);
		if (how >> round & 1)
			g->dead += 100; /* worth a look */
		harvest_dead(&session, g);
		if (p->alive)
			session_process_gone(p, how >> 8 & 1 ? 0 : -1, session_now());
	}
	if (how >> 9 & 1)
		segment_in_use(g);
	harvest_all(&session, g);
	functions_name(&session, &session.profile);
	fuzz_check(g->closed && g->fd < 0, "a segment that was read is closed");
	fuzz_check(session.processes.count < size / sizeof(struct wire_process) * 2 + 2,
		   "processes are as many as there is room for");
	session_end(g);
}

const struct fuzz fuzz_target = {
	.name = "harvest",
	.room = SEGMENTS_ROOM,
	.rounds = 500,
	.open = segments_open,
	.make = segments_make,
	.mutate = segments_mutate,
	.run = harvest_run,
};
