/* SPDX-License-Identifier: MIT */
/*
 * The probe "block-io": the times that /proc/diskstats adds up for each device, which everybody
 * may read, and the tracepoints of requests, which give latencies. Requests end on any CPU and in
 * any task, so the tracepoints are opened for a CPU.
 */
#include "cli/caps/try.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base.h"
#include "common/perf.h"

/* Devices with the eleven numbers of Documentation/admin-guide/iostats.rst; or -errno. */
static int block_count_devices(const struct caps_context *context)
{
	char text[16384], *line, *rest;
	unsigned long long busy;
	long got = facts_read(context, "/proc/diskstats", text, sizeof(text));
	int n = 0;

	if (got < 0)
		return (int)got;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		n += sscanf(line, "%*u %*u %*s %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %llu",
			&busy) == 1;
	return n;
}

/*
 * Whether both ends of a request can be seen; fills *why if not. The second is opened like the
 * first, and the kernel waits long when one is closed: its number is enough.
 */
static bool block_try_tracepoints(const struct caps_context *context, struct outcome *why)
{
	long begin = tracing_id(context, "block/block_rq_issue", why);
	long end = begin < 0 ? begin : tracing_id(context, "block/block_rq_complete", why);
	struct perf_event_attr attr;
	int fd;

	if (end < 0)
		return false;
	perf_attr_init(&attr, PERF_TYPE_TRACEPOINT, (uint64_t)begin);
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
	fd = perf_open(&attr, -1, 0, -1, 0);
	if (fd < 0) {
		*why = advice_perf_scope(context, -fd, ADVICE_TRACE);
		return false;
	}
	try_close(fd);
	return true;
}

struct outcome block_probe(struct caps_context *context)
{
	struct outcome why;
	int devices = block_count_devices(context);
	bool traced = block_try_tracepoints(context, &why);

	if (traced && devices > 0)
		return outcome_yes("latency of requests by block tracepoints; times of %d devices",
			devices);
	if (traced)
		return outcome_partly("", "latency of requests by block tracepoints; no times in "
			"/proc/diskstats (%s)", devices ? advice_errno_name(-devices) : "empty");
	if (devices > 0)
		return outcome_partly(why.remedy, "times of %d devices, no latency of requests: "
			"%.180s", devices, why.because);
	return outcome_no(why.remedy, "/proc/diskstats: %s; no block tracepoints: %.180s",
		devices ? advice_errno_name(-devices) : "empty", why.because);
}
