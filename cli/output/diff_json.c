/* SPDX-License-Identifier: MIT */
/* A diff as JSON, schema "spark-diff/1". */
#include <math.h>
#include <string.h>

#include "cli/output/diff_output.h"
#include "cli/output/json_build.h"

static const char *const field_keys[DIFF_FIELDS] = {
	[DIFF_CPU] = "cpu", [DIFF_CACHE] = "cache", [DIFF_HOST] = "host", [DIFF_KERNEL] = "kernel",
	[DIFF_ENVIRONMENT] = "environment", [DIFF_COMMAND] = "arguments", [DIFF_LIBRARIES] = NULL, [DIFF_SAMPLES] = "samples",
	[DIFF_WAITS] = "waits",
	[DIFF_SOURCES] = "sources", [DIFF_PORTION] = "portion", [DIFF_CLOCK] = "clock", [DIFF_VERSION] = "version",
	[DIFF_LIMITS] = "limits",
};

json_t *json_figure(bool known, double value)
{
	return known && isfinite(value) ? json_real(value) : json_null();
}

static json_t *side_json(const struct diff_side *side)
{
	json_t *object = json_object(), *paths = json_array(), *regime = json_object();

	json_object_set_new(object, "label", json_text(side->label));
	json_object_set_new(object, "command", side->command ? json_text(side->command) : json_null());
	for (u32 i = 0; i < side->nruns; i++)
		if (*side->runs[i].path)
			json_array_append_new(paths, json_text(side->runs[i].path));
	json_object_set_new(object, "recordings", paths);
	for (u32 i = 0; i < DIFF_FIELDS; i++)
		if (field_keys[i])
			json_object_set_new(regime, field_keys[i], json_text(side->runs[0].field[i]));
	json_object_set_new(object, "regime", regime);
	return object;
}

static json_t *gate_json(const struct diff *diff, u32 gate, u32 side)
{
	static const char *const ends[] = {
		[DIFF_PASSED] = "passed", [DIFF_FAILED] = "failed", [DIFF_UNDECIDED] = "undecided",
	};
	const struct diff_gate_result *g = &diff->gates[gate].results[side];
	json_t *object = json_object();

	json_object_set_new(object, "gate", json_text(diff->gates[gate].text));
	json_object_set_new(object, "end", json_string(ends[g->end]));
	json_object_set_new(object, "judged", json_u64(g->judged));
	json_object_set_new(object, "failed", json_u64(g->failed));
	json_object_set_new(object, "p_adjusted", json_figure(g->judged > 0, g->adjusted));
	json_object_set_new(object, "because", *g->why ? json_text(g->why) : json_null());
	return object;
}

static json_t *comparison_json(const struct diff *diff, u32 side)
{
	const struct diff_side *s = &diff->sides[side];
	json_t *object = json_object(), *gates = json_array();

	json_object_set_new(object, "side", json_text(s->label));
	json_object_set_new(object, "comparable", json_boolean(!s->refused[0]));
	json_object_set_new(object, "because", s->refused[0] ? json_text(s->refused) : json_null());
	for (u32 i = 0; i < diff->ngates; i++)
		json_array_append_new(gates, gate_json(diff, i, side));
	json_object_set_new(object, "gates", gates);
	return object;
}

/* Names from below the root down. */
static json_t *path_json(const struct diff_table *table, const struct diff_row *row)
{
	json_t *array = json_array();
	const struct diff_row *at = row;

	for (u32 i = 0; i < row->depth; i++)
		json_array_append_new(array, json_null());
	for (size_t i = row->depth; i--; at = &table->rows[at->parent])
		json_array_set_new(array, i, json_bytes(at->name, at->len));
	return array;
}

static json_t *value_json(const struct diff_value *value)
{
	json_t *object = json_object();

	json_object_set_new(object, "runs", json_u64(value->n));
	json_object_set_new(object, "median", json_figure(value->n, value->median));
	json_object_set_new(object, "mad", json_figure(value->n, value->mad));
	json_object_set_new(object, "min", json_figure(value->n, value->min));
	json_object_set_new(object, "max", json_figure(value->n, value->max));
	json_object_set_new(object, "state", value->n ? json_string(cell_state_name(value->state)) : json_null());
	json_object_set_new(object, "user_only", json_boolean(value->user));
	return object;
}

static void result_json(json_t *object, const struct diff_result *r)
{
	bool tested = r->verdict == DIFF_MORE || r->verdict == DIFF_LESS || r->verdict == DIFF_NOISE;
	json_t *interval = json_array();

	json_object_set_new(object, "change", json_figure(r->changed, r->change));
	json_object_set_new(object, "ratio", json_figure(r->rank.known, r->rank.ratio));
	if (r->rank.known && r->rank.bounded) {
		json_array_append_new(interval, json_figure(true, r->rank.low));
		json_array_append_new(interval, json_figure(true, r->rank.high));
		json_object_set_new(object, "interval", interval);
	} else {
		json_decref(interval);
		json_object_set_new(object, "interval", json_null());
	}
	json_object_set_new(object, "p", json_figure(tested, r->rank.p));
	json_object_set_new(object, "p_adjusted", json_figure(tested, r->adjusted));
	json_object_set_new(object, "verdict", json_string(diff_verdict_words[r->verdict]));
	json_object_set_new(object, "warning", r->why ? json_text(r->why) : json_null());
}

void json_diff_row(json_t *object, const struct diff_at *at)
{
	const struct diff_table *table = &at->diff->tables[at->kind];
	const struct diff_row *row = &table->rows[at->row];
	bool region = at->kind == DIFF_REGIONS;
	bool diagnostic = at->kind == DIFF_TOTALS ? row->diagnostic : table->metrics[at->metric].diagnostic;

	json_object_set_new(object, "kind", json_string(diff_kind_words[at->kind]));
	json_object_set_new(object, "path", region ? path_json(table, row) : json_null());
	json_object_set_new(object, "function", at->kind == DIFF_FUNCTIONS ? json_bytes(row->name, row->len) : json_null());
	json_object_set_new(object, "origin", !region || row->parent == DIFF_NONE ? json_null() :
			    json_text(*row->origin ? row->origin : report_kind_words[0]));
	json_object_set_new(object, "metric", json_text(at->kind == DIFF_TOTALS ? row->name :
							table->metrics[at->metric].name));
	json_object_set_new(object, "unit", json_text(diff_unit(at->diff, at->kind, at->metric, at->row)));
	json_object_set_new(object, "class", json_string(diagnostic ? "diagnostic" : "quantitative"));
}

static json_t *row_json(const struct diff_at *at)
{
	json_t *object = json_object();

	json_object_set_new(object, "side", json_text(at->diff->sides[at->side].label));
	json_diff_row(object, at);
	json_object_set_new(object, "pass", at->diff->npasses ? json_string(diff_pass(at->diff, at->kind, at->metric, at->row)) :
			    json_null());
	json_object_set_new(object, "a", value_json(&at->result->side[0]));
	json_object_set_new(object, "b", value_json(&at->result->side[1]));
	result_json(object, at->result);
	return object;
}

static void rows_json(struct json_writer *writer, const struct diff *diff, u32 side)
{
	for (u32 kind = 0; kind < DIFF_KINDS; kind++)
		for (u32 row = 0; row < diff->tables[kind].nrows; row++)
			for (u32 m = 0; m < diff->tables[kind].nmetrics; m++) {
				struct diff_at at = diff_at(diff, side, kind, m, row);

				if (at.result->side[0].n || at.result->side[1].n)
					json_element(writer, row_json(&at));
			}
}

int diff_json(FILE *file, const struct diff *diff, const struct diff_options *options)
{
	struct json_writer writer = { .file = file };
	json_t *notes = json_array();

	(void)options;
	fputc('{', file);
	json_member(&writer, "schema", json_string("spark-diff/1"));
	json_member(&writer, "false_discovery_rate", json_real(diff->rate));
	json_member(&writer, "forced", json_boolean(diff->force));
	json_open_array(&writer, "sides");
	for (u32 i = 0; i < diff->nsides; i++)
		json_element(&writer, side_json(&diff->sides[i]));
	json_close_array(&writer);
	json_open_array(&writer, "comparisons");
	for (u32 i = 1; i < diff->nsides; i++)
		json_element(&writer, comparison_json(diff, i));
	json_close_array(&writer);
	json_open_array(&writer, "rows");
	for (u32 i = 1; i < diff->nsides; i++)
		rows_json(&writer, diff, i);
	json_close_array(&writer);
	for (u32 i = 0; i < diff->nnotes; i++)
		json_array_append_new(notes, json_text(diff->notes[i]));
	json_member(&writer, "notes", notes);
	fputs("\n}\n", file);
	return writer.failed ? -1 : 0;
}
