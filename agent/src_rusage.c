/* SPDX-License-Identifier: MIT */
/* Source rusage: getrusage(RUSAGE_THREAD) at both ends of a bracket, about 0.3 us each. */
#define _GNU_SOURCE
#include "agent.h"
#include "source.h"

#include <errno.h>
#include <sys/resource.h>

#include "banned.h"

static int rusage_open(void)
{
	struct rusage r;

	return getrusage(RUSAGE_THREAD, &r) ? -errno : 0;
}

static void rusage_read(u64 *cells)
{
	struct wire_rusage u;

	agent_rusage(RUSAGE_THREAD, &u);
	cells[0] = u.minflt;
	cells[1] = u.majflt;
	cells[2] = u.nvcsw;
	cells[3] = u.nivcsw;
	cells[4] = u.utime_ns;
	cells[5] = u.stime_ns;
}

static void rusage_close(void)
{
}

const struct source source_rusage = { rusage_open, rusage_read, rusage_close };
