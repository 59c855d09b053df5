/* SPDX-License-Identifier: MIT */
/*
 * Private memory of threads and lanes, in units of a page from pools that fork wipes: a forked
 * child starts with none. A unit is taken and given back by compare-and-swap on its state; nobody
 * waits.
 */
#include "agent.h"

#include <errno.h>
#include <string.h>

#include "banned.h"

#define POOL_UNITS 64u
#define POOLS 256u

static char *pools[POOLS];
/*
 * Units that this process or one before it has used, inherited by fork: the thread that forked
 * still points to its wiped unit and must not find it in another thread's hands, so a child takes
 * the ones behind.
 */
static u32 units_used;

static struct thread *unit_at(u32 index)
{
	char *pool = load_acquire(&pools[index / POOL_UNITS]);

	return pool ? (struct thread *)(pool + (size_t)(index % POOL_UNITS) * WIRE_PAGE) : NULL;
}

struct thread *unit_number(u32 number)
{
	return number < load_relaxed(&units_used) ? unit_at(number) : NULL;
}

static bool pool_add(u32 i)
{
	char *expected = NULL, *pool = segment_private(POOL_UNITS * WIRE_PAGE, PRIVATE_WIPED);

	if (!pool)
		return false;
	if (!compare_exchange(&pools[i], &expected, pool))
		segment_private_drop(pool, POOL_UNITS * WIRE_PAGE);
	return true;
}

struct thread *unit_take(enum unit_state state)
{
	u64 lowest = load_relaxed(&life->lowest_free);

	for (u32 i = state == UNIT_LIVE ? (u32)lowest : life->first_unit; i < POOLS * POOL_UNITS; i++) {
		struct thread *t = unit_at(i);
		u32 was, used = load_relaxed(&units_used);

		if (!t && !pool_add(i / POOL_UNITS))
			return NULL;
		t = unit_at(i);
		was = load_relaxed(&t->state);
		if (was != UNIT_FREE && (was != UNIT_IDLE || state != UNIT_LIVE))
			continue;
		if (!compare_exchange(&t->state, &was, state))
			continue;
		while (used <= i && !compare_exchange(&units_used, &used, i + 1))
			;
		/* Not if a unit was given back meanwhile: it may lie below. */
		if (state == UNIT_LIVE)
			compare_exchange(&life->lowest_free, &lowest, (lowest >> 32) << 32 | i);
		return t;
	}
	return NULL;
}

void unit_give(struct thread *t, enum unit_state state)
{
	u64 lowest;

	store_release(&t->state, state);
	for (u32 i = 0; i < POOLS; i++) {
		char *pool = load_relaxed(&pools[i]);
		size_t at = (size_t)((char *)t - pool);

		if (!pool || (char *)t < pool || at >= POOL_UNITS * WIRE_PAGE)
			continue;
		at = i * POOL_UNITS + at / WIRE_PAGE;
		lowest = load_relaxed(&life->lowest_free);
		while (!compare_exchange(&life->lowest_free, &lowest, ((lowest >> 32) + 1) << 32 | MIN((u32)lowest, (u32)at)))
			;
		return;
	}
}

void unit_forked(void)
{
	u32 used = load_relaxed(&units_used);

	life->first_unit = used < POOLS * POOL_UNITS ? used : 0;
	life->lowest_free = life->first_unit;
}

void unit_clear(struct thread *unit)
{
	struct lane *l = &unit->lane;

	if (l->hash_mask + 1 > LANE_HASH)
		segment_private_drop(l->hash, (l->hash_mask + 1) * sizeof(u32));
	if (l->cells)
		segment_private_drop(l->cells, l->cells_bytes);
	counters_drop(unit);
	memset(unit->hash, 0, sizeof(unit->hash));
	memset(l, 0, sizeof(*l));
}

int unit_start(void)
{
	return load_relaxed(&pools[0]) || pool_add(0) ? 0 : -ENOMEM;
}

static bool lane_busy(const struct thread *t)
{
	return load_relaxed(&t->lane.gate) > GATE_MOST;
}

void unit_rest(void)
{
	for (u32 i = life->first_unit; i < POOLS * POOL_UNITS; i++) {
		struct thread *t = unit_at(i);

		if (!t)
			return;
		counters_rest(t);
	}
}

void unit_retire(void)
{
	for (u32 i = life->first_unit; i < POOLS * POOL_UNITS; i++) {
		struct thread *t = unit_at(i);
		u32 idle = UNIT_IDLE;

		if (!t)
			return;
		if (compare_exchange(&t->state, &idle, (u32)UNIT_LANE)) {
			unit_clear(t);
			t->slot = NULL;
			unit_give(t, UNIT_FREE);
		} else if (load_relaxed(&t->state) == UNIT_LIVE && !lane_busy(t)) {
			store_relaxed(&t->lane.next_region, 0);
			store_relaxed(&t->lane.top_region, 0);
		}
	}
}

bool unit_retired(void)
{
	if (load_acquire(&life->windows) || load_acquire(&life->resting) || load_acquire(&life->patching) == 1)
		return false;
	for (u32 i = life->first_unit; i < POOLS * POOL_UNITS; i++) {
		struct thread *t = unit_at(i);

		if (!t)
			break;
		if (load_relaxed(&t->state) == UNIT_LIVE &&
		    (lane_busy(t) || load_relaxed(&t->lane.next_region) || load_relaxed(&t->lane.top_region)))
			return false;
	}
	return true;
}
