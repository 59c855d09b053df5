/* SPDX-License-Identifier: MIT */
/* Windows one by one; see windows.h. */
#define _GNU_SOURCE
#include "cli/session/functions.h"
#include "cli/session/tracing.h"
#include "cli/session/windows.h"

#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/text.h"

static const char window_no_part[] = "its measured part was never marked";
static const char window_still_open[] = "the window was still open";
static const char window_no_records[] = "the kernel gives no records of threads here";
static const char window_lost[] = "records of threads came too fast to be read";
static const char window_hidden[] = "the kernel takes its records off programs that run with other rights than their user's";

int windows_open(struct session *s)
{
	const struct session_windows *o = s->options->windows;
	struct windows *w = s->windows = calloc(1, sizeof(*w));

	if (!w)
		return error("out of memory");
	samples_init(&w->paths);
	w->channel.control = w->channel.ack = w->phases.control = w->phases.own[0] = w->phases.own[1] = -1;
	if (!o)
		return 0;
	w->channel.control = o->control;
	w->channel.ack = o->ack;
	w->delays = delay_probe(&s->caps).available == CAPS_YES;
	w->reader = window_reader_new();
	return w->reader && (!o->phase || !phases_open(&w->phases, o->phase)) ? 0 : -1;
}

void windows_free(struct session *s)
{
	struct windows *w = s->windows;

	if (!w)
		return;
	for (u32 i = 0; i < w->n; i++) {
		free((void *)(uintptr_t)w->list[i].name);
		free((void *)(uintptr_t)w->list[i].disk);
		free(w->list[i].regions);
	}
	for (u32 i = 0; i < w->nopen; i++)
		window_reading_free(w->open[i].begin);
	free(w->list);
	samples_fini(&w->paths);
	free(w->open);
	window_reader_free(w->reader);
	phases_close(&w->phases);
	thread_history_free(&w->threads);
	free(w);
	s->windows = NULL;
}

/* ---- the list -------------------------------------------------------------------------------------- */

static struct window_fact *list_add(struct windows *w, const char *name, size_t len)
{
	struct window_fact *list = w->list, *fact;
	char *copy = NULL;

	if (w->n == WINDOWS_MOST)
		return NULL;
	if (w->n == w->room) {
		u32 room = w->room ? 2 * w->room : 16;

		list = realloc(list, room * sizeof(*list));
		if (list) {
			w->list = list;
			w->room = room;
		}
	}
	if (list)
		copy = malloc(len + 1);
	if (!copy) {
		error("out of memory for the windows");
		return NULL;
	}
	memcpy(copy, name, len);
	copy[len] = '\0';
	fact = &list[w->n++];
	*fact = (struct window_fact){ .name = copy, .len = len };
	for (u32 i = 0; i < WINDOW_CELLS; i++)
		fact->cell[i] = cell_absent(CELL_UNAVAILABLE, window_still_open);
	return fact;
}

struct window_open *window_find_open(struct windows *w, const char *name, size_t len)
{
	for (u32 i = 0; i < w->nopen; i++)
		if (w->list[w->open[i].number].len == len && !memcmp(w->list[w->open[i].number].name, name, len))
			return &w->open[i];
	return NULL;
}

/* ---- edges ----------------------------------------------------------------------------------------- */

static bool refuse(struct windows *w, const char *name, size_t len, const char *why)
{
	char text[256];

	if (w->channel.complaints++ > 8)
		return false;
	text_escape(text, sizeof(text), name, len);
	warning("the window '%s' %s", text, why);
	return false;
}

bool windows_begin(struct session *s, const char *name, size_t len)
{
	struct windows *w = s->windows;
	struct window_open *open = w->open;
	struct window_fact *fact;

	if (len > WINDOW_NAME_MOST)
		return refuse(w, name, WINDOW_NAME_MOST, "has a name of more than 1024 bytes: not opened");
	if (window_find_open(w, name, len))
		return refuse(w, name, len, "is open already: this begin is left out");
	if (w->nopen == w->open_room) {
		u32 room = w->open_room ? 2 * w->open_room : 8;

		open = realloc(open, room * sizeof(*open));
		if (!open)
			return error("out of memory for the windows"), false;
		w->open = open;
		w->open_room = room;
	}
	fact = list_add(w, name, len);
	if (!fact) {
		w->unopened++;
		return false;
	}
	open = &w->open[w->nopen++];
	*open = (struct window_open){ .number = w->n - 1, .phase = WINDOW_MEASURED };
	open->begin = window_reading_take(s, w->reader);
	fact->open = true;
	fact->begin_ns = fact->from_ns = fact->to_ns = open->begin ? open->begin->ns : session_now() - s->start_ns;
	fact->end_ns = fact->begin_ns;
	w->next_ns = session_now() + SESSION_TICK_NS;
	return open->begin != NULL;
}

static void window_sum(struct session *s, const struct window_fact *fact, bool open, const struct usage *usage,
		       const struct cell *snapshot)
{
	struct profile_window sum = { .calls = 1, .open = open, .usage = *usage };

	sum.wall = clock_map_ticks(&s->clock, s->start_ns + fact->to_ns) - clock_map_ticks(&s->clock, s->start_ns + fact->from_ns);
	memcpy(sum.snapshot, snapshot, sizeof(sum.snapshot));
	profile_add_window(&s->profile, &sum, fact->name, fact->len);
}

/* The measured part is over, or goes on and is cut here. */
static void window_settle(struct session *s, struct window_open *open, const struct window_reading *end, bool goes_on)
{
	struct window_fact *fact = &s->windows->list[open->number];
	struct cell snapshot[SNAPSHOT_CELLS];
	struct usage usage;

	if (!end || open->settled)
		return;
	open->settled = true;
	if (open->begin) {
		window_reading_between(s, open->begin, end, fact, &usage, snapshot);
		if (fact->by_lines)
			phase_late(fact, &usage, snapshot);
		window_sum(s, fact, goes_on, &usage, snapshot);
	} else {
		for (u32 i = 0; i < WINDOW_CELLS; i++)
			fact->cell[i] = cell_absent(CELL_UNAVAILABLE, window_no_part);
		fact->from_ns = fact->to_ns = end->ns;
	}
	window_reading_free(open->begin);
	open->begin = NULL;
}

void window_close_at(struct session *s, struct window_open *open, bool ended, u64 at)
{
	struct windows *w = s->windows;
	struct window_fact *fact = &w->list[open->number];
	struct window_reading *end = window_reading_take(s, w->reader);

	if (end)
		end->ns = MAX(MIN(end->ns, at), fact->from_ns);
	fact->open = !ended;
	fact->end_ns = end ? end->ns : session_now() - s->start_ns;
	window_settle(s, open, end, !ended);
	window_reading_free(end);
	*open = w->open[--w->nopen];
}

static void window_close(struct session *s, struct window_open *open, bool ended)
{
	window_close_at(s, open, ended, UINT64_MAX);
}

bool windows_end(struct session *s, const char *name, size_t len)
{
	struct window_open *open = window_find_open(s->windows, name, len);

	if (!open)
		return refuse(s->windows, name, len, "is not open: this end is left out");
	window_close(s, open, true);
	return true;
}

bool windows_phase(struct session *s, const char *name, size_t len, enum window_phase phase)
{
	struct windows *w = s->windows;
	struct window_open *open = window_find_open(w, name, len);
	struct window_fact *fact;
	struct window_reading *now;

	if (!open)
		return refuse(w, name, len, "is not open: its part is left out");
	fact = &w->list[open->number];
	if (phase == WINDOW_COOLDOWN ? open->phase == WINDOW_COOLDOWN : fact->marked && open->phase + 1 != phase)
		return refuse(w, name, len, "has its parts in the order warmup, measured, cooldown, each once: this one is left out");
	fact->marked = true;
	open->phase = phase;
	if (phase == WINDOW_WARMUP) {
		window_reading_free(open->begin);
		open->begin = NULL;
		return true;
	}
	now = window_reading_take(s, w->reader);
	if (phase == WINDOW_MEASURED) {
		window_reading_free(open->begin);
		open->begin = now;
		return true;
	}
	window_settle(s, open, now, false);
	window_reading_free(now);
	return true;
}

/* ---- the run --------------------------------------------------------------------------------------- */

void windows_start(struct session *s)
{
	const struct session_windows *o = s->options->windows;

	thread_history_add(&s->windows->threads, 0, true);
	for (size_t i = 0; s->attached && i < s->processes.count; i++)
		for (u32 k = i ? 0 : 1; k < s->processes.list[i]->threads; k++)
			thread_history_add(&s->windows->threads, 0, true);
	if (!o)
		return;
	files_choose(s);
	if (!o->whole || !windows_begin(s, o->whole, strlen(o->whole)) || s->attached)
		return;
	/* It begins with the command. */
	s->windows->list[0].begin_ns = s->windows->list[0].from_ns = s->windows->open[0].begin->ns = 0;
}

int windows_descriptor(const struct session *s)
{
	return s->windows->channel.control;
}

int windows_phases_descriptor(const struct session *s)
{
	return s->windows->phases.control;
}

u64 windows_until(const struct session *s, u64 until)
{
	return s->windows->nopen ? MIN(until, s->windows->next_ns) : until;
}

void windows_look(struct session *s, u64 now)
{
	struct windows *w = s->windows;

	if (!w->reader)
		return;
	window_channel_read(s, false);
	phases_look(s, false);
	if (!w->nopen || now < w->next_ns)
		return;
	w->next_ns = now + SESSION_TICK_NS;
	window_reader_look(s, w->reader);
}

/* What a script said before the command ended is done before; what is open then was never ended. */
void windows_ending(struct session *s, bool last)
{
	struct windows *w = s->windows;
	const char *whole = w->reader ? s->options->windows->whole : NULL;
	struct window_open *open;

	if (!w->reader)
		return;
	window_channel_read(s, true);
	phases_look(s, true);
	if (last && w->phases.len && (open = window_find_open(w, w->phases.name, w->phases.len))) {
		window_close(s, open, true);
		w->phases.len = 0;
	}
	/* The list of open ones may have moved. */
	open = whole ? window_find_open(w, whole, strlen(whole)) : NULL;
	if (open)
		window_close(s, open, true);
	while (last && w->nopen) {
		const struct window_fact *fact = &w->list[w->open[0].number];

		refuse(w, fact->name, fact->len, "was never ended: it is shown until the end of the run");
		window_close(s, &w->open[0], false);
	}
}

void windows_thread(struct session *s, struct process *p, u64 ns, bool began)
{
	/* Who was there when we came has been counted. */
	if (!s->windows || (!ns && s->attached))
		return;
	thread_history_add(&s->windows->threads, ns, began);
	s->windows->exits += !began;
	if (!p)
		return;
	/* Nobody needs it of a process with one thread. */
	for (u32 i = 0; began && !p->history.n && i + 1 < p->threads; i++)
		thread_history_add(&p->history, p->facts.start_ns, true);
	if (p->history.n)
		thread_history_add(&p->history, ns, began);
}

/* ---- windows that programs open -------------------------------------------------------------------- */

/* The text of /proc/diskstats at an edge; NULL: it was not read. */
static const struct wire_snapshot *inside_disks(const struct wire_view *view, u32 first)
{
	struct wire_walk walk = wire_walk_from(first);
	const struct wire_snapshot *snapshot;

	while (walk.hops <= WIRE_FILES && (snapshot = wire_next_snapshot(view, &walk)))
		if (snapshot->file < SNAPSHOT_FILES && !snapshot->absent &&
		    !strcmp(snapshot_files[snapshot->file].path, "/proc/diskstats"))
			return snapshot;
	return NULL;
}

static void inside_cells(struct session *s, struct window_fact *fact, const struct wire_view *view,
			 const struct wire_window *window)
{
	struct cell snapshot[SNAPSHOT_CELLS];
	const struct wire_snapshot *begin = inside_disks(view, window->snapshots[0]);
	const struct wire_snapshot *end = inside_disks(view, window->snapshots[1]);
	const char *lacks = profile_window_lacks(window);
	struct usage usage;

	if (lacks || !window->begin_usage.valid || !window->end_usage.valid)
		usage_fill_absent(&usage, lacks ? lacks : "could not be read in the program");
	else
		usage_between(&usage, &window->begin_usage, &window->end_usage);
	window_take_usage(fact, &usage);
	profile_window_snapshots(snapshot, &s->profile, view, window);
	window_take_snapshot(fact, snapshot);
	if (lacks)
		fact->cell[WINDOW_REGIONS] = cell_absent(CELL_UNAVAILABLE, lacks);
	else
		windows_marked(s, fact, view, window);
	if (begin && end)
		fact->disk = window_disk(begin->bytes, begin->size, end->bytes, end->size, s->disks, &fact->disk_read,
					 &fact->disk_written);
	fact->cell[WINDOW_DELAY] = cell_absent(CELL_UNAVAILABLE, "delays are not read at the edges of windows that programs open");
}

/* When it was, and its measured part. */
static void inside_times(const struct session *s, struct window_fact *fact, const struct wire_window *window, u64 gone_ns)
{
	bool measured = window->from != WIRE_NEVER;
	u64 begin = clock_map_ns(&s->clock, window->start), from = measured ? clock_map_ns(&s->clock, window->from) : 0;
	u64 to = clock_map_ns(&s->clock, window->to), end;

	fact->open = window->state != WIRE_WINDOW_ENDED;
	fact->marked = window->part != WIRE_WINDOW_WHOLE;
	end = fact->open ? s->start_ns + gone_ns : clock_map_ns(&s->clock, window->end);
	fact->begin_ns = begin - MIN(begin, s->start_ns);
	fact->end_ns = MAX(end - MIN(end, s->start_ns), fact->begin_ns);
	/* A stranger may have written it. */
	fact->from_ns = measured ? MIN(MAX(from - MIN(from, s->start_ns), fact->begin_ns), fact->end_ns) : fact->end_ns;
	fact->to_ns = window->to ? MIN(MAX(to - MIN(to, s->start_ns), fact->from_ns), fact->end_ns) : fact->end_ns;
}

void windows_inside(struct session *s, const struct segment *segment, const struct wire_view *view)
{
	struct wire_walk walk = wire_walk_windows(view);
	const struct wire_window *window;

	while (s->windows && walk.hops < WIRE_WINDOWS && (window = wire_next_window(view, &walk))) {
		const struct process *p = segment_process(segment, window->pid);
		struct window_fact *fact;
		const char *name;
		size_t length;

		if (!p || !window->state || !wire_view_name(view, window->name, &name, &length))
			continue;
		fact = list_add(s->windows, name, length);
		if (!fact) {
			s->windows->lost++;
			continue;
		}
		inside_times(s, fact, window, p->facts.end_ns);
		fact->process = p->facts.id;
		fact->pid = p->facts.pid;
		if (!profile_window_lacks(window) || !fact->open)
			inside_cells(s, fact, view, window);
	}
}

/* ---- facts ----------------------------------------------------------------------------------------- */

/* The time of its threads, by the kernel's records. */
static struct cell window_threads(const struct session *s, const struct window_fact *fact)
{
	const struct process *p = fact->process ? s->processes.list[fact->process - 1] : NULL;

	if (!s->track.count)
		return cell_absent(CELL_UNAVAILABLE, window_no_records);
	if (s->track.lost)
		return cell_absent(CELL_UNAVAILABLE, window_lost);
	if (s->hidden && !p)
		return cell_absent(CELL_UNAVAILABLE, window_hidden);
	if (p && !p->history.n)
		return cell_counted((double)(fact->to_ns - fact->from_ns));
	return thread_history_between(p ? &p->history : &s->windows->threads, fact->from_ns, fact->to_ns);
}

static int fact_order(const void *a, const void *b)
{
	const struct window_fact *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

void windows_facts(struct session *s)
{
	struct windows *w = s->windows;

	if (!w)
		return;
	/* The run may be looked at while they are open, and this may be the last look. */
	for (u32 i = 0; i < w->nopen; i++) {
		struct window_fact *fact = &w->list[w->open[i].number];

		fact->end_ns = MAX(session_now() - s->start_ns, fact->begin_ns);
		if (!w->open[i].settled)
			fact->to_ns = fact->end_ns;
	}
	for (u32 i = 0; i < w->n; i++)
		if (cell_has_value(&w->list[i].cell[WINDOW_CPU]))
			w->list[i].cell[WINDOW_THREADS] = window_threads(s, &w->list[i]);
	/* Numbers of open ones are places. */
	if (w->n && !w->nopen)
		qsort(w->list, w->n, sizeof(*w->list), fact_order);
	s->facts.windows = w->list;
	s->facts.nwindows = w->n;
	if (s->over)
		functions_name_regions(s, &w->paths);
	s->facts.window_paths = s->tracing ? &s->tracing->trace.regions : &w->paths;
}
