/* SPDX-License-Identifier: MIT */
/*
 * Which regions ran in windows. Of those that are opened from outside two looks at what markers have added up are
 * subtracted; of those of programs, of which sparkctl learns behind them, only a trace has the times.
 */
#include "cli/session/tracing.h"
#include "cli/session/windows.h"

#include <stdlib.h>

#include "cli/log.h"

static const char regions_looks[] = "by what markers had added up shortly before both edges";
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

void window_marks_between(const struct session *s, const struct window_marks *begin, const struct window_marks *end,
			  struct window_fact *fact)
{
	struct window_region *list = begin && end ? calloc((size_t)end->n + 1, sizeof(*list)) : NULL;
	u32 n = 0;

	for (u32 i = 0; list && i < end->n; i++) {
		const struct window_mark none = { .ticks = 0 };
		const struct window_mark *b = i < begin->n ? &begin->list[i] : &none, *e = &end->list[i];

		if (e->ticks <= b->ticks && e->finished <= b->finished)
			continue;
		list[n++] = (struct window_region){
			.path = i, .calls = e->finished + e->open - MIN(b->finished, e->finished + e->open),
			.ns = (u64)clock_map_duration(&s->clock, (double)(e->ticks - MIN(b->ticks, e->ticks))),
		};
	}
	if (list)
		window_set_regions(fact, &s->windows->paths, list, n);
	free(list);
	if (!list || !s->windows->paths.nregions)
		fact->cell[WINDOW_REGIONS] = cell_absent(CELL_UNAVAILABLE, regions_none);
	else
		fact->cell[WINDOW_REGIONS] = (struct cell){ fact->cell[WINDOW_REGIONS].value, CELL_ESTIMATE, regions_looks };
}

void windows_traced(struct session *s)
{
	struct windows *w = s->windows;

	if (s->tracing && w->n)
		window_trace_regions(w->list, w->n, &s->tracing->trace, &s->clock);
}
