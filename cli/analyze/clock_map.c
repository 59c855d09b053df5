/* SPDX-License-Identifier: MIT */
/* Ticks to nanoseconds; see clock_map.h. */
#include "cli/analyze/clock_map.h"

#include <errno.h>
#include <stdlib.h>

enum { CLOCK_MAP_PAIRS = 8192 };

/* Doubles the distance of the pairs kept: the last one stays, it is the end of the baseline. */
static void clock_map_thin(struct clock_map *map)
{
	size_t i, n = 0;

	for (i = 0; i + 1 < map->count; i += 2)
		map->pairs[n++] = map->pairs[i];
	map->pairs[n++] = map->pairs[map->count - 1];
	map->count = n;
	map->stride = map->stride ? map->stride * 2 : 2;
}

static int clock_map_grow(struct clock_map *map)
{
	size_t room = map->room ? map->room * 2 : 64;
	struct clock_pair *pairs = realloc(map->pairs, room * sizeof(*pairs));

	if (!pairs)
		return -ENOMEM;
	map->pairs = pairs;
	map->room = room;
	return 0;
}

int clock_map_add(struct clock_map *map, u64 ticks, u64 ns)
{
	struct clock_pair *last = map->count ? &map->pairs[map->count - 1] : NULL;

	if (last && (ticks <= last->ticks || ns <= last->ns))
		return 0;
	/* Between the strides the newest pair moves along, so that the map reaches to the present. */
	if (map->count > 1 && map->stride && map->skip++ % map->stride != 0) {
		*last = (struct clock_pair){ ticks, ns };
		return 0;
	}
	if (map->count == CLOCK_MAP_PAIRS)
		clock_map_thin(map);
	if (map->count == map->room && clock_map_grow(map) != 0)
		return -ENOMEM;
	map->pairs[map->count++] = (struct clock_pair){ ticks, ns };
	return 0;
}

static long double clock_map_slope_of(const struct clock_pair *a, const struct clock_pair *b)
{
	return (long double)(b->ns - a->ns) / (long double)(b->ticks - a->ticks);
}

long double clock_map_slope(const struct clock_map *map)
{
	const struct clock_pair *first = map->pairs, *last;
	long double hint = map->hint > 0 ? (long double)map->hint : 1;

	if (map->identity)
		return 1;
	if (map->count < 2)
		return hint;
	last = first + map->count - 1;
	if (last->ns - first->ns < NSEC_PER_MSEC && map->hint > 0)
		return hint;
	return clock_map_slope_of(first, last);
}

double clock_map_duration(const struct clock_map *map, double ticks)
{
	return (double)((long double)ticks * clock_map_slope(map));
}

/* value + by, kept inside u64. */
static u64 clock_map_shift(u64 value, long double by)
{
	long double sum = (long double)value + by;

	if (sum <= 0)
		return 0;
	return sum >= 18446744073709551615.0L ? ~0ULL : (u64)(sum + 0.5L);
}

static u64 clock_map_key(const struct clock_pair *pair, bool by_ns)
{
	return by_ns ? pair->ns : pair->ticks;
}

/* The last pair at or before a point, or the first. */
static size_t clock_map_find(const struct clock_map *map, u64 point, bool by_ns)
{
	size_t low = 0, high = map->count;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (clock_map_key(&map->pairs[mid], by_ns) <= point)
			low = mid;
		else
			high = mid;
	}
	return low;
}

static u64 clock_map_convert(const struct clock_map *map, u64 point, bool by_ns)
{
	const struct clock_pair *pair;
	long double slope = clock_map_slope(map), by;
	size_t i;

	if (map->identity)
		return point;
	if (!map->count)
		return clock_map_shift(0, by_ns ? point / slope : point * slope);
	i = clock_map_find(map, point, by_ns);
	pair = &map->pairs[i];
	if (i + 1 < map->count && clock_map_key(pair, by_ns) <= point)
		slope = clock_map_slope_of(pair, pair + 1);
	by = (long double)point - (long double)clock_map_key(pair, by_ns);
	return clock_map_shift(by_ns ? pair->ticks : pair->ns, by_ns ? by / slope : by * slope);
}

u64 clock_map_ns(const struct clock_map *map, u64 ticks)
{
	return clock_map_convert(map, ticks, false);
}

u64 clock_map_ticks(const struct clock_map *map, u64 ns)
{
	return clock_map_convert(map, ns, true);
}

void clock_map_fini(struct clock_map *map)
{
	free(map->pairs);
	*map = (struct clock_map){ .pairs = NULL };
}
