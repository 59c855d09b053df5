/* SPDX-License-Identifier: MIT */
/* The table of bracketed counter sources, in the order of common/sources.def. */
#include "source.h"

#include "agent.h"

#include "banned.h"

#define CELL(name, unit, format, meaning, bias)
#define SOURCE(name, cost, class_name, meaning, cells) extern const struct source source_##name;
#include "common/sources.def"
#undef SOURCE

static const struct source *const sources[SOURCE_COUNT] = {
#define SOURCE(name, cost, class_name, meaning, cells) &source_##name,
#include "common/sources.def"
#undef SOURCE
};

static u32 opened;

u32 source_open_all(u32 mask)
{
	for (u32 i = 0; i < SOURCE_COUNT; i++)
		if (mask & (1u << i) && sources[i]->open() == 0)
			opened |= 1u << i;
	return opened;
}

void source_read_all(u64 *cells)
{
	for (u32 i = 0; i < SOURCE_COUNT; i++)
		if (opened & (1u << i))
			sources[i]->read(cells + source_first_cell(opened, i));
}

void source_close_all(void)
{
	for (u32 i = 0; i < SOURCE_COUNT; i++)
		if (opened & (1u << i))
			sources[i]->close();
	opened = 0;
}
