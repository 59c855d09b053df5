/* SPDX-License-Identifier: MIT */
/* Figures of repeated runs as JSON, schema "spark-runs/1", and as CSV; see figures_output.h. */
#include <string.h>

#include "cli/output/diff_output.h"
#include "cli/output/field.h"
#include "cli/output/figures_output.h"
#include "cli/output/json_build.h"

/* ---- JSON ------------------------------------------------------------------------------------------ */

static json_t *pair_json(bool known, double low, double high)
{
	return known ? json_pack("[o, o]", json_figure(true, low), json_figure(true, high)) : json_null();
}

static json_t *pass_json(const struct figures *f, u32 side)
{
	const struct diff_side *s = &f->diff.sides[side];
	json_t *object = json_object(), *runs = json_array();

	json_object_set_new(object, "pass", f->by_pass ? json_string(pass_words[f->pass[side]]) : json_null());
	for (u32 i = 0; i < s->nruns; i++) {
		const char *cache = s->runs[i].field[DIFF_CACHE];
		json_t *run = json_object();

		json_object_set_new(run, "recording", *s->runs[i].path ? json_text(s->runs[i].path) : json_null());
		json_object_set_new(run, "duration_ns", json_u64(s->runs[i].duration_ns));
		json_object_set_new(run, "cache", *cache ? json_text(cache) : json_null());
		json_object_set_new(run, "failed", json_boolean(s->runs[i].failed));
		json_array_append_new(runs, run);
	}
	json_object_set_new(object, "runs", runs);
	return object;
}

static json_t *values_json(const struct diff_at *at, u32 side)
{
	const struct diff_side *s = &at->diff->sides[side];
	json_t *values = json_array();

	for (u32 i = 0; i < s->nruns; i++) {
		u8 state;
		double value = diff_value(&s->runs[i], at->kind, at->metric, at->row, &state);

		json_array_append_new(values, json_figure(true, value));
	}
	return values;
}

static json_t *figure_json(const struct figures *f, const struct diff_at *at, const struct figure *figure)
{
	const struct spread *s = &figure->spread;
	const struct comparison *drift = &figure->drift;
	bool drifts = drift->known && drift->bounded;
	json_t *object = json_object();

	json_diff_row(object, at);
	json_object_set_new(object, "pass", f->by_pass ? json_string(figures_pass(f, figure)) : json_null());
	json_object_set_new(object, "state", json_string(cell_state_name(figure->value.state)));
	json_object_set_new(object, "user_only", json_boolean(figure->value.user));
	json_object_set_new(object, "runs", json_u64(figure->value.n));
	json_object_set_new(object, "median", json_figure(true, s->median));
	json_object_set_new(object, "mad", json_figure(true, s->mad));
	json_object_set_new(object, "min", json_figure(true, s->min));
	json_object_set_new(object, "max", json_figure(true, s->max));
	json_object_set_new(object, "interval", pair_json(s->bounded, s->low, s->high));
	json_object_set_new(object, "outliers", json_u64(s->outliers));
	json_object_set_new(object, "clusters", pair_json(s->clusters, s->below, s->above));
	json_object_set_new(object, "drift", json_figure(drifts, drift->ratio - 1));
	json_object_set_new(object, "drift_interval", pair_json(drifts, drift->low - 1, drift->high - 1));
	json_object_set_new(object, "drift_because", drifts ? json_null() : json_text(drift->why));
	json_object_set_new(object, "values", values_json(at, figure->side));
	return object;
}

static void rows_json(struct json_writer *writer, const struct figures *f)
{
	for (u32 kind = 0; kind < DIFF_KINDS; kind++)
		for (u32 row = 0; row < f->diff.tables[kind].nrows; row++)
			for (u32 m = 0; m < f->diff.tables[kind].nmetrics; m++) {
				const struct diff_at at = { &f->diff, 0, kind, m, row, NULL };
				const struct figure *figure = figures_at(f, kind, m, row);

				if (figure->value.n)
					json_element(writer, figure_json(f, &at, figure));
			}
}

static json_t *command_json(const struct figures *f)
{
	json_t *words = json_array();

	for (size_t i = 0; f->argv && f->argv[i]; i++)
		json_array_append_new(words, json_text(f->argv[i]));
	return words;
}

static json_t *steady_json(const struct figures *f)
{
	json_t *object = json_object(), *times = json_array();

	json_object_set_new(object, "steady", f->steady.known ? json_boolean(f->steady.is) : json_null());
	json_object_set_new(object, "after", f->steady.is ? json_u64(f->steady.after) : json_null());
	for (size_t i = 0; i < f->ntimes; i++)
		json_array_append_new(times, json_figure(true, f->times[i]));
	json_object_set_new(object, "times_ns", times);
	return object;
}

static json_t *switch_json(enum machine_switch is)
{
	return is == MACHINE_UNKNOWN ? json_null() : json_boolean(is == MACHINE_ON);
}

static json_t *machine_json(const struct machine *m)
{
	json_t *object = json_object();

	json_object_set_new(object, "cpus", m->begin.cpus ? json_u64(m->begin.cpus) : json_null());
	json_object_set_new(object, "governor", m->begin.governor[0] ? json_text(m->begin.governor) : json_null());
	json_object_set_new(object, "turbo", switch_json(m->begin.turbo));
	json_object_set_new(object, "smt", switch_json(m->begin.smt));
	json_object_set_new(object, "aslr", switch_json(m->begin.aslr));
	json_object_set_new(object, "load", json_figure(m->begin.load >= 0, m->begin.load));
	json_object_set_new(object, "others", json_figure(m->others >= 0, m->others));
	json_object_set_new(object, "steal", json_figure(m->steal >= 0, m->steal));
	json_object_set_new(object, "throttled", m->heeds_heat ? json_u64(m->throttled) : json_null());
	return object;
}

int figures_json(FILE *file, const struct figures *f, const struct output_options *options)
{
	struct json_writer writer = { .file = file };

	(void)options;
	fputc('{', file);
	json_member(&writer, "schema", json_string("spark-runs/1"));
	json_member(&writer, "command", command_json(f));
	json_member(&writer, "warmups", json_u64(f->warmups));
	json_member(&writer, "stopped", json_boolean(f->stopped));
	json_open_array(&writer, "passes");
	for (u32 i = 0; i < f->diff.nsides; i++)
		json_element(&writer, pass_json(f, i));
	json_close_array(&writer);
	json_member(&writer, "machine", machine_json(&f->machine));
	json_member(&writer, "steadiness", steady_json(f));
	json_open_array(&writer, "rows");
	rows_json(&writer, f);
	json_close_array(&writer);
	json_open_array(&writer, "notes");
	for (u32 i = 0; i < f->diff.nnotes; i++)
		json_element(&writer, json_text(f->diff.notes[i]));
	json_close_array(&writer);
	json_open_array(&writer, "not_available");
	for (size_t i = 0; i < f->nmissing; i++)
		json_element(&writer, json_pack("{s: o, s: o}", "metric", json_text(f->missing[i].name), "because",
						json_text(f->missing[i].why)));
	json_close_array(&writer);
	fputs("\n}\n", file);
	return writer.failed ? -1 : 0;
}

/* ---- CSV ------------------------------------------------------------------------------------------- */

static void csv_row(FILE *file, const struct figures *f, const struct diff_at *at)
{
	const struct figure *figure = figures_at(f, at->kind, at->metric, at->row);
	const struct spread *s = &figure->spread;
	const struct comparison *drift = &figure->drift;

	if (!figure->value.n)
		return;
	diff_csv_row(file, at);
	fprintf(file, ",%s,%s,%u", f->by_pass ? figures_pass(f, figure) : "", cell_state_name(figure->value.state),
		figure->value.n);
	field_csv_number(file, true, s->median);
	field_csv_number(file, true, s->mad);
	field_csv_number(file, true, s->min);
	field_csv_number(file, true, s->max);
	field_csv_number(file, s->bounded, s->low);
	field_csv_number(file, s->bounded, s->high);
	fprintf(file, ",%zu", s->outliers);
	field_csv_number(file, drift->known && drift->bounded, drift->ratio - 1);
	fputs("\r\n", file);
}

int figures_csv(FILE *file, const struct figures *f, const struct output_options *options)
{
	(void)options;
	fputs("kind,path,origin,metric,unit,pass,state,runs,median,mad,min,max,low,high,outliers,drift\r\n", file);
	for (u32 kind = 0; kind < DIFF_KINDS; kind++)
		for (u32 row = 0; row < f->diff.tables[kind].nrows; row++)
			for (u32 m = 0; m < f->diff.tables[kind].nmetrics; m++)
				csv_row(file, f, &(struct diff_at){ &f->diff, 0, kind, m, row, NULL });
	return 0;
}
