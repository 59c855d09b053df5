/* SPDX-License-Identifier: MIT */
/*
 * A run with a bit of everything: the example of a database, with a loss, a metric, a window, diagnoses, an open
 * region, names that are no text, and counters that could not be had.  Ticks are ns.
 */
#ifndef TESTS_UNIT_SAMPLE_H
#define TESTS_UNIT_SAMPLE_H

#include <stdio.h>

#include "cli/output/output.h"
#include "segment.h"

struct sample {
	struct segment seg;
	u32 slot;
	struct profile profile;
	struct clock_map clock;
	struct process_facts processes[2];
	struct session_facts facts;
	struct report_options options;
	struct output_options output;
	struct report *report;
};

enum { SAMPLE_PID = 1234 };

#define SAMPLE_MS 1000000ULL

static const char *const sample_argv[] = { "./sqlbench", "--rows", "100000", NULL };

static const struct capability_fact sample_capabilities[] = {
	{ .name = "counting", .available = true, .asked = true },
	{ .name = "hardware", .available = false, .asked = true,
	  .because = "no PMU: this is a virtual machine without PMU passthrough" },
	{ .name = "psi", .available = false, .asked = false, .because = "not compiled in" },
};

static const struct total_fact sample_totals[] = {
	{ "elapsed", "ns", { 2430 * 1e6, CELL_COUNTED, NULL }, "wait4", { .event = false } },
	{ "user", "ns", { 2000 * 1e6, CELL_COUNTED, NULL }, "wait4", { .event = false } },
	{ "sys", "ns", { 100 * 1e6, CELL_COUNTED, NULL }, "wait4", { .event = false } },
	{ "maxrss", "B", { 12345678, CELL_COUNTED, NULL }, "wait4", { .event = false } },
	{ "task-clock", "ns", { 2110 * 1e6, CELL_COUNTED, NULL }, "perf", { .event = false } },
	{ "minor-faults", "count", { 12345, CELL_COUNTED, NULL }, "perf", { .event = false } },
	{ "context-switches", "count", { 132, CELL_ESTIMATE, "from wait4" }, "wait4", { .event = false } },
	{ "cycles", "count", { 0, CELL_UNAVAILABLE, "no PMU here" }, "perf", { .event = false } },
	{ "instructions", "count", { 0, CELL_UNAVAILABLE, "no PMU here" }, "perf", { .event = false } },
};

/* calls calls of the same duration, a part of them off the CPU. */
static inline u32 sample_region(struct sample *sample, u32 parent, const char *name, u64 calls, u64 wall,
				u64 off)
{
	u32 node = segment_region(&sample->seg, sample->slot, parent, name);
	u64 i;

	for (i = 0; i < calls; i++)
		segment_call(&sample->seg, node, wall, (s64)off);
	return node;
}

static inline void sample_segment(struct sample *sample, u32 sources, u32 cells)
{
	struct wire_process *process;

	segment_init(&sample->seg, sources, cells);
	process = segment_process(&sample->seg, SAMPLE_PID);
	process->pair = 20;
	sample->slot = segment_slot(&sample->seg, SAMPLE_PID, SAMPLE_PID);
	((struct wire_slot *)segment_at(&sample->seg, sample->slot))->end = 2430 * SAMPLE_MS;
}

static inline void sample_facts(struct sample *sample)
{
	sample->clock.identity = true;
	sample->processes[0] = (struct process_facts){
		.id = 1, .pid = SAMPLE_PID, .command = "sqlbench", .image = "/usr/bin/sqlbench",
		.end_ns = 2430 * SAMPLE_MS, .ended = PROCESS_EXIT, .pair = 20, .threads = 1,
		.detector = WIRE_DETECTOR_RSEQ,
		.usage = { .cpu = { 2100.0 * SAMPLE_MS, CELL_COUNTED, NULL },
			   .cell = { [RUSAGE_MINFLT] = { 12300, CELL_COUNTED, NULL },
				     [RUSAGE_UTIME] = { 2000.0 * SAMPLE_MS, CELL_COUNTED, NULL } } },
	};
	sample->facts = (struct session_facts){
		.argv = sample_argv, .host = "box", .kernel = "Linux 6.18", .cpu = "Some CPU",
		.clock = "tsc", .duration_ns = 2430 * SAMPLE_MS, .clock_map = &sample->clock,
		.processes = sample->processes, .nprocesses = 1, .totals = sample_totals,
		.ntotals = ARRAY_SIZE(sample_totals), .capabilities = sample_capabilities,
		.ncapabilities = ARRAY_SIZE(sample_capabilities),
	};
	sample->output = (struct output_options){ .utf8 = true };
}

/* An empty run of one process. */
static inline void sample_init(struct sample *sample, enum profile_group group)
{
	memset(sample, 0, sizeof(*sample));
	profile_init(&sample->profile, group);
	sample_segment(sample, 0, 0);
	sample_facts(sample);
}

/* The phases of the example. */
static inline void sample_regions(struct sample *sample)
{
	u32 load = sample_region(sample, 0, "load", 1, 1200 * SAMPLE_MS, 336 * SAMPLE_MS), query;
	u64 i;

	sample_region(sample, load, "insert", 1000, 911000, 0);
	sample_region(sample, 0, "index", 1, 402 * SAMPLE_MS, 4 * SAMPLE_MS);
	query = sample_region(sample, 0, "query", 1960, 381000, 15800);
	for (i = 0; i < 39; i++)
		segment_call(&sample->seg, query, 702000, 15800);
	segment_call(&sample->seg, query, 4800000, 15800);
}

static inline void sample_extras(struct sample *sample)
{
	struct wire_slot *slot = segment_at(&sample->seg, sample->slot);
	u32 hostile = sample_region(sample, 0, "a\033[31m\xff\"\n", 1, 1000, 0);
	struct wire_node *node = segment_at(&sample->seg, hostile);
	struct wire_name *name = segment_at(&sample->seg, wire_node_name(node));
	struct wire_window *window;
	u32 open;

	node->units = 5000;
	name->unit = segment_name(&sample->seg, "B");
	segment_metric(&sample->seg, sample->slot, hostile, "queue-depth", 2, 5, 1, 4, 4);
	open = segment_region(&sample->seg, sample->slot, 0, "shutdown");
	segment_open(&sample->seg, sample->slot, open, slot->end - 7 * SAMPLE_MS);
	segment_diagnosis(&sample->seg, sample->slot, WIRE_DIAG_UNMATCHED, "query", 3);
	window = segment_window(&sample->seg, SAMPLE_PID, "steady", 0, 1000 * SAMPLE_MS);
	window->begin_usage.valid = window->end_usage.valid = 1;
	window->end_usage.cpu_ns = 900 * SAMPLE_MS;
	window->end_usage.cell[RUSAGE_NVCSW] = 17;
	sample->seg.header->losses[WIRE_LOSS_SLOTS] = 12;
}

/* Adds the segment to the profile and builds the report. */
static inline struct report *sample_report(struct sample *sample)
{
	struct wire_view view = segment_view(&sample->seg);
	struct wire_walk walk = wire_walk_slots(&view);

	while (wire_next_slot(&view, &walk))
		profile_add_slot(&sample->profile, &(struct profile_slot){ .view = &view,
				 .ref = walk.ref, .process = 1, .pid = SAMPLE_PID,
				 .now = sample->facts.duration_ns });
	profile_add_windows(&sample->profile, &view, 0, 1, SAMPLE_PID, sample->facts.duration_ns);
	profile_add_losses(&sample->profile, &view);
	sample->report = report_build(&sample->profile, &sample->facts, &sample->options);
	return sample->report;
}

/* What a format prints; to be freed. */
static inline char *sample_print(struct sample *sample, const char *format)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file || output_write(output_find(format), file, sample->report, &sample->output) != 0)
		abort();
	fclose(file);
	return text;
}

static inline void sample_fini(struct sample *sample)
{
	report_free(sample->report);
	profile_fini(&sample->profile);
	clock_map_fini(&sample->clock);
	segment_fini(&sample->seg);
}

#endif
