/* SPDX-License-Identifier: MIT */
/* The same for programs: schema spark-sweep/1. */
#include "cli/output/json_build.h"
#include "cli/output/sweep.h"

static json_t *row_object(const struct sweep_row *row)
{
	json_t *object = json_object(), *cells = json_object();

	for (size_t i = 0; i < SWEEP_CELLS; i++) {
		const struct cell *cell = &row->cells[i];
		json_t *value = json_object();

		json_object_set_new(value, "value", cell_has_value(cell) ? json_real(cell->value) : json_null());
		json_object_set_new(value, "state", json_string(cell_state_name(cell->state)));
		json_object_set_new(value, "unit", json_string(sweep_cell_units[i]));
		if (cell->note)
			json_object_set_new(value, "note", json_text(cell->note));
		json_object_set_new(cells, sweep_cell_names[i], value);
	}
	json_object_set_new(object, "memory_max", json_u64(row->limit));
	json_object_set_new(object, "out_of_memory", json_boolean(sweep_killed(row)));
	json_object_set_new(object, "timeout", json_boolean(row->timeout));
	json_object_set_new(object, "status", row->signal ? json_null() : json_integer(row->status));
	json_object_set_new(object, "signal", row->signal ? json_integer(row->signal) : json_null());
	json_object_set_new(object, "cells", cells);
	return object;
}

int sweep_json(FILE *file, const struct sweep *sweep)
{
	json_t *object = json_object(), *command = json_array(), *rows = json_array();
	int err;

	for (size_t i = 0; sweep->argv[i]; i++)
		json_array_append_new(command, json_text(sweep->argv[i]));
	for (size_t i = 0; i < sweep->nrows; i++)
		json_array_append_new(rows, row_object(&sweep->rows[i]));
	json_object_set_new(object, "schema", json_string("spark-sweep/1"));
	json_object_set_new(object, "command", command);
	json_object_set_new(object, "runs", rows);
	json_object_set_new(object, "knee", sweep->knee ? json_u64(sweep->knee->limit) : json_null());
	json_object_set_new(object, "no_knee", sweep->why ? json_string(sweep->why) : json_null());
	err = json_dumpf(object, file, JSON_INDENT(1));
	json_decref(object);
	fputc('\n', file);
	return err;
}
