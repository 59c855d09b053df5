/* SPDX-License-Identifier: MIT */
/*
 * The probe "self-monitoring": a thread reads its counter without a system call, by the event's
 * user page and the CPU's own instruction (perf_event_open(2), "rdpmc instruction"). In a child,
 * since the instruction may be forbidden in spite of all flags. What read(2) costs instead is
 * measured in any case: it is what counting around regions costs here.
 */
#include "cli/caps/try.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base.h"
#include "common/perf.h"
#include "common/perf_user.h"

/* The median round counts: those in which something else ran meanwhile do not matter. */
enum { SELFMON_ROUNDS = 15, SELFMON_READS = 100 };

/* An open event, and what was seen of it. */
struct selfmon_event {
	int fd;
	const struct perf_event_mmap_page *page;
	uint64_t count;			/* as of the last read */
	bool backwards;			/* a later read gave less */
};

/* What the child found. */
struct selfmon_trial {
	int err;			/* of the event, 0 if it opened and was mapped */
	enum try_stage stage;
	bool allowed;			/* the page says that the instruction may be used */
	bool known;			/* and it is known how */
	bool backwards;
	double user_ns;			/* of one read; 0: none could be had */
};

static int selfmon_open(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr;

	perf_attr_init(&attr, type, config);
	attr.config1 = type == PERF_TYPE_HARDWARE ? PERF_USER_CONFIG1 : 0;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return perf_open(&attr, 0, -1, -1, 0);
}

/* One read by the page's protocol, of an event that is on a counter. */
static bool selfmon_read_page(struct selfmon_event *event)
{
	uint64_t count;

	if (!load_relaxed(&event->page->index) || !perf_user_read(event->page, &count))
		return false;
	event->backwards = event->backwards || count < event->count;
	event->count = count;
	return true;
}

static bool selfmon_read_call(struct selfmon_event *event)
{
	struct perf_value value;

	return perf_read(event->fd, &value) == 0;
}

static int selfmon_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* What one read costs, ns; 0: no round was without a failure. */
static double selfmon_measure(bool (*one)(struct selfmon_event *), struct selfmon_event *event)
{
	double ns[SELFMON_ROUNDS];
	size_t round, n = 0;
	uint64_t start;
	int i;

	for (round = 0; round < SELFMON_ROUNDS; round++) {
		start = clock_ns(CLOCK_MONOTONIC);
		for (i = 0; i < SELFMON_READS && one(event); i++)
			;
		if (i == SELFMON_READS)
			ns[n++] = (double)(clock_ns(CLOCK_MONOTONIC) - start) / SELFMON_READS;
	}
	qsort(ns, n, sizeof(ns[0]), selfmon_compare);
	return n ? ns[n / 2] : 0;
}

/* By read(2), of an event of the kernel's where there is no other; 0: none may be opened. */
static double selfmon_measure_call(void)
{
	struct selfmon_event event = { .fd = selfmon_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) };
	double ns;

	if (event.fd < 0)
		event.fd = selfmon_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	if (event.fd < 0)
		return 0;
	ns = selfmon_measure(selfmon_read_call, &event);
	close(event.fd);
	return ns;
}

static void selfmon_child(struct selfmon_trial *trial)
{
	struct selfmon_event event = { .count = 0 };
	uint32_t index;
	u64 value;

	trial->stage = TRY_OPEN;
	event.fd = selfmon_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	if (event.fd < 0) {
		trial->err = -event.fd;
		return;
	}
	trial->stage = TRY_MAP;
	trial->err = -perf_page_map(event.fd, &event.page);
	if (trial->err)
		return;
	index = load_relaxed(&event.page->index);
	trial->allowed = perf_user_possible(event.page) && index;
	trial->known = trial->allowed && perf_user_counter(index - 1, &value);
	if (trial->known)
		trial->user_ns = selfmon_measure(selfmon_read_page, &event);
	trial->backwards = event.backwards;
}

/* Runs the trial in a child. Returns 0, the signal that killed it, or -errno. */
static int selfmon_try(struct selfmon_trial *trial)
{
	int end[2], status, err;
	ssize_t got;
	pid_t child;

	memset(trial, 0, sizeof(*trial));
	if (pipe2(end, O_CLOEXEC))
		return -errno;
	child = fork();
	if (!child) {
		selfmon_child(trial);
		_exit(write(end[1], trial, sizeof(*trial)) != (ssize_t)sizeof(*trial));
	}
	err = child < 0 ? -errno : 0;
	close(end[1]);
	got = err ? 0 : read(end[0], trial, sizeof(*trial));
	close(end[0]);
	if (err)
		return err;
	if (waitpid(child, &status, 0) != child)
		return -errno;
	if (WIFSIGNALED(status))
		return WTERMSIG(status);
	return got == (ssize_t)sizeof(*trial) ? 0 : -EIO;
}

static struct outcome selfmon_forbidden(const struct caps_context *context)
{
	char text[16];

	if (facts_read(context, "/proc/sys/kernel/perf_user_access", text, sizeof(text)) > 0 &&
	    text[0] == '0')
		return outcome_no("sudo sysctl kernel.perf_user_access=1",
			"perf_user_access is 0: counters can only be read by system calls");
	if (facts_read(context, "/sys/bus/event_source/devices/cpu/rdpmc", text, sizeof(text)) > 0 &&
	    text[0] == '0')
		return outcome_no("echo 1 | sudo tee /sys/bus/event_source/devices/cpu/rdpmc",
			"cpu/rdpmc is 0: counters can only be read by system calls");
	return outcome_no("", "the kernel does not let user space read this PMU's counters");
}

static struct outcome selfmon_answer(const struct caps_context *context, const struct selfmon_trial *trial,
	double call_ns)
{
	if (trial->err && advice_means_absent(trial->err))
		return advice_no_pmu(context, trial->err);
	if (trial->err)
		return try_ring_advice(context, trial->stage, trial->err, ADVICE_USER);
	if (!trial->allowed)
		return selfmon_forbidden(context);
	if (!trial->known)
		return outcome_no("", "it is not known how to read this CPU's counters");
	if (trial->backwards)
		return outcome_no("", "counters that were read in user space went backwards");
	if (trial->user_ns <= 0)
		return outcome_no("", "the counter was taken away while it was read");
	if (call_ns <= trial->user_ns)
		return outcome_yes("a read takes %.0f ns, by read(2) %.0f ns", trial->user_ns, call_ns);
	return outcome_yes("a read takes %.0f ns, by read(2) %.0f ns: %.*f times less", trial->user_ns, call_ns,
		call_ns < 10 * trial->user_ns, call_ns / trial->user_ns);
}

struct outcome selfmon_probe(struct caps_context *context)
{
	double call_ns = selfmon_measure_call();
	struct selfmon_trial trial;
	int result = selfmon_try(&trial);
	struct outcome outcome;

	if (result > 0)
		outcome = outcome_no("", "the instruction that reads a counter is announced, but ends "
			"the program with signal %d", result);
	else if (result < 0)
		outcome = advice_errno(-result, "a child to read counters in");
	else
		outcome = selfmon_answer(context, &trial, call_ns);
	outcome.call_ns = call_ns;
	outcome.user_ns = outcome.available == CAPS_YES ? trial.user_ns : 0;
	return outcome;
}
