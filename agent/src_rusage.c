/* SPDX-License-Identifier: MIT */
/* Source rusage: getrusage(RUSAGE_THREAD) at both ends of a bracket, about 0.3 us each. */
#define _GNU_SOURCE
#include "agent.h"
#include "source.h"

#include "common/proc.h"

#include <sys/resource.h>
#include <sys/syscall.h>

#include "banned.h"

static int rusage_open(void)
{
	return 0;
}

static u64 timeval_ns(struct timeval v)
{
	return (u64)v.tv_sec * NSEC_PER_SEC + (u64)v.tv_usec * NSEC_PER_USEC;
}

static void rusage_usage(enum source_scope scope, struct wire_usage *usage, u64 *cells)
{
	long who = scope == SOURCE_THREAD ? RUSAGE_THREAD : RUSAGE_SELF, ret;
	struct rusage r;

	(void)usage;
	ret = syscall_raw(SYS_getrusage, who, (long)&r, 0, 0, 0, 0);
	if (ret) {
		proc_fill_absent(cells, RUSAGE_CELLS, proc_absent((int)-ret));
		return;
	}
	cells[RUSAGE_MINFLT] = (u64)r.ru_minflt;
	cells[RUSAGE_MAJFLT] = (u64)r.ru_majflt;
	cells[RUSAGE_NVCSW] = (u64)r.ru_nvcsw;
	cells[RUSAGE_NIVCSW] = (u64)r.ru_nivcsw;
	cells[RUSAGE_UTIME] = timeval_ns(r.ru_utime);
	cells[RUSAGE_STIME] = timeval_ns(r.ru_stime);
}

static void rusage_read(u64 *cells)
{
	rusage_usage(SOURCE_THREAD, NULL, cells);
}

static void rusage_close(void)
{
}

const struct source source_rusage = { rusage_open, rusage_read, rusage_close, rusage_usage };
