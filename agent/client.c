/* SPDX-License-Identifier: MIT */
/* Work units, values and repetitions that the program itself reports. */
#define _GNU_SOURCE
#include "agent.h"

#include <string.h>

#include "banned.h"

static u32 lane_current(const struct lane *l)
{
	return l->w->depth ? l->w->frames[l->w->depth - 1].node : l->w->root;
}

/* MARKER. The innermost open region of the name, else one that ended here before; 0: none. */
static u32 units_node(const struct lane *l, u32 name)
{
	for (u32 d = l->w->depth; d; d--)
		if (l->np[d]->region == name)
			return l->w->frames[d - 1].node;
	return lane_find(l, lane_current(l), name);
}

/* MARKER. A region's work has one unit; the first one given stays. */
static bool unit_agrees(u32 name, u32 unit)
{
	struct wire_name *n = segment_ptr(name);
	u32 expected = 0;

	return compare_exchange(&n->unit, &expected, unit) || expected == unit;
}

void client_units(const char *name, unsigned long units, const char *unit)
{
	struct thread *t;
	struct lane *l = agent_takes(name) ? region_enter(&t) : NULL;
	u32 region, node;

	if (!l)
		return;
	region = name_intern(name);
	node = units_node(l, region);
	if (!node)
		lane_diagnose(l, WIRE_DIAG_NO_REGION, region, agent_ticks());
	else if (unit && !unit_agrees(region, name_intern(unit)))
		lane_diagnose(l, WIRE_DIAG_UNIT, region, agent_ticks());
	else
		((struct wire_node *)segment_ptr(node))->units += units;
	region_leave(l);
}

static u64 bits_of(double v)
{
	u64 bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

static double double_of(u64 bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

void client_metric(const char *name, double value)
{
	struct thread *t;
	struct lane *l = value == value && agent_takes(name) ? region_enter(&t) : NULL;
	struct wire_node *n;
	u32 ref;

	if (!l)
		return;
	ref = lane_child(l, lane_current(l), (u32)WIRE_NODE_METRIC << WIRE_NODE_KIND_SHIFT | name_intern(name));
	if (ref) {
		n = segment_ptr(ref);
		if (n->calls == 0 || value < double_of(n->min))
			n->min = bits_of(value);
		if (n->calls == 0 || value > double_of(n->max))
			n->max = bits_of(value);
		n->wall = bits_of(double_of(n->wall) + value);
		n->off = (s64)bits_of(value);
		barrier();
		n->calls++;
	} else {
		agent_lose(WIRE_LOSS_METRICS);
	}
	region_leave(l);
}

void client_frame(const char *name)
{
	struct thread *t;
	struct lane *l = agent_takes(name) ? region_enter(&t) : NULL;
	bool open = false;
	u32 region;

	if (!l)
		return;
	region = name_intern(name);
	for (u32 d = l->w->depth; d && !open; d--)
		open = l->np[d]->region == region;
	region_leave(l);
	if (open)
		region_name_end(name);
	region_name_begin(name);
}
