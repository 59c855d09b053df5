/* SPDX-License-Identifier: MIT */
/*
 * Metrics of a report that are computed from its columns and totals. They come behind their inputs,
 * and in the order in which they may use each other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/report_build.h"
#include "cli/names/names.h"

/* ---- what there is --------------------------------------------------------------------------------- */

static void derived_define(struct derived *derived, const struct definition *definition)
{
	const struct formula *formula = &definition->formula;
	const char *unit = formula->unit;
	enum metric_format format = !strcmp(unit, "%") ? METRIC_PERCENT : !strcmp(unit, "ns") ? METRIC_NS :
				    !strcmp(unit, "B") ? METRIC_BYTES : METRIC_RATIO;

	derived->metric = (struct metric){
		.name = formula->name, .title = formula->name, .unit = unit, .class_name = "quantitative",
		.source = "derived", .format = format, .place = 26, .importance = 63, .meaning = formula->text,
		.bias = "that of its inputs",
	};
	derived->aside = definition->aside;
	derived->regions.formula = derived->totals.formula = formula;
}

int report_init_derived(struct report *report)
{
	const struct definitions *definitions = report->options.definitions;
	size_t nrows, ndefined = definitions ? definitions->n : 0;
	const struct derived_row *rows = derived_table(&nrows);

	report->derived = calloc(nrows + ndefined, sizeof(*report->derived));
	if (!report->derived)
		return -1;
	for (size_t i = 0; i < nrows; i++)
		if (!definitions_find(definitions, rows[i].metric.name))
			report->derived[report->nderived++] = (struct derived){ .metric = rows[i].metric, .row = &rows[i] };
	for (size_t i = 0; i < ndefined; i++)
		derived_define(&report->derived[report->nderived++], &definitions->item[i]);
	return 0;
}

void report_free_derived(struct report *report)
{
	for (size_t i = 0; i < report->nderived; i++) {
		formula_free(&report->derived[i].regions.own);
		formula_free(&report->derived[i].totals.own);
	}
	free(report->derived);
}

/* ---- names of inputs ------------------------------------------------------------------------------- */

struct pool_total {
	struct total_fact fact;
	const struct derived_use *use; /* NULL: it is not computed from others */
};

/* What inputs are looked for in: columns, or totals. */
struct input_pool {
	const struct report *report;
	struct pool_total *totals;   /* NULL: columns */
	size_t n;
};

static const char *pool_name(const struct input_pool *pool, size_t i)
{
	return pool->totals ? pool->totals[i].fact.name : pool->report->columns[i].metric->name;
}

/* By a name, or by it and the modifier that was asked for. */
static size_t pool_find_as(const struct input_pool *pool, const char *name, const char *modifier)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < pool->n; i++) {
		const char *own = pool_name(pool, i);

		/* The first byte spares most of the calls. */
		if (own[0] == name[0] && !strncmp(own, name, len) && !strcmp(own + len, modifier))
			return i;
	}
	return DERIVED_ABSENT;
}

struct synonym {
	const char *name, *other;
};

static int find_synonym(void *data, const char *name, const char *other)
{
	struct synonym *synonym = data;

	if (other && name[0] == synonym->name[0] && !strcmp(name, synonym->name))
		synonym->other = other;
	else if (other && other[0] == synonym->name[0] && !strcmp(other, synonym->name))
		synonym->other = name;
	return synonym->other != NULL;
}

/* What a run and its regions call differently, and names that mean the same event; NULL: there is none. */
static const char *other_name(const char *name)
{
	static const struct synonym scopes[] = { { "wall", "elapsed" }, { "cpu", "task-clock" } };
	struct synonym synonym = { .name = name };

	for (size_t i = 0; i < ARRAY_SIZE(scopes) && !synonym.other; i++)
		find_synonym(&synonym, scopes[i].name, scopes[i].other);
	if (!synonym.other && !names_each_generic(PERF_TYPE_HARDWARE, find_synonym, &synonym))
		names_each_generic(PERF_TYPE_SOFTWARE, find_synonym, &synonym);
	return synonym.other;
}

/* "cycles" may have been asked for as cpu-cycles, and as cycles:u. */
static size_t pool_find(const struct input_pool *pool, const char *name)
{
	size_t at = pool_find_as(pool, name, "");
	const char *other = at == DERIVED_ABSENT ? other_name(name) : NULL;

	if (other)
		at = pool_find_as(pool, other, "");
	if (at == DERIVED_ABSENT)
		at = pool_find_as(pool, name, ":u");
	if (at == DERIVED_ABSENT && other)
		at = pool_find_as(pool, other, ":u");
	return at;
}

/* NULL: it is not computed from others. */
static const struct derived_use *pool_use(const struct input_pool *pool, size_t i)
{
	const struct derived *derived;

	if (pool->totals)
		return pool->totals[i].use;
	derived = pool->report->columns[i].derived;
	return derived ? &derived->regions : NULL;
}

/* What counters count; not time, which runs in all modes alike, and what the program says of itself. */
static bool column_sided(const struct metric *metric)
{
	return strcmp(metric->source, "time") != 0 && strcmp(metric->source, "client") != 0 && strcmp(metric->unit, "ns") != 0;
}

static bool total_sided(const struct total_fact *total)
{
	bool counted = total->source && (!strcmp(total->source, "perf") || !strcmp(total->source, "wait4"));

	return counted && strcmp(total->unit, "ns") != 0 && strcmp(total->name, "maxrss") != 0;
}

static bool pool_sided(const struct input_pool *pool, size_t i)
{
	const struct derived_use *use = pool_use(pool, i);

	if (use)
		return use->sided;
	return pool->totals ? total_sided(&pool->totals[i].fact) : column_sided(pool->report->columns[i].metric);
}

/* A column whose events are of user mode only has that in its title, whatever the notes of its cells are about. */
static bool pool_user(const struct input_pool *pool, size_t i)
{
	const struct derived_use *use = pool_use(pool, i);
	const struct metric *metric;

	if (use || pool->totals)
		return use && use->user;
	metric = pool->report->columns[i].metric;
	return !strcmp(metric->source, "pmu") && strlen(metric->title) == strlen(metric->name) + 2;
}

static void use_resolve(struct derived_use *use, const struct input_pool *pool)
{
	use->complete = true;
	use->sided = use->user = false;
	for (size_t i = 0; i < use->formula->ninputs; i++) {
		size_t at = pool_find(pool, use->formula->inputs[i]);

		use->input[i] = at;
		if (at == DERIVED_ABSENT || (pool_use(pool, at) && !pool_use(pool, at)->complete))
			use->complete = false;
		if (at == DERIVED_ABSENT)
			continue;
		use->sided = use->sided || pool_sided(pool, at);
		use->user = use->user || pool_user(pool, at);
	}
}

/* Chooses the formula of a row: the first whose inputs are all there, else the first one. */
static int use_choose(struct derived_use *use, const char *name, const char *const *ways, const struct input_pool *pool)
{
	struct formula_error error;
	char text[FORMULA_TEXT_MAX];

	for (size_t k = 0; k <= DERIVED_WAYS && !use->complete; k++) {
		const char *way = k < DERIVED_WAYS ? ways[k] : ways[0];

		if (!way || (k == DERIVED_WAYS && !ways[1]))
			continue;
		snprintf(text, sizeof(text), "%s = %s", name, way);
		formula_free(&use->own);
		if (formula_parse(&use->own, text, &error) != 0)
			return -1;
		use->formula = &use->own;
		use_resolve(use, pool);
	}
	return 0;
}

static int derived_resolve(struct derived *derived, const struct input_pool *pool)
{
	struct derived_use *use = pool->totals ? &derived->totals : &derived->regions;

	if (derived->row)
		return use_choose(use, derived->metric.name, pool->totals ? derived->row->totals : derived->row->regions, pool);
	use_resolve(use, pool);
	return 0;
}

/* ---- values ---------------------------------------------------------------------------------------- */

/* Behind an event's name: cycles:u, cpu/event=0x3c/k. */
static bool name_has_modifier(const char *name)
{
	size_t len = strlen(name), at = len;

	while (at && strchr("ukhGHIpPSDWe", name[at - 1]))
		at--;
	return at && at < len && (name[at - 1] == ':' || name[at - 1] == '/');
}

static enum formula_side input_side(const struct input_pool *pool, size_t at, const struct cell *cell,
				    const char *asked)
{
	const char *found = pool_name(pool, at);

	if (!pool_sided(pool, at))
		return FORMULA_NO_SIDE;
	if (cell_of_user(cell) || pool_user(pool, at))
		return FORMULA_USER_SIDE;
	/* Who writes cycles:u / cycles means it; who writes cycles, and gets cycles:u, may not know. */
	if (!name_has_modifier(found))
		return FORMULA_ALL_SIDES;
	return strcmp(asked, found) != 0 ? FORMULA_USER_SIDE : FORMULA_NO_SIDE;
}

/* The value with a note that lives as long as the report. */
static struct cell derived_value(struct report *report, struct derived *derived, const struct derived_use *use,
				 const struct formula_input *inputs)
{
	char note[FORMULA_NOTE_MAX];
	struct cell cell = formula_value(use->formula, inputs, note);

	if (cell.note != note)
		return cell;
	if (!derived->note || strcmp(derived->note, note) != 0)
		derived->note = report_text(report, "%s", note);
	cell.note = derived->note;
	return cell;
}

/* The same in all rows: what a column needs is not there. */
static struct cell derived_absent(struct report *report, struct derived *derived)
{
	const struct derived_use *use = &derived->regions;
	struct formula_input inputs[FORMULA_INPUTS_MAX];

	for (size_t i = 0; i < use->formula->ninputs; i++) {
		const struct derived *other = use->input[i] == DERIVED_ABSENT ? NULL : report->columns[use->input[i]].derived;

		inputs[i] = (struct formula_input){ cell_counted(0), FORMULA_NO_SIDE };
		if (use->input[i] == DERIVED_ABSENT)
			inputs[i].cell = cell_absent(CELL_UNAVAILABLE, "no column is called so; run -e adds events");
		else if (other && !other->regions.complete)
			inputs[i].cell = other->absent;
	}
	return derived_value(report, derived, use, inputs);
}

static struct cell derived_cell(struct report *report, struct derived *derived, const struct cell *cells)
{
	const struct input_pool pool = { .report = report, .n = report->ncolumns };
	const struct derived_use *use = &derived->regions;
	struct formula_input inputs[FORMULA_INPUTS_MAX];

	for (size_t i = 0; i < use->formula->ninputs; i++) {
		size_t at = use->input[i];

		inputs[i].cell = cells[at];
		/* The note of units and rates is their unit. */
		if (cell_has_value(&cells[at]) && !strcmp(report->columns[at].metric->source, "client"))
			inputs[i].cell.note = NULL;
		inputs[i].side = input_side(&pool, at, &cells[at], use->formula->inputs[i]);
	}
	return derived_value(report, derived, use, inputs);
}

struct cell report_cell(struct report *report, size_t column, const struct cell *cells, const struct metric_input *in)
{
	const struct metric *metric = report->columns[column].metric;
	struct derived *derived = report->columns[column].derived;

	if (!derived)
		return metric->value(metric, in);
	return derived->regions.complete ? derived_cell(report, derived, cells) : derived->absent;
}

/* ---- columns --------------------------------------------------------------------------------------- */

/* Quantitative unless an input is not; without its inputs a built-in one is as its row says. */
static void derived_classify(const struct report *report, struct derived *derived)
{
	if (derived->regions.complete)
		derived->metric.class_name = "quantitative";
	for (size_t i = 0; i < derived->regions.formula->ninputs; i++) {
		size_t at = derived->regions.input[i];

		if (at != DERIVED_ABSENT && strcmp(report->columns[at].metric->class_name, "quantitative") != 0)
			derived->metric.class_name = report->columns[at].metric->class_name;
	}
}

/* Without --metrics: a built-in one that can be computed, and a definition that is not meant for totals alone. */
static bool derived_wanted(const struct derived *derived, bool table)
{
	if (!derived->row)
		return table ? derived->regions.complete && !derived->aside : true;
	return derived->regions.complete && !(table && derived->row->told & DERIVED_IN_REGIONS);
}

int report_add_derived_columns(struct report *report)
{
	const char *globs = report->options.metrics;

	for (size_t i = 0; i < report->nderived; i++) {
		struct derived *derived = &report->derived[i];
		struct input_pool pool = { .report = report, .n = report->ncolumns };
		bool asked = globs && metric_glob(globs, derived->metric.name);
		struct report_column *column;

		if (derived->row && !derived->row->regions[0])
			continue;
		if (derived_resolve(derived, &pool) != 0)
			return -1;
		derived->metric.shown = derived_wanted(derived, true);
		if (derived->regions.complete && !derived->row)
			derived->metric.in_windows = METRIC_ALWAYS;
		derived_classify(report, derived);
		if (!derived->regions.complete)
			derived->absent = derived_absent(report, derived);
		if (pool_find_as(&pool, derived->metric.name, "") != DERIVED_ABSENT) {
			if (report_add_unknown(report, report_text(report, "%s: two metrics have this name, one is left out",
								   derived->metric.name)) != 0)
				return -1;
			continue;
		}
		if (report_add_column(report, &derived->metric) != 0)
			return -1;
		column = &report->columns[report->ncolumns - 1];
		column->derived = derived;
		column->selected = asked || (!(globs && derived->row) && derived_wanted(derived, false));
		column->shown = asked || (!(globs && derived->row) && derived->metric.shown);
	}
	return 0;
}

/* ---- totals ---------------------------------------------------------------------------------------- */

static void pool_add(struct input_pool *pool, const struct total_fact *total, const struct derived_use *use)
{
	pool->totals[pool->n++] = (struct pool_total){ *total, use };
}

/* Those of a part, and the time, which is that of all. */
static int pool_fill_part(struct input_pool *pool, const struct part_fact *part)
{
	const struct session_facts *facts = pool->report->facts;

	pool->totals = calloc(part->ntotals + 1 + pool->report->nderived, sizeof(*pool->totals));
	if (!pool->totals)
		return -1;
	for (size_t i = 0; i < part->ntotals; i++)
		pool_add(pool, &part->totals[i], NULL);
	for (size_t i = 0; i < facts->ntotals; i++)
		if (!strcmp(facts->totals[i].name, "elapsed") && pool_find_as(pool, "elapsed", "") == DERIVED_ABSENT)
			pool_add(pool, &facts->totals[i], NULL);
	return 0;
}

/* All there are, chosen or not, with room for the derived ones. */
static int pool_fill(struct input_pool *pool)
{
	const struct report *report = pool->report;
	size_t n = report->facts->ntotals + report->ntotals + report->nderived;

	pool->totals = calloc(n + 1, sizeof(*pool->totals));
	if (!pool->totals)
		return -1;
	for (size_t i = 0; i < report->facts->ntotals; i++)
		pool_add(pool, &report->facts->totals[i], NULL);
	/* Those that the report itself has added: the markers'. */
	for (size_t i = 0; i < report->ntotals; i++)
		if (pool_find_as(pool, report->totals[i].name, "") == DERIVED_ABSENT)
			pool_add(pool, &report->totals[i], NULL);
	return 0;
}

static struct cell derived_total(struct report *report, struct derived *derived, const struct input_pool *pool)
{
	static const char absent[] = "no total is called so; run and stat -e add events";
	const struct derived_use *use = &derived->totals;
	struct formula_input inputs[FORMULA_INPUTS_MAX];

	for (size_t i = 0; i < use->formula->ninputs; i++) {
		size_t at = use->input[i];

		inputs[i] = (struct formula_input){ cell_absent(CELL_UNAVAILABLE, absent), FORMULA_NO_SIDE };
		if (at == DERIVED_ABSENT)
			continue;
		inputs[i].cell = pool->totals[at].fact.cell;
		inputs[i].side = input_side(pool, at, &inputs[i].cell, use->formula->inputs[i]);
	}
	return derived_value(report, derived, use, inputs);
}

enum derived_place { DERIVED_LEFT_OUT, DERIVED_ASIDE, DERIVED_SHOWN };

static enum derived_place derived_total_place(const struct report *report, const struct derived *derived,
					      const struct cell *cell)
{
	bool totals_only = report->options.totals_only;
	const char *globs = totals_only ? report->options.metrics : NULL;
	u32 told = totals_only ? DERIVED_IN_RATIOS : DERIVED_IN_TOTALS;

	if (globs && metric_glob(globs, derived->metric.name))
		return DERIVED_SHOWN;
	if (!derived->row)
		return derived->aside || (derived->regions.complete && !derived->totals.complete) ? DERIVED_ASIDE : DERIVED_SHOWN;
	if (globs || !derived->totals.complete)
		return DERIVED_LEFT_OUT;
	/* Where runs are compared, the same ones are shown of each. */
	return (report->options.steady || cell_has_value(cell)) && !(derived->row->told & told) ? DERIVED_SHOWN : DERIVED_ASIDE;
}

/* Computes all, each of which the next may use, and adds those of a place, aside last. part: NULL, or whose they are. */
static int derived_add_totals(struct report *report, struct report_part *part, struct input_pool *pool, size_t given,
			      enum derived_place place)
{
	pool->n = given;
	for (size_t i = 0; i < report->nderived; i++) {
		struct derived *derived = &report->derived[i];
		struct total_fact total = { .name = derived->metric.name, .unit = derived->metric.unit, .source = "derived" };

		if ((derived->row && !derived->row->totals[0]) || pool_find_as(pool, total.name, "") != DERIVED_ABSENT)
			continue;
		if (place != DERIVED_ASIDE && derived_resolve(derived, pool) != 0)
			return -1;
		total.cell = derived_total(report, derived, pool);
		pool_add(pool, &total, &derived->totals);
		if (derived_total_place(report, derived, &total.cell) != place)
			continue;
		if (part)
			report_add_part_total(report, part, &total);
		else if (report_add_total(report, &total) != 0)
			return -1;
	}
	return 0;
}

static int derived_add_part(struct report *report, struct report_part *part)
{
	struct input_pool pool = { .report = report };
	int err = pool_fill_part(&pool, part->fact) || derived_add_totals(report, part, &pool, pool.n, DERIVED_SHOWN) ? -1 : 0;

	free(pool.totals);
	return err;
}

int report_add_derived_totals(struct report *report)
{
	struct input_pool pool = { .report = report };
	int err = pool_fill(&pool);
	size_t given = pool.n;

	err = err || derived_add_totals(report, NULL, &pool, given, DERIVED_SHOWN) ? -1 : 0;
	report->nshown = report->ntotals;
	err = err || derived_add_totals(report, NULL, &pool, given, DERIVED_ASIDE) ? -1 : 0;
	free(pool.totals);
	for (size_t i = 0; !err && i < report->nby_part; i++)
		err = derived_add_part(report, &report->by_part[i]);
	return err;
}
