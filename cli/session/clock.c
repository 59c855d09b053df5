/* SPDX-License-Identifier: MIT */
/* Ticks against CLOCK_MONOTONIC_RAW: pairs while the run goes on, and the rate that the agents use. */
#include "cli/session/internal.h"

#define TRIES 5

u64 session_now(void)
{
	return clock_ns(CLOCK_MONOTONIC_RAW);
}

u64 session_ticks(const struct session *s)
{
	return s->clock_kind == WIRE_CLOCK_TSC ? cpu_ticks() : session_now();
}

/* The pair that was taken in the shortest time: nothing came between. */
static struct clock_pair pair_take(const struct session *s)
{
	struct clock_pair best = { 0, 0 };
	u64 least = UINT64_MAX;

	for (u32 i = 0; i < TRIES; i++) {
		u64 before = session_ticks(s), ns = session_now(), after = session_ticks(s);

		if (after - before < least) {
			least = after - before;
			best.ticks = before + (after - before) / 2;
			best.ns = ns;
		}
	}
	return best;
}

static void pair_add(struct session *s)
{
	struct clock_pair p = pair_take(s);

	clock_map_add(&s->clock, p.ticks, p.ns);
}

void session_clock_start(struct session *s)
{
	char why[160];

	s->clock_kind = caps_clock_tsc_usable(&s->caps, why, sizeof(why)) ? WIRE_CLOCK_TSC : WIRE_CLOCK_VDSO;
	s->clock.identity = s->clock_kind == WIRE_CLOCK_VDSO;
	pair_add(s);
	s->ticks_per_ns = 1ULL << 32;
}

void session_clock_tick(struct session *s)
{
	pair_add(s);
	if (s->clock_kind == WIRE_CLOCK_TSC)
		s->ticks_per_ns = (u64)(4294967296.0L / clock_map_slope(&s->clock));
	for (struct segment *g = s->segments; g; g = g->next)
		if (g->header && !g->over)
			store_relaxed(&g->header->ticks_per_ns, s->ticks_per_ns);
	if (s->ready)
		store_relaxed(&s->ready->header->ticks_per_ns, s->ticks_per_ns);
}
