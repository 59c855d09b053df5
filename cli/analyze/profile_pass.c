/* SPDX-License-Identifier: MIT */
/*
 * Counts of another run of the same command, by which a profile becomes whole: for events that there
 * was no counter for. Rows are the same if their process has the same number in its run and their
 * path the same names.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/profile_build.h"
#include "cli/log.h"

struct pass {
	struct profile *to;
	const struct profile *from;
	u32 *rows;                   /* of from: the same one of to */
	u32 events, groups;          /* of to's plan, before */
};

/* Cells of the wider plan: sources, counts of both, times of both. What the other run does not have is absent. */
static int pass_widen(const struct pass *pass)
{
	u32 first = source_cells(SOURCE_ALL), n = profile_cells(pass->to), i, k;

	for (i = 0; i < pass->to->nrows; i++) {
		struct profile_row *row = &pass->to->rows[i];
		u64 *cells = malloc(n * sizeof(*cells));

		if (!cells)
			return -1;
		for (k = 0; k < n; k++)
			cells[k] = WIRE_ABSENT(WIRE_ABSENT_PASS);
		if (row->cells) {
			memcpy(cells, row->cells, (first + pass->events) * sizeof(*cells));
			memcpy(cells + first + pass->to->plan_events, row->cells + first + pass->events,
			       2 * pass->groups * sizeof(*cells));
		}
		free(row->cells);
		row->cells = cells;
	}
	return 0;
}

static void pass_take(const struct pass *pass, struct profile_row *to, const struct profile_row *from)
{
	u32 first = source_cells(SOURCE_ALL);

	if (!from->cells)
		return;
	to->cells_lost = to->cells_lost || from->cells_lost;
	memcpy(to->cells + first + pass->events, from->cells + first, pass->from->plan_events * sizeof(u64));
	memcpy(to->cells + first + pass->to->plan_events + 2 * pass->groups, from->cells + first + pass->from->plan_events,
	       2 * pass->from->plan_groups * sizeof(u64));
}

static void pass_rows(const struct pass *pass)
{
	const struct profile *from = pass->from;
	u32 i;

	for (i = 0; i < from->nrows; i++) {
		const struct profile_row *row = &from->rows[i];
		const struct profile_name *name = &from->names[row->name];

		if (row->parent == PROFILE_NONE)
			pass->rows[i] = profile_find_row(pass->to, row->process, row->tid, NULL, 0);
		else
			pass->rows[i] = profile_find_child(pass->to, pass->rows[row->parent], name->bytes, name->len);
		if (pass->rows[i] != PROFILE_NONE)
			pass_take(pass, &pass->to->rows[pass->rows[i]], row);
	}
}

static void pass_events(const struct pass *pass, struct profile_event *events, const struct pass_notes *note)
{
	u32 i, k;

	for (i = 0; i < pass->from->nevents; i++)
		for (k = 0; k < pass->to->nevents; k++) {
			const struct profile_event *counted = &pass->from->events[i];

			if (counted->place == PROFILE_NONE || strcmp(counted->name, events[k].name) != 0)
				continue;
			events[k] = *counted;
			events[k].place += pass->events;
			events[k].group += pass->groups;
			events[k].pass = !counted->note ? note->any : strcmp(counted->note, CELL_NOTE_USER) ? counted->note : note->user;
		}
}

int profile_add_pass(struct profile *to, struct profile_event *events, const struct profile *from,
		     const struct pass_notes *note)
{
	struct pass pass = { to, from, calloc((size_t)from->nrows + 1, sizeof(u32)), to->plan_events, to->plan_groups };
	int ret;

	to->plan_events += from->plan_events;
	to->plan_groups += from->plan_groups;
	ret = pass.rows ? pass_widen(&pass) : -1;
	if (ret) {
		error("out of memory for the events");
	} else {
		pass_rows(&pass);
		pass_events(&pass, events, note);
	}
	free(pass.rows);
	return ret;
}
