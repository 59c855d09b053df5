/* SPDX-License-Identifier: MIT */
/* A diff as CSV and as Markdown; see diff_output.h. */
#include <string.h>

#include "cli/output/diff_output.h"
#include "cli/output/field.h"
#include "cli/text.h"

#define TEXT_SIZE 640

/* ---- CSV */

static void csv_value(FILE *file, const struct diff_value *value)
{
	fprintf(file, ",%u", value->n);
	field_csv_number(file, value->n, value->median);
	field_csv_number(file, value->n, value->mad);
	fprintf(file, ",%s", value->n ? cell_state_name(value->state) : "");
}

void diff_csv_row(FILE *file, const struct diff_at *at)
{
	const struct diff_row *row = &at->diff->tables[at->kind].rows[at->row];
	bool of_marker = at->kind == DIFF_REGIONS && row->parent != DIFF_NONE && !*row->origin;

	fprintf(file, "%s,", diff_kind_words[at->kind]);
	field_csv(file, at->kind == DIFF_TOTALS ? "" : row->text);
	fputc(',', file);
	field_csv(file, of_marker ? report_kind_words[0] : row->origin);
	fputc(',', file);
	field_csv(file, diff_name(at));
	fputc(',', file);
	field_csv(file, diff_unit(at->diff, at->kind, at->metric, at->row));
}

static void csv_row(FILE *file, const struct diff_at *at)
{
	const struct diff_result *r = at->result;
	bool tested = r->verdict == DIFF_MORE || r->verdict == DIFF_LESS || r->verdict == DIFF_NOISE;

	fprintf(file, "%s,", at->diff->sides[at->side].label);
	diff_csv_row(file, at);
	csv_value(file, &r->side[0]);
	csv_value(file, &r->side[1]);
	field_csv_number(file, r->rank.known, r->rank.ratio);
	field_csv_number(file, r->rank.known && r->rank.bounded, r->rank.low);
	field_csv_number(file, r->rank.known && r->rank.bounded, r->rank.high);
	field_csv_number(file, tested, r->rank.p);
	field_csv_number(file, tested, r->adjusted);
	fprintf(file, ",%s,", diff_verdict_words[r->verdict]);
	field_csv(file, r->why ? r->why : "");
	fprintf(file, ",%s\r\n", diff_pass(at->diff, at->kind, at->metric, at->row));
}

int diff_csv(FILE *file, const struct diff *diff, const struct diff_options *options)
{
	(void)options;
	fputs("side,kind,path,origin,metric,unit,a.runs,a.median,a.mad,a.state,b.runs,b.median,b.mad,b.state,ratio,low,high,p,"
	      "p.adjusted,verdict,warning,pass\r\n", file);
	for (u32 side = 1; side < diff->nsides; side++)
		for (u32 kind = 0; kind < DIFF_KINDS; kind++)
			for (u32 row = 0; row < diff->tables[kind].nrows; row++)
				for (u32 m = 0; m < diff->tables[kind].nmetrics; m++) {
					struct diff_at at = diff_at(diff, side, kind, m, row);

					csv_row(file, &at);
				}
	return 0;
}

/* ---- Markdown */

/* What a reviewer is to see. */
static bool markdown_wanted(const struct diff_at *at)
{
	enum diff_verdict verdict = at->result->verdict;

	return verdict <= DIFF_REFUSED || (verdict == DIFF_FEW && !at->result->rank.equal);
}

static void markdown_row(FILE *file, const struct diff_at *at, bool utf8)
{
	char a[FORMAT_SIZE], b[FORMAT_SIZE], change[FORMAT_SIZE], interval[FORMAT_SIZE], p[FORMAT_SIZE];

	diff_median(a, at, 0, utf8);
	diff_median(b, at, 1, utf8);
	diff_change(change, at);
	diff_interval(interval, at);
	diff_p(p, at);
	fputs("| ", file);
	field_markdown(file, diff_path(at));
	fputs(" | ", file);
	field_markdown(file, at->kind == DIFF_TOTALS ? "total" : diff_name(at));
	fputs(" | ", file);
	field_markdown_words(file, a);
	fputs(" | ", file);
	field_markdown_words(file, b);
	fprintf(file, " | %s | %s | %s | %s%s", change, interval, p, diff_verdict(at),
		at->result->why ? ": " : "");
	field_markdown_words(file, at->result->why ? at->result->why : "");
	fputs(" |\n", file);
}

/* The greatest of each metric. Returns how many were left out. */
static u32 markdown_metric(FILE *file, const struct diff *diff, u32 side, enum diff_kind kind, u32 metric,
			   const struct diff_options *o, u32 *shown)
{
	const struct diff_table *table = &diff->tables[kind];
	u32 left = 0, n = 0;

	for (u32 i = 0; i < table->nrows; i++) {
		u32 row = diff->sides[side].order[kind][(size_t)metric * table->nrows + i];
		struct diff_at at = diff_at(diff, side, kind, metric, row);

		if (!markdown_wanted(&at))
			continue;
		if (o->top && n >= o->top) {
			left++;
			continue;
		}
		if (!n++ && !(*shown)++)
			fprintf(file, "| Row | Metric | A | %s | Change | 95 %% | p | |\n"
				"|:---|:---|---:|---:|---:|---:|---:|:---|\n", diff->sides[side].label);
		markdown_row(file, &at, o->output.utf8);
	}
	return left;
}

static void markdown_gates(FILE *file, const struct diff *diff, u32 side)
{
	static const char *const ends[] = {
		[DIFF_PASSED] = "passed", [DIFF_FAILED] = "**failed**", [DIFF_UNDECIDED] = "undecided",
	};

	if (diff->ngates)
		fputs("| Gate | | |\n|:---|:---|:---|\n", file);
	for (u32 i = 0; i < diff->ngates; i++) {
		char text[TEXT_SIZE], *at;

		diff_gate_text(text, sizeof(text), diff, i, side);
		at = strchr(text, ':');
		fputs("| ", file);
		field_markdown(file, diff->gates[i].text);
		fprintf(file, " | %s | ", ends[diff->gates[i].results[side].end]);
		field_markdown_words(file, at ? at + 2 : text);
		fputs(" |\n", file);
	}
	if (diff->ngates)
		fputc('\n', file);
}

static void markdown_side(FILE *file, const struct diff *diff, u32 side, const struct diff_options *options)
{
	const struct diff_side *s = &diff->sides[side];
	char text[TEXT_SIZE];
	u32 left = 0, shown = 0;

	fprintf(file, "### %s against A: ", s->label);
	if (s->refused[0] && !diff->force) {
		fputs("not comparable\n\n", file);
		field_markdown_words(file, s->refused);
		fputs("\n\n", file);
		return;
	}
	diff_summary(text, sizeof(text), diff, side);
	fprintf(file, "%s\n\n", text);
	markdown_gates(file, diff, side);
	for (u32 kind = 0; kind < DIFF_KINDS; kind++)
		for (u32 m = 0; m < diff->tables[kind].nmetrics; m++)
			left += markdown_metric(file, diff, side, kind, m, options, &shown);
	if (left)
		fprintf(file, "\nand %u more\n", left);
	if (shown)
		fputc('\n', file);
}

int diff_markdown(FILE *file, const struct diff *diff, const struct diff_options *options)
{
	for (u32 i = 1; i < diff->nsides; i++)
		markdown_side(file, diff, i, options);
	fputs("<details><summary>Runs</summary>\n\n", file);
	for (u32 i = 0; i < diff->nsides; i++) {
		const struct diff_run *run = &diff->sides[i].runs[0];
		char text[TEXT_SIZE];

		text_escape(text, sizeof(text), run->path, strlen(run->path));
		fprintf(file, "- %s: %u run%s, ", diff->sides[i].label, diff->sides[i].nruns,
			diff->sides[i].nruns == 1 ? "" : "s");
		field_markdown_code(file, text);
		fputc('\n', file);
	}
	for (u32 i = 0; i < diff->nnotes; i++) {
		fputs("- ", file);
		field_markdown_words(file, diff->notes[i]);
		fputc('\n', file);
	}
	fputs("\n</details>\n", file);
	return 0;
}
