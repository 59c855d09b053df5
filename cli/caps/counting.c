/* SPDX-License-Identifier: MIT */
/*
 * The probes "counting" and "counting-hardware": open events on this process, do work whose least
 * count is known, and believe only what was counted. Kernel side first, then user side alone.
 */
#include "cli/caps/try.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/base.h"
#include "common/perf.h"

/* Each page of a fresh mapping costs a fault. */
static void counting_work_faults(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	char *at = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return;
	for (i = 0; i < 4; i++)
		*(volatile char *)(at + i * page) = 1;
	munmap(at, 4 * page);
}

static long counting_switches(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nvcsw;
}

/* A sleep may be over before it began, when a hypervisor takes the CPU at that moment. */
void try_sleep(void)
{
	struct timespec pause = { .tv_nsec = 50000 };
	long before = counting_switches();
	int i;

	for (i = 0; i < 20 && counting_switches() == before; i++)
		nanosleep(&pause, NULL);
}

void try_spin(void)
{
	volatile unsigned int i;

	for (i = 0; i < 2000; i++)
		;
}

struct counting_event {
	const char *name;
	uint32_t type;
	uint64_t config;
	void (*work)(void);
	bool user_side;		/* means something under exclude_kernel */
};

static const struct counting_event software[] = {
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, try_spin, true },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS,
	  counting_work_faults, true },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES,
	  try_sleep, false },
};

static const struct counting_event hardware[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, try_spin, true },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS,
	  try_spin, true },
};

int try_count(struct perf_event_attr *attr, void (*work)(void))
{
	struct perf_value value;
	int fd, err;

	fd = perf_open(attr, 0, -1, -1, 0);
	if (fd < 0)
		return fd;
	work();
	err = perf_read(fd, &value);
	if (attr->type == PERF_TYPE_TRACEPOINT)
		try_close(fd);
	else
		close(fd);
	return err ? err : value.running_ns && value.count;
}

static int counting_try(const struct counting_event *event, bool kernel_side)
{
	struct perf_event_attr attr;

	perf_attr_init(&attr, event->type, event->config);
	attr.exclude_kernel = !kernel_side;
	attr.exclude_hv = !kernel_side;
	return try_count(&attr, event->work);
}

/*
 * Tries n events. Returns how many count; *err is the first failure, 0 for an event that counts
 * nothing, and *failed its name.
 */
static size_t counting_try_all(const struct counting_event *events, size_t n, bool kernel_side,
	int *err, const char **failed)
{
	size_t i, good = 0;
	int result;

	*failed = NULL;
	*err = 0;
	for (i = 0; i < n; i++) {
		if (!kernel_side && !events[i].user_side)
			continue;
		result = counting_try(&events[i], kernel_side);
		if (result > 0) {
			good++;
		} else if (!*failed) {
			*failed = events[i].name;
			*err = -result;
		}
	}
	return good;
}

/* Only user-side events: says what the kernel side needs. */
static struct outcome counting_user_only(const struct caps_context *context, int err,
	const char *but)
{
	struct outcome why = advice_perf(context, err, true);

	return outcome_partly(why.remedy, "user side only%s: %.150s", but, why.because);
}

struct outcome counting_probe(struct caps_context *context)
{
	const char *failed, *user_failed;
	int err, user_err;

	if (counting_try_all(software, ARRAY_SIZE(software), true, &err, &failed) ==
	    ARRAY_SIZE(software))
		return outcome_yes("task-clock, page-faults, context-switches; "
			"user and kernel side");
	if (counting_try_all(software, ARRAY_SIZE(software), false, &user_err, &user_failed) == 2)
		return counting_user_only(context, err, ", without context switches");
	if (user_err)
		return advice_perf(context, user_err, false);
	return outcome_no("", "%s opens but counts nothing", user_failed ? user_failed : failed);
}

/* Some PMUs lack one of the events: that is no reason to call them absent. */
static struct outcome hardware_some(const struct caps_context *context, size_t good,
	const char *failed, int err, bool kernel_side)
{
	if (good && advice_means_absent(err))
		return outcome_partly("", "%s side; this PMU has no %s (%s)",
			kernel_side ? "user and kernel" : "user", failed, advice_errno_name(err));
	if (advice_means_absent(err))
		return advice_no_pmu(context, err);
	if (!err)
		return outcome_no("", "%s opens but counts nothing: the PMU is announced, "
			"but does not work%s", failed,
			context->virtual_machine ? " (virtual machine)" : "");
	return advice_perf(context, err, kernel_side);
}

struct outcome hardware_probe(struct caps_context *context)
{
	const char *failed;
	size_t n = ARRAY_SIZE(hardware), good;
	int err, user_err;

	good = counting_try_all(hardware, n, true, &err, &failed);
	if (good == n)
		return outcome_yes("cycles, instructions; user and kernel side");
	if (!err || advice_means_absent(err))
		return hardware_some(context, good, failed, err, true);
	good = counting_try_all(hardware, n, false, &user_err, &failed);
	return good == n ? counting_user_only(context, err, "") :
			   hardware_some(context, good, failed, user_err, false);
}
