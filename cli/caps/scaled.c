/* SPDX-License-Identifier: MIT */
/*
 * The probe "counting-scaled": more events than the CPU has counters take turns, and each tells
 * for how long it ran.
 */
#include "cli/caps/try.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base.h"
#include "common/perf.h"

/* No CPU has as many counters for cycles; a turn takes 4 ms where nobody has set it otherwise. */
enum { SCALED_EVENTS = 40, SCALED_LIMIT_MS = 150 };

/* Opens them all on this thread's user side. Returns 0 or -errno. */
static int scaled_open(int *fd)
{
	struct perf_event_attr attr;
	size_t i;

	for (i = 0; i < SCALED_EVENTS; i++) {
		perf_attr_init(&attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
		attr.exclude_kernel = 1;
		attr.exclude_hv = 1;
		fd[i] = perf_open(&attr, 0, -1, -1, 0);
		if (fd[i] < 0)
			return fd[i];
	}
	return 0;
}

/* How many have counted, and how many of them only for a part of the time. Returns 0 or -errno. */
static int scaled_read(const int *fd, int *counted, int *shared)
{
	struct perf_value value;
	size_t i;
	int err;

	*counted = *shared = 0;
	for (i = 0; i < SCALED_EVENTS; i++) {
		err = perf_read(fd[i], &value);
		if (err)
			return err;
		if (!value.running_ns || !value.count)
			continue;
		++*counted;
		*shared += value.running_ns < value.enabled_ns;
	}
	return 0;
}

static long scaled_cpu_ms(void)
{
	struct timespec now = { .tv_sec = 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct outcome scaled_probe(struct caps_context *context)
{
	int fd[SCALED_EVENTS], counted = 0, shared = 0, err;
	long end = scaled_cpu_ms() + SCALED_LIMIT_MS;
	size_t i;

	memset(fd, -1, sizeof(fd));
	err = scaled_open(fd);
	while (!err && (counted < SCALED_EVENTS || !shared) && scaled_cpu_ms() < end) {
		for (i = 0; i < 100; i++)
			try_spin();
		err = scaled_read(fd, &counted, &shared);
	}
	for (i = 0; i < SCALED_EVENTS && fd[i] >= 0; i++)
		close(fd[i]);
	if (err)
		return advice_means_absent(-err) ? advice_no_pmu(context, -err) :
						   advice_perf(context, -err, false);
	if (counted < SCALED_EVENTS || !shared)
		return outcome_no("", "of %d events that share the counters %d ran, %d of them in "
			"turns", SCALED_EVENTS, counted, shared);
	return outcome_yes("%d events share the counters, and each knows for how long it ran",
		SCALED_EVENTS);
}
