/* SPDX-License-Identifier: MIT */
/*
 * The probe "ip-sampling": samples of where this thread is while it spins, by cycles, else by its
 * task clock. Received means: a record lies in the ring, and its address is one of the spin.
 */
#include "cli/caps/try.h"

#include <time.h>

#include "common/base.h"
#include "common/perf.h"

/* Kernels deliver the first sample at their next tick when they are busy otherwise. */
enum { SAMPLING_LIMIT_MS = 100, SAMPLING_PERIOD_NS = 200000, SAMPLING_PERIOD_CYCLES = 200000 };

struct sampling_event {
	const char *name;
	uint32_t type;
	uint64_t config, period;
};

static const struct sampling_event sampling_events[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, SAMPLING_PERIOD_CYCLES },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, SAMPLING_PERIOD_NS },
};

struct sampling_record {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
};

/* How an attempt ended: err 0 and no samples means that none came. */
struct sampling_trial {
	int err;
	enum try_stage stage;
	int user, kernel;
};

/* Stays in this function, so that its addresses are known: [sampling_spin, + 4096). */
static __attribute__((noinline)) void sampling_spin(clock_t end)
{
	volatile unsigned int i;

	do {
		for (i = 0; i < 20000; i++)
			;
	} while (clock() < end);
}

static void sampling_look(struct try_ring *ring, struct sampling_trial *trial)
{
	uintptr_t start = (uintptr_t)sampling_spin;
	struct sampling_record record;

	while (try_ring_next(ring, PERF_RECORD_SAMPLE, &record, sizeof(record))) {
		if ((record.header.misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
		    PERF_RECORD_MISC_KERNEL)
			trial->kernel++;
		else
			trial->user += record.ip >= start && record.ip < start + 4096;
	}
}

static struct sampling_trial sampling_try(const struct sampling_event *event, bool kernel_side)
{
	clock_t end = clock() + SAMPLING_LIMIT_MS * (CLOCKS_PER_SEC / 1000);
	struct sampling_trial trial = { .err = 0 };
	struct perf_event_attr attr;
	struct try_ring ring;

	perf_attr_init(&attr, event->type, event->config);
	attr.exclude_kernel = !kernel_side;
	attr.exclude_hv = !kernel_side;
	attr.sample_period = event->period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	trial.err = -try_ring_open(&ring, &attr, -1, &trial.stage);
	if (trial.err)
		return trial;
	while (!trial.user && clock() < end) {
		sampling_spin(clock() + CLOCKS_PER_SEC / 1000);
		sampling_look(&ring, &trial);
	}
	try_ring_close(&ring);
	return trial;
}

struct outcome sampling_probe(struct caps_context *context)
{
	struct sampling_trial both, user;
	struct outcome why;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sampling_events); i++) {
		const char *name = sampling_events[i].name;
		bool last = i + 1 == ARRAY_SIZE(sampling_events);

		both = sampling_try(&sampling_events[i], true);
		if (both.user)
			return outcome_yes("%s; samples received, user and kernel side", name);
		if (!last && both.err && advice_means_absent(both.err))
			continue;
		user = both.err ? sampling_try(&sampling_events[i], false) : both;
		if (user.user) {
			why = try_ring_advice(context, both.stage, both.err, ADVICE_KERNEL);
			return outcome_partly(why.remedy, "%s, user side only: %.180s", name,
				why.because);
		}
		if (last && user.err)
			return try_ring_advice(context, user.stage, user.err, ADVICE_USER);
	}
	return outcome_no("", "sampling events open, but no sample comes");
}
