/* SPDX-License-Identifier: MIT */
/* agent/node: every path has one node, tables grow, and each duration falls into its bucket. */
#include "agent_harness.h"
#include "common/hist.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY 5000u

/* The thread's own lane, claimed by a first marker. */
static struct lane *my_lane(void)
{
	region_name_begin("first");
	region_name_end("first");
	ck_assert_ptr_nonnull(thread_self->lane.w);
	return &thread_self->lane;
}

static void bracket(const char *prefix, u32 i)
{
	char text[32];

	sprintf(text, "%s-%u", prefix, i);
	region_name_begin(text);
	region_name_end(text);
}

/* Each region is looked up twice: once made, once found. */
START_TEST(test_children)
{
	struct harness_totals t;
	char path[64];

	region_name_begin("parent");
	for (u32 round = 0; round < 2; round++)
		for (u32 i = 0; i < MANY; i++)
			bracket("child", i);
	region_name_end("parent");
	t = harness_named(NULL);
	/* Besides: "parent", "[other]" and "[calibration]". */
	ck_assert_uint_eq(t.nodes, MANY + 3);
	ck_assert_uint_eq(t.calls, 2 * MANY + 1);
	ck_assert_uint_eq(t.hist, 2 * MANY + 1);
	for (u32 i = 0; i < MANY; i += 499) {
		sprintf(path, "parent;child-%u", i);
		t = harness_region(path);
		ck_assert_uint_eq(t.nodes, 1);
		ck_assert_uint_eq(t.calls, 2);
	}
	ck_assert_uint_ge(thread_self->lane.hash_mask + 1, MANY);
	ck_assert_uint_lt(thread_self->lane.hash_used, thread_self->lane.hash_mask);
}
END_TEST

START_TEST(test_two_levels)
{
	char text[32], path[64];

	for (u32 i = 0; i < 100; i++) {
		sprintf(text, "upper-%u", i);
		region_name_begin(text);
		for (u32 k = 0; k < 50; k++)
			bracket("lower", k);
		region_name_end(text);
	}
	for (u32 i = 0; i < 100; i += 9)
		for (u32 k = 0; k < 50; k += 7) {
			struct harness_totals t;

			sprintf(path, "upper-%u;lower-%u", i, k);
			t = harness_region(path);
			ck_assert_uint_eq(t.nodes, 1);
			ck_assert_uint_eq(t.calls, 1);
		}
	ck_assert_uint_eq(harness_named(NULL).nodes, 100 + 100 * 50 + 2);
	ck_assert_uint_eq(harness_named(NULL).calls, 100 + 100 * 50);
	ck_assert_uint_eq(harness_loss(WIRE_LOSS_NODES), 0);
}
END_TEST

START_TEST(test_find)
{
	struct lane *l = my_lane();
	u32 root = l->w->root, a = name_intern("a"), b = name_intern("b"), node;
	u32 metric = (u32)WIRE_NODE_METRIC << WIRE_NODE_KIND_SHIFT | a;

	ck_assert_uint_eq(lane_find(l, root, a), 0);
	node = lane_child(l, root, a);
	ck_assert_uint_ne(node, 0);
	ck_assert_uint_eq(lane_find(l, root, a), node);
	ck_assert_uint_eq(lane_child(l, root, a), node);
	ck_assert_uint_eq(lane_find(l, root, b), 0);
	ck_assert_uint_eq(lane_find(l, node, a), 0);
	ck_assert_uint_eq(lane_find(l, root, metric), 0);
	ck_assert_uint_ne(lane_child(l, root, metric), node);
	ck_assert_uint_ne(lane_child(l, node, a), node);
}
END_TEST

/*
 * A sealed process cannot map a larger table: the first one fills up to its limit, then "[other]".
 */
START_TEST(test_no_growth)
{
	u64 lost = harness_loss(WIRE_LOSS_NODES);
	struct lane *l = my_lane();
	u32 used = l->hash_used, room = LANE_HASH - LANE_HASH / 8;
	struct harness_totals other;
	char name[32];

	harness_fresh_chunk();
	agent.sealed = true;
	for (u32 round = 0; round < 2; round++)
		for (u32 i = 0; i < 400; i++)
			bracket("r", i);
	ck_assert_uint_eq(l->hash_used, room);
	sprintf(name, "r-%u", room - used - 1);
	ck_assert_uint_eq(harness_region(name).calls, 2);
	sprintf(name, "r-%u", room - used);
	ck_assert_uint_eq(harness_region(name).nodes, 0);
	other = harness_region("[other]");
	ck_assert_uint_eq(other.calls, 2 * (400 - (room - used)));
	ck_assert_uint_eq(other.hist, other.calls);
	ck_assert_uint_eq(harness_loss(WIRE_LOSS_NODES) - lost, other.calls);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_UNMATCHED, NULL), 0);
	ck_assert_uint_eq(l->w->depth, 0);
}
END_TEST

/* Nested regions that are all "[other]" end as they began. */
START_TEST(test_other_nested)
{
	struct lane *l = my_lane();

	harness_fresh_chunk();
	agent.sealed = true;
	for (u32 i = 0; i < 400; i++)
		bracket("r", i);
	region_name_begin("x");
	region_name_begin("y");
	region_name_begin("z");
	ck_assert_uint_eq(l->w->depth, 3);
	region_name_end("z");
	region_name_end("y");
	ck_assert_uint_eq(l->w->depth, 1);
	region_name_end("x");
	ck_assert_uint_eq(l->w->depth, 0);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_UNMATCHED, NULL), 0);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_UNENDED, NULL), 0);
}
END_TEST

/* ---- histograms */

static void flush(struct lane *l, u32 node, u64 wall)
{
	lane_charge(l, segment_ptr(node), node, wall, 0);
	lane_flush(l);
	/* A second time it does nothing. */
	lane_flush(l);
}

static u64 bucket(u32 node, u64 wall)
{
	struct wire_view view = harness_view();
	const struct wire_node *n = wire_view_node(&view, node, agent.cells);
	const struct wire_hist *h = wire_view_hist(&view, n->hist);
	const struct wire_hist_chunk *c;
	u32 index = hist_index(wall);

	c = h ? wire_view_hist_chunk(&view, h->chunk[index / WIRE_HIST_SUB]) : NULL;
	return c ? c->count[index % WIRE_HIST_SUB] : 0;
}

START_TEST(test_hist_octaves)
{
	struct lane *l = my_lane();
	u32 node = lane_child(l, l->w->root, name_intern("hist"));

	ck_assert_uint_eq(bucket(node, 0), 0);
	flush(l, node, 0);
	ck_assert_uint_eq(bucket(node, 0), 1);
	for (u32 bit = 0; bit < 64; bit++)
		flush(l, node, 1ULL << bit);
	flush(l, node, UINT64_MAX);
	flush(l, node, 1ULL << 20);
	for (u32 bit = 0; bit < 64; bit++)
		ck_assert_uint_eq(bucket(node, 1ULL << bit), bit == 20 ? 2 : 1);
	ck_assert_uint_eq(bucket(node, UINT64_MAX), 1);
	ck_assert_uint_eq(harness_region("hist").hist, 1 + 64 + 1 + 1);
}
END_TEST

/* An octave is allocated when it is first met, and no other. */
START_TEST(test_hist_allocation)
{
	struct wire_view view;
	struct lane *l = my_lane();
	u32 node = lane_child(l, l->w->root, name_intern("hist")), chunks = 0;
	const struct wire_hist *h;

	for (u32 i = 0; i < 1000; i++)
		flush(l, node, 1000 + i % 20);
	flush(l, node, 1u << 30);
	view = harness_view();
	h = wire_view_hist(&view, wire_view_node(&view, node, agent.cells)->hist);
	ck_assert_ptr_nonnull(h);
	for (u32 i = 0; i < WIRE_HIST_OCTAVES; i++)
		chunks += h->chunk[i] != 0;
	ck_assert_uint_eq(chunks, 2);
	ck_assert_uint_eq(harness_region("hist").hist, 1001);
}
END_TEST

/* Histograms and chunks of many nodes lie in pages of the lane; none overlap. */
START_TEST(test_hist_many)
{
	struct lane *l = my_lane();
	u32 nodes[200];

	for (u32 i = 0; i < ARRAY_SIZE(nodes); i++) {
		char name[16];

		sprintf(name, "h-%u", i);
		nodes[i] = lane_child(l, l->w->root, name_intern(name));
	}
	for (u32 octave = 0; octave < 10; octave++)
		for (u32 i = 0; i < ARRAY_SIZE(nodes); i++)
			for (u32 k = 0; k <= i % 3; k++)
				flush(l, nodes[i], 1000ULL << octave);
	for (u32 i = 0; i < ARRAY_SIZE(nodes); i++)
		for (u32 octave = 0; octave < 10; octave++)
			ck_assert_uint_eq(bucket(nodes[i], 1000ULL << octave), i % 3 + 1);
}
END_TEST

START_TEST(test_diagnose)
{
	struct lane *l = my_lane();
	u32 name = name_intern("diagnosed");
	struct wire_node *n;

	lane_diagnose(l, WIRE_DIAG_LATE, name, 77);
	lane_diagnose(l, WIRE_DIAG_LATE, name, 88);
	lane_diagnose(l, WIRE_DIAG_DEEP, name, 99);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_LATE, "diagnosed"), 2);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_DEEP, "diagnosed"), 1);
	ck_assert_uint_eq(harness_region("diagnosed").nodes, 0);
	n = segment_ptr(lane_find(l, l->w->root,
			(u32)(WIRE_NODE_DIAGNOSIS + WIRE_DIAG_LATE) << WIRE_NODE_KIND_SHIFT | name));
	ck_assert_uint_eq(n->min, 77);
}
END_TEST

int main(int argc, char **argv)
{
	TCase *t = tcase_create("node");

	(void)argc;
	harness_start(argv, 0, 0);
	tcase_add_checked_fixture(t, harness_setup, NULL);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_children);
	tcase_add_test(t, test_two_levels);
	tcase_add_test(t, test_find);
	tcase_add_test(t, test_no_growth);
	tcase_add_test(t, test_other_nested);
	tcase_add_test(t, test_hist_octaves);
	tcase_add_test(t, test_hist_allocation);
	tcase_add_test(t, test_hist_many);
	tcase_add_test(t, test_diagnose);
	return suite_run("agent node", t);
}
