/* SPDX-License-Identifier: MIT */
/*
 * Which regions ran in windows. Two looks at what markers have added up are subtracted: sparkctl's own, if windows
 * are opened from outside, or those that the agent left, of windows of programs, of which sparkctl learns behind them.
 */
#include "cli/session/tracing.h"
#include "cli/session/windows.h"

#include <stdlib.h>

#include "cli/log.h"

static const char regions_looks[] = "by what markers had added up shortly before both edges";
static const char regions_marks[] = "by what markers had added up at both edges";
static const char regions_cut[] = "by what markers had added up at both edges, of the region paths that the agent had room for";
static const char regions_many[] = "too many threads and regions to be added up at its edges: --trace knows them";
static const char regions_unread[] = "could not be read in the program";
static const char regions_none[] = "there was no program with regions";

/* What markers have added up, by the number of a region path. */
struct window_marks {
	u32 n;
	struct window_mark {
		u64 finished, open, ticks;
	} *list;
};

static bool marks_grow(struct window_marks *marks, u32 n)
{
	u32 room = MAX(n, 2 * marks->n);
	struct window_mark *list;

	if (n <= marks->n)
		return true;
	list = realloc(marks->list, room * sizeof(*list));
	if (!list)
		return false;
	for (u32 i = marks->n; i < room; i++)
		list[i] = (struct window_mark){ .ticks = 0 };
	marks->list = list;
	marks->n = room;
	return true;
}

/* Parents come before their children. */
static bool marks_add(struct window_marks *marks, struct samples *paths, const struct profile *profile)
{
	u32 *path = calloc((size_t)profile->nrows + 1, sizeof(*path));
	bool good = path;

	for (u32 i = 0; good && i < profile->nrows; i++) {
		const struct profile_row *row = &profile->rows[i];
		const struct profile_name *name;

		path[i] = SAMPLES_NONE;
		if (row->parent == PROFILE_NONE)
			continue;
		name = &profile->names[row->name];
		path[i] = samples_region(paths, path[row->parent], name->bytes, name->len);
		good = path[i] != SAMPLES_NONE && marks_grow(marks, path[i] + 1);
		if (!good)
			break;
		marks->list[path[i]].finished += row->calls;
		marks->list[path[i]].open += row->open;
		marks->list[path[i]].ticks += row->wall;
	}
	free(path);
	return good;
}

void window_marks_free(struct window_marks *marks)
{
	if (marks)
		free(marks->list);
	free(marks);
}

struct window_marks *window_marks_take(struct session *s)
{
	struct window_marks *marks;
	struct profile now;
	bool good;

	/* That has it all. */
	if (s->tracing || s->options->outside)
		return NULL;
	marks = calloc(1, sizeof(*marks));
	profile_init(&now, PROFILE_BY_REGION);
	for (struct segment *g = s->segments; marks && g; g = g->next)
		harvest_look_regions(s, g, &now);
	/* What the dead left has been added up before. */
	good = marks && marks_add(marks, &s->windows->paths, &s->profile) && marks_add(marks, &s->windows->paths, &now);
	profile_fini(&now);
	if (good)
		return marks;
	window_marks_free(marks);
	error("out of memory for the regions of windows");
	return NULL;
}

#define SUMS_MOST (1ULL << 53)       /* what a double holds: 104 days */

struct marks_edges {
	const struct window_marks *begin, *end;
	u32 bracket;                 /* ticks that markers themselves add to each call */
	bool cut;                    /* the first has not all paths */
};

/* False: memory was short. */
static bool marks_set(const struct session *s, const struct marks_edges *edges, struct window_fact *fact)
{
	struct window_region *list = calloc((size_t)edges->end->n + 1, sizeof(*list));
	u32 n = 0;

	for (u32 i = 0; list && i < edges->end->n; i++) {
		const struct window_mark none = { .ticks = 0 };
		const struct window_mark *b = i < edges->begin->n ? &edges->begin->list[i] : &none, *e = &edges->end->list[i];
		double ticks = (double)(e->ticks - MIN(b->ticks, e->ticks));
		double cost = (double)(e->finished - MIN(b->finished, e->finished)) * edges->bracket;
		double ns = clock_map_duration(&s->clock, ticks - MIN(ticks, cost));
		u64 calls = e->finished + e->open - MIN(b->finished, e->finished + e->open);

		if ((e->ticks <= b->ticks && e->finished <= b->finished) || (edges->cut && !b->finished && !b->open))
			continue;
		/* The program may have written anything. */
		list[n++] = (struct window_region){ .path = i, .calls = MIN(calls, SUMS_MOST), .ns = (u64)MIN(ns, (double)SUMS_MOST) };
	}
	if (list)
		window_set_regions(fact, &s->windows->paths, list, n);
	free(list);
	return list;
}

void window_marks_between(const struct session *s, const struct window_marks *begin, const struct window_marks *end,
			  struct window_fact *fact)
{
	bool good = begin && end && marks_set(s, &(struct marks_edges){ .begin = begin, .end = end }, fact);

	if (!good || !s->windows->paths.nregions)
		fact->cell[WINDOW_REGIONS] = cell_absent(CELL_UNAVAILABLE, regions_none);
	else
		fact->cell[WINDOW_REGIONS] = (struct cell){ fact->cell[WINDOW_REGIONS].value, CELL_ESTIMATE, regions_looks };
}

/* ---- windows that programs open -------------------------------------------------------------------- */

#define ENDED_MOST 8192u             /* threads: they are gone through for each window */

/* The marks of a record whose n are wholly there; NULL: it has none. */
static const struct wire_marks *record_marks(const struct wire_snapshot *snapshot)
{
	const struct wire_marks *marks = (const void *)snapshot->bytes;

	if (snapshot->file != WIRE_MARKS_FILE || snapshot->absent || snapshot->size < offsetof(struct wire_marks, mark) ||
	    marks->n > WIRE_MARKS || snapshot->size < offsetof(struct wire_marks, mark) + marks->n * sizeof(marks->mark[0]))
		return NULL;
	return marks;
}

static const struct wire_marks *edge_marks(const struct wire_view *view, u32 first)
{
	struct wire_walk walk = wire_walk_from(first);
	const struct wire_snapshot *snapshot;
	const struct wire_marks *marks;

	while (walk.hops <= WIRE_FILES && (snapshot = wire_next_snapshot(view, &walk)))
		if ((marks = record_marks(snapshot)))
			return marks;
	return NULL;
}

/* What makes no sense is left out, with what is below it. False: memory was short. */
static bool record_add(struct window_marks *sums, struct samples *paths, const struct wire_view *view,
		       const struct wire_marks *marks)
{
	u32 path[WIRE_MARKS];

	for (u32 i = 0; i < marks->n; i++) {
		const struct wire_mark *mark = &marks->mark[i];
		const char *name;
		size_t length;

		path[i] = SAMPLES_NONE;
		if (mark->parent > i || (mark->parent && path[mark->parent - 1] == SAMPLES_NONE) ||
		    paths->nregions >= PROFILE_ROWS_MAX || !wire_view_name(view, mark->name, &name, &length))
			continue;
		path[i] = samples_region(paths, mark->parent ? path[mark->parent - 1] : SAMPLES_NONE, name, length);
		if (path[i] == SAMPLES_NONE || !marks_grow(sums, path[i] + 1))
			return false;
		sums->list[path[i]].finished += mark->calls;
		sums->list[path[i]].open += mark->open;
		sums->list[path[i]].ticks += mark->ticks;
	}
	return true;
}

/* Threads that ended between the edges. Returns flags of their records; -1: memory was short. */
static s64 ended_add(struct window_marks *sums, struct samples *paths, const struct wire_view *view,
		     const struct wire_marks *begin, const struct wire_marks *end)
{
	struct wire_walk walk = wire_walk_from(wire_view_header(view)->ended);
	const struct wire_snapshot *snapshot;
	u32 flags = 0;

	while (walk.hops < ENDED_MOST && (snapshot = wire_next_snapshot(view, &walk))) {
		const struct wire_marks *marks = record_marks(snapshot);

		if (!marks || marks->pid != end->pid || marks->ticks <= begin->ticks || marks->ticks > end->ticks)
			continue;
		flags |= marks->flags;
		if (!record_add(sums, paths, view, marks))
			return -1;
	}
	return walk.hops >= ENDED_MOST || walk.broken ? flags | WIRE_MARKS_MANY : flags;
}

static struct cell marked_cell(struct session *s, const struct marks_edges *edges, u32 flags, struct window_fact *fact)
{
	if (!marks_set(s, edges, fact)) {
		error("out of memory for the regions of windows");
		return cell_absent(CELL_UNAVAILABLE, regions_unread);
	}
	return (struct cell){ fact->cell[WINDOW_REGIONS].value, CELL_ESTIMATE, flags & WIRE_MARKS_CUT ? regions_cut : regions_marks };
}

void windows_marked(struct session *s, struct window_fact *fact, const struct wire_view *view, const struct wire_window *window)
{
	const struct wire_marks *begin = edge_marks(view, window->snapshots[0]), *end = edge_marks(view, window->snapshots[1]);
	const struct wire_process *process = wire_view_process_of(view, window->pid);
	struct samples *paths = &s->windows->paths;
	struct window_marks sums[2] = { { .n = 0 }, { .n = 0 } };
	struct marks_edges edges = { &sums[0], &sums[1], process ? process->bracket : 0, begin && begin->flags & WIRE_MARKS_CUT };
	struct cell *cell = &fact->cell[WINDOW_REGIONS];
	s64 flags = -1;

	*cell = cell_absent(CELL_UNAVAILABLE, regions_unread);
	if (!begin || !end || s->tracing)
		return;
	if (record_add(&sums[0], paths, view, begin) && record_add(&sums[1], paths, view, end))
		flags = ended_add(&sums[1], paths, view, begin, end);
	if (flags < 0)
		error("out of memory for the regions of windows");
	else if ((flags | begin->flags | end->flags) & WIRE_MARKS_MANY)
		*cell = cell_absent(CELL_UNAVAILABLE, regions_many);
	else if (!wire_view_header(view)->claims)
		*cell = cell_absent(CELL_UNAVAILABLE, regions_none);
	else
		*cell = marked_cell(s, &edges, (u32)flags | begin->flags | end->flags, fact);
	free(sums[0].list);
	free(sums[1].list);
}

void windows_traced(struct session *s)
{
	struct windows *w = s->windows;

	if (s->tracing && w->n)
		window_trace_regions(w->list, w->n, &s->tracing->trace, &s->clock);
}
