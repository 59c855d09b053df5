/* SPDX-License-Identifier: MIT */
/*
 * The probe "counting-scaled": more events than the CPU has counters take turns, and each tells
 * for how long it ran.
 */
#include "cli/caps/try.h"

#include <time.h>
#include <unistd.h>

#include "common/base.h"
#include "common/perf.h"

/*
 * The kernel passes the counters on by one event at a time, each 4 ms where nobody has set it
 * otherwise: so there is one event more than counters, not many more.
 */
enum { SCALED_MOST = 40, SCALED_LIMIT_MS = 150, SCALED_SPINS = 40 };

/* Events on this thread's user side, and how they did. */
struct scaled_trial {
	int fd[SCALED_MOST];
	int n, counted, shared;
};

/* Returns 0 or -errno. */
static int scaled_add(struct scaled_trial *trial)
{
	struct perf_event_attr attr;
	int fd;

	perf_attr_init(&attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	fd = perf_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		return fd;
	trial->fd[trial->n++] = fd;
	return 0;
}

/* Works for a while, then sees how many counted, and how many for a part of the time. */
static int scaled_look(struct scaled_trial *trial)
{
	struct perf_value value;
	int i, err;

	for (i = 0; i < SCALED_SPINS; i++)
		try_spin();
	trial->counted = trial->shared = 0;
	for (i = 0; i < trial->n; i++) {
		err = perf_read(trial->fd[i], &value);
		if (err)
			return err;
		trial->counted += value.running_ns && value.count;
		trial->shared += value.running_ns < value.enabled_ns;
	}
	return 0;
}

static long scaled_cpu_ms(void)
{
	struct timespec now = { .tv_sec = 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Adds events until some have to share, and waits until all have had their turn. */
static int scaled_try(struct scaled_trial *trial)
{
	long end = scaled_cpu_ms() + SCALED_LIMIT_MS;
	int err = 0;

	while (!err && !trial->shared && trial->n < SCALED_MOST) {
		err = scaled_add(trial);
		if (!err)
			err = scaled_look(trial);
	}
	while (!err && trial->counted < trial->n && scaled_cpu_ms() < end)
		err = scaled_look(trial);
	return err;
}

struct outcome scaled_probe(struct caps_context *context)
{
	struct scaled_trial trial = { .n = 0 };
	int err = scaled_try(&trial), i;

	for (i = 0; i < trial.n; i++)
		close(trial.fd[i]);
	if (err)
		return advice_means_absent(-err) ? advice_no_pmu(context, -err) :
						   advice_perf(context, -err, false);
	if (!trial.shared)
		return outcome_partly("", "%d events have a counter each: none had to share",
			trial.n);
	if (trial.counted < trial.n)
		return outcome_no("", "of %d events that share the counters %d counted", trial.n,
			trial.counted);
	return outcome_yes("%d events share the counters, and each knows for how long it ran%s", trial.n,
		facts_watchdog(context) ? "; the NMI watchdog holds a counter" : "");
}
