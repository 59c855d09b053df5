/* SPDX-License-Identifier: MIT */
/* See block_rows.h. */
#include "cli/output/block_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/format.h"
#include "cli/text.h"

const struct block_column_name block_columns[BLOCK_COLUMNS] = {
	[BLOCK_COLUMN_REQUESTS] = { "requests", 10 }, [BLOCK_COLUMN_RATE] = { "/s", 5 }, [BLOCK_COLUMN_BYTES] = { "bytes", 7 },
	[BLOCK_COLUMN_BUSY] = { "busy", 8 }, [BLOCK_COLUMN_IN_FLIGHT] = { "in flight", 4 }, [BLOCK_COLUMN_MEAN] = { "mean", 9 },
	[BLOCK_COLUMN_P50] = { "p50", 6 }, [BLOCK_COLUMN_P90] = { "p90", 2 }, [BLOCK_COLUMN_P99] = { "p99", 3 },
	[BLOCK_COLUMN_MAX] = { "max", 1 },
};

/* It had such requests, or it is not known. */
static bool side_shown(const struct cell *side, const struct block_latency *latency)
{
	return (latency && latency->paired) || (cell_has_value(&side[BLOCK_REQUESTS]) && side[BLOCK_REQUESTS].value > 0);
}

struct block_row *block_rows(const struct block *block, u32 *n)
{
	struct block_row *rows = calloc((size_t)block->ndevices * (1 + BLOCK_DIRECTIONS) + 1, sizeof(*rows));

	*n = 0;
	for (u32 i = 0; rows && i < block->ndevices; i++) {
		const struct block_device *device = &block->devices[i];
		const struct block_traced *traced = block_traced_of(block, device);

		if (!block_active(block, device))
			continue;
		rows[(*n)++] = (struct block_row){ device, BLOCK_DIRECTIONS, NULL };
		for (u32 d = 0; d < BLOCK_DIRECTIONS; d++) {
			const struct block_latency *latency = traced ? &traced->latency[d] : NULL;

			if (side_shown(device->side[d], latency))
				rows[(*n)++] = (struct block_row){ device, d, latency && latency->paired ? latency : NULL };
		}
	}
	return rows;
}

u32 block_columns_there(const struct block *block)
{
	return block->records ? BLOCK_COLUMNS : BLOCK_COLUMN_P50;
}

void block_row_name(char *name, size_t size, const struct block_row *row)
{
	char escaped[BLOCK_NAME * 4];

	if (row->direction < BLOCK_DIRECTIONS) {
		snprintf(name, size, "%s", block_direction_names[row->direction]);
		return;
	}
	text_escape(escaped, sizeof(escaped), row->device->name, strlen(row->device->name));
	snprintf(name, size, "%s [%s]", escaped, block_kind_names[row->device->kind]);
}

static bool device_cell(const struct block_device *device, enum block_column column, struct cell *cell, const char **unit)
{
	if (column != BLOCK_COLUMN_BUSY && column != BLOCK_COLUMN_IN_FLIGHT)
		return false;
	*cell = device->cell[column == BLOCK_COLUMN_BUSY ? BLOCK_BUSY : BLOCK_IN_FLIGHT];
	*unit = column == BLOCK_COLUMN_BUSY ? "%" : "";
	return true;
}

static bool latency_cell(const struct block_latency *latency, enum block_column column, struct cell *cell)
{
	static const u32 quantiles[] = { [BLOCK_COLUMN_P50] = 500, [BLOCK_COLUMN_P90] = 900, [BLOCK_COLUMN_P99] = 990 };

	if (!latency)
		return false;
	if (column == BLOCK_COLUMN_MEAN)
		*cell = cell_counted(latency->sum / (double)latency->paired);
	else if (column == BLOCK_COLUMN_MAX)
		*cell = cell_counted((double)latency->greatest);
	else
		*cell = block_quantile(latency, quantiles[column]);
	return true;
}

bool block_row_cell(const struct block_row *row, enum block_column column, struct cell *cell, const char **unit)
{
	const struct cell *side;

	if (row->direction >= BLOCK_DIRECTIONS)
		return device_cell(row->device, column, cell, unit);
	side = row->device->side[row->direction];
	*unit = column == BLOCK_COLUMN_REQUESTS ? "count" : column == BLOCK_COLUMN_BYTES ? "B" : column == BLOCK_COLUMN_RATE ? "" : "ns";
	switch (column) {
	case BLOCK_COLUMN_REQUESTS:
		*cell = side[BLOCK_REQUESTS];
		return true;
	case BLOCK_COLUMN_RATE:
		*cell = side[BLOCK_RATE];
		return true;
	case BLOCK_COLUMN_BYTES:
		*cell = side[BLOCK_BYTES];
		return true;
	case BLOCK_COLUMN_BUSY:
	case BLOCK_COLUMN_IN_FLIGHT:
		return false;
	default:
		/* Of single requests the mean is the better one. */
		if (latency_cell(row->latency, column, cell))
			return true;
		*cell = side[BLOCK_MEAN];
		return column == BLOCK_COLUMN_MEAN;
	}
}

void block_cell_text(char *text, enum block_column column, const struct cell *cell, const char *unit, bool utf8)
{
	bool many = column == BLOCK_COLUMN_RATE && cell_has_value(cell) && cell->value >= 100;
	const struct total_fact total = { .name = "", .unit = many ? "count" : unit, .cell = *cell };

	/* "12 %", "0.31": what are neither counts nor times. */
	if (column == BLOCK_COLUMN_BUSY)
		format_share(text, cell, 0, " %", utf8);
	else if (*total.unit)
		format_total(text, &total, utf8);
	else
		format_share(text, cell, 2, "", utf8);
}
