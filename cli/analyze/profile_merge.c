/* SPDX-License-Identifier: MIT */
/*
 * Adding one profile to another: what a recording keeps by thread becomes sums by process or by
 * region, and a run that goes on is looked at without being disturbed.
 */
#include <stdlib.h>

#include "cli/analyze/profile.h"
#include "cli/analyze/profile_build.h"
#include "cli/log.h"
#include "common/source_table.h"

struct profile_merger {
	struct profile *to;
	const struct profile *from;
	bool *kept;                  /* rows of from that are added; NULL: all */
	u32 *names;                  /* of from, as numbers in to */
	u32 *rows;
};

static u32 merge_name(const struct profile_merger *merger, u32 name)
{
	return name == PROFILE_NONE ? PROFILE_NONE : merger->names[name];
}

static void merge_names(struct profile_merger *merger)
{
	u32 i;

	for (i = 0; i < merger->from->nnames && !merger->to->no_memory; i++)
		merger->names[i] = profile_intern(merger->to, merger->from->names[i].bytes,
						  merger->from->names[i].len);
}

static void merge_hist(struct profile_merger *merger, struct hist *to, const struct hist *from)
{
	u32 octave, i;

	for (octave = 0; octave < WIRE_HIST_OCTAVES; octave++) {
		if (!from->octave[octave])
			continue;
		if (!to->octave[octave])
			to->octave[octave] = calloc(WIRE_HIST_SUB, sizeof(u64));
		if (!to->octave[octave])
			merger->to->no_memory = true;
		for (i = 0; to->octave[octave] && i < WIRE_HIST_SUB; i++)
			to->octave[octave][i] += from->octave[octave][i];
	}
}

static void merge_cells(struct profile_merger *merger, struct profile_row *to, const struct profile_row *from)
{
	u32 i, n = profile_cells(merger->to);

	to->cells_lost = to->cells_lost || from->cells_lost;
	if (!from->cells)
		return;
	if (!to->cells)
		to->cells = calloc(n, sizeof(u64));
	if (!to->cells)
		merger->to->no_memory = true;
	for (i = 0; to->cells && i < n; i++)
		profile_add_cell(&to->cells[i], from->cells[i]);
}

static void merge_units(const struct profile_merger *merger, struct profile_row *to, const struct profile_row *from)
{
	u32 unit = merge_name(merger, from->unit);

	if (!from->units)
		return;
	if (from->unit_mixed || (to->units && to->unit != unit))
		to->unit_mixed = true;
	to->unit = unit;
	to->units += from->units;
}

static void merge_row(struct profile_merger *merger, u32 row, const struct profile_row *from)
{
	struct profile_row *to = &merger->to->rows[row];

	to->calls += from->calls;
	to->open += from->open;
	to->left += from->left;
	to->wall += from->wall;
	to->off += from->off;
	to->min = MIN(to->min, from->min);
	to->max = MAX(to->max, from->max);
	to->raw_wall += from->raw_wall;
	to->bracket += from->bracket;
	to->unsure += from->unsure;
	to->crossed += from->crossed;
	to->bounds = to->bounds || from->bounds;
	if (from->cpu_state > to->cpu_state) {
		to->cpu_state = from->cpu_state;
		to->cpu_note = from->cpu_note;
	}
	merge_units(merger, to, from);
	merge_cells(merger, to, from);
	merge_hist(merger, &to->hist, &from->hist);
}

static void merge_rows(struct profile_merger *merger)
{
	const struct profile *from = merger->from;
	u32 i;

	for (i = 0; i < from->nrows && !merger->to->no_memory; i++) {
		const struct profile_row *row = &from->rows[i];

		merger->rows[i] = PROFILE_NONE;
		if (merger->kept && !merger->kept[i])
			continue;
		if (row->parent == PROFILE_NONE)
			merger->rows[i] = profile_root(merger->to, row->process, row->pid, row->tid);
		else
			merger->rows[i] = profile_child(merger->to, merger->rows[row->parent],
							merge_name(merger, row->name));
		if (merger->rows[i] != PROFILE_NONE)
			merge_row(merger, merger->rows[i], row);
	}
}

static void merge_values(struct profile_merger *merger)
{
	struct profile_value *to;
	u32 i;

	for (i = 0; i < merger->from->nvalues && !merger->to->no_memory; i++) {
		const struct profile_value *value = &merger->from->values[i];

		if (!value->count || merger->rows[value->row] == PROFILE_NONE)
			continue;
		to = profile_value(merger->to, merger->rows[value->row], merge_name(merger, value->name));
		if (!to)
			return;
		to->min = to->count && to->min < value->min ? to->min : value->min;
		to->max = to->count && to->max > value->max ? to->max : value->max;
		to->count += value->count;
		to->sum += value->sum;
		to->last = value->last;
		to->bounds = to->bounds || value->bounds;
	}
}

static void merge_windows(struct profile_merger *merger)
{
	bool merge = merger->to->group == PROFILE_BY_REGION;
	struct profile_window *to;
	u32 i;

	for (i = 0; i < merger->from->nwindows; i++) {
		const struct profile_window *window = &merger->from->windows[i];

		to = profile_window(merger->to, merge ? 0 : window->process, merge ? 0 : window->pid,
				    merge_name(merger, window->name));
		if (!to)
			return;
		to->calls += window->calls;
		to->open += window->open;
		to->wall += window->wall;
		usage_add(&to->usage, &window->usage);
		snapshot_add(to->snapshot, window->snapshot);
	}
}

/* What is of one thread stays so in every grouping. */
static void merge_lists(struct profile_merger *merger)
{
	const struct profile *from = merger->from;
	struct profile_diag diag;
	u32 i;

	for (i = 0; i < from->nthreads && !merger->to->no_memory; i++)
		profile_add_thread(merger->to, &from->threads[i]);
	for (i = 0; i < from->ndiags && !merger->to->no_memory; i++) {
		diag = from->diags[i];
		diag.name = merge_name(merger, diag.name);
		profile_add_diag(merger->to, &diag);
	}
	for (i = 0; i < from->nopens && !merger->to->no_memory; i++) {
		diag = from->opens[i];
		diag.name = merge_name(merger, diag.name);
		profile_add_open(merger->to, &diag);
	}
}

static void merge_origins(struct profile_merger *merger)
{
	struct profile_origin origin;
	u32 i;

	for (i = 0; i < merger->from->norigins && !merger->to->no_memory; i++) {
		origin = merger->from->origins[i];
		origin.name = merge_name(merger, origin.name);
		origin.library = merge_name(merger, origin.library);
		origin.caller = merge_name(merger, origin.caller);
		profile_add_origin(merger->to, &origin);
	}
}

int profile_merge(struct profile *to, const struct profile *from)
{
	return profile_merge_rows(to, from, NULL);
}

int profile_merge_rows(struct profile *to, const struct profile *from, bool *keep)
{
	struct profile_merger merger = { .to = to, .from = from, .kept = keep };
	u32 i;

	if (!to->events) {
		to->events = from->events;
		to->nevents = from->nevents;
		to->plan_events = from->plan_events;
		to->plan_groups = from->plan_groups;
	}
	if (!to->disks)
		to->disks = from->disks;
	merger.names = calloc((size_t)from->nnames + 1, sizeof(*merger.names));
	merger.rows = calloc((size_t)from->nrows + 1, sizeof(*merger.rows));
	/* A parent stands before its children. */
	for (i = keep ? from->nrows : 0; i--;)
		if (keep[i] && from->rows[i].parent != PROFILE_NONE)
			keep[from->rows[i].parent] = true;
	if (merger.names && merger.rows) {
		merge_names(&merger);
		merge_rows(&merger);
		merge_values(&merger);
		merge_windows(&merger);
		merge_lists(&merger);
		merge_origins(&merger);
	} else {
		to->no_memory = true;
	}
	for (i = 0; i < PROFILE_LOSS_COUNT; i++)
		to->losses[i] += from->losses[i];
	to->repaired += from->repaired;
	to->pairs += from->pairs;
	to->pair_cost += from->pair_cost;
	to->sources |= from->sources;
	free(merger.names);
	free(merger.rows);
	return to->no_memory ? error("out of memory for the regions") : 0;
}
