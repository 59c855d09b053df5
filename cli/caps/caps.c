/* SPDX-License-Identifier: MIT */
/* The table of capabilities and the outcomes their probes give; see caps.h. */
#include "cli/caps/caps.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base.h"

static const struct capability table[] = {
	{ "preload", "regions of unmodified programs: the agent is loaded with them",
	  preload_probe },
	{ "switch-detector", "CPU time of regions without a system call",
	  switch_probe },
	{ "clock", "wall time of regions from the CPU's own counter",
	  clock_probe },
	{ "counting", "software events: task clock, page faults, context switches",
	  counting_probe },
	{ "counting-hardware", "events of the CPU: cycles, instructions, branches, misses",
	  hardware_probe },
	{ "counting-raw", "events by the CPU's own codes, raw:rHEX",
	  raw_probe },
	{ "counting-scaled", "more events at a time than the CPU has counters: they take turns",
	  scaled_probe },
	{ "self-monitoring", "counters read without a system call",
	  selfmon_probe },
	{ "event-naming", "events by name",
	  naming_probe },
	{ "event-tracing", "tracepoints of the kernel: system calls, scheduler, disks",
	  tracing_probe },
	{ "ip-sampling", "samples of where a program is: profiles",
	  sampling_probe },
	{ "symbols", "names of the code in profiles: functions, source lines, what is inlined",
	  symbols_probe },
	{ "call-stacks", "who called: stacks of samples, of programs without frame pointers too",
	  stacks_probe },
	{ "precise-memory", "samples of loads with address, latency and level of the memory",
	  precise_probe },
	{ "numa-attribution", "on which memory node a page lies",
	  numa_probe },
	{ "off-cpu", "when and where threads wait",
	  offcpu_probe },
	{ "wakers", "who ends the waits of threads, and when",
	  wakers_probe },
	{ "block-io", "times and latencies of disks",
	  block_probe },
	{ "io-delay", "how long threads wait for disks, by the kernel's accounting",
	  delay_probe },
	{ "psi", "the time that work stalls for want of CPU, memory or I/O",
	  pressure_probe },
	{ "cgroup", "groups of processes with statistics and limits of their own",
	  cgroup_probe },
	{ "page-cache-control", "files that are cold or warm at the start of a run",
	  pagecache_probe },
	{ "inject", "the agent in a program that runs already",
	  inject_probe },
};
_Static_assert(ARRAY_SIZE(table) <= CAPS_MOST, "CAPS_MOST is too small");

const char *caps_available_name(enum caps_available available)
{
	static const char *const names[] = { "no", "part", "yes" };

	return names[available];
}

const struct capability *caps_table(size_t *n)
{
	*n = ARRAY_SIZE(table);
	return table;
}

const struct capability *caps_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

static void outcome_fill(struct outcome *outcome, const char *remedy, const char *format,
	va_list args) __attribute__((format(printf, 3, 0)));

static void outcome_fill(struct outcome *outcome, const char *remedy, const char *format,
	va_list args)
{
	vsnprintf(outcome->because, sizeof(outcome->because), format, args);
	snprintf(outcome->remedy, sizeof(outcome->remedy), "%s", remedy);
}

struct outcome outcome_yes(const char *format, ...)
{
	struct outcome outcome = { .available = CAPS_YES };
	va_list args;

	va_start(args, format);
	outcome_fill(&outcome, "", format, args);
	va_end(args);
	return outcome;
}

struct outcome outcome_partly(const char *remedy, const char *format, ...)
{
	struct outcome outcome = { .available = CAPS_PARTLY };
	va_list args;

	va_start(args, format);
	outcome_fill(&outcome, remedy, format, args);
	va_end(args);
	return outcome;
}

struct outcome outcome_no(const char *remedy, const char *format, ...)
{
	struct outcome outcome = { .available = CAPS_NO };
	va_list args;

	va_start(args, format);
	outcome_fill(&outcome, remedy, format, args);
	va_end(args);
	return outcome;
}
