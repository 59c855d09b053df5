/* SPDX-License-Identifier: MIT */
/* Counts line by line; see counts.h. The order of fields is that of perf-stat(1), "CSV FORMAT" and "JSON FORMAT". */
#include "cli/output/counts.h"

#include <stdlib.h>
#include <string.h>

#include "cli/output/format.h"
#include "cli/output/json_build.h"
#include "cli/text.h"

struct counts {
	FILE *file;
	struct counts_style *style;
	const struct report *report;
	u64 interval_ns;
};

/* ---- as perf says it ------------------------------------------------------------------------------- */

struct perf_metric {
	double value;
	const char *unit;            /* "": none */
};

static struct perf_metric counts_metric(const struct report_ratio *ratio)
{
	static const struct { const char *ours, *perf; } units[] = {
		{ "CPUs", "CPUs utilized" }, { "GHz", "GHz" }, { "per cycle", "insn per cycle" },
		{ "% of branches", "of all branches" },
	};
	double v = ratio->cell.value;

	if (!ratio->unit || !cell_has_value(&ratio->cell))
		return (struct perf_metric){ 0, "" };
	if (!strcmp(ratio->unit, "/s"))
		return v >= 1e9 ? (struct perf_metric){ v / 1e9, "G/sec" } : v >= 1e6 ? (struct perf_metric){ v / 1e6, "M/sec" } :
		       v >= 1e3 ? (struct perf_metric){ v / 1e3, "K/sec" } : (struct perf_metric){ v, "/sec" };
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(units[i].ours, ratio->unit))
			return (struct perf_metric){ v, units[i].perf };
	return (struct perf_metric){ v, ratio->unit };
}

static const char *counts_absent(const struct cell *cell)
{
	return cell->state == CELL_UNAVAILABLE ? "<not supported>" : "<not counted>";
}

static double counts_share(const struct total_raw *raw)
{
	return raw->enabled_ns ? 100.0 * (double)raw->running_ns / (double)raw->enabled_ns : 100;
}

/* Clocks are in ms there. */
static const char *counts_unit(const struct total_fact *total)
{
	return !total->unit || !strcmp(total->unit, "count") ? "" : !strcmp(total->unit, "ns") ? "msec" : total->unit;
}

static double counts_value(const struct total_fact *total)
{
	return total->unit && !strcmp(total->unit, "ns") ? total->cell.value / 1e6 : total->cell.value;
}

/* "comm-1234". */
static void counts_part(const struct part_fact *part, char *out, size_t size)
{
	if (part->tid)
		snprintf(out, size, "%s-%u", part->name, part->tid);
	else
		snprintf(out, size, "%s", part->name);
}

/* ---- CSV ------------------------------------------------------------------------------------------- */

/* A name that has the separator in it is quoted. */
static void csv_field(const struct counts *to, const char *text)
{
	char escaped[1024];

	text_escape(escaped, sizeof(escaped), text, strlen(text));
	if (!strstr(escaped, to->style->separator) && !strchr(escaped, '"')) {
		fputs(escaped, to->file);
		return;
	}
	fputc('"', to->file);
	for (const char *at = escaped; *at; at++)
		fprintf(to->file, "%s%c", *at == '"' ? "\"" : "", *at);
	fputc('"', to->file);
}

/* Behind the event. */
static void csv_group(const struct counts *to, const struct part_fact *part)
{
	if (!part || part->tid)
		return;
	csv_field(to, part->name);
	fputs(to->style->separator, to->file);
}

static void csv_line(const struct counts *to, const struct part_fact *part, const struct total_fact *total,
		     const struct report_ratio *ratio)
{
	const char *s = to->style->separator, *unit = counts_unit(total);
	struct perf_metric metric = counts_metric(ratio);
	char name[300];

	if (to->interval_ns)
		fprintf(to->file, "%16.9f%s", (double)to->interval_ns / 1e9, s);
	if (part && part->tid) {
		counts_part(part, name, sizeof(name));
		csv_field(to, name);
		fputs(s, to->file);
	}
	if (!total->raw.event) {
		/* A metric alone, in its own fields. */
		fprintf(to->file, "%s%s%s", s, s, s);
		csv_group(to, part);
		fprintf(to->file, "%s%s%.3f%s%s\n", s, s, total->cell.value, s, total->name);
		return;
	}
	if (cell_has_value(&total->cell))
		fprintf(to->file, "%.*f%s", *unit ? 2 : 0, counts_value(total), s);
	else
		fprintf(to->file, "%s%s", counts_absent(&total->cell), s);
	fprintf(to->file, "%s%s", unit, s);
	snprintf(name, sizeof(name), "%s%s", total->name, format_total_side(total));
	csv_field(to, name);
	fputs(s, to->file);
	csv_group(to, part);
	fprintf(to->file, "%llu%s%.2f%s", (unsigned long long)total->raw.running_ns, s, counts_share(&total->raw), s);
	if (*metric.unit)
		fprintf(to->file, "%.3f", metric.value);
	fprintf(to->file, "%s%s\n", s, metric.unit);
}

/* ---- JSON ------------------------------------------------------------------------------------------ */

static void json_field(const struct counts *to, const char *key, const char *text)
{
	json_t *value = json_text(text);
	char *dumped = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;

	fprintf(to->file, "\"%s\" : %s, ", key, dumped ? dumped : "null");
	free(dumped);
	json_decref(value);
}

static void json_line(const struct counts *to, const struct part_fact *part, const struct total_fact *total,
		      const struct report_ratio *ratio)
{
	struct perf_metric metric = counts_metric(ratio);
	char name[300];

	fputc('{', to->file);
	if (to->interval_ns)
		fprintf(to->file, "\"interval\" : %.9f, ", (double)to->interval_ns / 1e9);
	if (part && part->tid) {
		counts_part(part, name, sizeof(name));
		json_field(to, "thread", name);
	}
	if (!total->raw.event) {
		if (part && !part->tid)
			json_field(to, "cgroup", part->name);
		fprintf(to->file, "\"metric-value\" : %.6f, \"metric-unit\" : \"%s\"}\n", total->cell.value, total->name);
		return;
	}
	if (cell_has_value(&total->cell))
		fprintf(to->file, "\"counter-value\" : \"%.6f\", ", counts_value(total));
	else
		fprintf(to->file, "\"counter-value\" : \"%s\", ", counts_absent(&total->cell));
	json_field(to, "unit", counts_unit(total));
	snprintf(name, sizeof(name), "%s%s", total->name, format_total_side(total));
	json_field(to, "event", name);
	if (part && !part->tid)
		json_field(to, "cgroup", part->name);
	fprintf(to->file, "\"event-runtime\" : %llu, \"pcnt-running\" : %.2f, \"metric-value\" : %.6f, "
		"\"metric-unit\" : \"%s\"}\n", (unsigned long long)total->raw.running_ns, counts_share(&total->raw),
		metric.value, metric.unit);
}

/* ---- a table that grows ---------------------------------------------------------------------------- */

static void table_line(const struct counts *to, const struct part_fact *part, const struct total_fact *total,
		       const struct report_ratio *ratio)
{
	char value[FORMAT_SIZE], of[FORMAT_SIZE], name[300], escaped[512], cut[300];

	/* The end tells why; a thread that did not run says so by its absence. */
	if (total->cell.state == CELL_UNAVAILABLE || (part && !cell_has_value(&total->cell)))
		return;
	format_total(value, total, to->style->utf8);
	format_ratio(of, ratio, to->style->utf8);
	fprintf(to->file, "%12.6f  ", (double)to->interval_ns / 1e9);
	if (part) {
		counts_part(part, name, sizeof(name));
		text_escape(escaped, sizeof(escaped), name, strlen(name));
		text_fit(cut, sizeof(cut), escaped, 24);
		text_pad(to->file, cut, 26);
	}
	snprintf(name, sizeof(name), "%s%s", total->name, format_total_side(total));
	text_pad(to->file, name, 26);
	for (size_t width = text_width(value); width < 14; width++)
		fputc(' ', to->file);
	fprintf(to->file, "%s%s%s\n", value, *of ? "  " : "", of);
}

static void table_head(const struct counts *to)
{
	if (to->style->headed || to->style->form != COUNTS_TABLE)
		return;
	to->style->headed = true;
	fprintf(to->file, "%12s  ", "seconds");
	if (to->report->nby_part)
		text_pad(to->file, to->report->by_part[0].fact->tid ? "thread" : "control group", 26);
	text_pad(to->file, "counter", 26);
	fprintf(to->file, "%14s  ratio\n", "value");
}

/* ---- all ------------------------------------------------------------------------------------------- */

/* Events; of others those that are computed, and have a value. */
static bool counts_has(const struct counts *to, const struct total_fact *total)
{
	const struct counts_style *style = to->style;

	if (total->raw.event)
		return !style->wanted || style->wanted(style->context, total->name);
	return total->source && !strcmp(total->source, "derived") && cell_has_value(&total->cell);
}

static void counts_list(const struct counts *to, const struct part_fact *part, const struct total_fact *totals,
			const struct report_ratio *ratios, size_t n)
{
	static void (*const lines[])(const struct counts *, const struct part_fact *, const struct total_fact *,
				     const struct report_ratio *) = {
		[COUNTS_TABLE] = table_line, [COUNTS_CSV] = csv_line, [COUNTS_JSON] = json_line,
	};

	for (size_t i = 0; i < n; i++)
		if (counts_has(to, &totals[i]))
			lines[to->style->form](to, part, &totals[i], &ratios[i]);
}

void counts_write(FILE *file, struct counts_style *style, const struct report *report, u64 interval_ns)
{
	const struct counts to = { file, style, report, interval_ns };

	table_head(&to);
	for (size_t i = 0; i < report->nby_part; i++)
		counts_list(&to, report->by_part[i].fact, report->by_part[i].totals, report->by_part[i].ratios,
			    report->by_part[i].ntotals);
	if (!report->nby_part)
		counts_list(&to, NULL, report->totals, report->ratios, report->nshown);
}
