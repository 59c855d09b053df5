/* SPDX-License-Identifier: MIT */
/*
 * What an empty bracket reads, and what an empty pair takes, measured with the real markers at the
 * first marker of the first process of an image: sparkctl subtracts the one and shows the other.
 */
#define _GNU_SOURCE
#include "agent.h"

#include <string.h>

#include "banned.h"

#define CALIBRATIONS 9
#define BATCH 16                   /* brackets in each: a pair is not much longer than the time stamps around it */
#define CALIBRATED 16              /* cells of sources at a time: the stack may be a signal handler's */
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

/*
 * A reading of the source cells of empty brackets: what the bracket itself adds. The times of the
 * plan's groups cost nothing.
 */
static void calibrate_sources(struct lane *l)
{
	u32 n = agent.plan_cell + (agent.plan ? agent.plan->events : 0), v[CALIBRATED][CALIBRATIONS];
	u64 *a = lane_cells(l, 0), *b = lane_cells(l, 1);

	for (u32 first = 0; first < n; first += CALIBRATED) {
		u32 some = MIN(n - first, (u32)CALIBRATED);

		for (u32 i = 0; i < CALIBRATIONS; i++) {
			source_read_all(a);
			source_read_all(b);
			for (u32 c = 0; c < some; c++) {
				u64 from = a[first + c], to = b[first + c];

				v[c][i] = wire_absent(from) || wire_absent(to) || to < from ? 0 : (u32)(to - from);
			}
		}
		for (u32 c = 0; c < some; c++)
			agent.source_cost[first + c] = median(v[c]);
	}
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
	static struct spark_region empty = SPARK_REGION("[calibration]");
	const struct spark_agent_v1 *volatile table = &spark_agent_v1;
	u32 bracket[CALIBRATIONS], pair[CALIBRATIONS], ref;
	u64 before, wall;
	struct wire_node *n;

	store_relaxed(&agent.calibrated, true);
	if (t->lane.w->depth)
		return;
	ref = lane_child(&t->lane, t->lane.w->root, name_intern(empty.name));
	n = segment_ptr(ref);
	for (u32 i = 0; i < WARM_UPS; i++) {
		table->region_begin(&empty);
		table->region_end(&empty);
	}
	wall = n->wall;
	for (u32 i = 0; i < CALIBRATIONS; i++) {
		before = agent_ticks();
		for (u32 k = 0; k < BATCH; k++) {
			table->region_begin(&empty);
			table->region_end(&empty);
		}
		pair[i] = (u32)(agent_ticks() - before) / BATCH;
		bracket[i] = (u32)(n->wall - wall) / BATCH;
		wall = n->wall;
	}
	agent.bracket = median(bracket);
	agent.pair = median(pair);
	if (t->lane.cells)
		calibrate_sources(&t->lane);
	agent_publish_costs();
	node_clear(n);
	memset(&t->lane.w->pending, 0, sizeof(t->lane.w->pending));
	t->lane.bucket = &t->lane.sink;
}
