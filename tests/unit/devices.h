/* SPDX-License-Identifier: MIT */
/* Block devices with a bit of everything, for the facts of a run. */
#ifndef TESTS_UNIT_DEVICES_H
#define TESTS_UNIT_DEVICES_H

#include "cli/analyze/report.h"

/* To be freed by block_fini(). False: no memory. */
static inline bool devices_make(struct session_facts *facts, struct block *block)
{
	struct block_traced *traced;

	*block = (struct block){ .duration_ns = 1000000000, .records = true, .lost = 7 };
	block->devices = calloc(2, sizeof(*block->devices));
	traced = block_traced(block, 8, 1);
	if (!block->devices || !traced)
		return false;
	block->ndevices = 2;
	block->devices[0] = (struct block_device){ .name = "sda", .major = 8, .kind = BLOCK_DISK };
	block->devices[1] = (struct block_device){ .name = "sda\n\xff", .major = 8, .minor = 1, .kind = BLOCK_PARTITION };
	for (u32 d = 0; d < 2; d++) {
		for (u32 i = 0; i < BLOCK_CELLS; i++)
			block->devices[d].cell[i] = (struct cell){ 12.5, CELL_ESTIMATE, "looked at" };
		for (u32 i = 0; i < BLOCK_DIRECTIONS * BLOCK_SIDE_CELLS; i++)
			block->devices[d].side[i / BLOCK_SIDE_CELLS][i % BLOCK_SIDE_CELLS] =
				i / BLOCK_SIDE_CELLS == BLOCK_FLUSH ? cell_absent(CELL_NOT_COUNTED, "an older kernel") : cell_counted(i);
	}
	for (u32 i = 0; i < 100; i++)
		if (!block_latency_add(&traced->latency[i % 3 ? BLOCK_READ : BLOCK_WRITE], 1000 + 777u * i * i))
			return false;
	for (u32 i = 0; i < BLOCK_LEFT_REASONS; i++)
		traced->latency[BLOCK_READ].left[i] = i;
	facts->block = block;
	return true;
}

#endif
