/* SPDX-License-Identifier: MIT */
/* The table of bracketed counter sources, in the order of common/sources.def. */
#include "source.h"

#include "agent.h"

#include "common/proc.h"

#include <errno.h>

#include "banned.h"

#define SOURCE(name, cost, class_name, meaning, cells) extern const struct source source_##name;
#include "common/sources.def"
#undef SOURCE

static const struct source *const sources[SOURCE_COUNT] = {
#define SOURCE(name, cost, class_name, meaning, cells) &source_##name,
#include "common/sources.def"
#undef SOURCE
};

static u32 opened;                 /* those asked for */
static u32 failed;                 /* of them, those that did not open, and why */
static enum wire_absent_reason why[SOURCE_COUNT];

u32 source_open_all(u32 mask)
{
	for (u32 i = 0; i < SOURCE_COUNT; i++) {
		int ret = mask & (1u << i) ? sources[i]->open() : 0;

		if (ret) {
			failed |= 1u << i;
			why[i] = proc_absent(-ret);
		}
	}
	opened = mask & SOURCE_ALL;
	return opened;
}

static void source_read(u32 id, u64 *cells)
{
	if (agent_sealed())
		proc_fill_absent(cells, source_cells(1u << id), WIRE_ABSENT_SEALED);
	else if (failed & (1u << id))
		proc_fill_absent(cells, source_cells(1u << id), why[id]);
	else
		sources[id]->read(cells);
}

static __attribute__((noinline)) void source_read_opened(u64 *cells)
{
	int saved = errno;

	for (u32 i = 0; opened >> i; i++)
		if (opened & (1u << i))
			source_read(i, cells + source_first_cell(opened, i));
	errno = saved;
}

void source_read_all(u64 *cells)
{
	if (opened)
		source_read_opened(cells);
	if (agent.plan)
		counters_read(cells + agent.plan_cell);
}

void source_charge(u64 *sum, u64 begin, u64 end)
{
	if (wire_absent(*sum))
		return;
	if (wire_absent(begin) || wire_absent(end))
		*sum = wire_absent(end) ? end : begin;
	else if (end > begin)
		*sum += end - begin;
}

void source_charge_all(u64 *sums, const u64 *begin, const u64 *end)
{
	for (u32 i = 0, n = agent.cells; i < n; i++)
		if (unlikely((s64)(sums[i] | begin[i] | end[i]) < 0))
			source_charge(&sums[i], begin[i], end[i]);
		else if (end[i] > begin[i])
			sums[i] += end[i] - begin[i];
}

void source_close_all(void)
{
	for (u32 i = 0; i < SOURCE_COUNT; i++)
		if (opened & ~failed & (1u << i))
			sources[i]->close();
	opened = failed = 0;
}

void source_usage_all(enum source_scope scope, u32 mask, struct wire_usage *usage)
{
	for (u32 i = 0; i < SOURCE_COUNT; i++) {
		u64 *cells = usage->cell + source_first_cell(SOURCE_ALL, i);

		if (sources[i]->usage && mask & (1u << i))
			sources[i]->usage(scope, usage, cells);
		else
			proc_fill_absent(cells, source_cells(1u << i),
					 sources[i]->usage ? WIRE_ABSENT_NOT_ASKED : WIRE_ABSENT_REGIONS);
	}
}
