/* SPDX-License-Identifier: MIT */
/* One real attempt for each kind of event that no capability has tried; see events.h. */
#include "cli/caps/events.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/caps/try.h"
#include "common/perf.h"

static volatile int watched;

static void events_write_watched(void)
{
	watched++;
}

static void events_set_side(struct perf_event_attr *attr, bool kernel_side)
{
	attr->exclude_kernel = !kernel_side;
	attr->exclude_hv = !kernel_side;
}

/* Both sides, or what the kernel side needs, or why there is nothing. */
static struct outcome events_try_sides(const struct caps_context *context,
	struct perf_event_attr *attr, void (*work)(void), const char *what)
{
	struct outcome why;
	int both, user;

	events_set_side(attr, true);
	both = try_count(attr, work);
	if (both > 0)
		return outcome_yes("%s; user and kernel side", what);
	events_set_side(attr, false);
	user = both ? try_count(attr, work) : 0;
	if (user > 0) {
		why = advice_perf(context, -both, true);
		return outcome_partly(why.remedy, "%s; user side only: %.150s", what, why.because);
	}
	if (!user)
		return outcome_no("", "%s opens but counts nothing", what);
	if (advice_means_absent(-user))
		return outcome_no("", "this PMU has no %s (%s)", what, advice_errno_name(-user));
	return advice_perf(context, -user, false);
}

struct outcome events_try_cache(const struct caps_context *context)
{
	struct perf_event_attr attr;

	perf_attr_init(&attr, PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D |
		PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16);
	return events_try_sides(context, &attr, try_spin, "L1-dcache-loads");
}

struct outcome events_try_breakpoint(const struct caps_context *context)
{
	struct perf_event_attr attr;
	struct outcome why;
	int result;

	perf_attr_init(&attr, PERF_TYPE_BREAKPOINT, 0);
	attr.bp_type = HW_BREAKPOINT_W;
	attr.bp_addr = (uintptr_t)&watched;
	attr.bp_len = HW_BREAKPOINT_LEN_4;
	events_set_side(&attr, false);
	result = try_count(&attr, events_write_watched);
	if (result > 0)
		return outcome_yes("a write to a watched variable was counted");
	if (!result)
		return outcome_no("", "a breakpoint opens but counts nothing");
	if (!advice_means_absent(-result))
		return advice_perf(context, -result, false);
	why = outcome_no("", "this machine has no breakpoints for programs (%s)",
		advice_errno_name(-result));
	return why;
}

/*
 * Probes are places in code, not names. The kernel looks at privileges before it looks for a
 * place that is nowhere, and so tells without putting a probe anywhere.
 */
static struct outcome events_try_place(const struct caps_context *context, uint32_t type)
{
	static const char nowhere[] = "/proc/self/no/such/place";
	struct perf_event_attr attr;
	int fd;

	perf_attr_init(&attr, type, 0);
	attr.config1 = (uintptr_t)nowhere;
	fd = perf_open(&attr, 0, -1, -1, 0);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 || fd == -ENOENT || fd == -EINVAL)
		return outcome_yes("places in code may be watched");
	return advice_perf_privilege(context, -fd);
}

/* One attempt, closed again. Returns 0 or an errno. */
static int events_open(struct perf_event_attr *attr, bool kernel_side, int cpu)
{
	int fd;

	events_set_side(attr, kernel_side);
	fd = perf_open(attr, cpu < 0 ? 0 : -1, cpu, -1, 0);
	if (fd < 0)
		return -fd;
	close(fd);
	return 0;
}

static struct outcome events_try_cpu(const struct caps_context *context,
	struct perf_event_attr *attr, int cpu)
{
	int err = events_open(attr, true, cpu);

	if (!err)
		return outcome_yes("for the whole machine, not for a thread");
	if (!advice_means_absent(err))
		return advice_perf_scope(context, err, ADVICE_CPU);
	return outcome_no("", "the kernel refuses its events (%s)", advice_errno_name(err));
}

/* PMUs that can't leave out the kernel refuse the user side alone. */
static struct outcome events_try_thread(const struct caps_context *context,
	struct perf_event_attr *attr)
{
	int both = events_open(attr, true, -1), user;
	struct outcome why;

	if (!both)
		return outcome_yes("of a thread; user and kernel side");
	user = events_open(attr, false, -1);
	if (!user) {
		why = advice_perf(context, both, true);
		return outcome_partly(why.remedy, "of a thread, user side only: %.180s",
			why.because);
	}
	if (!advice_means_absent(both))
		return advice_perf(context, both, true);
	return outcome_no("", "the kernel refuses its events (%s)", advice_errno_name(both));
}

struct outcome events_try_pmu(struct names_context *names, const struct names_pmu *pmu, const char *event)
{
	const struct caps_context *context = names->caps;
	struct perf_event_attr of_event, attr;
	char text[256], wrong[192];

	if (!strcmp(pmu->name, "uprobe") || !strcmp(pmu->name, "kprobe"))
		return events_try_place(context, pmu->type);
	snprintf(text, sizeof(text), "%s/%s/", pmu->name, event);
	if (names_encode(names, text, &of_event, wrong, sizeof(wrong)))
		return outcome_no("", "its event %s: %.150s", event, wrong);
	perf_attr_init(&attr, pmu->type, of_event.config);
	attr.config1 = of_event.config1;
	attr.config2 = of_event.config2;
	/* The first CPU of the list where a PMU of the whole machine is counted. */
	return pmu->kind == NAMES_PMU_SYSTEM ? events_try_cpu(context, &attr, atoi(pmu->cpus)) :
					       events_try_thread(context, &attr);
}
