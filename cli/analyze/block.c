/* SPDX-License-Identifier: MIT */
/* Devices and latencies of their requests; see block.h. */
#include "cli/analyze/block.h"

#include <stdlib.h>

const char *const block_direction_names[BLOCK_DIRECTIONS] = {
	[BLOCK_READ] = "read", [BLOCK_WRITE] = "write", [BLOCK_DISCARD] = "discard", [BLOCK_FLUSH] = "flush",
};

const char *const block_kind_names[BLOCK_KINDS] = {
	[BLOCK_DISK] = "disk", [BLOCK_PARTITION] = "partition", [BLOCK_STACKED] = "stacked", [BLOCK_LOOP] = "loop",
	[BLOCK_MEMORY] = "memory", [BLOCK_UNKNOWN] = "unknown",
};

const struct block_cell_name block_side_cells[BLOCK_SIDE_CELLS] = {
	[BLOCK_REQUESTS] = { "requests", "count" }, [BLOCK_MERGED] = { "merged", "count" },
	[BLOCK_BYTES] = { "bytes", "B" }, [BLOCK_RATE] = { "rate", "/s" }, [BLOCK_MEAN] = { "mean", "ns" },
};

const struct block_cell_name block_cells[BLOCK_CELLS] = {
	[BLOCK_BUSY] = { "busy", "%" }, [BLOCK_IN_FLIGHT] = { "in_flight", "count" },
};

const char *const block_left_names[BLOCK_LEFT_REASONS] = {
	[BLOCK_LEFT_BEGUN] = "no_issue", [BLOCK_LEFT_OPEN] = "no_end", [BLOCK_LEFT_ALIKE] = "alike",
	[BLOCK_LEFT_RESIZED] = "resized", [BLOCK_LEFT_REQUEUED] = "requeued", [BLOCK_LEFT_FAILED] = "failed",
	[BLOCK_LEFT_LOST] = "lost",
};

void block_fini(struct block *block)
{
	for (u32 i = 0; i < block->ntraced; i++)
		for (u32 d = 0; d < BLOCK_DIRECTIONS; d++)
			for (u32 k = 0; k < WIRE_HIST_OCTAVES; k++)
				free(block->traced[i].latency[d].hist.octave[k]);
	free(block->traced);
	free(block->devices);
	*block = (struct block){ .ndevices = 0 };
}

struct block_traced *block_traced(struct block *block, u32 major, u32 minor)
{
	struct block_traced *list;

	for (u32 i = 0; i < block->ntraced; i++)
		if (block->traced[i].major == major && block->traced[i].minor == minor)
			return &block->traced[i];
	list = block->ntraced < BLOCK_DEVICES ? realloc(block->traced, (block->ntraced + 1) * sizeof(*list)) : NULL;
	if (!list) {
		block->no_memory = true;
		return NULL;
	}
	block->traced = list;
	list[block->ntraced] = (struct block_traced){ .major = major, .minor = minor };
	return &list[block->ntraced++];
}

const struct block_traced *block_traced_of(const struct block *block, const struct block_device *device)
{
	for (u32 i = 0; i < block->ntraced; i++)
		if (block->traced[i].major == device->major && block->traced[i].minor == device->minor)
			return &block->traced[i];
	return NULL;
}

bool block_latency_add(struct block_latency *latency, u64 ns)
{
	u32 index = hist_index(ns);
	u64 **octave = &latency->hist.octave[index / WIRE_HIST_SUB];

	if (!*octave)
		*octave = calloc(WIRE_HIST_SUB, sizeof(u64));
	if (!*octave)
		return false;
	(*octave)[index % WIRE_HIST_SUB]++;
	latency->least = latency->paired ? MIN(latency->least, ns) : ns;
	latency->greatest = MAX(latency->greatest, ns);
	latency->sum += (double)ns;
	latency->paired++;
	return true;
}

struct cell block_quantile(const struct block_latency *latency, u32 per_mille)
{
	u64 ns = hist_quantile(&latency->hist, per_mille);

	if (!latency->paired)
		return cell_absent(CELL_NOT_COUNTED, NULL);
	return cell_counted((double)MAX(MIN(ns, latency->greatest), latency->least));
}

bool block_active(const struct block *block, const struct block_device *device)
{
	for (u32 d = 0; d < BLOCK_DIRECTIONS; d++)
		if (cell_has_value(&device->side[d][BLOCK_REQUESTS]) && device->side[d][BLOCK_REQUESTS].value > 0)
			return true;
	return block_traced_of(block, device);
}
