/* SPDX-License-Identifier: MIT */
/* The member window_list: windows one by one, on the time line of the run. */
#include <stdlib.h>

#include "cli/output/json_build.h"
#include "cli/output/lines.h"

static json_t *each_cell(const struct cell *cell)
{
	json_t *object = json_object();

	json_object_set_new(object, "value", cell_has_value(cell) ? json_u64((u64)(cell->value + 0.5)) : json_null());
	json_object_set_new(object, "state", json_string(cell_state_name(cell->state)));
	if (cell->note)
		json_object_set_new(object, "note", json_text(cell->note));
	return object;
}

static json_t *each_region(const struct samples *paths, const struct window_region *region)
{
	json_t *object = json_object(), *path = json_array();
	bool timed = region->last_ns;

	for (u32 i = region->path; i != SAMPLES_NONE; i = paths->regions[i].parent) {
		const struct samples_string *name = &paths->strings[paths->regions[i].name];

		json_array_insert_new(path, 0, json_bytes(name->bytes, name->length));
	}
	json_object_set_new(object, "path", path);
	json_object_set_new(object, "calls", json_u64(region->calls));
	json_object_set_new(object, "ns", json_u64(region->ns));
	json_object_set_new(object, "self_ns", json_u64(region->self_ns));
	json_object_set_new(object, "first_ns", timed ? json_u64(region->first_ns) : json_null());
	json_object_set_new(object, "last_ns", timed ? json_u64(region->last_ns) : json_null());
	return object;
}

static json_t *each_window(const struct report *report, const struct report_window *window)
{
	const struct window_fact *fact = window->fact;
	json_t *object = json_object(), *parts = json_object(), *cells = json_object(), *regions = json_array();
	char *text = window_sentence(window, true);
	u32 i;

	for (i = 0; i < WINDOW_PARTS; i++)
		json_object_set_new(parts, window_part_names[i], each_cell(&window->part[i]));
	for (i = 0; i < WINDOW_CELLS; i++)
		json_object_set_new(cells, window_cells[i].name, each_cell(&fact->cell[i]));
	json_object_set_new(object, "name", json_bytes(fact->name, fact->len));
	json_object_set_new(object, "process", fact->pid ? json_u64(fact->pid) : json_null());
	json_object_set_new(object, "begin_ns", json_u64(fact->begin_ns));
	json_object_set_new(object, "end_ns", json_u64(fact->end_ns));
	json_object_set_new(object, "measured_from_ns", json_u64(fact->from_ns));
	json_object_set_new(object, "measured_to_ns", json_u64(fact->to_ns));
	json_object_set_new(object, "open", json_boolean(fact->open));
	for (i = 0; i < fact->nregions; i++)
		json_array_append_new(regions, each_region(report->facts->window_paths, &fact->regions[i]));
	json_object_set_new(object, "parts", parts);
	json_object_set_new(object, "cells", cells);
	json_object_set_new(object, "cause", json_text(window_cause_names[window->cause]));
	json_object_set_new(object, "text", json_text(text));
	json_object_set_new(object, "disk", json_text(fact->disk));
	json_object_set_new(object, "regions", regions);
	free(text);
	return object;
}

void json_windows(struct json_writer *writer, const struct report *report)
{
	size_t i;

	json_open_array(writer, "window_list");
	for (i = 0; i < report->neach; i++)
		json_element(writer, each_window(report, &report->each[i]));
	json_close_array(writer);
}
