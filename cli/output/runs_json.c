/* SPDX-License-Identifier: MIT */
/*
 * Repeated runs as JSON, schema "spark-repeat/1". The members command, mean, stddev, median, user, system, min,
 * max, times, memory_usage_byte, exit_codes and parameters of a result are those of hyperfine, in seconds; the
 * others are our own, in the units that they name.
 */
#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/output/json_build.h"
#include "cli/output/runs_output.h"

#define NS 1e-9

static json_t *number(double value)
{
	if (!isfinite(value))
		return json_null();
	return value > -9e15 && value < 9e15 && value == (double)(s64)value ? json_integer((json_int_t)value) :
									       json_real(value);
}

static json_t *values(const struct runs_series *s, size_t n, double scale)
{
	json_t *array = json_array();

	for (size_t i = 0; s && i < n; i++)
		json_array_append_new(array, isnan(s->value[i]) ? json_null() :
					     scale != 1 ? json_real(s->value[i] * scale) : number(s->value[i]));
	return array;
}

static json_t *pair(double low, double high)
{
	json_t *array = json_array();

	json_array_append_new(array, number(low));
	json_array_append_new(array, number(high));
	return array;
}

static json_t *ratio(const struct comparison *c)
{
	json_t *object = json_object();

	json_object_set_new(object, "value", c->known ? json_real(c->ratio) : json_null());
	json_object_set_new(object, "interval", c->known && c->bounded ? pair(c->low, c->high) : json_null());
	if (!c->known)
		json_object_set_new(object, "note", json_text(c->why));
	json_object_set_new(object, "rounds", json_u64(c->rounds));
	json_object_set_new(object, "differs", json_boolean(comparison_differs(c)));
	return object;
}

static json_t *metric(const struct runs_series *s, size_t n, bool compared)
{
	const struct spread *p = &s->spread;
	json_t *object = json_object();

	json_object_set_new(object, "unit", json_text(s->unit));
	json_object_set_new(object, "state", json_string(cell_state_name(s->state)));
	if (s->note)
		json_object_set_new(object, "note", json_text(s->note));
	json_object_set_new(object, "median", s->known ? number(p->median) : json_null());
	json_object_set_new(object, "mad", s->known ? number(p->mad) : json_null());
	json_object_set_new(object, "interval", s->known && p->bounded ? pair(p->low, p->high) : json_null());
	json_object_set_new(object, "min", s->known ? number(p->min) : json_null());
	json_object_set_new(object, "max", s->known ? number(p->max) : json_null());
	json_object_set_new(object, "outliers", s->known ? json_u64(p->outliers) : json_null());
	json_object_set_new(object, "values", values(s, n, 1));
	if (compared)
		json_object_set_new(object, "ratio", ratio(&s->comparison));
	return object;
}

static json_t *seconds(const struct runs_series *s, double value)
{
	return s && s->known ? json_real(value * NS) : json_null();
}

static json_t *mean_of(const struct runs_command *c, const char *name)
{
	const struct runs_series *s = runs_find(c, name);

	return seconds(s, s ? s->spread.mean : 0);
}

static json_t *exit_codes(const struct runs_command *c)
{
	json_t *array = json_array();

	for (size_t i = 0; i < c->n; i++)
		json_array_append_new(array, json_integer(WIFEXITED(c->status[i]) ? WEXITSTATUS(c->status[i]) : 128 + WTERMSIG(c->status[i])));
	return array;
}

static json_t *parameters(const struct runs_command *c)
{
	json_t *object = json_object();

	for (size_t i = 0; i < c->nparameters; i++) {
		/* Names are any bytes, and jansson's keys are not. */
		json_t *name = json_text(c->parameters[i].name);

		json_object_set_new(object, json_string_value(name), json_text(c->parameters[i].value));
		json_decref(name);
	}
	return object;
}

static json_t *known(s64 value)
{
	return value < 0 ? json_null() : json_integer(value);
}

static json_t *cache(const struct runs *runs, const struct runs_command *c)
{
	const struct cache_fact all = { .asked = runs->cache_asked, .regime = runs_regime(c), .because = c->cache_because };
	json_t *object = json_regime(&all), *array = json_array();

	for (size_t i = 0; i < c->n; i++) {
		json_t *one = json_object();

		json_object_set_new(one, "regime", json_string(cache_regime_words[c->cache[i].regime]));
		json_object_set_new(one, "pages", json_u64(c->cache[i].pages));
		json_object_set_new(one, "start", known(c->cache[i].start));
		json_object_set_new(one, "end", known(c->cache[i].end));
		json_array_append_new(array, one);
	}
	json_object_set_new(object, "missed", json_u64(c->cache_missed));
	json_object_set_new(object, "runs", array);
	return object;
}

static json_t *result(const struct runs *runs, const struct runs_command *c)
{
	const struct runs_series *e = runs_elapsed(c);
	bool compared = runs->n > 1 && c != &runs->command[runs->reference];
	json_t *object = json_object(), *metrics = json_object();

	json_object_set_new(object, "command", json_text(c->text));
	json_object_set_new(object, "mean", seconds(e, e ? e->spread.mean : 0));
	json_object_set_new(object, "stddev", c->n > 1 ? seconds(e, e ? e->spread.stddev : 0) : json_null());
	json_object_set_new(object, "median", seconds(e, e ? e->spread.median : 0));
	json_object_set_new(object, "user", mean_of(c, "user"));
	json_object_set_new(object, "system", mean_of(c, "sys"));
	json_object_set_new(object, "min", seconds(e, e ? e->spread.min : 0));
	json_object_set_new(object, "max", seconds(e, e ? e->spread.max : 0));
	json_object_set_new(object, "times", values(e, c->n, NS));
	json_object_set_new(object, "memory_usage_byte", values(runs_find(c, "maxrss"), c->n, 1));
	json_object_set_new(object, "exit_codes", exit_codes(c));
	if (c->nparameters)
		json_object_set_new(object, "parameters", parameters(c));
	json_object_set_new(object, "label", json_text(c->label));
	json_object_set_new(object, "failed", json_u64(c->failed));
	if (runs->cached)
		json_object_set_new(object, "cache", cache(runs, c));
	for (size_t k = 0; k < c->nseries; k++) {
		json_t *name = json_text(c->series[k].name);

		json_object_set_new(metrics, json_string_value(name), metric(&c->series[k], c->n, compared));
		json_decref(name);
	}
	json_object_set_new(object, "metrics", metrics);
	return object;
}

int runs_json(FILE *file, const struct runs *runs, const struct output_options *options)
{
	struct json_writer writer = { .file = file };
	json_t *notes = json_array();

	(void)options;
	fputc('{', file);
	json_member(&writer, "schema", json_string("spark-repeat/1"));
	json_open_array(&writer, "results");
	for (size_t i = 0; i < runs->n; i++)
		json_element(&writer, result(runs, &runs->command[i]));
	json_close_array(&writer);
	json_member(&writer, "reference", json_text(runs->command[runs->reference].label));
	json_member(&writer, "warmups", json_u64(runs->warmups));
	json_member(&writer, "stopped", json_boolean(runs->stopped));
	json_member(&writer, "floor", cell_has_value(&runs->floor) ? number(runs->floor.value) : json_null());
	for (size_t i = 0; i < runs->nnotes; i++)
		json_array_append_new(notes, json_text(runs->notes[i]));
	json_member(&writer, "notes", notes);
	json_storage(&writer, runs->storage);
	fputs("\n}\n", file);
	return writer.failed ? -1 : 0;
}
