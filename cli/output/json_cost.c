/* SPDX-License-Identifier: MIT */
/* What calls of some regions cost, as JSON. */
#include "cli/output/json_build.h"

static json_t *cost_cell(const struct cell *cell)
{
	json_t *object = json_object();

	json_object_set_new(object, "value", cell_has_value(cell) ? json_real(cell->value) : json_null());
	json_object_set_new(object, "state", json_string(cell_state_name(cell->state)));
	if (cell->note)
		json_object_set_new(object, "note", json_text(cell->note));
	return object;
}

/* Names from below the root down. */
static json_t *cost_path(const struct report *report, size_t row)
{
	json_t *array = json_array();

	for (size_t i = row; !report->rows[i].root; i = report->rows[i].parent)
		json_array_insert_new(array, 0, json_bytes(report->rows[i].name, report->rows[i].len));
	return array;
}

static json_t *cost_figures(const struct cell figures[REPORT_COST_FIGURES])
{
	static const char *const names[REPORT_COST_FIGURES] = {
		[REPORT_COST_P50] = "p50", [REPORT_COST_P90] = "p90", [REPORT_COST_P99] = "p99", [REPORT_COST_MEAN] = "mean",
	};
	json_t *object = json_object();

	for (u32 i = 0; i < REPORT_COST_FIGURES; i++)
		json_object_set_new(object, names[i], cost_cell(&figures[i]));
	return object;
}

static json_t *cost_buckets(const struct report_cost *cost)
{
	json_t *array = cost->buckets ? json_array() : json_null();

	for (size_t i = 0; i < cost->nbuckets; i++) {
		const struct report_cost_bucket *bucket = &cost->buckets[i];
		json_t *object = json_object();

		json_object_set_new(object, "bucket", json_text(bucket->name));
		json_object_set_new(object, "samples", json_u64(bucket->samples));
		json_object_set_new(object, "share", json_real(bucket->share));
		json_object_set_new(object, "cpu", cost_cell(&bucket->cpu));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *cost_json(const struct report *report, const struct report_cost *cost)
{
	const struct report_row *row = &report->rows[cost->row];
	json_t *object = json_object();

	json_object_set_new(object, "path", cost_path(report, cost->row));
	json_object_set_new(object, "process", row->pid ? json_u64(row->pid) : json_null());
	json_object_set_new(object, "thread", row->tid ? json_u64(row->tid) : json_null());
	json_object_set_new(object, "calls", json_u64(row->calls));
	json_object_set_new(object, "floor", cost_cell(&cost->floor));
	json_object_set_new(object, "time", cost_figures(cost->time));
	json_object_set_new(object, "cycles", cost_figures(cost->cycles));
	json_object_set_new(object, "clock_ghz", cost_cell(&cost->clock));
	json_object_set_new(object, "cpu", cost_cell(&cost->cpu));
	json_object_set_new(object, "cpu_sampled", cost_cell(&cost->sampled));
	json_object_set_new(object, "samples", json_u64(cost->samples.count));
	json_object_set_new(object, "samples_missed", json_boolean(cost->missed));
	json_object_set_new(object, "buckets", cost_buckets(cost));
	json_object_set_new(object, "because", cost->buckets ? json_null() : json_text(cost->no_buckets));
	return object;
}

static json_t *clocks_json(const struct report_clocks *clocks)
{
	json_t *object = json_object();

	json_object_set_new(object, "agree", clocks->known ? json_boolean(clocks->agree) : json_null());
	json_object_set_new(object, "apart_ns", clocks->known ? json_real(clocks->apart_ns) : json_null());
	json_object_set_new(object, "over_ns", clocks->known ? json_u64(clocks->over_ns) : json_null());
	json_object_set_new(object, "pairs", json_u64(clocks->pairs));
	json_object_set_new(object, "ghz", clocks->known ? json_real(clocks->ghz) : json_null());
	json_object_set_new(object, "because", json_text(clocks->why));
	return object;
}

void json_costs(struct json_writer *writer, const struct report *report)
{
	json_open_array(writer, "costs");
	for (size_t i = 0; i < report->ncosts; i++)
		json_element(writer, cost_json(report, &report->costs[i]));
	json_close_array(writer);
	json_member(writer, "clocks", clocks_json(&report->clocks));
}
