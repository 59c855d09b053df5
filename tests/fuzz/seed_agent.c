/* SPDX-License-Identifier: MIT */
/*
 * A segment as the agent leaves it: threads, a child, handlers' lanes, misuse, windows, what is
 * still open.
 */
#include <stdlib.h>
#include <string.h>

#include "common/source_table.h"
#include "tests/fuzz/seeds.h"
#include "tests/unit/agent_harness.h"

static void bracket(const char *name)
{
	region_name_begin(name);
	region_name_end(name);
}

static void in_handler(void *name)
{
	bracket(name);
}

/* As a signal handler that interrupts a marker. */
static void interrupted(void)
{
	struct thread *t;
	struct lane *l = region_enter(&t);

	if (!l)
		return;
	harness_deeper(in_handler, (char[]){ "handler" });
	region_leave(l);
}

static void thread_work(u32 index)
{
	bracket(index ? "second" : "first");
}

static void child_work(void *unused)
{
	(void)unused;
	bracket("child");
	region_name_begin("left open");
}

static void work(void)
{
	window_begin("steady");
	for (u32 i = 0; i < 3; i++) {
		region_name_begin("outer");
		region_name_begin("inner");
		client_units("inner", 100, "B");
		client_metric("depth", 2.5);
		region_name_end("inner");
		bracket("inner");
		region_name_end("outer");
	}
	window_end("steady");
	window_begin("open");
	window_part("open", WIRE_WINDOW_WARMUP);
	window_part("open", WIRE_WINDOW_MEASURED);
	region_name_end("unmatched");
	interrupted();
	for (u32 i = 0; i < 4; i++)
		region_name_begin("deeper");
}

u8 *seed_from_agent(char **argv, size_t *size)
{
	struct wire_view view;
	u8 *bytes;

	harness_start(argv, 0, 1u << SOURCE_rusage);
	harness_setup();
	work();
	harness_threads(2, thread_work);
	if (harness_fork(child_work, NULL))
		return NULL;
	view = harness_view();
	bytes = malloc(view.size);
	if (!bytes)
		return NULL;
	memcpy(bytes, view.base, view.size);
	*size = view.size;
	return bytes;
}
