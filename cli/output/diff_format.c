/* SPDX-License-Identifier: MIT */
/* Pieces of text of a diff; see diff_output.h. */
#include <stdio.h>
#include <string.h>

#include "cli/output/diff_output.h"
#include "cli/text.h"

struct diff_at diff_at(const struct diff *diff, u32 side, enum diff_kind kind, u32 metric, u32 row)
{
	return (struct diff_at){ diff, side, kind, metric, row, diff_result(diff, side, kind, metric, row) };
}

static const struct diff_row *row_of(const struct diff_at *at)
{
	return &at->diff->tables[at->kind].rows[at->row];
}

const char *diff_path(const struct diff_at *at)
{
	const char *text = row_of(at)->text;

	return at->kind == DIFF_REGIONS && row_of(at)->parent == DIFF_NONE ? "[]" : text;
}

const char *diff_name(const struct diff_at *at)
{
	return at->kind == DIFF_TOTALS ? row_of(at)->text : at->diff->tables[at->kind].metrics[at->metric].text;
}

void diff_value_text(char out[FORMAT_SIZE], const struct diff_at *at, const struct diff_value *state, double value,
		     bool utf8)
{
	const struct diff_metric *m = &at->diff->tables[at->kind].metrics[at->metric];
	const char *unit = diff_unit(at->diff, at->kind, at->metric, at->row);
	struct cell cell = { .value = value, .state = state->state };

	/* The middle of two counts is to look like a count. */
	if (!strcmp(unit, "count") && cell.value < 9e15)
		cell.value = (double)(s64)(cell.value + 0.5);
	if (at->kind == DIFF_TOTALS)
		format_total(out, &(struct total_fact){ .name = row_of(at)->text, .unit = unit, .cell = cell }, utf8);
	else
		format_cell(out, &cell, &(struct metric){ .format = m->format, .unit = m->unit }, utf8);
	if (state->user)
		strncat(out, ":u", FORMAT_SIZE - strlen(out) - 1);
}

void diff_median(char out[FORMAT_SIZE], const struct diff_at *at, int side, bool utf8)
{
	const struct diff_value *value = &at->result->side[side];

	if (value->n)
		diff_value_text(out, at, value, value->median, utf8);
	else
		snprintf(out, FORMAT_SIZE, "-");
}

/* No "-0.0". */
static double plain_zero(double percent)
{
	return percent < 0.0005 && percent > -0.0005 ? 0 : percent;
}

static int digits_of(double percent)
{
	double size = percent < 0 ? -percent : percent;

	return size >= 100 ? 0 : size >= 1 || size < 0.01 ? 1 : size >= 0.1 ? 2 : 3;
}

void diff_change(char out[FORMAT_SIZE], const struct diff_at *at)
{
	double percent = plain_zero(at->result->change * 100);

	out[0] = '\0';
	if (!at->result->changed)
		return;
	if (percent >= 900)
		snprintf(out, FORMAT_SIZE, "x %.3g", at->result->change + 1);
	else
		snprintf(out, FORMAT_SIZE, "%+.*f %%", digits_of(percent), percent);
}

void diff_interval(char out[FORMAT_SIZE], const struct diff_at *at)
{
	const struct rank *rank = &at->result->rank;
	double low = plain_zero((rank->low - 1) * 100), high = plain_zero((rank->high - 1) * 100);
	double narrow = high - low;

	out[0] = '\0';
	if (!rank->known || !rank->bounded)
		return;
	if (rank->high >= 10)
		snprintf(out, FORMAT_SIZE, "x %.3g to %.3g", rank->low, rank->high);
	else
		snprintf(out, FORMAT_SIZE, "%+.*f to %+.*f %%", digits_of(narrow), low, digits_of(narrow), high);
}

static void p_text(char out[FORMAT_SIZE], double p)
{
	if (p < 1e-4)
		snprintf(out, FORMAT_SIZE, "<0.0001");
	else
		snprintf(out, FORMAT_SIZE, "%.*f", p < 0.001 ? 4 : p < 0.1 ? 3 : 2, p);
}

void diff_p(char out[FORMAT_SIZE], const struct diff_at *at)
{
	enum diff_verdict verdict = at->result->verdict;

	out[0] = '\0';
	if (verdict == DIFF_MORE || verdict == DIFF_LESS || verdict == DIFF_NOISE)
		p_text(out, at->result->adjusted);
}

const char *diff_verdict(const struct diff_at *at)
{
	switch (at->result->verdict) {
	case DIFF_REFUSED:
		return "not comparable";
	case DIFF_FEW:
		return "few runs";
	case DIFF_MISSING:
		return "no value";
	default:
		return diff_verdict_words[at->result->verdict];
	}
}

/* What a gate has to say of its worst row: "wall of parse +7.1 % (+5.2 to +9.0 %), p 0.003". */
static void gate_worst(char *out, size_t size, const struct diff *diff, const struct diff_gate_result *g, u32 side)
{
	struct diff_at at = diff_at(diff, side, g->kind, g->worst_metric, g->row);
	char change[FORMAT_SIZE], interval[FORMAT_SIZE], p[FORMAT_SIZE];
	bool of_total = g->kind == DIFF_TOTALS;
	char name[160], path[320];

	text_fit(name, sizeof(name), diff_name(&at), 40);
	text_fit(path, sizeof(path), of_total ? "" : diff_path(&at), 100);
	diff_change(change, &at);
	diff_interval(interval, &at);
	p_text(p, g->adjusted);
	snprintf(out, size, "%s%s%s %s%s%s%s, p %s", name, of_total ? "" : " of ", path,
		 *change ? change : "changed", *interval ? " (" : "", interval, *interval ? ")" : "", p);
}

void diff_gate_text(char *out, size_t size, const struct diff *diff, u32 gate, u32 side)
{
	const struct diff_gate_result *g = &diff->gates[gate].results[side];
	char worst[768] = "", more[64] = "";

	if (g->judged)
		gate_worst(worst, sizeof(worst), diff, g, side);
	if (g->failed > 1)
		snprintf(more, sizeof(more), "; %u of %u rows fail", g->failed, g->judged);
	else if (g->judged > 1)
		snprintf(more, sizeof(more), "; the worst of %u rows", g->judged);
	if (g->end == DIFF_UNDECIDED)
		snprintf(out, size, "undecided: %s", g->why);
	else
		snprintf(out, size, "%s: %s%s%s%s", g->end == DIFF_FAILED ? "FAILED" : "passed", worst, more,
			 *g->why ? "; some rows: " : "", g->why);
}

/* ---- how much of it differs */

static void piece(char *out, size_t size, u32 n, const char *one, const char *many)
{
	size_t len = strlen(out);

	if (n)
		snprintf(out + len, size - len, "%s%u %s", len ? ", " : "", n, n == 1 ? one : many);
}

/* Of rows, not of their metrics. */
static u32 regions_of(const struct diff *diff, u32 side, enum diff_verdict verdict)
{
	const struct diff_table *table = &diff->tables[DIFF_REGIONS];
	u32 n = 0;

	for (u32 row = 0; row < table->nrows; row++)
		for (u32 m = 0; m < table->nmetrics; m++)
			if (diff_result(diff, side, DIFF_REGIONS, m, row)->verdict == verdict) {
				n++;
				break;
			}
	return n;
}

void diff_summary(char *out, size_t size, const struct diff *diff, u32 side)
{
	u32 differ = 0, tested = 0, few = 0, refused = 0, equal = 0;

	for (u32 kind = 0; kind < DIFF_KINDS; kind++) {
		const u32 *counts = diff->sides[side].counts[kind];

		differ += counts[DIFF_MORE] + counts[DIFF_LESS];
		tested += counts[DIFF_MORE] + counts[DIFF_LESS] + counts[DIFF_NOISE] + counts[DIFF_EQUAL];
		few += counts[DIFF_FEW];
		refused += counts[DIFF_REFUSED];
		equal += counts[DIFF_EQUAL];
	}
	out[0] = '\0';
	if (tested)
		snprintf(out, size, "%u of %u figures differ%s beyond noise", differ, tested, differ == 1 ? "s" : "");
	if (equal)
		piece(out, size, equal, "is equal", "are equal");
	piece(out, size, few, "has too few runs to tell", "have too few runs to tell");
	piece(out, size, regions_of(diff, side, DIFF_NEW), "region is new", "regions are new");
	piece(out, size, regions_of(diff, side, DIFF_GONE), "region is gone", "regions are gone");
	piece(out, size, refused, "is not comparable", "are not comparable");
	if (!out[0])
		snprintf(out, size, "there is nothing to compare");
}
