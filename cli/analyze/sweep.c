/* SPDX-License-Identifier: MIT */
/* See sweep.h. */
#include "cli/analyze/sweep.h"

#include <stdio.h>
#include <string.h>

#define NOISE 64                       /* refaults that mean nothing */

const char *const sweep_cell_names[SWEEP_CELLS] = {
	[SWEEP_WALL] = "wall", [SWEEP_MAJFLT] = "majflt", [SWEEP_REFAULTS] = "refaults",
	[SWEEP_PRESSURE] = "psi.memory.some", [SWEEP_PEAK] = "memory_peak", [SWEEP_KILLS] = "oom_kills",
};

const char *const sweep_cell_units[SWEEP_CELLS] = {
	[SWEEP_WALL] = "ns", [SWEEP_MAJFLT] = "count", [SWEEP_REFAULTS] = "count",
	[SWEEP_PRESSURE] = "ns", [SWEEP_PEAK] = "B", [SWEEP_KILLS] = "count",
};

static struct cell total_of(const struct session_facts *facts, const char *name)
{
	for (size_t i = 0; i < facts->ntotals; i++)
		if (!strcmp(facts->totals[i].name, name))
			return facts->totals[i].cell;
	return cell_absent(CELL_UNAVAILABLE, "this run did not count it");
}

bool sweep_killed(const struct sweep_row *row)
{
	return cell_has_value(&row->cells[SWEEP_KILLS]) && row->cells[SWEEP_KILLS].value > 0;
}

void sweep_take(struct sweep_row *row, const struct session_facts *facts)
{
	row->cells[SWEEP_WALL] = total_of(facts, "elapsed");
	row->cells[SWEEP_MAJFLT] = total_of(facts, "cgroup.majflt");
	row->cells[SWEEP_REFAULTS] = cell_add(total_of(facts, "cgroup.refault_file"), total_of(facts, "cgroup.refault_anon"));
	row->cells[SWEEP_PRESSURE] = total_of(facts, "cgroup.psi.memory.some");
	row->cells[SWEEP_PEAK] = total_of(facts, "cgroup.memory_peak");
	row->cells[SWEEP_KILLS] = total_of(facts, "cgroup.oom_kills");
	for (size_t i = 0; i < SWEEP_CELLS; i++) {
		snprintf(row->notes[i], sizeof(row->notes[i]), "%s", row->cells[i].note ? row->cells[i].note : "");
		row->cells[i].note = row->notes[i][0] ? row->notes[i] : NULL;
	}
	row->status = facts->status;
	row->signal = facts->signal;
	row->timeout = facts->timeout;
}

/* Nearly all that came back would not have been taken by a larger one. */
static bool row_is_short(const struct sweep_row *row, double most)
{
	const struct cell *refaults = &row->cells[SWEEP_REFAULTS];

	return sweep_killed(row) || (most >= NOISE && cell_has_value(refaults) && refaults->value > most / 10);
}

void sweep_judge(struct sweep *sweep)
{
	const struct sweep_row *least = NULL, *largest = NULL;
	u64 too_small = 0;
	double most = 0;

	sweep->knee = NULL;
	sweep->why = NULL;
	for (size_t i = 0; i < sweep->nrows; i++) {
		const struct sweep_row *row = &sweep->rows[i];

		if (!cell_has_value(&row->cells[SWEEP_REFAULTS])) {
			sweep->why = "refaults are not known";
			return;
		}
		most = row->cells[SWEEP_REFAULTS].value > most ? row->cells[SWEEP_REFAULTS].value : most;
		largest = !largest || row->limit > largest->limit ? row : largest;
	}
	for (size_t i = 0; i < sweep->nrows; i++)
		if (row_is_short(&sweep->rows[i], most) && sweep->rows[i].limit > too_small)
			too_small = sweep->rows[i].limit;
	for (size_t i = 0; i < sweep->nrows; i++)
		if (sweep->rows[i].limit > too_small && (!least || sweep->rows[i].limit < least->limit))
			least = &sweep->rows[i];
	if (!too_small)
		sweep->why = "all of them were enough";
	else if (!least)
		sweep->why = "none of them was enough";
	else
		sweep->knee = least;
}
