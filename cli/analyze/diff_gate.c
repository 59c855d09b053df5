/* SPDX-License-Identifier: MIT */
/* Gates: conditions on rows under which a comparison counts as a regression; see diff.h. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/diff_build.h"
#include "cli/analyze/discovery.h"
#include "cli/analyze/report_build.h"
#include "cli/opt.h"

/* ---- what is asked for ----------------------------------------------------------------------------- */

static char *trimmed(const char *from, size_t len)
{
	while (len && (*from == ' ' || *from == '\t')) {
		from++;
		len--;
	}
	while (len && (from[len - 1] == ' ' || from[len - 1] == '\t'))
		len--;
	return strndup(from, len);
}

/* "> +5 %" */
static const char *gate_bound(struct diff_gate *gate, const char *from)
{
	const char *percent = strrchr(from, '%');
	bool last = percent && !percent[1 + strspn(percent + 1, " \t")];
	char *number = last ? trimmed(from + 1, (size_t)(percent - from) - 1) : NULL;
	const char *wrong = number ? NULL : "it does not end with a number of percent, such as >+5%";

	gate->more = *from == '>';
	if (number && !opt_number(number, &gate->percent))
		wrong = "what stands before % is no number";
	if (!wrong && !(gate->more ? gate->percent >= 0 && gate->percent <= 1e9 :
				     gate->percent <= 0 && gate->percent >= -100))
		wrong = "worse is more than +N% of change, or less than -N%";
	free(number);
	return wrong;
}

static const char *gate_name(struct diff_gate *gate, size_t len)
{
	char *name = trimmed(gate->text, len), *open = name ? strchr(name, '(') : NULL;
	size_t all = name ? strlen(name) : 0;

	if (name && open && name[all - 1] == ')') {
		gate->metric = trimmed(name, (size_t)(open - name));
		gate->regions = trimmed(open + 1, all - (size_t)(open - name) - 2);
	} else if (name) {
		gate->metric = strdup(name);
	}
	free(name);
	if (!gate->metric || (open && !gate->regions))
		return open ? "its brackets do not match" : "out of memory";
	if (!*gate->metric || strpbrk(gate->metric, ", *?["))
		return "before > or < stands the name of one metric";
	return gate->regions && !*gate->regions ? "its brackets are empty" : NULL;
}

const char *diff_gate_add(struct diff *diff, const char *text)
{
	struct diff_gate *gates = report_grow(diff->gates, diff->ngates, sizeof(*gates)), *gate;
	const char *more = strrchr(text, '>'), *less = strrchr(text, '<'), *at = more > less ? more : less, *wrong;

	if (!gates)
		return "out of memory";
	diff->gates = gates;
	gate = &gates[diff->ngates++];
	gate->text = text;
	gate->results = calloc(diff->nsides, sizeof(*gate->results));
	if (!gate->results)
		return "out of memory";
	if (!at)
		return "it has neither > nor <";
	wrong = gate_name(gate, (size_t)(at - text));
	return wrong ? wrong : gate_bound(gate, at);
}

/* ---- which rows ------------------------------------------------------------------------------------ */

/* A row that a gate looks at. */
struct gate_item {
	u32 gate;
	enum diff_kind kind;
	u32 metric, row;
};

struct gate_items {
	struct gate_item *item;
	size_t n;
	bool no_memory;
};

static void items_add(struct gate_items *items, u32 gate, enum diff_kind kind, u32 metric, u32 row)
{
	struct gate_item *grown = report_grow(items->item, items->n, sizeof(*grown));

	if (!grown) {
		items->no_memory = true;
		return;
	}
	items->item = grown;
	grown[items->n++] = (struct gate_item){ gate, kind, metric, row };
}

static bool row_matches(const struct diff_gate *gate, const struct diff_row *row)
{
	/* A name of C++ may have commas, which stand between globs. */
	return !gate->regions || !strcmp(gate->regions, row->name) || !strcmp(gate->regions, row->text) ||
	       metric_glob(gate->regions, row->name) || metric_glob(gate->regions, row->text);
}

static void gate_rows(const struct diff *diff, u32 number, enum diff_kind kind, struct gate_items *items)
{
	const struct diff_gate *gate = &diff->gates[number];
	const struct diff_table *table = &diff->tables[kind];

	for (u32 m = 0; m < table->nmetrics; m++)
		for (u32 row = 0; row < table->nrows && !strcmp(table->metrics[m].name, gate->metric); row++)
			if (row_matches(gate, &table->rows[row]))
				items_add(items, number, kind, m, row);
}

static void gate_find(const struct diff *diff, u32 number, struct gate_items *items)
{
	const struct diff_gate *gate = &diff->gates[number];
	const struct diff_table *totals = &diff->tables[DIFF_TOTALS];

	for (u32 row = 0; row < totals->nrows && !gate->regions; row++)
		if (!strcmp(totals->rows[row].name, gate->metric)) {
			items_add(items, number, DIFF_TOTALS, 0, row);
			return;
		}
	gate_rows(diff, number, DIFF_REGIONS, items);
	gate_rows(diff, number, DIFF_FUNCTIONS, items);
}

static bool item_diagnostic(const struct diff *diff, const struct gate_item *item)
{
	const struct diff_table *table = &diff->tables[item->kind];

	return item->kind == DIFF_TOTALS ? table->rows[item->row].diagnostic : table->metrics[item->metric].diagnostic;
}

static bool metric_known(const struct diff *diff, const char *name)
{
	for (u32 kind = DIFF_REGIONS; kind < DIFF_KINDS; kind++)
		for (u32 m = 0; m < diff->tables[kind].nmetrics; m++)
			if (!strcmp(diff->tables[kind].metrics[m].name, name))
				return true;
	return false;
}

const char *diff_gates_check(const struct diff *diff, bool diagnostic, char text[DIFF_NOTE])
{
	for (u32 i = 0; i < diff->ngates; i++) {
		const struct diff_gate *gate = &diff->gates[i];
		struct gate_items items = { .n = 0 };
		bool refused, found;

		gate_find(diff, i, &items);
		found = items.n > 0;
		refused = found && !diagnostic && item_diagnostic(diff, &items.item[0]);
		free(items.item);
		if (refused)
			snprintf(text, DIFF_NOTE, "'%s': %s is diagnostic: it explains a difference, and is none to be "
				 "judged by (--allow-diagnostic)", gate->text, gate->metric);
		else if (!found && !metric_known(diff, gate->metric))
			snprintf(text, DIFF_NOTE, "'%s': nothing that was measured is called '%s'; see sparkctl list "
				 "metrics", gate->text, gate->metric);
		else
			continue;
		return text;
	}
	return NULL;
}

/* ---- judging --------------------------------------------------------------------------------------- */

/* In percent; of what was 0 and is not, without end. */
static double change_of(const struct diff_result *r)
{
	double by = r->side[1].median - r->side[0].median;

	return r->changed ? r->change * 100 : by > 0 ? 1e30 : by < 0 ? -1e30 : 0;
}

static bool result_judged(const struct diff_result *r)
{
	return r->verdict == DIFF_MORE || r->verdict == DIFF_LESS || r->verdict == DIFF_NOISE ||
	       (r->verdict == DIFF_EQUAL && r->side[0].n > 1 && r->side[1].n > 1);
}

/* What only explains may be a gate where it is exact. */
static bool result_exact(const struct diff_result *r)
{
	return r->side[0].state == CELL_COUNTED && r->side[1].state == CELL_COUNTED;
}

static bool item_counts(const struct diff *diff, u32 side, const struct gate_item *item)
{
	const struct diff_result *r = diff_result(diff, side, item->kind, item->metric, item->row);

	return result_judged(r) && (!item_diagnostic(diff, item) || result_exact(r));
}

static void item_judge(struct diff *diff, u32 side, const struct gate_item *item, double adjusted, double worst[])
{
	const struct diff_gate *gate = &diff->gates[item->gate];
	const struct diff_result *r = diff_result(diff, side, item->kind, item->metric, item->row);
	struct diff_gate_result *to = &gate->results[side];
	double change = gate->more ? change_of(r) : -change_of(r);
	bool fails = adjusted <= diff->rate && r->rank.higher == gate->more &&
		     change > (gate->more ? gate->percent : -gate->percent);

	/* One that fails is told of before others, whatever these have changed by. */
	change += fails ? 1e31 : 0;
	if (!to->judged++ || change > worst[item->gate]) {
		worst[item->gate] = change;
		to->kind = item->kind;
		to->row = item->row;
		to->worst_metric = item->metric;
		to->adjusted = adjusted;
	}
	to->failed += fails;
}

static void gate_undecided(struct diff_gate_result *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void gate_undecided(struct diff_gate_result *to, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(to->why, sizeof(to->why), format, list);
	va_end(list);
}

/* What keeps the rows of a gate from being judged, the worst of it. */
static void gate_end(const struct diff *diff, u32 side, u32 number, const struct gate_items *items)
{
	struct diff_gate_result *to = &diff->gates[number].results[side];
	u32 counts[DIFF_VERDICTS] = { 0 };
	bool inexact = false;

	for (size_t i = 0; i < items->n; i++) {
		const struct gate_item *item = &items->item[i];
		const struct diff_result *r = diff_result(diff, side, item->kind, item->metric, item->row);

		if (item->gate != number)
			continue;
		counts[r->verdict]++;
		inexact = inexact || (result_judged(r) && item_diagnostic(diff, item) && !result_exact(r));
		if (r->verdict == DIFF_REFUSED)
			gate_undecided(to, "not comparable: %.*s", (int)sizeof(to->why) - 20, r->why);
	}
	to->end = to->failed ? DIFF_FAILED : DIFF_PASSED;
	if (inexact)
		gate_undecided(to, "a diagnostic metric may be a gate only where it was counted exactly");
	else if (!to->judged && counts[DIFF_FEW] + counts[DIFF_EQUAL])
		gate_undecided(to, "too few runs: %u on each side are needed", diff_runs_needed(diff->rate));
	else if (!to->judged && counts[DIFF_GONE])
		gate_undecided(to, "the region is not in %s", diff->sides[side].label);
	else if (!to->judged && counts[DIFF_NEW])
		gate_undecided(to, "the region is not in A");
	else if (!to->judged && !to->why[0])
		gate_undecided(to, counts[DIFF_MISSING] ? "there is no value" : "no region has such a name");
	if (to->why[0] && !to->failed)
		to->end = DIFF_UNDECIDED;
}

int diff_gates_judge(struct diff *diff, u32 side)
{
	struct gate_items items = { .n = 0 };
	double *p, *worst = calloc(diff->ngates + 1, sizeof(*worst));
	const double **order;
	size_t n = 0;
	int err;

	for (u32 i = 0; i < diff->ngates; i++)
		gate_find(diff, i, &items);
	p = calloc(items.n + 1, sizeof(*p));
	order = calloc(items.n + 1, sizeof(*order));
	err = items.no_memory || !p || !order || !worst ? -1 : 0;
	for (size_t i = 0; i < items.n && !err; i++) {
		const struct gate_item *item = &items.item[i];

		if (item_counts(diff, side, item))
			p[n++] = diff_result(diff, side, item->kind, item->metric, item->row)->rank.p;
	}
	if (!err)
		discovery_adjust(p, n, order);
	n = 0;
	for (size_t i = 0; i < items.n && !err; i++) {
		const struct gate_item *item = &items.item[i];

		if (item_counts(diff, side, item))
			item_judge(diff, side, item, p[n++], worst);
	}
	for (u32 i = 0; i < diff->ngates && !err; i++)
		gate_end(diff, side, i, &items);
	free(items.item);
	free(p);
	free(worst);
	free(order);
	return err;
}
