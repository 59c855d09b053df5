/* SPDX-License-Identifier: MIT */
/* Repeated runs as CSV and as a table in Markdown; see runs_output.h. */
#include <string.h>

#include "cli/output/field.h"
#include "cli/output/format.h"
#include "cli/output/runs_output.h"
#include "cli/text.h"

#define NS 1e-9
#define TEXT_SIZE 4096

/* A field of both: names of events have commas in them. */
static void csv_joined(FILE *file, const char *first, const char *second)
{
	char bytes[TEXT_SIZE], text[TEXT_SIZE];

	snprintf(bytes, sizeof(bytes), "%s%s", first, second);
	text_escape(text, sizeof(text), bytes, strlen(bytes));
	field_csv(file, text);
}

static void csv_field(FILE *file, const char *bytes)
{
	csv_joined(file, bytes, "");
}

static void csv_head(FILE *file, const struct runs *runs)
{
	const struct runs_command *first = &runs->command[0];

	fputs("command,mean,stddev,median,user,system,min,max", file);
	for (size_t k = 0; k < first->nparameters; k++) {
		fputc(',', file);
		csv_joined(file, "parameter_", first->parameters[k].name);
	}
	fputs(",label,runs,failed", file);
	if (runs->cached)
		fputs(",cache,cache.because", file);
	for (size_t k = 0; k < first->nseries; k++) {
		static const char *const what[] = { ".median", ".mad", ".state", ".ratio", ".low", ".high" };

		for (size_t i = 0; i < (runs->n > 1 ? 6 : 3); i++) {
			fputc(',', file);
			csv_joined(file, first->series[k].name, what[i]);
		}
	}
	fputs("\r\n", file);
}

static void csv_series(FILE *file, const struct runs_series *s, bool ratios)
{
	const struct comparison *c = &s->comparison;

	field_csv_number(file, s->known, s->spread.median);
	field_csv_number(file, s->known, s->spread.mad);
	fprintf(file, ",%s", cell_state_name(s->state));
	if (!ratios)
		return;
	field_csv_number(file, c->known, c->ratio);
	field_csv_number(file, c->known && c->bounded, c->low);
	field_csv_number(file, c->known && c->bounded, c->high);
}

static void csv_command(FILE *file, const struct runs *runs, const struct runs_command *c)
{
	static const struct runs_series none = { .state = CELL_UNAVAILABLE };
	const struct runs_series *e = runs_elapsed(c), *user = runs_find(c, "user"), *sys = runs_find(c, "sys");

	e = e ? e : &none;
	user = user ? user : &none;
	sys = sys ? sys : &none;
	csv_field(file, c->text);
	field_csv_number(file, e->known, e->spread.mean * NS);
	field_csv_number(file, e->known && c->n > 1, e->spread.stddev * NS);
	field_csv_number(file, e->known, e->spread.median * NS);
	field_csv_number(file, user->known, user->spread.mean * NS);
	field_csv_number(file, sys->known, sys->spread.mean * NS);
	field_csv_number(file, e->known, e->spread.min * NS);
	field_csv_number(file, e->known, e->spread.max * NS);
	for (size_t k = 0; k < c->nparameters; k++) {
		fputc(',', file);
		csv_field(file, c->parameters[k].value);
	}
	fprintf(file, ",%s,%zu,%zu", c->label, c->n, c->failed);
	if (runs->cached) {
		fprintf(file, ",%s,", cache_regime_words[runs_regime(c)]);
		csv_field(file, c->cache_because ? c->cache_because : "");
	}
	for (size_t k = 0; k < runs->command[0].nseries; k++)
		csv_series(file, k < c->nseries ? &c->series[k] : &none, runs->n > 1);
	fputs("\r\n", file);
}

int runs_csv(FILE *file, const struct runs *runs, const struct output_options *options)
{
	(void)options;
	csv_head(file, runs);
	for (size_t i = 0; i < runs->n; i++)
		csv_command(file, runs, &runs->command[i]);
	return 0;
}

/* A column is in the unit that suits the first command. */
static double markdown_unit(const struct runs *runs, const char **name)
{
	const struct runs_series *e = runs_elapsed(&runs->command[0]);

	*name = e && e->known && e->spread.median >= 1e9 ? "s" : "ms";
	return **name == 's' ? 1e-9 : 1e-6;
}

static void markdown_command(FILE *file, const struct runs_command *c)
{
	char text[TEXT_SIZE];

	text_escape(text, sizeof(text), c->text, strlen(c->text));
	fprintf(file, "| %s | ", c->label);
	field_markdown(file, text);
	fputs(" |", file);
}

int runs_markdown(FILE *file, const struct runs *runs, const struct output_options *options)
{
	const char *unit;
	double scale = markdown_unit(runs, &unit);
	char text[FORMAT_SIZE];

	fprintf(file, "| | Command | Median [%s] | MAD [%s] | Min [%s] | Max [%s] | Relative to %s |\n", unit, unit, unit, unit,
		runs->command[runs->reference].label);
	fputs("|:---|:---|---:|---:|---:|---:|---:|\n", file);
	for (size_t i = 0; i < runs->n; i++) {
		const struct runs_command *c = &runs->command[i];
		const struct runs_series *e = runs_elapsed(c);

		markdown_command(file, c);
		if (!e || !e->known) {
			fputs(" | | | | |\n", file);
			continue;
		}
		fprintf(file, " %.4g | %.2g | %.4g | %.4g |", e->spread.median * scale, e->spread.mad * scale,
			e->spread.min * scale, e->spread.max * scale);
		if (i == runs->reference)
			snprintf(text, sizeof(text), "1");
		else if (e->comparison.known)
			runs_ratio_text(text, sizeof(text), e->comparison.ratio, (e->comparison.high - e->comparison.low) / 2,
					options->utf8);
		else
			text[0] = 0;
		fprintf(file, " %s |\n", text);
	}
	return 0;
}
