/* SPDX-License-Identifier: MIT */
/*
 * What an empty bracket reads and counts, and what an empty pair takes, measured with the real markers at the
 * first marker of the first process of an image: sparkctl subtracts the one and shows the other.
 */
#define _GNU_SOURCE
#include "agent.h"
#include "trace.h"

#include <string.h>

#include "banned.h"

#define CALIBRATIONS 9
#define BATCH 16                   /* brackets in each: a pair is not much longer than the time stamps around it */
enum { FRAME_BEFORE = 1, FRAME_BATCH };
#define WARM_UPS 64                /* before them: caches and branch predictors are cold */

static u32 median(u32 *v)
{
	for (u32 i = 1; i < CALIBRATIONS; i++)
		for (u32 k = i; k && v[k] < v[k - 1]; k--) {
			u32 x = v[k];

			v[k] = v[k - 1];
			v[k - 1] = x;
		}
	return v[CALIBRATIONS / 2];
}

static u64 median_cell(const struct lane *l, u32 cell)
{
	u32 v[CALIBRATIONS];

	for (u32 i = 0; i < CALIBRATIONS; i++)
		v[i] = (u32)lane_cells(l, FRAME_BATCH + i)[cell];
	return median(v);
}

/*
 * What a batch of empty brackets has added to the cells of their node, for each bracket. The frames
 * above the calibration's own are free, and have room for it.
 */
static void cells_begin(const struct lane *l, struct wire_node *n)
{
	if (l->cells)
		memcpy(lane_cells(l, FRAME_BEFORE), node_cells(n), agent.cells * sizeof(u64));
}

static void cells_end(const struct lane *l, struct wire_node *n, u32 batch)
{
	const u64 *before, *after = node_cells(n);

	if (!l->cells)
		return;
	before = lane_cells(l, FRAME_BEFORE);
	for (u32 c = 0; c < agent.cells; c++)
		lane_cells(l, FRAME_BATCH + batch)[c] = wire_absent(after[c]) ? 0 : (after[c] - before[c]) / BATCH;
}

/* The times of the plan's groups cost nothing. */
static void cells_publish(const struct lane *l)
{
	u32 n = agent.plan_cell + (agent.plan ? agent.plan->events : 0);

	for (u32 c = 0; l->cells && c < n; c++)
		agent.source_cost[c] = (u32)median_cell(l, c);
}

/* The brackets of the calibration are no calls of the program. */
static void node_clear(struct wire_node *n)
{
	n->calls = 0;
	n->wall = 0;
	n->off = 0;
	n->min = UINT64_MAX;
	n->max = 0;
	n->hist = 0;
	n->near = 0;
	memset(node_cells(n), 0, agent.cells * sizeof(u64));
}

void calibrate(struct thread *t)
{
	static struct spark_region empty = SPARK_REGION(WIRE_CALIBRATION);
	const struct spark_agent_v1 *volatile table = &spark_agent_v1;
	u32 bracket[CALIBRATIONS], pair[CALIBRATIONS], ref;
	u64 before, wall, traced;
	struct wire_node *n;

	store_relaxed(&agent.calibrated, true);
	if (t->lane.w->depth)
		return;
	traced = trace_hide(&t->lane);
	ref = lane_child(&t->lane, t->lane.w->root, name_intern(empty.name));
	n = segment_ptr(ref);
	for (u32 i = 0; i < WARM_UPS; i++) {
		table->region_begin(&empty);
		table->region_end(&empty);
	}
	wall = n->wall;
	for (u32 i = 0; i < CALIBRATIONS; i++) {
		cells_begin(&t->lane, n);
		before = agent_ticks();
		for (u32 k = 0; k < BATCH; k++) {
			table->region_begin(&empty);
			table->region_end(&empty);
		}
		pair[i] = (u32)(agent_ticks() - before) / BATCH;
		bracket[i] = (u32)(n->wall - wall) / BATCH;
		wall = n->wall;
		cells_end(&t->lane, n, i);
	}
	agent.bracket = median(bracket);
	agent.pair = median(pair);
	cells_publish(&t->lane);
	agent_publish_costs();
	node_clear(n);
	trace_show(&t->lane, traced);
	memset(&t->lane.w->pending, 0, sizeof(t->lane.w->pending));
	t->lane.bucket = &t->lane.sink;
}
