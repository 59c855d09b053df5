/* SPDX-License-Identifier: MIT */
/* The rows of sources.def as data. */
#include "source_table.h"

#include "wire.h"

#define CELL_WITH(flags, name, unit, format, meaning, bias) { name, unit, format, meaning, bias, flags },
#define CELL(...) CELL_WITH(0, __VA_ARGS__)
#define SOURCE(name, cost, class_name, meaning, cells) \
	static const struct source_cell cells_##name[] = { cells { NULL, NULL, NULL, NULL, NULL, 0 } };
#include "sources.def"
#undef SOURCE

const struct source_desc source_table[SOURCE_COUNT] = {
#define SOURCE(name, cost, class_name, meaning, cells) { #name, cost, class_name, meaning, cells_##name },
#include "sources.def"
#undef SOURCE
};

/* All of them have a place in struct wire_usage. */
_Static_assert(0
#define SOURCE(name, cost, class_name, meaning, cells) + ARRAY_SIZE(cells_##name) - 1
#include "sources.def"
	<= WIRE_CELLS, "WIRE_CELLS");
#undef SOURCE
#undef CELL
#undef CELL_WITH

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

u32 source_of_cell(u32 number)
{
	u32 id = 0;

	while (id + 1 < SOURCE_COUNT && source_cells((2u << id) - 1) <= number)
		id++;
	return id;
}

const struct source_cell *source_cell_of(u32 number)
{
	u32 id = source_of_cell(number);

	return &source_table[id].cells[number - source_first_cell(SOURCE_ALL, id)];
}
