/* SPDX-License-Identifier: MIT */
/* What devices did, as rows and columns of a table or a page: each device, and each direction of its requests. */
#ifndef CLI_OUTPUT_BLOCK_ROWS_H
#define CLI_OUTPUT_BLOCK_ROWS_H

#include "cli/analyze/block.h"

enum block_column { BLOCK_COLUMN_REQUESTS, BLOCK_COLUMN_RATE, BLOCK_COLUMN_BYTES, BLOCK_COLUMN_BUSY, BLOCK_COLUMN_IN_FLIGHT,
		    BLOCK_COLUMN_MEAN, BLOCK_COLUMN_P50, BLOCK_COLUMN_P90, BLOCK_COLUMN_P99, BLOCK_COLUMN_MAX, BLOCK_COLUMNS };

extern const struct block_column_name {
	const char *title;
	unsigned int importance;     /* where a table is too narrow */
} block_columns[BLOCK_COLUMNS];

struct block_row {
	const struct block_device *device;
	u32 direction;               /* BLOCK_DIRECTIONS: the device itself */
	const struct block_latency *latency; /* of single requests; NULL: none was seen */
};

/* Those that did something; NULL: no memory. To be freed. */
struct block_row *block_rows(const struct block *block, u32 *n);
/* The first ones: without requests seen there are no quantiles. */
u32 block_columns_there(const struct block *block);
/* "vda [disk]", "read", escaped. */
void block_row_name(char *name, size_t size, const struct block_row *row);
/* False: a row of that kind has nothing there. The unit is one of metrics, or "%", or "". */
bool block_row_cell(const struct block_row *row, enum block_column column, struct cell *cell, const char **unit);
/* FORMAT_SIZE bytes. */
void block_cell_text(char *text, enum block_column column, const struct cell *cell, const char *unit, bool utf8);

#endif
