/* SPDX-License-Identifier: MIT */
/* What devices did, in the format table: a row for each device and one for each direction of its requests. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/block_rows.h"
#include "cli/output/format.h"
#include "cli/output/grid.h"
#include "cli/output/lines.h"

static int row_fill(struct grid *grid, size_t at, const struct block_row *row, bool utf8)
{
	char name[BLOCK_NAME * 4 + 32], text[FORMAT_SIZE];
	bool side = row->direction < BLOCK_DIRECTIONS;
	const char *unit;
	struct cell cell;

	block_row_name(name + 2, sizeof(name) - 2, row);
	memcpy(name, "  ", 2);
	if (grid_set_name(grid, at, side ? name : name + 2, 0))
		return -1;
	for (u32 c = 0; c < grid->ncolumns; c++) {
		if (!block_row_cell(row, c, &cell, &unit))
			continue;
		block_cell_text(text, c, &cell, unit, utf8);
		if (grid_set_cell(grid, at, c, text))
			return -1;
	}
	return 0;
}

static int block_grid(const struct lines *lines, const struct block *block)
{
	u32 n, ncolumns = block_columns_there(block);
	struct block_row *rows = block_rows(block, &n);
	struct grid grid;
	int err = rows ? grid_init(&grid, "block device", n, ncolumns) : -1;

	for (u32 c = 0; !err && c < ncolumns; c++) {
		err = grid_set_title(&grid, c, block_columns[c].title);
		grid.columns[c].importance = block_columns[c].importance;
	}
	for (u32 i = 0; !err && i < n; i++)
		err = row_fill(&grid, i, &rows[i], lines->options->utf8);
	if (!err) {
		fputc('\n', lines->file);
		grid_print(lines->file, &grid, lines->options->width, lines->options->color);
		fputc('\n', lines->file);
	}
	if (rows)
		grid_fini(&grid);
	free(rows);
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

/* How many devices did something; those among them whose requests may be a disk's, too. */
static u32 block_count(const struct block *block, u32 *others)
{
	u32 active = 0;

	*others = 0;
	for (u32 i = 0; i < block->ndevices; i++)
		if (block_active(block, &block->devices[i])) {
			active++;
			*others += block->devices[i].kind != BLOCK_DISK;
		}
	return active;
}

void lines_block(const struct lines *lines)
{
	const struct block *block = lines->report->facts->block;
	u32 active, others;

	if (!block)
		return;
	active = block_count(block, &others);
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
	u32 others;

	if (!block)
		return 0;
	if (block_count(block, &others) && block_grid(lines, block))
		return -1;
	lines_block(lines);
	return 0;
}
