/* SPDX-License-Identifier: MIT */
/* See samply_markers.h. */
#define _GNU_SOURCE
#include "cli/output/samply_markers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/log.h"
#include "cli/text.h"
#include "common/base.h"

struct samply_thread {
	u32 number;                  /* in the trace */
	u32 pid;
	u32 first;                   /* place, among all by pid, of the first one of its process: there its file is begun */
	bool begun;
	u64 ns;                      /* of its newest event */
	u32 depth, room;
	struct samply_open {
		u32 region;
		u64 ns;
	} *open;
};

struct samply {
	const char *folder;
	struct trace *trace;
	const struct session_facts *facts;
	struct samply_moment from, to;
	struct samply_thread *threads; /* by pid */
	u32 *place;                  /* of each thread of the trace */
	FILE *file;                  /* of the process last written; NULL: none */
	u32 pid;
	int failed;
};

struct samply_moment samply_moment(void)
{
	u64 before = clock_ns(CLOCK_MONOTONIC_RAW), monotonic = clock_ns(CLOCK_MONOTONIC);

	return (struct samply_moment){ before + (clock_ns(CLOCK_MONOTONIC_RAW) - before) / 2, monotonic };
}

/* Time is steered, so that the two clocks go apart. */
static u64 monotonic_ns(const struct samply *s, u64 ticks)
{
	double slope = (double)(s->to.monotonic - s->from.monotonic) / (double)MAX(s->to.raw - s->from.raw, (u64)1);
	u64 raw = MAX(clock_map_ns(s->facts->clock_map, ticks), s->from.raw);

	return s->from.monotonic + (u64)((double)(raw - s->from.raw) * slope);
}

/* ---- files ----------------------------------------------------------------------------------------- */

static void file_close(struct samply *s)
{
	bool bad = s->file && ferror(s->file);

	if (s->file && (fclose(s->file) || bad) && !s->failed)
		s->failed = error("cannot write the marker file of process %u in %s: %s", s->pid, s->folder, strerror(errno));
	s->file = NULL;
}

/* Events come in batches of a thread, and there may be more processes than descriptors. */
static bool file_of(struct samply *s, struct samply_thread *first)
{
	char *path = NULL;

	if (s->failed || (s->file && s->pid == first->pid))
		return !s->failed;
	file_close(s);
	s->pid = first->pid;
	if (asprintf(&path, "%s/marker-%u.txt", s->folder, first->pid) < 0) {
		s->failed = error("out of memory");
		return false;
	}
	s->file = fopen(path, first->begun ? "ae" : "we");
	first->begun = true;
	if (!s->file)
		s->failed = error("cannot write %s: %s", path, strerror(errno));
	free(path);
	return s->file != NULL;
}

static void line_write(struct samply *s, struct samply_thread *first, u32 string, u64 from, u64 to)
{
	const struct samples_string *name = &s->trace->regions.strings[string];
	size_t size = 4 * (size_t)name->length + 1;
	char *text = file_of(s, first) ? malloc(size) : NULL;

	if (!text) {
		s->failed = s->failed ? s->failed : error("out of memory");
		return;
	}
	text_escape(text, size, name->bytes, name->length);
	fprintf(s->file, "%llu %llu %s\n", (unsigned long long)from, (unsigned long long)MAX(from, to), text);
	free(text);
}

/* ---- events ---------------------------------------------------------------------------------------- */

static void thread_begin(struct samply *s, struct samply_thread *t, u32 region)
{
	if (t->depth == t->room) {
		u32 room = t->room ? 2 * t->room : 16;
		struct samply_open *open = realloc(t->open, room * sizeof(*open));

		if (!open) {
			s->failed = error("out of memory");
			return;
		}
		t->open = open;
		t->room = room;
	}
	t->open[t->depth++] = (struct samply_open){ region, t->ns };
}

static void thread_end(struct samply *s, struct samply_thread *t)
{
	const struct samply_open *open = &t->open[--t->depth];

	line_write(s, &s->threads[t->first], s->trace->regions.regions[open->region].name, open->ns, t->ns);
}

static void events_write(struct samply *s)
{
	struct trace_event e;

	trace_rewind(s->trace);
	while (!s->failed && trace_next(s->trace, &e)) {
		struct samply_thread *t = &s->threads[s->place[e.thread]];

		t->ns = MAX(t->ns, monotonic_ns(s, e.ticks));
		if (trace_begins(e.kind))
			thread_begin(s, t, e.value);
		else if (trace_ends(e.kind) && t->depth)
			thread_end(s, t);
	}
	/* Where they could not be kept to the end. */
	for (u32 i = 0; i < s->trace->nthreads; i++)
		while (s->threads[i].depth && !s->failed)
			thread_end(s, &s->threads[i]);
}

static int thread_order(const void *a, const void *b)
{
	const struct samply_thread *x = a, *y = b;

	return x->pid != y->pid ? (x->pid < y->pid ? -1 : 1) : x->number < y->number ? -1 : x->number > y->number;
}

static void windows_write(struct samply *s)
{
	for (u32 i = 0; i < s->trace->nwindows && !s->failed; i++) {
		const struct trace_window *w = &s->trace->windows[i];
		struct samply_thread own = { .pid = w->pid }, *first = &own;

		for (u32 k = 0; k < s->trace->nthreads && first == &own; k++)
			if (s->threads[k].pid == w->pid)
				first = &s->threads[k];
		/* Of one without regions others may have been written before. */
		for (u32 k = 0; k < i && first == &own; k++)
			own.begun = own.begun || s->trace->windows[k].pid == w->pid;
		line_write(s, first, w->name, monotonic_ns(s, w->start), monotonic_ns(s, w->end));
	}
}

static bool threads_make(struct samply *s)
{
	u32 n = s->trace->nthreads;

	s->threads = calloc((size_t)n + 1, sizeof(*s->threads));
	s->place = calloc((size_t)n + 1, sizeof(*s->place));
	if (!s->threads || !s->place)
		return false;
	for (u32 i = 0; i < n; i++)
		s->threads[i] = (struct samply_thread){ .number = i, .pid = s->trace->threads[i].pid };
	qsort(s->threads, n, sizeof(*s->threads), thread_order);
	for (u32 i = 0; i < n; i++) {
		s->place[s->threads[i].number] = i;
		s->threads[i].first = i && s->threads[i - 1].pid == s->threads[i].pid ? s->threads[i - 1].first : i;
	}
	return true;
}

int samply_markers_write(const char *folder, struct trace *trace, const struct session_facts *facts,
			 const struct samply_moment *before)
{
	struct samply s = { .folder = folder, .trace = trace, .facts = facts, .from = *before, .to = samply_moment() };

	if (threads_make(&s)) {
		events_write(&s);
		windows_write(&s);
		file_close(&s);
	} else {
		s.failed = error("out of memory");
	}
	for (u32 i = 0; s.threads && i < trace->nthreads; i++)
		free(s.threads[i].open);
	free(s.threads);
	free(s.place);
	return s.failed;
}
