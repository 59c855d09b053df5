/* SPDX-License-Identifier: MIT */
/*
 * The format json, schema "spark-report/1": unscaled numbers, null where there is no value, no
 * locale. Rows are written one by one, so that a report of many regions needs no second copy of
 * itself.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/output/json_build.h"
#include "cli/text.h"

enum { JSON_FLAGS = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15) };

/* ---- values ---------------------------------------------------------------------------------------- */

json_t *json_bytes(const char *bytes, size_t len)
{
	char *text = malloc(4 * len + 1);
	size_t i, n, out = 0;
	unsigned int code;
	json_t *string;

	for (i = 0; text && i < len; i += n) {
		n = text_decode(bytes + i, len - i, &code);
		if (n) {
			memcpy(text + out, bytes + i, n);
			out += n;
		} else {
			n = 1;
			out += (size_t)sprintf(text + out, "\\x%02X", (unsigned char)bytes[i]);
		}
	}
	string = text ? json_stringn(text, out) : NULL;
	free(text);
	return string;
}

json_t *json_text(const char *text)
{
	return text ? json_bytes(text, strlen(text)) : json_null();
}

json_t *json_u64(u64 value)
{
	return value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

/* Whole numbers are integers; ns have no fraction worth telling. */
static json_t *json_number(double value, bool whole)
{
	if (whole && value > -9e18 && value < 9e18)
		return json_integer((json_int_t)(value < 0 ? value - 0.5 : value + 0.5));
	if (value > -9e15 && value < 9e15 && value == (double)(s64)value)
		return json_integer((json_int_t)value);
	return json_real(value);
}

/* Sets a member and takes the value, as jansson's own does, but for keys that are any bytes. */
static void json_set(json_t *object, const char *key, json_t *value)
{
	json_t *name = json_text(key);

	if (!name || json_object_set_new(object, json_string_value(name), value) != 0)
		json_object_clear(object);
	json_decref(name);
}

static json_t *json_cell(const struct cell *cell, const char *unit)
{
	json_t *object = json_object();
	bool has = cell_has_value(cell);

	json_object_set_new(object, "value",
			    has ? json_number(cell->value, !strcmp(unit, "ns")) : json_null());
	json_object_set_new(object, "state", json_string(cell_state_name(cell->state)));
	if (cell->note)
		json_object_set_new(object, "note", json_text(cell->note));
	return object;
}

/* ---- pieces of the document ------------------------------------------------------------------------ */

static void json_comma(struct json_writer *writer)
{
	fputs(writer->later ? ",\n" : "\n", writer->file);
	writer->later = true;
}

/* Writes a value and drops it. */
static void json_put(struct json_writer *writer, json_t *value)
{
	char *text = value ? json_dumps(value, JSON_FLAGS) : NULL;

	if (text)
		fputs(text, writer->file);
	else
		writer->failed = true;
	free(text);
	json_decref(value);
}

void json_member(struct json_writer *writer, const char *key, json_t *value)
{
	json_comma(writer);
	fprintf(writer->file, "\"%s\":", key);
	json_put(writer, value);
}

void json_open_array(struct json_writer *writer, const char *key)
{
	json_comma(writer);
	fprintf(writer->file, "\"%s\":[", key);
	writer->later = false;
}

void json_element(struct json_writer *writer, json_t *value)
{
	json_comma(writer);
	json_put(writer, value);
}

void json_close_array(struct json_writer *writer)
{
	fputs(writer->later ? "\n]" : "]", writer->file);
	writer->later = true;
}

/* ---- sections -------------------------------------------------------------------------------------- */

static json_t *json_command(const struct session_facts *facts)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; facts->argv && facts->argv[i]; i++)
		json_array_append_new(array, json_text(facts->argv[i]));
	return array;
}

static json_t *json_exit(bool ended, int status, int signal)
{
	json_t *object = json_object();

	json_object_set_new(object, "status", ended && !signal ? json_integer(status) : json_null());
	json_object_set_new(object, "signal", ended && signal ? json_integer(signal) : json_null());
	return object;
}

static json_t *json_host(const struct report *report)
{
	static const char *const names[] = {
		[WIRE_DETECTOR_NONE] = "none", [WIRE_DETECTOR_RSEQ] = "rseq",
		[WIRE_DETECTOR_PAGE] = "page", [WIRE_DETECTOR_CLOCK] = "clock",
	};
	json_t *object = json_object(), *detectors = json_object();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (report->detectors[i])
			json_object_set_new(detectors, names[i], json_u64(report->detectors[i]));
	json_object_set_new(object, "name", json_text(report->facts->host));
	json_object_set_new(object, "kernel", json_text(report->facts->kernel));
	json_object_set_new(object, "cpu", json_text(report->facts->cpu));
	json_object_set_new(object, "clock", json_text(report->facts->clock));
	json_object_set_new(object, "detectors", detectors);
	return object;
}

/* As ISO 8601 has it. */
static json_t *json_time(u64 time_ns)
{
	time_t seconds = (time_t)(time_ns / NSEC_PER_SEC);
	char text[64] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return json_string(text);
}

static json_t *json_provenance(const struct provenance *provenance)
{
	json_t *object = json_object(), *notes = json_array(), *objects = json_array();
	size_t i;

	for (i = 0; i < provenance->nnotes; i++) {
		json_t *note = json_object();

		json_object_set_new(note, "time", json_time(provenance->notes[i].time_ns));
		json_object_set_new(note, "text", json_text(provenance->notes[i].text));
		json_array_append_new(notes, note);
	}
	for (i = 0; i < provenance->nobjects; i++) {
		json_t *file = json_object();

		json_object_set_new(file, "path", json_text(provenance->objects[i].path));
		json_object_set_new(file, "build_id", json_text(provenance->objects[i].build_id));
		json_array_append_new(objects, file);
	}
	json_object_set_new(object, "version", json_text(provenance->version));
	json_object_set_new(object, "started", json_time(provenance->started_ns));
	json_object_set_new(object, "environment", json_text(provenance->environment));
	json_object_set_new(object, "notes", notes);
	json_object_set_new(object, "objects", objects);
	return object;
}

static void json_capabilities(struct json_writer *writer, const struct session_facts *facts)
{
	size_t i;

	json_open_array(writer, "capabilities");
	for (i = 0; i < facts->ncapabilities; i++) {
		const struct capability_fact *fact = &facts->capabilities[i];
		json_t *object = json_object();

		json_object_set_new(object, "name", json_text(fact->name));
		json_object_set_new(object, "available", json_boolean(fact->available));
		json_object_set_new(object, "because", json_text(fact->because));
		json_object_set_new(object, "remedy",
				    json_text(fact->remedy && *fact->remedy ? fact->remedy : NULL));
		json_element(writer, object);
	}
	json_close_array(writer);
}

static void json_columns(struct json_writer *writer, const struct report *report)
{
	size_t i;

	json_open_array(writer, "columns");
	for (i = 0; i < report->ncolumns; i++) {
		const struct report_column *column = &report->columns[i];
		const struct metric *metric = column->metric;
		json_t *object = json_object();

		json_object_set_new(object, "name", json_text(metric->name));
		json_object_set_new(object, "unit", json_text(metric->unit));
		json_object_set_new(object, "class", json_text(metric->class_name));
		json_object_set_new(object, "source", json_text(metric->source));
		json_object_set_new(object, "format", json_text(metric_format_name(metric->format)));
		json_object_set_new(object, "available", json_boolean(column->available));
		json_object_set_new(object, "default", json_boolean(metric->shown));
		json_element(writer, object);
	}
	json_close_array(writer);
}

static json_t *json_totals(const struct total_fact *totals, const struct report_ratio *all_ratios, size_t n)
{
	json_t *object = json_object(), *cells = json_object(), *ratios = json_object(), *ratio, *one;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct total_fact *total = &totals[i];
		struct cell cell = all_ratios[i].cell;

		one = json_cell(&total->cell, total->unit);
		json_object_set_new(one, "unit", json_text(total->unit));
		json_set(cells, total->name, one);
		if (!all_ratios[i].unit)
			continue;
		cell.note = NULL; /* it stands in the total's own cell */
		ratio = json_cell(&cell, "");
		json_object_set_new(ratio, "unit", json_text(all_ratios[i].unit));
		json_set(ratios, total->name, ratio);
	}
	json_object_set_new(object, "cells", cells);
	json_object_set_new(object, "ratios", ratios);
	return object;
}

static void json_parts(struct json_writer *writer, const struct report *report)
{
	json_open_array(writer, "parts");
	for (size_t i = 0; i < report->nby_part; i++) {
		const struct report_part *part = &report->by_part[i];
		json_t *object = json_totals(part->totals, part->ratios, part->ntotals);

		json_object_set_new(object, "name", json_text(part->fact->name));
		json_object_set_new(object, "thread", part->fact->tid ? json_u64(part->fact->tid) : json_null());
		json_element(writer, object);
	}
	json_close_array(writer);
}

static void json_processes(struct json_writer *writer, const struct session_facts *facts)
{
	size_t i;

	json_open_array(writer, "processes");
	for (i = 0; i < facts->nprocesses; i++) {
		const struct process_facts *process = &facts->processes[i];
		bool ended = process->ended == PROCESS_EXIT || process->ended == PROCESS_SIGNAL;
		bool lives = process->ended == PROCESS_ALIVE;
		json_t *object = json_object();

		json_object_set_new(object, "id", json_u64(process->id));
		json_object_set_new(object, "pid", json_u64(process->pid));
		json_object_set_new(object, "parent",
				    process->parent ? json_u64(process->parent) : json_null());
		json_object_set_new(object, "command", json_text(process->command));
		json_object_set_new(object, "image", json_text(process->image));
		json_object_set_new(object, "agent", json_boolean(process->agent));
		json_object_set_new(object, "start_ns", json_u64(process->start_ns));
		json_object_set_new(object, "end_ns",
				    lives ? json_null() : json_u64(process->end_ns));
		json_object_set_new(object, "exit", ended ? json_exit(true, process->status,
				    process->ended == PROCESS_SIGNAL ? process->signal : 0)
				    : json_null());
		json_element(writer, object);
	}
	json_close_array(writer);
}

/* Names from below the root down to a row; a window's is its own. */
static json_t *json_path(const struct report_row *rows, const struct report_row *row)
{
	json_t *array = json_array();

	while (!row->root) {
		json_array_insert_new(array, 0, json_bytes(row->name, row->len));
		if (row->parent == PROFILE_NONE)
			break;
		row = &rows[row->parent];
	}
	return array;
}

/* As json_cell(), but without an object for each: there may be a million of them. */
static void json_put_cell(struct json_writer *writer, const struct cell *cell, const char *unit)
{
	json_t *value = cell_has_value(cell) ? json_number(cell->value, !strcmp(unit, "ns")) : json_null();

	fputs("{\"value\":", writer->file);
	if (json_is_integer(value)) {
		fprintf(writer->file, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		json_decref(value);
	} else {
		json_put(writer, value);
	}
	fprintf(writer->file, ",\"state\":\"%s\"", cell_state_name(cell->state));
	if (cell->note) {
		fputs(",\"note\":", writer->file);
		json_put(writer, json_text(cell->note));
	}
	fputc('}', writer->file);
}

/* A root is of no kind, nor is a window. */
static void json_put_origin(struct json_writer *writer, const struct report_origin *origin)
{
	json_t *callers = json_array();

	for (size_t i = 0; origin && i < origin->ncallers; i++)
		json_array_append_new(callers, json_text(origin->callers[i]));
	fputs(",\"kind\":", writer->file);
	json_put(writer, json_text(origin ? origin->kind : report_kind_words[0]));
	fputs(",\"library\":", writer->file);
	json_put(writer, json_text(origin ? origin->library : NULL));
	fputs(",\"callers\":", writer->file);
	json_put(writer, callers);
}

/* keys: those of the columns, or NULL where one is not selected. */
static void json_put_row(struct json_writer *writer, const struct report *report, const struct report_row *rows,
			 const struct report_row *row, char *const *keys)
{
	const char *before = "";
	size_t i;

	json_comma(writer);
	fputs("{\"path\":", writer->file);
	json_put(writer, json_path(rows, row));
	fputs(",\"process\":", writer->file);
	json_put(writer, row->pid ? json_u64(row->pid) : json_null());
	fputs(",\"thread\":", writer->file);
	json_put(writer, row->tid ? json_u64(row->tid) : json_null());
	fputs(",\"calls\":", writer->file);
	json_put(writer, json_u64(row->calls));
	fputs(",\"open\":", writer->file);
	json_put(writer, json_u64(row->open));
	if (rows == report->rows && !row->root)
		json_put_origin(writer, row->origin);
	if (rows == report->rows) {
		fputs(",\"parts\":", writer->file);
		json_put(writer, json_split(row->split));
		fputs(",\"disk_delay\":", writer->file);
		json_put(writer, json_disk_delay(row));
		fputs(",\"wakers\":", writer->file);
		json_put(writer, json_wakers(row->split, report->facts->samples));
	}
	if (report->facts->cache) {
		fputs(",\"cache\":", writer->file);
		json_put(writer, json_regime(report->facts->cache));
	}
	fputs(",\"cells\":{", writer->file);
	for (i = 0; i < report->ncolumns; i++) {
		if (!keys[i] || (report->columns[i].metric->windows_only && rows != report->windows))
			continue;
		fprintf(writer->file, "%s%s:", before, keys[i]);
		json_put_cell(writer, &row->cells[i], report->columns[i].metric->unit);
		before = ",";
	}
	fputs("}}", writer->file);
}

/* A column's name as the key of a member; NULL without memory. */
static char *json_key(const char *name)
{
	json_t *string = json_text(name);
	char *text = string ? json_dumps(string, JSON_FLAGS) : NULL;

	json_decref(string);
	return text;
}

static void json_rows(struct json_writer *writer, const struct report *report, const char *key,
		      const struct report_row *rows, size_t n)
{
	char **keys = calloc(report->ncolumns + 1, sizeof(*keys));
	size_t i;

	for (i = 0; keys && i < report->ncolumns; i++) {
		keys[i] = report->columns[i].selected ? json_key(report->columns[i].metric->name) : NULL;
		writer->failed |= report->columns[i].selected && !keys[i];
	}
	writer->failed |= !keys;
	json_open_array(writer, key);
	for (i = 0; keys && i < n; i++)
		json_put_row(writer, report, rows, &rows[i], keys);
	json_close_array(writer);
	for (i = 0; keys && i < report->ncolumns; i++)
		free(keys[i]);
	free(keys);
}

static json_t *json_losses(const struct report *report)
{
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < report->nlosses; i++)
		json_set(object, report->losses[i].name, json_u64(report->losses[i].count));
	return object;
}

static void json_diagnostics(struct json_writer *writer, const struct report *report)
{
	size_t i;

	json_open_array(writer, "diagnostics");
	for (i = 0; i < report->ndiagnostics; i++) {
		const struct report_diagnosis *diagnosis = &report->diagnostics[i];
		json_t *object = json_object();

		json_object_set_new(object, "kind", json_text(diagnosis->kind));
		json_object_set_new(object, "region", diagnosis->region ?
				    json_bytes(diagnosis->region, diagnosis->len) : json_null());
		json_object_set_new(object, "count", json_u64(diagnosis->count));
		json_object_set_new(object, "text", json_text(diagnosis->text));
		json_element(writer, object);
	}
	json_close_array(writer);
}

int json_write(FILE *file, const struct report *report, const struct output_options *options)
{
	struct json_writer writer = { .file = file };
	const struct session_facts *facts = report->facts;

	(void)options;
	fputc('{', file);
	json_member(&writer, "schema", json_string("spark-report/1"));
	json_member(&writer, "command", json_command(facts));
	if (facts->target)
		json_member(&writer, "target", json_text(facts->target));
	json_member(&writer, "exit", json_exit(!facts->alive, facts->status, facts->signal));
	json_portion(&writer, facts);
	json_member(&writer, "host", json_host(report));
	if (facts->provenance)
		json_member(&writer, "provenance", json_provenance(facts->provenance));
	json_storage(&writer, facts->storage);
	json_cache(&writer, facts->cache);
	json_capabilities(&writer, facts);
	json_columns(&writer, report);
	json_member(&writer, "totals", json_totals(report->totals, report->ratios, report->ntotals));
	if (report->nby_part)
		json_parts(&writer, report);
	json_processes(&writer, facts);
	json_rows(&writer, report, "regions", report->rows, report->nrows);
	json_rows(&writer, report, "windows", report->windows, report->nwindows);
	json_windows(&writer, report);
	if (report->options.profile.costs)
		json_costs(&writer, report);
	json_member(&writer, "losses", json_losses(report));
	json_diagnostics(&writer, report);
	if (facts->block)
		json_block(&writer, facts->block);
	json_profile(&writer, report);
	fputs("\n}\n", file);
	return writer.failed ? -1 : 0;
}
