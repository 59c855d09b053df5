/* SPDX-License-Identifier: MIT */
/* The catalog of metrics; see metric.h. */
#include "cli/analyze/metric.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/calls.h"
#include "common/source_table.h"

static const char metric_no_bias[] = "none known";
static const char metric_marker_bias[] =
	"includes the markers of the regions inside; see the line on markers";

/* ---- how cells are computed ------------------------------------------------------------------------ */

static struct cell metric_calls(const struct metric *metric, const struct metric_input *in)
{
	(void)metric;
	return cell_counted((double)in->calls);
}

static struct cell metric_wall(const struct metric *metric, const struct metric_input *in)
{
	(void)metric;
	return in->wall;
}

static struct cell metric_wall_excl(const struct metric *metric, const struct metric_input *in)
{
	(void)metric;
	return in->wall_excl;
}

static struct cell metric_cpu(const struct metric *metric, const struct metric_input *in)
{
	(void)metric;
	return in->cpu;
}

static struct cell metric_cpu_excl(const struct metric *metric, const struct metric_input *in)
{
	(void)metric;
	return in->cpu_excl;
}

static struct cell metric_off(const struct metric *metric, const struct metric_input *in)
{
	(void)metric;
	return in->off;
}

/* Whether the row has finished calls; if not, the cell to show instead. */
static bool metric_finished(const struct metric_input *in, struct cell *absent)
{
	if (in->scope != METRIC_REGION)
		*absent = cell_absent(CELL_NOT_COUNTED, NULL);
	else
		*absent = cell_absent(CELL_NOT_COUNTED, "no call has ended");
	return in->scope == METRIC_REGION && in->row && in->row->calls;
}

static struct cell metric_ticks(const struct metric_input *in, double ticks)
{
	return cell_counted(clock_map_duration(in->clock, ticks));
}

/* Some call has a duration of its own: not only such as were left open. */
static bool metric_lasted(const struct metric_input *in, struct cell *absent)
{
	if (!metric_finished(in, absent))
		return false;
	*absent = cell_absent(CELL_NOT_COUNTED, "no call has ended by itself");
	return in->row->min <= in->row->max;
}

static const char metric_crossed[] = "with calls, whole, that began before measuring was switched on";
static const char metric_bounds[] = "by the histogram: the shortest and the longest call of a part of the run are not kept";

/* min or max, of a row that may be a part of a run. */
static struct cell metric_extreme(const struct metric_input *in, u64 ticks)
{
	struct cell cell = metric_ticks(in, (double)ticks);

	if (cell_has_value(&cell) && (in->row->bounds || in->row->crossed))
		cell = (struct cell){ cell.value, CELL_ESTIMATE, in->row->bounds ? metric_bounds : metric_crossed };
	return cell;
}

static struct cell metric_min(const struct metric *metric, const struct metric_input *in)
{
	struct cell absent;

	(void)metric;
	return metric_lasted(in, &absent) ? metric_extreme(in, in->row->min) : absent;
}

static struct cell metric_max(const struct metric *metric, const struct metric_input *in)
{
	struct cell absent;

	(void)metric;
	return metric_lasted(in, &absent) ? metric_extreme(in, in->row->max) : absent;
}

/* The histogram is of durations as read; the empty bracket's share of one call comes off here. */
static struct cell metric_quantile(const struct metric *metric, const struct metric_input *in)
{
	const struct profile_row *row = in->row;
	struct cell cell;
	double ticks;
	u64 total;

	if (!metric_lasted(in, &cell))
		return cell;
	total = hist_total(&row->hist);
	if (!total)
		return cell_absent(CELL_LOST, "its durations are not in a histogram");
	ticks = (double)hist_quantile(&row->hist, metric->arg) - row->bracket / (double)row->calls;
	ticks = MIN(MAX(ticks, (double)row->min), (double)MAX(row->max, row->min));
	cell = metric_ticks(in, ticks);
	/* One of a thousand moves no percentile that is shown; a live thread's copy may lack its newest. */
	if (total + row->calls / 1000 < row->calls && cell_has_value(&cell)) {
		cell.state = CELL_ESTIMATE;
		cell.note = "some durations are missing from the histogram";
	} else if (row->crossed * 1000 > row->calls && cell_has_value(&cell)) {
		cell = (struct cell){ cell.value, CELL_ESTIMATE, metric_crossed };
	}
	return cell;
}

/* What the percentiles have been freed of. */
static struct cell metric_floor(const struct metric *metric, const struct metric_input *in)
{
	struct cell absent;

	(void)metric;
	if (!metric_finished(in, &absent))
		return absent;
	if (!(in->row->bracket > 0))
		return cell_absent(CELL_UNAVAILABLE, "no empty call was measured in that program");
	return metric_ticks(in, in->row->bracket / (double)in->row->calls);
}

static struct cell metric_units(const struct metric *metric, const struct metric_input *in)
{
	const struct profile_row *row = in->row;
	struct cell cell;

	(void)metric;
	if (in->scope != METRIC_REGION || !row || !row->units)
		return cell_absent(CELL_NOT_COUNTED, NULL);
	if (row->unit_mixed)
		return cell_absent(CELL_UNAVAILABLE, "given in different units");
	cell = cell_counted((double)row->units);
	if (row->unit != PROFILE_NONE)
		cell.note = in->profile->names[row->unit].bytes;
	return cell;
}

static struct cell metric_rate(const struct metric *metric, const struct metric_input *in)
{
	struct cell units = metric_units(metric, in);
	const char *unit = units.note;
	struct cell rate;

	if (!cell_has_value(&units))
		return units;
	units.note = NULL;
	rate = cell_divide(units, in->wall, (double)NSEC_PER_SEC);
	if (cell_has_value(&rate))
		rate.note = unit;
	return rate;
}

static const char metric_open[] = "calls that are still open are not in it";
static const char metric_sampled[] =
	"user and system time together are exact, their shares sampled at the clock tick";

/* A cell of a source in a region; metric->arg is its number among those of all sources. */
static struct cell metric_region_cell(const struct metric *metric, const struct metric_input *in)
{
	struct cell cell;

	if (!(in->profile->sources & (1u << source_of_cell(metric->arg))))
		return cell_absent(CELL_UNAVAILABLE, "read in regions only if --metrics asks for it");
	if (!metric_finished(in, &cell))
		return cell;
	if (!in->row->cells && calls_lack(in->profile, in->row))
		return cell_absent(CELL_UNAVAILABLE, calls_lack(in->profile, in->row));
	if (in->row->cells_lost || !in->row->cells)
		return cell_absent(CELL_LOST, "damaged in the program's memory");
	cell = usage_cell(in->row->cells[metric->arg]);
	if (in->row->open && cell.state < CELL_ESTIMATE)
		cell = (struct cell){ cell.value, CELL_ESTIMATE, metric_open };
	else if (in->row->crossed && cell.state < CELL_ESTIMATE)
		cell = (struct cell){ cell.value, CELL_ESTIMATE, metric_crossed };
	return cell;
}

static struct cell metric_source_cell(const struct metric *metric, const struct metric_input *in)
{
	struct cell cell;

	if (in->scope == METRIC_REGION)
		cell = metric_region_cell(metric, in);
	else
		cell = in->usage ? in->usage->cell[metric->arg] : cell_absent(CELL_UNAVAILABLE, "not known");
	if (source_cell_of(metric->arg)->flags & SOURCE_SAMPLED && cell.state < CELL_ESTIMATE)
		cell = (struct cell){ cell.value, CELL_ESTIMATE, metric_sampled };
	return cell;
}

static struct cell metric_snapshot(const struct metric *metric, const struct metric_input *in)
{
	return in->snapshot ? in->snapshot[metric->arg] : cell_absent(CELL_NOT_COUNTED, NULL);
}

/* ---- the table ------------------------------------------------------------------------------------- */

#define TIME_ROW(NAME, TITLE, PLACE, IMPORTANCE, VALUE, ARG, SHOWN, WINDOW, MEANING, BIAS) \
	{ .name = NAME, .title = TITLE, .unit = "ns", .class_name = "quantitative", .source = "time", \
	  .format = METRIC_NS, .shown = SHOWN, .in_windows = WINDOW ? METRIC_ALWAYS : METRIC_NEVER, \
	  .place = PLACE, .importance = IMPORTANCE, \
	  .meaning = MEANING, .bias = BIAS, .arg = ARG, .value = VALUE }

static const struct metric metric_first[] = {
	{ .name = "calls", .title = "calls", .unit = "count", .class_name = "quantitative",
	  .source = "time", .format = METRIC_COUNT, .shown = true, .in_windows = METRIC_ALWAYS, .place = 1,
	  .importance = 80,
	  .meaning = "times the region was begun, open ones included", .bias = metric_no_bias,
	  .value = metric_calls },
	TIME_ROW("wall", "wall", 2, 100, metric_wall, 0, true, true,
		 "elapsed time, inner regions and open calls included", metric_marker_bias),
	TIME_ROW("wall.excl", "excl", 3, 55, metric_wall_excl, 0, false, false,
		 "elapsed time without that of inner regions", metric_marker_bias),
	TIME_ROW("wall.min", "min", 10, 35, metric_min, 0, false, false, "shortest call", metric_no_bias),
	TIME_ROW("wall.max", "max", 15, 50, metric_max, 0, true, false, "longest call", metric_no_bias),
	TIME_ROW("wall.p50", "p50", 11, 60, metric_quantile, 500, true, false,
		 "half of the calls took no longer", "within 1/64, from a histogram"),
	TIME_ROW("wall.p90", "p90", 12, 45, metric_quantile, 900, false, false,
		 "9 of 10 calls took no longer", "within 1/64, from a histogram"),
	TIME_ROW("wall.p99", "p99", 13, 85, metric_quantile, 990, true, false,
		 "99 of 100 calls took no longer", "within 1/64, from a histogram"),
	TIME_ROW("wall.p999", "p99.9", 14, 40, metric_quantile, 999, false, false,
		 "999 of 1000 calls took no longer", "within 1/64, from a histogram"),
	TIME_ROW("wall.floor", "floor", 16, 28, metric_floor, 0, false, false,
		 "what an empty call reads, which is taken off each: wall and all of its figures are less this", metric_no_bias),
	TIME_ROW("cpu", "cpu", 4, 75, metric_cpu, 0, true, true,
		 "time on a CPU: wall less off-CPU time, by the thread's CPU clock at each switch",
		 "perf's task-clock reads some 20 us less for each sleep"),
	TIME_ROW("cpu.excl", "cpu excl", 5, 38, metric_cpu_excl, 0, false, false,
		 "time on a CPU without that of inner regions", metric_marker_bias),
	TIME_ROW("offcpu", "off", 6, 70, metric_off, 0, true, false,
		 "time not on a CPU: waiting, or runnable without a CPU",
		 "some 20 us more for each sleep than perf's task-clock gives"),
};

static const struct metric metric_last[] = {
	{ .name = "units", .title = "units", .unit = "", .class_name = "quantitative",
	  .source = "client", .format = METRIC_PLAIN, .shown = true, .place = 30, .importance = 47,
	  .meaning = "work done, as the program says with spark_region_units", .bias = metric_no_bias,
	  .value = metric_units },
	{ .name = "rate", .title = "rate", .unit = "1/s", .class_name = "quantitative",
	  .source = "client", .format = METRIC_RATE, .shown = true, .place = 30, .importance = 48,
	  .meaning = "work done for each second of wall", .bias = metric_no_bias,
	  .value = metric_rate },
};

enum { METRIC_ROWS_MAX = ARRAY_SIZE(metric_first) + ARRAY_SIZE(metric_last) + 32 * WIRE_CELLS + SNAPSHOT_CELLS +
       METRIC_WINDOW_COLUMNS };

static const char *const metric_format_names[] = {
	[METRIC_NS] = "ns", [METRIC_COUNT] = "count", [METRIC_PERCENT] = "percent",
	[METRIC_BYTES] = "bytes", [METRIC_RATE] = "rate", [METRIC_PLAIN] = "plain", [METRIC_RATIO] = "ratio",
};

const char *metric_format_name(enum metric_format format)
{
	return metric_format_names[format];
}

static enum metric_format metric_format_of(const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(metric_format_names); i++)
		if (!strcmp(metric_format_names[i], name))
			return i;
	return METRIC_PLAIN;
}

static struct metric metric_of_cell(const struct source_desc *source, const struct source_cell *cell,
				    u32 number)
{
	return (struct metric){
		.name = cell->name, .title = cell->name, .unit = cell->unit,
		.class_name = source->class_name, .source = source->name,
		.format = metric_format_of(cell->format),
		.in_windows = cell->flags & SOURCE_IN_WINDOWS ? METRIC_ALWAYS : METRIC_ASKED,
		.place = 20, .importance = number < 20 ? 30 - number : 10, .meaning = cell->meaning,
		.bias = cell->bias, .arg = number, .value = metric_source_cell,
	};
}

static struct metric metric_of_snapshot(u32 number)
{
	const struct snapshot_file *file = &snapshot_files[snapshot_file_of(number)];
	const struct snapshot_cell *cell = &snapshot_cells[number];

	return (struct metric){
		.name = cell->name, .title = cell->name, .unit = cell->unit,
		.class_name = file->class_name, .source = file->source,
		.format = metric_format_of(cell->format),
		.in_windows = cell->flags & SNAPSHOT_SHOWN ? METRIC_ALWAYS : METRIC_ASKED, .windows_only = true,
		.place = 28, .importance = 20, .meaning = cell->meaning, .bias = cell->bias, .arg = number,
		.value = metric_snapshot,
	};
}

const struct metric *metric_table(size_t *count)
{
	static struct metric table[METRIC_ROWS_MAX];
	static size_t n;
	const struct source_cell *cell;
	u32 id, number = 0;

	if (!n) {
		memcpy(table, metric_first, sizeof(metric_first));
		n = ARRAY_SIZE(metric_first);
		for (id = 0; id < SOURCE_COUNT; id++)
			for (cell = source_table[id].cells; cell->name; cell++)
				table[n++] = metric_of_cell(&source_table[id], cell, number++);
		for (number = 0; number < SNAPSHOT_CELLS; number++)
			table[n++] = metric_of_snapshot(number);
		memcpy(table + n, metric_windows, sizeof(metric_windows));
		n += METRIC_WINDOW_COLUMNS;
		memcpy(table + n, metric_last, sizeof(metric_last));
		n += ARRAY_SIZE(metric_last);
	}
	*count = n;
	return table;
}

const struct metric *metric_find(const char *name)
{
	size_t i, n;
	const struct metric *table = metric_table(&n);

	for (i = 0; i < n; i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

/* ---- selection ------------------------------------------------------------------------------------- */

/* The next glob of a comma-separated list, copied to *glob (to be freed); false at the end. */
static bool metric_next_glob(const char **globs, char **glob)
{
	size_t len;

	if (!*globs)
		return false;
	*globs += strspn(*globs, ", ");
	len = strcspn(*globs, ",");
	if (!len)
		return false;
	*glob = strndup(*globs, len);
	*globs += len;
	while (*glob && len && (*glob)[len - 1] == ' ')
		(*glob)[--len] = '\0';
	return *glob;
}

bool metric_glob(const char *globs, const char *name)
{
	bool match = false;
	char *glob;

	while (!match && metric_next_glob(&globs, &glob)) {
		match = !strcmp(glob, name) || fnmatch(glob, name, 0) == 0;
		free(glob);
	}
	return match;
}

struct metric_selection metric_select(const char *globs)
{
	struct metric_selection selection = { .sources = 0 };
	size_t i, n;
	const struct metric *table = metric_table(&n);
	bool known;
	char *glob;

	while (metric_next_glob(&globs, &glob)) {
		known = false;
		for (i = 0; i < n; i++) {
			if (strcmp(glob, table[i].name) && fnmatch(glob, table[i].name, 0) != 0)
				continue;
			known = true;
			if (table[i].value == metric_source_cell)
				selection.sources |= 1u << source_of_cell(table[i].arg);
		}
		selection.unknown += !known;
		free(glob);
	}
	return selection;
}
