/* SPDX-License-Identifier: MIT */
/*
 * See chrome_trace.h. Regions are B and E events, which nest in each thread, windows asynchronous
 * ones, since they overlap as they like, and what is missing an instant where it is.
 */
#include "cli/output/chrome_trace.h"

#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/output/chrome.h"
#include "cli/text.h"

/* What is said of events that are not what a marker recorded. */
static const char *const notes[] = {
	[TRACE_UNENDED] = "its own end did not come",
	[TRACE_STILL_OPEN] = "still open",
	[TRACE_RESUMED] = "began while markers are missing",
	[TRACE_CUT] = "ended while markers are missing",
	[TRACE_LATE_END] = "ended here, after a region around it",
};

struct chrome_trace {
	struct chrome chrome;
	struct trace *trace;
	const struct session_facts *facts;
	char **names;                /* by string */
	u32 *open;                   /* by thread */
	u64 *ns;                     /* by thread: of its newest event */
};

static char *name_text(const struct samples_string *s)
{
	size_t size = 4 * (size_t)s->length + 1;
	char *text = malloc(size);

	if (text)
		text_escape(text, size, s->bytes, s->length);
	return text;
}

static u64 time_ns(const struct chrome_trace *t, u64 ticks)
{
	u64 ns = clock_map_ns(t->facts->clock_map, ticks);

	return ns > t->trace->start_ns ? ns - t->trace->start_ns : 0;
}

static const char *region_name(const struct chrome_trace *t, u32 region)
{
	return t->names[t->trace->regions.regions[region].name];
}

/* ---- events ------------------------------------------------------------------------------------------ */

static void threads_name(struct chrome_trace *t)
{
	u32 named = 0;

	for (u32 i = 0; i < t->trace->nthreads; i++) {
		const struct trace_thread *thread = &t->trace->threads[i];
		const struct process_facts *p = &t->facts->processes[thread->process - 1];
		char name[4 * sizeof(thread->name) + 1];

		/* Later images of a process replace the name. */
		if (p->command && thread->process != named)
			chrome_name(&t->chrome, "process_name", thread->pid, thread->tid, p->command);
		named = thread->process;
		text_escape(name, sizeof(name), thread->name, strnlen(thread->name, sizeof(thread->name)));
		if (name[0])
			chrome_name(&t->chrome, "thread_name", thread->pid, thread->tid, name);
	}
}

static void event_note(struct chrome_trace *t, enum trace_kind kind)
{
	if (notes[kind])
		fprintf(t->chrome.file, ",\"args\":{\"note\":\"%s\"}", notes[kind]);
}

static void event_region(struct chrome_trace *t, const struct trace_event *e)
{
	const struct trace_thread *thread = &t->trace->threads[e->thread];
	bool begins = trace_begins(e->kind);

	chrome_event(&t->chrome, begins ? 'B' : 'E', region_name(t, e->value), "region", thread->pid, thread->tid,
		     t->ns[e->thread]);
	event_note(t, e->kind);
	chrome_event_end(&t->chrome);
	t->open[e->thread] += begins ? 1 : -1u;
}

static void event_instant(struct chrome_trace *t, const struct trace_event *e)
{
	const struct trace_thread *thread = &t->trace->threads[e->thread];
	char name[64];

	snprintf(name, sizeof(name), "%u markers are missing", (u32)e->value);
	chrome_event(&t->chrome, 'i', e->kind == TRACE_MISSING ? name : region_name(t, e->value),
		     e->kind == TRACE_MISSING ? "missing" : "late end", thread->pid, thread->tid, t->ns[e->thread]);
	fputs(",\"s\":\"t\"", t->chrome.file);
	if (e->kind == TRACE_MISSING)
		fprintf(t->chrome.file, ",\"args\":{\"markers\":%u}", (u32)e->value);
	else
		event_note(t, e->kind);
	chrome_event_end(&t->chrome);
}

static void events_write(struct chrome_trace *t)
{
	struct trace_event e;

	trace_rewind(t->trace);
	while (trace_next(t->trace, &e) && !ferror(t->chrome.file)) {
		t->ns[e.thread] = MAX(t->ns[e.thread], time_ns(t, e.ticks));
		if (e.kind == TRACE_MISSING || e.kind == TRACE_LATE_END)
			event_instant(t, &e);
		else
			event_region(t, &e);
	}
	/* Where they could not be kept to the end. */
	for (u32 i = 0; i < t->trace->nthreads; i++)
		for (; t->open[i]; t->open[i]--) {
			chrome_event(&t->chrome, 'E', "", "region", t->trace->threads[i].pid, t->trace->threads[i].tid, t->ns[i]);
			event_note(t, TRACE_STILL_OPEN);
			chrome_event_end(&t->chrome);
		}
}

static void windows_write(struct chrome_trace *t)
{
	for (u32 i = 0; i < t->trace->nwindows; i++) {
		const struct trace_window *w = &t->trace->windows[i];
		u64 start = time_ns(t, w->start), end = MAX(time_ns(t, w->end), start);

		for (u32 edge = 0; edge < 2; edge++) {
			chrome_event(&t->chrome, edge ? 'e' : 'b', t->names[w->name], "window", w->pid, w->pid, edge ? end : start);
			fprintf(t->chrome.file, ",\"id\":\"0x%x\"", i + 1);
			if (edge && w->open)
				event_note(t, TRACE_STILL_OPEN);
			chrome_event_end(&t->chrome);
		}
	}
}

int chrome_trace_write(FILE *file, struct trace *trace, const struct session_facts *facts)
{
	struct samples *regions = &trace->regions;
	struct chrome_trace t = {
		.trace = trace,
		.facts = facts,
		.names = calloc((size_t)regions->nstrings + 1, sizeof(*t.names)),
		.open = calloc((size_t)trace->nthreads + 1, sizeof(*t.open)),
		.ns = calloc((size_t)trace->nthreads + 1, sizeof(*t.ns)),
	};
	bool ok = t.names && t.open && t.ns;

	for (u32 i = 0; ok && i < regions->nstrings; i++)
		ok = (t.names[i] = name_text(&regions->strings[i])) != NULL;
	if (ok) {
		chrome_begin(&t.chrome, file);
		threads_name(&t);
		events_write(&t);
		windows_write(&t);
		chrome_end(&t.chrome);
	}
	for (u32 i = 0; t.names && i < regions->nstrings; i++)
		free(t.names[i]);
	free(t.names);
	free(t.open);
	free(t.ns);
	return ok ? 0 : error("out of memory");
}
