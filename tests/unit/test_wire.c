/* SPDX-License-Identifier: MIT */
/* common/wire: what is sound is found, and nothing outside the view is ever touched. */
#include "segment.h"
#include "suite.h"

static struct segment seg;
static u32 slot;

static void setup(void)
{
	segment_init(&seg, 0, 0);
	segment_process(&seg, 10);
	segment_process(&seg, 11);
	slot = segment_slot(&seg, 10, 100);
}

static void teardown(void)
{
	segment_fini(&seg);
}

START_TEST(test_header)
{
	struct wire_view view = segment_view(&seg);

	ck_assert_ptr_nonnull(wire_view_header(&view));
	seg.header->cells = WIRE_NODE_CELLS + 1;
	ck_assert_ptr_null(wire_view_header(&view));
	seg.header->cells = 0;
	seg.header->version++;
	ck_assert_ptr_null(wire_view_header(&view));
	seg.header->version--;
	seg.header->magic = 0;
	ck_assert_ptr_null(wire_view_header(&view));
	seg.header->magic = WIRE_MAGIC;
	view.size = sizeof(struct wire_header) - 1;
	ck_assert_ptr_null(wire_view_header(&view));
	view.base = seg.base + 4;
	view.size = 4096;
	ck_assert_ptr_null(wire_view_header(&view));
	view.base = NULL;
	ck_assert_ptr_null(wire_view_header(&view));
}
END_TEST

START_TEST(test_bounds)
{
	struct wire_view view = segment_view(&seg);
	u32 last = (u32)(view.size / WIRE_UNIT);

	ck_assert_ptr_nonnull(wire_view_slot(&view, slot));
	ck_assert_ptr_null(wire_view_slot(&view, 0));
	ck_assert_ptr_null(wire_view_slot(&view, last - 1));
	ck_assert_ptr_null(wire_view_slot(&view, ~0u));
	ck_assert_ptr_nonnull(wire_view_node(&view, last - 1, 0));
	ck_assert_ptr_null(wire_view_node(&view, last - 1, 1));
	ck_assert_ptr_null(wire_view_node(&view, slot, WIRE_NODE_CELLS + 1));
	ck_assert_ptr_null(wire_view_page(&view, last - 63));
	ck_assert_ptr_nonnull(wire_view_page(&view, last - 64));
	ck_assert_ptr_null(wire_view_hist(&view, last - 3));
	ck_assert_ptr_null(wire_view_hist_chunk(&view, last - 3));
	ck_assert_ptr_null(wire_view_window(&view, last - 2));
	ck_assert_ptr_null(wire_view_process(&view, last - 4));
}
END_TEST

START_TEST(test_lane)
{
	struct wire_view view = segment_view(&seg);
	struct wire_slot *wire = segment_at(&seg, slot);
	struct wire_lane *lane = segment_lane_of(&seg, slot, 0);

	ck_assert_ptr_eq(wire_view_lane(&view, wire, 0), lane);
	ck_assert_ptr_null(wire_view_lane(&view, wire, 1));
	ck_assert_ptr_null(wire_view_lane(&view, wire, WIRE_LANES));
	/* All frames must be inside. */
	wire->lanes[1] = (u32)(view.size / WIRE_UNIT) - 64;
	ck_assert_ptr_null(wire_view_lane(&view, wire, 1));
	lane->depth = ~0u;
	ck_assert_uint_eq(wire_view_depth(lane), WIRE_DEPTH);
}
END_TEST

START_TEST(test_name)
{
	u32 ref = segment_name(&seg, "parse");
	struct wire_view view = segment_view(&seg);
	struct wire_name *name = segment_at(&seg, ref);
	const char *bytes;
	size_t len;

	ck_assert_ptr_nonnull(wire_view_name(&view, ref, &bytes, &len));
	ck_assert_uint_eq(len, 5);
	ck_assert_mem_eq(bytes, "parse", 5);
	name->length = WIRE_NAME_MAX + 1;
	ck_assert_ptr_null(wire_view_name(&view, ref, &bytes, &len));
	/* Its last byte lies outside. */
	name->length = WIRE_UNIT - sizeof(*name) + 1;
	ck_assert_ptr_null(wire_view_name(&view, ref, &bytes, &len));
	name->length--;
	ck_assert_ptr_nonnull(wire_view_name(&view, ref, &bytes, &len));
}
END_TEST

START_TEST(test_lists)
{
	struct wire_view view = segment_view(&seg);
	struct wire_walk walk = wire_walk_processes(&view);

	ck_assert_uint_eq(wire_next_process(&view, &walk)->pid, 11);
	ck_assert_uint_eq(walk.ref, seg.header->processes);
	ck_assert_uint_eq(wire_next_process(&view, &walk)->pid, 10);
	ck_assert_ptr_null(wire_next_process(&view, &walk));
	ck_assert_uint_eq(wire_view_process_of(&view, 10)->pid, 10);
	ck_assert_ptr_null(wire_view_process_of(&view, 12));
	walk = wire_walk_windows(&view);
	ck_assert_ptr_null(wire_next_window(&view, &walk));
}
END_TEST

START_TEST(test_rings)
{
	struct wire_view view = segment_view(&seg);
	struct wire_slot *wire = segment_at(&seg, slot);
	struct wire_lane *lane = segment_lane_of(&seg, slot, 0);
	struct wire_page *page = segment_at(&seg, lane->node_pages);
	struct wire_walk walk = wire_walk_slots(&view);
	struct wire_node_walk nodes;
	u64 n = 0;

	wire->next = slot;
	while (wire_next_slot(&view, &walk))
		n++;
	ck_assert_uint_eq(n, 1);
	ck_assert_ptr_null(wire_view_process_of(&view, 99));
	/* Many walks over one ring of full pages share one budget. */
	page->next = lane->node_pages;
	page->used = ~0u;
	for (n = 0; n < 100000; n++) {
		nodes = wire_walk_nodes(&view, lane);
		if (!wire_next_node(&view, &nodes))
			break;
	}
	ck_assert_uint_le(n, 2 * view.size / WIRE_UNIT);
}
END_TEST

START_TEST(test_nodes)
{
	struct wire_slot *wire = segment_at(&seg, slot);
	struct wire_lane *lane;
	struct wire_view view;
	struct wire_node_walk walk;
	u32 refs[200], i, found = 0, k;

	seg.header->cells = 9;
	lane = segment_at(&seg, segment_lane(&seg, slot, 1));
	for (i = 0; i < ARRAY_SIZE(refs); i++)
		refs[i] = segment_node(&seg, wire->lanes[1], lane->root, 0, segment_name(&seg, "x"));
	view = segment_view(&seg);
	walk = wire_walk_nodes(&view, lane);
	while (wire_next_node(&view, &walk))
		for (k = 0; k < ARRAY_SIZE(refs); k++)
			found += refs[k] == walk.ref;
	ck_assert_uint_eq(found, ARRAY_SIZE(refs));
	((struct wire_page *)segment_at(&seg, lane->node_pages))->kind = WIRE_PAGE_HIST;
	walk = wire_walk_nodes(&view, lane);
	for (found = 0; wire_next_node(&view, &walk); found++)
		;
	ck_assert_uint_lt(found, ARRAY_SIZE(refs));
	ck_assert_uint_gt(found, 0);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("wire");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, test_header);
	tcase_add_test(tests, test_bounds);
	tcase_add_test(tests, test_lane);
	tcase_add_test(tests, test_name);
	tcase_add_test(tests, test_lists);
	tcase_add_test(tests, test_rings);
	tcase_add_test(tests, test_nodes);
	return suite_run("wire", tests);
}
