/* SPDX-License-Identifier: MIT */
/* Compile units by address: by .debug_aranges, and where that has gaps or is missing by the units' own ranges. */
#include <stdlib.h>
#include <string.h>

#include "cli/symbols/dwarf_names.h"

#ifdef HAVE_LIBDW

#define RANGES_MOST (1u << 22)

struct unit_range {
	u64 low, high;
	u64 reach;                   /* the greatest end of all up to this one */
	Dwarf_Off unit;
};

struct unit_ranges {
	struct unit_range *list;
	size_t n, room;
};

static bool ranges_add(struct unit_ranges *ranges, u64 low, u64 high, Dwarf_Off unit)
{
	size_t room = ranges->room ? 2 * ranges->room : 256;
	struct unit_range *list;

	if (low >= high)
		return true;
	if (ranges->n == ranges->room) {
		list = room <= RANGES_MOST ? realloc(ranges->list, room * sizeof(*list)) : NULL;
		if (!list)
			return false;
		ranges->list = list;
		ranges->room = room;
	}
	ranges->list[ranges->n++] = (struct unit_range){ low, high, 0, unit };
	return true;
}

static int range_compare(const void *left, const void *right)
{
	const struct unit_range *a = left, *b = right;

	return a->low == b->low ? 0 : a->low < b->low ? -1 : 1;
}

static void ranges_fill(struct unit_ranges *ranges, Dwarf *dwarf)
{
	Dwarf_Die die;
	Dwarf_CU *unit = NULL;
	Dwarf_Addr base, low, high;
	u64 reach = 0;
	size_t i;
	bool room = true;

	while (room && libdw.get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
		ptrdiff_t at = 0;

		while (room && (at = libdw.ranges(&die, at, &base, &low, &high)) > 0)
			room = ranges_add(ranges, low, high, libdw.dieoffset(&die));
	}
	if (!ranges->n)
		return;
	qsort(ranges->list, ranges->n, sizeof(*ranges->list), range_compare);
	for (i = 0; i < ranges->n; i++)
		ranges->list[i].reach = reach = MAX(reach, ranges->list[i].high);
}

static bool ranges_find(const struct unit_ranges *ranges, u64 address, Dwarf_Off *unit)
{
	size_t low = 0, high = ranges->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (ranges->list[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low > 0 && ranges->list[low - 1].reach > address; low--)
		if (address < ranges->list[low - 1].high) {
			*unit = ranges->list[low - 1].unit;
			return true;
		}
	return false;
}

static int ask_compare(const void *left, const void *right)
{
	const struct dwarf_ask *a = left, *b = right;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

struct dwarf_ask *dwarf_units(Dwarf *dwarf, const struct resolve_request *request, const bool *done, size_t *n)
{
	struct dwarf_ask *asks = calloc(request->n, sizeof(*asks));
	struct unit_ranges ranges = { .n = 0 };
	Dwarf_Aranges *table = NULL;
	Dwarf_Arange *row;
	size_t rows, i;
	bool filled = false;

	*n = 0;
	if (libdw.getaranges(dwarf, &table, &rows))
		table = NULL;
	for (i = 0; asks && i < request->n; i++) {
		struct dwarf_ask *ask = &asks[*n];

		if (done[i])
			continue;
		ask->address = (u32)i;
		row = table ? libdw.getarange_addr(table, request->addresses[i]) : NULL;
		if (!row || libdw.getarangeinfo(row, NULL, NULL, &ask->unit)) {
			if (!filled)
				ranges_fill(&ranges, dwarf);
			filled = true;
			if (!ranges_find(&ranges, request->addresses[i], &ask->unit))
				continue;
		}
		++*n;
	}
	free(ranges.list);
	if (asks)
		qsort(asks, *n, sizeof(*asks), ask_compare);
	return asks;
}
#endif
