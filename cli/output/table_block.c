/* SPDX-License-Identifier: MIT */
/* What devices did, in the format table: a row for each device and one for each direction of its requests. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/format.h"
#include "cli/output/grid.h"
#include "cli/output/lines.h"
#include "cli/text.h"

enum { COLUMN_REQUESTS, COLUMN_RATE, COLUMN_BYTES, COLUMN_BUSY, COLUMN_IN_FLIGHT, COLUMN_MEAN, COLUMN_P50, COLUMN_P90,
       COLUMN_P99, COLUMN_MAX, COLUMNS };

static const struct { const char *title; unsigned int importance; } columns[COLUMNS] = {
	[COLUMN_REQUESTS] = { "requests", 10 }, [COLUMN_RATE] = { "/s", 5 }, [COLUMN_BYTES] = { "bytes", 7 },
	[COLUMN_BUSY] = { "busy", 8 }, [COLUMN_IN_FLIGHT] = { "in flight", 4 }, [COLUMN_MEAN] = { "mean", 9 },
	[COLUMN_P50] = { "p50", 6 }, [COLUMN_P90] = { "p90", 2 }, [COLUMN_P99] = { "p99", 3 }, [COLUMN_MAX] = { "max", 1 },
};

static const u32 quantiles[] = { [COLUMN_P50] = 500, [COLUMN_P90] = 900, [COLUMN_P99] = 990 };

static int put(struct grid *grid, size_t row, size_t column, const struct cell *cell, const char *unit, bool utf8)
{
	const struct total_fact total = { .name = "", .unit = unit, .cell = *cell };
	char text[FORMAT_SIZE];

	if (column >= grid->ncolumns)
		return 0;
	format_total(text, &total, utf8);
	return grid_set_cell(grid, row, column, text);
}

/* "12 %", "0.31": what are neither counts nor times. */
static int put_plain(struct grid *grid, size_t row, size_t column, const struct cell *cell, bool percent, bool utf8)
{
	char text[FORMAT_SIZE];

	format_share(text, cell, percent ? 0 : 2, percent ? " %" : "", utf8);
	return grid_set_cell(grid, row, column, text);
}

static int device_fill(struct grid *grid, size_t row, const struct block_device *device, bool utf8)
{
	char name[BLOCK_NAME * 4 + 32], escaped[BLOCK_NAME * 4];

	text_escape(escaped, sizeof(escaped), device->name, strlen(device->name));
	snprintf(name, sizeof(name), "%s [%s]", escaped, block_kind_names[device->kind]);
	return grid_set_name(grid, row, name, 0) || put_plain(grid, row, COLUMN_BUSY, &device->cell[BLOCK_BUSY], true, utf8) ||
	       put_plain(grid, row, COLUMN_IN_FLIGHT, &device->cell[BLOCK_IN_FLIGHT], false, utf8) ? -1 : 0;
}

static int side_fill(struct grid *grid, size_t row, const struct cell *side, u32 direction, const struct block_latency *latency,
		     bool utf8)
{
	struct cell mean = side[BLOCK_MEAN], greatest, at;
	char name[32];
	bool many;
	size_t c;

	snprintf(name, sizeof(name), "  %s", block_direction_names[direction]);
	/* Of single requests it is the better one. */
	if (latency && latency->paired)
		mean = cell_counted(latency->sum / (double)latency->paired);
	many = cell_has_value(&side[BLOCK_RATE]) && side[BLOCK_RATE].value >= 100;
	if (grid_set_name(grid, row, name, 0) || put(grid, row, COLUMN_REQUESTS, &side[BLOCK_REQUESTS], "count", utf8) ||
	    (many ? put(grid, row, COLUMN_RATE, &side[BLOCK_RATE], "count", utf8)
		  : put_plain(grid, row, COLUMN_RATE, &side[BLOCK_RATE], false, utf8)) ||
	    put(grid, row, COLUMN_BYTES, &side[BLOCK_BYTES], "B", utf8) || put(grid, row, COLUMN_MEAN, &mean, "ns", utf8))
		return -1;
	if (!latency || !latency->paired)
		return 0;
	for (c = COLUMN_P50; c <= COLUMN_P99; c++) {
		at = block_quantile(latency, quantiles[c]);
		if (put(grid, row, c, &at, "ns", utf8))
			return -1;
	}
	greatest = cell_counted((double)latency->greatest);
	return put(grid, row, COLUMN_MAX, &greatest, "ns", utf8);
}

/* It had such requests, or it is not known. */
static bool side_shown(const struct cell *side, const struct block_latency *latency)
{
	return (latency && latency->paired) || (cell_has_value(&side[BLOCK_REQUESTS]) && side[BLOCK_REQUESTS].value > 0);
}

static int block_fill(struct grid *grid, const struct block *block, bool utf8)
{
	size_t row = 0;

	for (u32 i = 0; i < block->ndevices; i++) {
		const struct block_device *device = &block->devices[i];
		const struct block_traced *traced = block_traced_of(block, device);

		if (!block_active(block, device))
			continue;
		if (device_fill(grid, row++, device, utf8))
			return -1;
		for (u32 d = 0; d < BLOCK_DIRECTIONS; d++) {
			const struct block_latency *latency = traced ? &traced->latency[d] : NULL;

			if (side_shown(device->side[d], latency) &&
			    side_fill(grid, row++, device->side[d], d, latency, utf8))
				return -1;
		}
	}
	return 0;
}

static int block_grid(const struct lines *lines, const struct block *block)
{
	/* Without requests seen there are no quantiles. */
	size_t n = block->records ? COLUMNS : COLUMN_P50, c;
	struct grid grid;
	int err = grid_init(&grid, "block device", (size_t)block->ndevices * (1 + BLOCK_DIRECTIONS), n);

	for (c = 0; !err && c < n; c++) {
		err = grid_set_title(&grid, c, columns[c].title);
		grid.columns[c].importance = columns[c].importance;
	}
	if (!err)
		err = block_fill(&grid, block, lines->options->utf8);
	if (!err) {
		fputc('\n', lines->file);
		grid_print(lines->file, &grid, lines->options->width, lines->options->color);
		fputc('\n', lines->file);
	}
	grid_fini(&grid);
	return err;
}

/* How many requests have no latency. */
static void block_left(const struct lines *lines, const struct block *block)
{
	static const char *const words[BLOCK_LEFT_REASONS] = {
		[BLOCK_LEFT_BEGUN] = "whose issue was not seen", [BLOCK_LEFT_OPEN] = "whose end was not seen",
		[BLOCK_LEFT_ALIKE] = "of the same place at a time", [BLOCK_LEFT_RESIZED] = "longer at the end than at the issue",
		[BLOCK_LEFT_REQUEUED] = "given back by the device", [BLOCK_LEFT_FAILED] = "failed",
		[BLOCK_LEFT_LOST] = "while records were lost",
	};
	u64 left[BLOCK_LEFT_REASONS] = { 0 }, sum = 0;
	struct lines_row row;

	for (u32 i = 0; i < block->ntraced * BLOCK_DIRECTIONS * BLOCK_LEFT_REASONS; i++) {
		u32 reason = i % BLOCK_LEFT_REASONS, direction = i / BLOCK_LEFT_REASONS % BLOCK_DIRECTIONS;
		u64 n = block->traced[i / BLOCK_LEFT_REASONS / BLOCK_DIRECTIONS].latency[direction].left[reason];

		left[reason] += n;
		sum += n;
	}
	if (!sum)
		return;
	row = lines_begin(lines, "block-io", ", ");
	lines_piece(&row, sum == 1 ? "%llu request has no latency" : "%llu requests have no latency", (unsigned long long)sum);
	for (u32 i = 0; i < BLOCK_LEFT_REASONS; i++)
		if (left[i])
			lines_piece(&row, "%llu %s", (unsigned long long)left[i], words[i]);
	lines_end(&row);
}

enum { BECAUSE_COLUMNS = 400 };

/* A recording may have any text there. */
static void block_reason(const struct lines *lines, enum term_style style, const char *what, const char *because)
{
	char *text = lines_name(because, BECAUSE_COLUMNS);

	lines_print(lines, style, "block-io", "%s: %s", what, text ? text : "?");
	free(text);
}

static void block_notes(const struct lines *lines, const struct block *block, u32 active, u32 others)
{
	if (!block->ndevices)
		block_reason(lines, STYLE_BAD, "no figures of devices", block->floor);
	else if (!active)
		lines_print(lines, STYLE_PLAIN, "block-io", "no device had a request");
	else
		lines_print(lines, STYLE_PLAIN, "block-io", "of all processes%s",
			    others ? "; whole disks alone (disk) add up, the others' requests may be in theirs once more" : "");
	if (!block->records)
		block_reason(lines, STYLE_PLAIN, "means alone, no latencies of single requests", block->why);
	if (block->lost)
		lines_print(lines, STYLE_BAD, "block-io", "%llu records of requests were lost: they came too fast",
			    (unsigned long long)block->lost);
	block_left(lines, block);
}

int table_block_print(const struct lines *lines)
{
	const struct block *block = lines->report->facts->block;
	u32 active = 0, others = 0;

	if (!block)
		return 0;
	for (u32 i = 0; i < block->ndevices; i++)
		if (block_active(block, &block->devices[i])) {
			active++;
			others += block->devices[i].kind != BLOCK_DISK;
		}
	if (active && block_grid(lines, block))
		return -1;
	block_notes(lines, block, active, others);
	return 0;
}
