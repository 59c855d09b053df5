/* SPDX-License-Identifier: MIT */
/* What a call of some regions costs, in the place of the other tables. */
#include <stdlib.h>
#include <string.h>

#include "cli/output/format.h"
#include "cli/output/grid.h"
#include "cli/output/lines.h"
#include "cli/text.h"

static const struct metric time_metric = { .format = METRIC_NS, .unit = "ns" };
static const struct metric cycle_metric = { .format = METRIC_COUNT, .unit = "cycles" };

/* "switch", "switch [1234]" where processes are apart. */
static char *cost_name(const struct lines *lines, const struct report_row *row)
{
	bool many = lines->report->facts->nprocesses > 1 && row->pid;
	char *name = lines_name(row->name, 40), *whole = NULL;

	if (name && asprintf(&whole, row->tid ? "%s [thread %u]" : many ? "%s [%u]" : "%s", name,
			     row->tid ? row->tid : row->pid) < 0)
		whole = NULL;
	free(name);
	return whole;
}

static int cost_end(const struct lines *lines, struct grid *grid, int err)
{
	if (!err) {
		fputc('\n', lines->file);
		grid_print(lines->file, grid, lines->options->width, lines->options->color);
	}
	grid_fini(grid);
	return err;
}

/* Cycles of counts are rounded; a time has its unit. */
static int figures_fill(const struct lines *lines, struct grid *grid, size_t row, const char *name,
			const struct cell figures[REPORT_COST_FIGURES], const struct metric *metric)
{
	int err = grid_set_name(grid, row, name, 0);

	for (size_t c = 0; c < REPORT_COST_FIGURES && !err; c++) {
		struct cell cell = figures[c];
		char text[FORMAT_SIZE];

		if (metric == &cycle_metric)
			cell.value = (double)(s64)(cell.value + 0.5);
		format_cell(text, &cell, metric, lines->options->utf8);
		err = grid_set_cell(grid, row, c, text);
	}
	return err;
}

static int figures_print(const struct lines *lines, const struct report_cost *cost, const char *name)
{
	static const char *const titles[REPORT_COST_FIGURES] = {
		[REPORT_COST_P50] = "p50", [REPORT_COST_P90] = "p90", [REPORT_COST_P99] = "p99", [REPORT_COST_MEAN] = "mean",
	};
	bool cycles = cell_has_value(&cost->clock);
	char title[FORMAT_SIZE + 64];
	struct grid grid;
	int err;

	snprintf(title, sizeof(title), "a call of %s", name);
	err = grid_init(&grid, title, cycles ? 2 : 1, REPORT_COST_FIGURES);
	for (size_t c = 0; c < REPORT_COST_FIGURES && !err; c++) {
		err = grid_set_title(&grid, c, titles[c]);
		grid.columns[c].importance = 9 - (unsigned int)c;
	}
	err = err ? err : figures_fill(lines, &grid, 0, "time", cost->time, &time_metric);
	if (cycles && !err)
		err = figures_fill(lines, &grid, 1, "cycles", cost->cycles, &cycle_metric);
	return cost_end(lines, &grid, err);
}

static int bucket_fill(const struct lines *lines, struct grid *grid, size_t row, const char *name, double share,
		       u64 samples, const struct cell *cpu)
{
	char percent[FORMAT_SIZE], count[FORMAT_SIZE], time[FORMAT_SIZE];
	char *shown = lines_name_middle(name, GRID_NAME_MAX);
	int err;

	snprintf(percent, sizeof(percent), "%.1f", share);
	format_count(count, (double)samples);
	format_cell(time, cpu, &time_metric, lines->options->utf8);
	err = !shown || grid_set_name(grid, row, shown, 0) || grid_set_cell(grid, row, 0, percent) ||
	      grid_set_cell(grid, row, 1, time) || grid_set_cell(grid, row, 2, count) ? -1 : 0;
	free(shown);
	return err;
}

static int buckets_print(const struct lines *lines, const struct report_cost *cost, const char *name)
{
	static const struct { const char *title; unsigned int importance; } columns[] = {
		{ "%", 9 }, { "cpu a call", 8 }, { "samples", 3 },
	};
	char title[FORMAT_SIZE + 64];
	struct grid grid;
	double sum = 0;
	int err;

	snprintf(title, sizeof(title), "bucket in %s", name);
	err = grid_init(&grid, title, cost->nbuckets + 1, ARRAY_SIZE(columns));
	for (size_t c = 0; c < ARRAY_SIZE(columns) && !err; c++) {
		err = grid_set_title(&grid, c, columns[c].title);
		grid.columns[c].importance = columns[c].importance;
	}
	for (size_t i = 0; i < cost->nbuckets && !err; i++) {
		const struct report_cost_bucket *b = &cost->buckets[i];

		sum += b->share;
		err = bucket_fill(lines, &grid, i, b->name, b->share, b->samples, &b->cpu);
	}
	if (!err)
		err = bucket_fill(lines, &grid, cost->nbuckets, "all", sum, cost->samples.count, &cost->cpu);
	return cost_end(lines, &grid, err);
}

static void cost_lines(const struct lines *lines, const struct report_cost *cost)
{
	const struct report_row *row = &lines->report->rows[cost->row];
	bool utf8 = lines->options->utf8;
	char calls[FORMAT_SIZE], floor[FORMAT_SIZE], cpu[FORMAT_SIZE], sampled[FORMAT_SIZE];

	format_count(calls, (double)row->calls);
	format_cell(floor, &cost->floor, &time_metric, utf8);
	format_cell(cpu, &cost->cpu, &time_metric, utf8);
	format_cell(sampled, &cost->sampled, &time_metric, utf8);
	if (cell_has_value(&cost->floor) && row->calls == 1)
		lines_print(lines, STYLE_PLAIN, "floor", "%s of its call are the markers' and taken off", floor);
	else if (cell_has_value(&cost->floor))
		lines_print(lines, STYLE_PLAIN, "floor", "%s of each of %s calls are the markers' and taken off", floor, calls);
	else
		lines_print(lines, STYLE_PLAIN, "floor", "not taken off %s calls: %s", calls,
			    cost->floor.note ? cost->floor.note : "not known");
	if (cell_has_value(&cost->clock))
		lines_print(lines, STYLE_PLAIN, "effective clock", "%.3g GHz: cycles of the region by its time on a CPU",
			    cost->clock.value);
	else
		lines_print(lines, STYLE_PLAIN, "no cycles", "%s", cost->clock.note ? cost->clock.note : "not counted");
	if (cell_has_value(&cost->sampled))
		lines_print(lines, STYLE_PLAIN, "on a CPU", "%s a call by the markers, %s by the clock of the samples%s", cpu,
			    sampled, cost->missed ? ": where threads are switched so often the kernel's timer seldom comes round, "
			    "and shares are of the samples that were taken" : "");
	if (!cost->buckets)
		lines_print(lines, STYLE_PLAIN, "no buckets", "%s", cost->no_buckets);
}

static void clocks_line(const struct lines *lines)
{
	const struct report_clocks *clocks = &lines->report->clocks;
	char apart[FORMAT_SIZE], over[FORMAT_SIZE];

	format_ns(apart, clocks->apart_ns, lines->options->utf8);
	format_ns(over, (double)clocks->over_ns, lines->options->utf8);
	if (!clocks->known)
		lines_print(lines, STYLE_PLAIN, "clocks", "not compared: %s", clocks->why);
	else
		lines_print(lines, clocks->agree ? STYLE_PLAIN : STYLE_BAD, "clocks",
			    "%s: that of the markers, %.4g GHz, and CLOCK_MONOTONIC_RAW are apart by %s at most in %s",
			    clocks->agree ? "two agree" : "two disagree", clocks->ghz, apart, over);
}

int table_costs_print(const struct lines *lines)
{
	const struct report *report = lines->report;
	int err = 0;

	for (size_t i = 0; i < report->ncosts && !err; i++) {
		const struct report_cost *cost = &report->costs[i];
		char *name = cost_name(lines, &report->rows[cost->row]);

		err = name ? figures_print(lines, cost, name) : -1;
		if (!err && cost->buckets)
			err = buckets_print(lines, cost, name);
		if (!err) {
			fputc('\n', lines->file);
			cost_lines(lines, cost);
		}
		free(name);
	}
	if (!report->ncosts)
		lines_print(lines, STYLE_PLAIN, "no region", "none has a name or path that matches '%s'",
			    report->options.profile.costs);
	clocks_line(lines);
	return err;
}
