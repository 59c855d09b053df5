/* SPDX-License-Identifier: MIT */
/*
 * The probe "off-cpu", in three steps: the states that /proc shows, which can be looked at; switch
 * records of an event of this thread, which are exact; the tracepoint sched_switch, which has the
 * stack and the state of each switch.
 */
#include "cli/caps/try.h"

#include <stdio.h>
#include <string.h>

#include "common/base.h"
#include "common/perf.h"

enum { OFFCPU_SLEEPS = 3 };

/* How many records of that type come from some sleeps; else -errno. */
static int offcpu_try(struct perf_event_attr *attr, uint32_t type, enum try_stage *stage)
{
	struct perf_event_header header;
	struct try_ring ring;
	int err, i, out = 0;

	attr->sample_period = 1;
	attr->sample_id_all = 1;
	err = try_ring_open(&ring, attr, -1, stage);
	if (err)
		return err;
	for (i = 0; i < OFFCPU_SLEEPS; i++)
		try_sleep();
	while (try_ring_next(&ring, type, &header, sizeof(header)))
		out += type != PERF_RECORD_SWITCH || header.misc & PERF_RECORD_MISC_SWITCH_OUT;
	try_ring_close(&ring);
	return out;
}

/* Switch records; fills *why unless they come. */
static bool offcpu_try_records(const struct caps_context *context, struct outcome *why)
{
	struct perf_event_attr attr;
	enum try_stage stage;
	int got;

	perf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.context_switch = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	got = offcpu_try(&attr, PERF_RECORD_SWITCH, &stage);
	if (got > 0)
		return true;
	*why = got < 0 ? try_ring_advice(context, stage, -got, ADVICE_USER) :
			 outcome_no("", "no switch record comes");
	return false;
}

/* The tracepoint with its fields and stack; fills *why unless samples come. */
static bool offcpu_try_tracepoint(const struct caps_context *context, struct outcome *why)
{
	struct perf_event_attr attr;
	enum try_stage stage;
	long id = tracing_id(context, "sched/sched_switch", why);
	int got;

	if (id < 0)
		return false;
	perf_attr_init(&attr, PERF_TYPE_TRACEPOINT, (uint64_t)id);
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN |
		PERF_SAMPLE_RAW;
	got = offcpu_try(&attr, PERF_RECORD_SAMPLE, &stage);
	if (got > 0)
		return true;
	*why = got < 0 ? try_ring_advice(context, stage, -got, ADVICE_TRACE) :
			 outcome_no("", "no sample of sched:sched_switch comes");
	return false;
}

struct outcome offcpu_probe(struct caps_context *context)
{
	struct outcome records, stacks;
	char text[1024];
	long got;

	if (offcpu_try_records(context, &records)) {
		if (offcpu_try_tracepoint(context, &stacks))
			return outcome_yes("switch records; sched:sched_switch with stacks");
		return outcome_partly(stacks.remedy, "switch records, exact; causes and stacks by "
			"looks into /proc: %.160s", stacks.because);
	}
	got = facts_read(context, "/proc/self/stat", text, sizeof(text));
	if (got < 0)
		return outcome_no(records.remedy, "no states of threads in /proc (%s), and no "
			"switch records: %.150s", advice_errno_name((int)-got), records.because);
	return outcome_partly(records.remedy, "looks into /proc alone, no switch records: %.180s",
		records.because);
}
