/* SPDX-License-Identifier: MIT */
/* See trace.h. */
#define _GNU_SOURCE
#include "cli/analyze/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/analyze/inside.h"
#include "cli/log.h"

#define THREADS_MOST (1u << 20)
#define WINDOWS_MOST (1u << 20)
#define DEPTH_MOST 1024            /* of all lanes of a thread */
#define FILE_BUFFER (256u << 10)

/* ---- the file ---------------------------------------------------------------------------------------- */

static int file_without_name(const char *folder)
{
	char path[4096];
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);

	if (fd >= 0 || snprintf(path, sizeof(path), "%s/spark-XXXXXX", folder) >= (int)sizeof(path))
		return fd;
	/* Not all file systems have it. */
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

int trace_init(struct trace *trace)
{
	const char *folder = getenv("TMPDIR");
	int fd;

	*trace = (struct trace){ .file = NULL };
	samples_init(&trace->regions);
	folder = folder && *folder ? folder : "/tmp";
	fd = file_without_name(folder);
	trace->file = fd < 0 ? NULL : fdopen(fd, "w+");
	if (!trace->file)
		return error("cannot keep a trace in %s: %s (TMPDIR names another folder)", folder, strerror(errno));
	setvbuf(trace->file, NULL, _IOFBF, FILE_BUFFER);
	return 0;
}

void trace_fini(struct trace *trace)
{
	for (u32 i = 0; i < trace->nthreads; i++)
		free(trace->threads[i].open);
	free(trace->threads);
	free(trace->windows);
	samples_fini(&trace->regions);
	if (trace->file)
		fclose(trace->file);
	*trace = (struct trace){ .file = NULL };
}

/* Whatever cannot be kept is missing from there on. */
static void trace_fail(struct trace *trace, const char *why)
{
	if (!trace->failed)
		warning("the trace ends early: %s", why);
	trace->failed = true;
}

static void event_write(struct trace *trace, u32 thread, enum trace_kind kind, u32 value)
{
	const struct trace_event event = { trace->threads[thread].ticks, thread, kind, value & TRACE_VALUE_MOST };

	if (trace->failed) {
		trace->missing += kind <= TRACE_UNENDED;
		return;
	}
	if (fwrite_unlocked(&event, sizeof(event), 1, trace->file) != 1)
		trace_fail(trace, strerror(errno));
}

void trace_rewind(struct trace *trace)
{
	if (fflush(trace->file))
		trace_fail(trace, strerror(errno));
	rewind(trace->file);
}

bool trace_next(struct trace *trace, struct trace_event *event)
{
	return fread_unlocked(event, sizeof(*event), 1, trace->file) == 1;
}

/* ---- threads ----------------------------------------------------------------------------------------- */

static void *list_room(void *list, u32 n, u32 *room, u32 most, size_t size)
{
	u32 more = *room ? 2 * *room : 16;
	void *grown;

	if (n < *room)
		return list;
	grown = more <= most ? realloc(list, more * size) : NULL;
	if (grown)
		*room = more;
	return grown;
}

u32 trace_thread(struct trace *trace, u32 process, u32 pid, u32 tid)
{
	u32 *bucket = &trace->buckets[(process * 31 + tid) % TRACE_BUCKETS];
	struct trace_thread *list;

	for (u32 i = *bucket; i; i = trace->threads[i - 1].next)
		if (trace->threads[i - 1].process == process && trace->threads[i - 1].tid == tid)
			return i - 1;
	list = list_room(trace->threads, trace->nthreads, &trace->threads_room, THREADS_MOST, sizeof(*list));
	if (!list)
		return TRACE_NONE;
	trace->threads = list;
	list[trace->nthreads] = (struct trace_thread){ .next = *bucket, .process = process, .pid = pid, .tid = tid };
	return (*bucket = ++trace->nthreads) - 1;
}

static void push(struct trace *trace, u32 thread, enum trace_kind kind, u32 region)
{
	struct trace_thread *t = &trace->threads[thread];
	struct trace_open *open = list_room(t->open, t->depth, &t->room, DEPTH_MOST, sizeof(*open));

	if (!open) {
		trace->missing++;
		return;
	}
	t->open = open;
	open[t->depth++] = (struct trace_open){ .region = region };
	event_write(trace, thread, kind, region);
}

/* Down to a depth; and what has waited for that. */
static void pop(struct trace *trace, u32 thread, u32 depth, enum trace_kind kind)
{
	struct trace_thread *t = &trace->threads[thread];

	while (t->depth > depth || (t->depth && t->open[t->depth - 1].over)) {
		struct trace_open *o = &t->open[--t->depth];

		event_write(trace, thread, o->over ? TRACE_UNENDED : kind, o->region);
	}
}

/* Records are missing: what is open now is what the path of a region says. */
static void resume(struct trace *trace, u32 thread, u32 region)
{
	struct trace_thread *t = &trace->threads[thread];
	const struct samples_region *regions = trace->regions.regions;
	u32 path[DEPTH_MOST], n = 0, same = 0;

	if (t->missing)
		event_write(trace, thread, TRACE_MISSING, (u32)MIN(t->missing, (u64)TRACE_VALUE_MOST));
	t->missing = 0;
	t->paused = false;
	for (; region != SAMPLES_NONE && n < DEPTH_MOST; region = regions[region].parent)
		if (!trace->inside || inside_sampled(trace->inside, &trace->regions, region))
			path[n++] = region;
	while (same < n && same < t->depth && t->open[same].region == path[n - 1 - same] && !t->open[same].over)
		same++;
	pop(trace, thread, same, TRACE_CUT);
	while (same < n)
		push(trace, thread, TRACE_RESUMED, path[n - 1 - same++]);
}

static void end(struct trace *trace, u32 thread, enum trace_kind kind, u32 region)
{
	struct trace_thread *t = &trace->threads[thread];
	u32 d = t->depth;

	while (d && (t->open[d - 1].region != region || t->open[d - 1].over))
		d--;
	if (!d) {
		if (kind == TRACE_END)
			event_write(trace, thread, TRACE_LATE_END, region);
		return;
	}
	if (kind == TRACE_UNENDED && d < t->depth) {
		t->open[d - 1].over = true;
		return;
	}
	pop(trace, thread, d, TRACE_UNENDED);
	pop(trace, thread, d - 1, kind);
}

void trace_add(struct trace *trace, u32 thread, enum trace_kind kind, u32 region, u64 ticks)
{
	struct trace_thread *t = &trace->threads[thread];

	t->ticks = MAX(t->ticks, ticks);
	if ((t->missing || t->paused) && kind != TRACE_LATE_END)
		resume(trace, thread, kind == TRACE_BEGIN ? trace->regions.regions[region].parent : region);
	if (kind == TRACE_BEGIN)
		push(trace, thread, kind, region);
	else if (kind == TRACE_LATE_END)
		event_write(trace, thread, kind, region);
	else
		end(trace, thread, kind, region);
}

void trace_lose(struct trace *trace, u32 thread, u64 n)
{
	trace->threads[thread].missing += n;
	trace->missing += n;
}

void trace_close(struct trace *trace, u32 thread, u64 ticks)
{
	struct trace_thread *t = &trace->threads[thread];

	t->ticks = MAX(t->ticks, ticks);
	if (t->missing)
		event_write(trace, thread, TRACE_MISSING, (u32)MIN(t->missing, (u64)TRACE_VALUE_MOST));
	t->missing = 0;
	pop(trace, thread, 0, TRACE_STILL_OPEN);
}

void trace_pause(struct trace *trace, u32 thread, u64 ticks)
{
	trace_close(trace, thread, ticks);
	trace->threads[thread].paused = true;
}

void trace_add_window(struct trace *trace, const struct trace_window *window)
{
	struct trace_window *list = list_room(trace->windows, trace->nwindows, &trace->windows_room, WINDOWS_MOST, sizeof(*list));

	if (!list || window->name == SAMPLES_NONE) {
		trace->missing++;
		return;
	}
	trace->windows = list;
	list[trace->nwindows++] = *window;
}
