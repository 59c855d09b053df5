/* SPDX-License-Identifier: MIT */
/*
 * The probe "self-monitoring": a thread reads its counter without a system call, by the event's
 * user page and the CPU's own instruction (perf_event_open(2), "rdpmc instruction"). In a child,
 * since the instruction may be forbidden in spite of all flags; what it costs is measured beside
 * read(2).
 */
#include "cli/caps/try.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/base.h"
#include "common/perf.h"
#include "common/perf_user.h"

enum { SELFMON_READS = 1000 };

/* What the child found. */
struct selfmon_trial {
	int err;			/* of the event, 0 if it opened and was mapped */
	enum try_stage stage;
	bool allowed;			/* the page says that the instruction may be used */
	bool known;			/* and it is known how */
	bool backwards;			/* a later read gave less */
	double user_ns, call_ns;	/* of one read each way; user_ns 0: none could be had */
};

static double selfmon_now(void)
{
	struct timespec now = { .tv_sec = 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* One read by the page's protocol. Returns whether the counter could be read. */
static bool selfmon_read(const struct perf_event_mmap_page *page, struct selfmon_trial *trial,
	uint64_t *count)
{
	uint32_t index = load_relaxed(&page->index);
	u64 value;

	trial->allowed = perf_user_possible(page) && index;
	trial->known = trial->allowed && perf_user_counter(index - 1, &value);
	return trial->known && perf_user_read(page, count);
}

static void selfmon_measure(int fd, const struct perf_event_mmap_page *page,
	struct selfmon_trial *trial)
{
	uint64_t count, before = 0;
	struct perf_value value;
	double start;
	int i;

	start = selfmon_now();
	for (i = 0; i < SELFMON_READS; i++) {
		if (!selfmon_read(page, trial, &count))
			return;
		trial->backwards = trial->backwards || count < before;
		before = count;
	}
	trial->user_ns = (selfmon_now() - start) / SELFMON_READS;
	start = selfmon_now();
	for (i = 0; i < SELFMON_READS; i++)
		if (perf_read(fd, &value))
			return;
	trial->call_ns = (selfmon_now() - start) / SELFMON_READS;
}

static void selfmon_child(struct selfmon_trial *trial)
{
	const struct perf_event_mmap_page *page;
	struct perf_event_attr attr;
	int fd;

	perf_attr_init(&attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	attr.config1 = PERF_USER_CONFIG1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	trial->stage = TRY_OPEN;
	fd = perf_open(&attr, 0, -1, -1, 0);
	if (fd < 0) {
		trial->err = -fd;
		return;
	}
	trial->stage = TRY_MAP;
	trial->err = -perf_page_map(fd, &page);
	if (!trial->err)
		selfmon_measure(fd, page, trial);
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

struct outcome selfmon_probe(struct caps_context *context)
{
	struct selfmon_trial trial;
	int result = selfmon_try(&trial);

	if (result > 0)
		return outcome_no("", "the instruction that reads a counter is announced, but ends "
			"the program with signal %d", result);
	if (result < 0)
		return advice_errno(-result, "a child to read counters in");
	if (trial.err && advice_means_absent(trial.err))
		return advice_no_pmu(context, trial.err);
	if (trial.err)
		return try_ring_advice(context, trial.stage, trial.err, ADVICE_USER);
	if (!trial.allowed)
		return selfmon_forbidden(context);
	if (!trial.known)
		return outcome_no("", "it is not known how to read this CPU's counters");
	if (trial.backwards)
		return outcome_no("", "counters that were read in user space went backwards");
	return outcome_yes("a read takes %.0f ns, one by a system call %.0f ns", trial.user_ns,
		trial.call_ns);
}
