/* SPDX-License-Identifier: MIT */
/*
 * Ticks of the agent's clock against nanoseconds of CLOCK_MONOTONIC_RAW, from pairs that the session
 * collects while the run goes on (each 100 ms or so, and one at either end).
 */
#ifndef CLI_ANALYZE_CLOCK_MAP_H
#define CLI_ANALYZE_CLOCK_MAP_H

#include "common/base.h"

struct clock_pair {
	u64 ticks;
	u64 ns;
};

/* Zero-initialized: empty.  Thinned out when it grows beyond some 8,000 pairs. */
struct clock_map {
	struct clock_pair *pairs;
	size_t count;
	size_t room;
	u32 stride, skip;            /* after thinning: one pair of so many is kept */
	bool identity;               /* a vDSO clock: ticks are ns */
	double hint;                 /* ns per tick, used until two pairs are 1 ms apart; 0: 1.0 */
};

/* Pairs must come in rising order; others are dropped.  Returns 0, or -ENOMEM (the pair is dropped). */
int clock_map_add(struct clock_map *map, u64 ticks, u64 ns);
/* A point in time, interpolated between the neighbours; outside by the overall slope. */
u64 clock_map_ns(const struct clock_map *map, u64 ticks);
/* The reverse. */
u64 clock_map_ticks(const struct clock_map *map, u64 ns);
/* ns of a duration, by the overall slope. */
double clock_map_duration(const struct clock_map *map, double ticks);
/* ns per tick over the whole run. */
long double clock_map_slope(const struct clock_map *map);
void clock_map_fini(struct clock_map *map);

#endif
