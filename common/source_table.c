/* SPDX-License-Identifier: MIT */
/* The rows of sources.def as data. */
#include "source_table.h"

#define CELL(name, unit, format, meaning, bias) { name, unit, format, meaning, bias },
#define SOURCE(name, cost, class_name, meaning, cells) \
	static const struct source_cell cells_##name[] = { cells { NULL, NULL, NULL, NULL, NULL } };
#include "sources.def"
#undef SOURCE
#undef CELL

const struct source_desc source_table[SOURCE_COUNT] = {
#define CELL(name, unit, format, meaning, bias)
#define SOURCE(name, cost, class_name, meaning, cells) { #name, cost, class_name, meaning, cells_##name },
#include "sources.def"
#undef SOURCE
#undef CELL
};

static u32 source_size(u32 id)
{
	u32 n = 0;

	while (source_table[id].cells[n].name)
		n++;
	return n;
}

u32 source_first_cell(u32 mask, u32 id)
{
	u32 first = 0;

	for (u32 i = 0; i < id && i < SOURCE_COUNT; i++)
		if (mask & (1u << i))
			first += source_size(i);
	return first;
}

u32 source_cells(u32 mask)
{
	return source_first_cell(mask, SOURCE_COUNT);
}
