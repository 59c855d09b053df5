/* SPDX-License-Identifier: MIT */
/* The member block: what devices did. */
#include "cli/output/json_build.h"

static json_t *block_cell(const struct cell *cell, const char *unit)
{
	json_t *object = json_object();

	json_object_set_new(object, "value", cell_has_value(cell) ? json_real(cell->value) : json_null());
	json_object_set_new(object, "unit", json_string(unit));
	json_object_set_new(object, "state", json_string(cell_state_name(cell->state)));
	if (cell->note)
		json_object_set_new(object, "note", json_text(cell->note));
	return object;
}

static json_t *block_buckets(const struct hist *hist)
{
	json_t *array = json_array();

	for (u32 i = 0; i < WIRE_HIST_OCTAVES; i++)
		for (u32 k = 0; hist->octave[i] && k < WIRE_HIST_SUB; k++) {
			u32 index = i * WIRE_HIST_SUB + k;

			if (hist->octave[i][k])
				json_array_append_new(array, json_pack("[I, I, I]", (json_int_t)hist_lower(index),
								       (json_int_t)hist_lower(index + 1), (json_int_t)hist->octave[i][k]));
		}
	return array;
}

/* Of single requests, in ns. */
static json_t *block_latency(const struct block_latency *latency)
{
	static const struct { const char *name; u32 per_mille; } quantiles[] = { { "p50", 500 }, { "p90", 900 }, { "p99", 990 } };
	const struct cell none = cell_absent(CELL_NOT_COUNTED, NULL);
	struct cell cell;
	json_t *object = json_object(), *left = json_object();

	json_object_set_new(object, "paired", json_u64(latency->paired));
	json_object_set_new(object, "split", json_u64(latency->split));
	cell = latency->paired ? cell_counted((double)latency->least) : none;
	json_object_set_new(object, "min", block_cell(&cell, "ns"));
	cell = latency->paired ? cell_counted(latency->sum / (double)latency->paired) : none;
	json_object_set_new(object, "mean", block_cell(&cell, "ns"));
	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++) {
		cell = block_quantile(latency, quantiles[i].per_mille);
		json_object_set_new(object, quantiles[i].name, block_cell(&cell, "ns"));
	}
	cell = latency->paired ? cell_counted((double)latency->greatest) : none;
	json_object_set_new(object, "max", block_cell(&cell, "ns"));
	json_object_set_new(object, "buckets", block_buckets(&latency->hist));
	for (u32 i = 0; i < BLOCK_LEFT_REASONS; i++)
		json_object_set_new(left, block_left_names[i], json_u64(latency->left[i]));
	json_object_set_new(object, "unpaired", left);
	return object;
}

static json_t *block_side(const struct block *block, const struct block_device *device, u32 direction)
{
	static const struct block_latency none;
	const struct block_traced *traced = block_traced_of(block, device);
	const struct cell *side = device->side[direction];
	json_t *object = json_object();

	for (u32 i = 0; i < BLOCK_SIDE_CELLS; i++)
		json_object_set_new(object, block_side_cells[i].name, block_cell(&side[i], block_side_cells[i].unit));
	json_object_set_new(object, "latency",
			    block->records ? block_latency(traced ? &traced->latency[direction] : &none) : json_null());
	return object;
}

static json_t *block_device(const struct block *block, const struct block_device *device)
{
	json_t *object = json_object();

	json_object_set_new(object, "name", json_text(device->name));
	json_object_set_new(object, "major", json_u64(device->major));
	json_object_set_new(object, "minor", json_u64(device->minor));
	json_object_set_new(object, "kind", json_string(block_kind_names[device->kind]));
	json_object_set_new(object, "whole_disk", json_boolean(device->kind == BLOCK_DISK));
	for (u32 i = 0; i < BLOCK_CELLS; i++)
		json_object_set_new(object, block_cells[i].name, block_cell(&device->cell[i], block_cells[i].unit));
	for (u32 d = 0; d < BLOCK_DIRECTIONS; d++)
		json_object_set_new(object, block_direction_names[d], block_side(block, device, d));
	return object;
}

void json_block(struct json_writer *writer, const struct block *block)
{
	json_t *object = json_object(), *devices = json_array(), *floor = json_object(), *records = json_object();
	bool has = block->ndevices;

	json_object_set_new(floor, "state", json_string(cell_state_name(has ? CELL_COUNTED : CELL_UNAVAILABLE)));
	if (!has)
		json_object_set_new(floor, "note", json_text(block->floor));
	json_object_set_new(records, "state", json_string(cell_state_name(block->records ? CELL_COUNTED : CELL_UNAVAILABLE)));
	if (!block->records)
		json_object_set_new(records, "note", json_text(block->why));
	json_object_set_new(object, "diskstats", floor);
	json_object_set_new(object, "requests", records);
	json_object_set_new(object, "duration_ns", has ? json_u64(block->duration_ns) : json_null());
	json_object_set_new(object, "lost", json_u64(block->lost));
	for (u32 i = 0; i < block->ndevices; i++)
		json_array_append_new(devices, block_device(block, &block->devices[i]));
	json_object_set_new(object, "devices", devices);
	json_member(writer, "block", object);
}
