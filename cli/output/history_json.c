/* SPDX-License-Identifier: MIT */
/* Histories as JSON, schema "spark-history/1", and as CSV. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/field.h"
#include "cli/output/history_output.h"
#include "cli/output/json_build.h"
#include "cli/text.h"

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* ---- JSON ------------------------------------------------------------------------------------------ */

static json_t *run_json(const struct history *h, u32 run)
{
	const struct history_run *of = &h->of[run];
	json_t *object = json_object(), *fields = json_object();

	json_object_set_new(object, "run", json_u64(h->before + run + 1));
	json_object_set_new(object, "started_ns", json_u64(history_at(h, run)->started_ns));
	json_object_set_new(object, "duration_ns", json_u64(history_at(h, run)->duration_ns));
	json_object_set_new(object, "status", of->signal ? json_null() : json_integer(of->status));
	json_object_set_new(object, "signal", of->signal ? json_integer(of->signal) : json_null());
	json_object_set_new(object, "unfinished", json_boolean(of->unfinished));
	json_object_set_new(object, "left_out", json_boolean(of->left_out));
	json_object_set_new(object, "stretch", json_u64(of->stretch + 1));
	json_object_set_new(object, "regime", of->left_out ? json_null() : json_u64(of->regime + 1));
	for (u32 field = 0; field < HISTORY_FIELDS; field++)
		json_object_set_new(fields, history_field_key(field), json_text(history_field(h, run, field)));
	json_object_set_new(object, "provenance", fields);
	return object;
}

static json_t *fields_json(u32 mask)
{
	json_t *array = json_array();

	for (u32 field = 0; field < HISTORY_ALL; field++)
		if (mask & 1u << field)
			json_array_append_new(array, json_string(history_field_key(field)));
	return array;
}

static json_t *turn_json(const struct history *h, const struct history_turn *turn)
{
	json_t *object = json_object();

	json_object_set_new(object, "run", json_u64(h->before + turn->run + 1));
	json_object_set_new(object, "fields", fields_json(turn->fields));
	json_object_set_new(object, "new_stretch", json_boolean(turn->parts));
	return object;
}

static json_t *change_json(const struct history *h, const struct history_change *c)
{
	json_t *object = json_object();

	json_object_set_new(object, "run", json_u64(h->before + c->run + 1));
	json_object_set_new(object, "comparable", json_boolean(!c->outside));
	json_object_set_new(object, "before", number(c->before));
	json_object_set_new(object, "after", number(c->after));
	json_object_set_new(object, "change", c->before > 0 ? number(c->after / c->before - 1) : json_null());
	json_object_set_new(object, "p_adjusted", c->further ? json_null() : number(c->p));
	json_object_set_new(object, "p", c->further ? number(c->p) : json_null());
	json_object_set_new(object, "fields", fields_json(c->fields));
	return object;
}

/* Names from below the root down. */
static json_t *path_json(const struct history *h, const struct history_series *s)
{
	const struct diff_table *table = &h->runs.tables[s->kind];
	const struct diff_row *row = &table->rows[s->row], *at = row;
	json_t *array = json_array();

	for (u32 i = 0; i < row->depth; i++)
		json_array_append_new(array, json_null());
	for (size_t i = row->depth; i--; at = &table->rows[at->parent])
		json_array_set_new(array, i, json_bytes(at->name, at->len));
	return array;
}

static json_t *series_json(const struct history *h, u32 series)
{
	const struct history_series *s = &h->series[series];
	const struct diff_table *table = &h->runs.tables[s->kind];
	const struct diff_row *row = &table->rows[s->row];
	bool region = s->kind == DIFF_REGIONS, diagnostic = region ? table->metrics[s->metric].diagnostic : row->diagnostic;
	json_t *object = json_object(), *values = json_array(), *changes = json_array();

	json_object_set_new(object, "kind", json_string(diff_kind_words[s->kind]));
	json_object_set_new(object, "path", region ? path_json(h, s) : json_null());
	json_object_set_new(object, "origin", !region || row->parent == DIFF_NONE ? json_null() :
			    json_text(*row->origin ? row->origin : report_kind_words[0]));
	json_object_set_new(object, "metric", json_text(region ? table->metrics[s->metric].name : row->name));
	json_object_set_new(object, "unit", json_text(diff_unit(&h->runs, s->kind, s->metric, s->row)));
	json_object_set_new(object, "class", json_string(diagnostic ? "diagnostic" : "quantitative"));
	for (u32 run = 0; run < history_nruns(h); run++)
		json_array_append_new(values, number(history_value(h, s, run)));
	json_object_set_new(object, "values", values);
	json_object_set_new(object, "mixed", json_boolean(s->mixed));
	for (u32 i = 0; i < h->nchanges; i++)
		if (h->changes[i].series == series)
			json_array_append_new(changes, change_json(h, &h->changes[i]));
	json_object_set_new(object, "changes", changes);
	return object;
}

static json_t *history_json_of(const struct history *h)
{
	json_t *object = json_object(), *runs = json_array(), *turns = json_array(), *rows = json_array();

	json_object_set_new(object, "command", json_text(h->command));
	for (u32 i = 0; i < history_nruns(h); i++)
		json_array_append_new(runs, run_json(h, i));
	for (u32 i = 0; i < h->nturns; i++)
		json_array_append_new(turns, turn_json(h, &h->turns[i]));
	for (u32 i = 0; i < h->nseries; i++)
		json_array_append_new(rows, series_json(h, i));
	json_object_set_new(object, "runs", runs);
	json_object_set_new(object, "runs_in_short_stretches", json_u64(h->nshort));
	json_object_set_new(object, "turns", turns);
	json_object_set_new(object, "rows", rows);
	return object;
}

int history_json(FILE *file, const struct histories *all, const struct history_options *options)
{
	struct json_writer writer = { .file = file };

	(void)options;
	fputc('{', file);
	json_member(&writer, "schema", json_string("spark-history/1"));
	json_member(&writer, "false_alarm_rate", json_real(all->rate));
	json_open_array(&writer, "commands");
	for (u32 i = 0; i < all->n; i++)
		json_element(&writer, history_json_of(&all->item[i]));
	json_close_array(&writer);
	fputs("\n}\n", file);
	return writer.failed ? -1 : 0;
}

/* ---- CSV ------------------------------------------------------------------------------------------- */

static const char *change_word(const struct history *h, u32 series, u32 run)
{
	for (u32 i = 0; i < h->nchanges; i++)
		if (h->changes[i].series == series && h->changes[i].run == run)
			return h->changes[i].outside ? "not comparable" : "change";
	return "";
}

static void csv_series(FILE *file, const struct history *h, const char *command, u32 series)
{
	const struct history_series *s = &h->series[series];

	for (u32 run = 0; run < history_nruns(h); run++) {
		double value = history_value(h, s, run);

		if (isnan(value))
			continue;
		field_csv(file, command);
		fprintf(file, ",%llu,%llu,%u,%s,", (unsigned long long)h->before + run + 1,
			(unsigned long long)history_at(h, run)->started_ns, h->of[run].stretch + 1, diff_kind_words[s->kind]);
		field_csv(file, s->kind == DIFF_TOTALS ? "" : h->runs.tables[s->kind].rows[s->row].text);
		fputc(',', file);
		field_csv(file, history_metric(h, s));
		fputc(',', file);
		field_csv(file, diff_unit(&h->runs, s->kind, s->metric, s->row));
		fprintf(file, ",%.12g,%s\r\n", value, change_word(h, series, run));
	}
}

int history_csv(FILE *file, const struct histories *all, const struct history_options *options)
{
	(void)options;
	fputs("command,run,started_ns,stretch,kind,path,metric,unit,value,mark\r\n", file);
	for (u32 i = 0; i < all->n; i++) {
		const struct history *h = &all->item[i];
		size_t len = strlen(h->command), size = 4 * len + 1;
		char *command = malloc(size);

		if (!command)
			return -1;
		text_escape(command, size, h->command, len);
		for (u32 series = 0; series < h->nseries; series++)
			csv_series(file, h, command, series);
		free(command);
	}
	return 0;
}
