/* SPDX-License-Identifier: MIT */
/* The samples of the example in sample.h: a database whose queries and inserts were sampled. */
#ifndef TESTS_UNIT_PROFILED_H
#define TESTS_UNIT_PROFILED_H

#include "stack.h"

enum { PROFILED_SAMPLES = 109, PROFILED_LOST = 3 };

#define PROFILED_STEP "sqlbench!main:10 sqlbench!run_query:40 /lib/libsqlite3.so.0!sqlite3_step:90 "

static inline void profiled_samples(struct samples *samples)
{
	samples_init(samples);
	samples->event = strdup("task-clock");
	samples->stacks = strdup("dwarf");
	samples->stack_bytes = 8192;
	samples->clock = true;
	samples->frequency = 999;
	samples->effective = 987.4;
	samples->lost = PROFILED_LOST;
	samples->throttled = 2;
	stack_add(samples, 1, "query", PROFILED_STEP "/lib/libsqlite3.so.0!sqlite3VdbeExec:2104", 41);
	stack_add(samples, 1, "query",
		  PROFILED_STEP "/lib/libsqlite3.so.0!sqlite3VdbeExec:2200<sqlite3BtreeMovetoUnpacked:5731", 22);
	stack_add(samples, 1, "query", PROFILED_STEP "/lib/libsqlite3.so.0!sqlite3VdbeExec:2200 /lib/libc.so.6!?", 9);
	stack_add(samples, 1, "query", "sqlbench!main:10 sqlbench!run_query:41<a\033[31m\xff(int):7", 3);
	stack_add(samples, 1, "load;insert", "sqlbench!main:11 sqlbench!insert:60 [kernel]!?", 30);
	stack_add(samples, 1, "load;insert", "sqlbench!main:11 sqlbench!insert:60 sqlbench!spark_call_region_begin_ "
		  "/usr/lib/libsparkagent.so!?", 2);
	stack_add(samples, 1, "", "sqlbench!main:1", 1);
	stack_add(samples, 1, NULL, "sqlbench!main:1", 1);
	samples->rows[2].flags |= SAMPLES_TRUNCATED;
	samples->frames[samples->chains[samples->rows[4].chain].frame].unresolved = SAMPLES_HIDDEN;
	samples->objects[0].note = strdup("replaced during the run");
	samples_miss(samples, &(struct samples_missed){ .process = 1, .region = samples->rows[0].region, .lost = 1,
							.throttled = 2 });
	samples_miss(samples, &(struct samples_missed){ .region = SAMPLES_NONE, .flags = SAMPLES_UNATTRIBUTED, .lost = 2 });
}

#endif
