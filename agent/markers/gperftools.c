/* SPDX-License-Identifier: MIT */
/*
 * The CPU profiler of gperftools (gperftools/profiler.h of github.com/gperftools/gperftools): what lies between its start
 * and its stop is one region, "gperftools". There is one profiler in a process: a start that it refuses begins nothing here.
 * Where a program has its calls but no profiler, the region is what it means.
 */
#include "agent/markers/markers.h"

struct ProfilerOptions;

MARKER_EXPORT int ProfilerStart(const char *file);
MARKER_EXPORT int ProfilerStartWithOptions(const char *file, const struct ProfilerOptions *options);
MARKER_EXPORT void ProfilerStop(void);

static bool runs;

static void region_open(bool refused)
{
	if (!refused && marker_wanted(MARKER_gperftools) && !__atomic_exchange_n(&runs, true, __ATOMIC_ACQ_REL))
		spark_region_begin("gperftools");
}

int ProfilerStart(const char *file)
{
	static struct next next = { .name = "ProfilerStart" };
	int (*real)(const char *) = (int (*)(const char *))next_find(&next);
	int started = real ? real(file) : 0;

	region_open(real && !started);
	return started;
}

int ProfilerStartWithOptions(const char *file, const struct ProfilerOptions *options)
{
	static struct next next = { .name = "ProfilerStartWithOptions" };
	int (*real)(const char *, const struct ProfilerOptions *) =
		(int (*)(const char *, const struct ProfilerOptions *))next_find(&next);
	int started = real ? real(file, options) : 0;

	region_open(real && !started);
	return started;
}

void ProfilerStop(void)
{
	static struct next next = { .name = "ProfilerStop" };
	void (*real)(void);

	if (__atomic_exchange_n(&runs, false, __ATOMIC_ACQ_REL))
		spark_region_end("gperftools");
	real = (void (*)(void))next_find(&next);
	if (real)
		real();
}
