/* SPDX-License-Identifier: MIT */
/*
 * The probe "switch-detector": can a thread learn that it was switched out without asking the
 * kernel? Either the kernel clears the rseq area's pointer to a critical section that the thread
 * is not in, or the lock word of a perf event's page moves. Whichever is tried must see each of
 * three sleeps. rseq: rseq(2) of librseq, kernel/rseq.c; glibc registers it since 2.35.
 */
#include "cli/caps/caps.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/caps/arch.h"
#include "common/base.h"
#include "common/perf.h"

enum { SWITCH_SLEEPS = 3, SWITCH_TRIES = 20 };

/* glibc's; weak, as older ones lack them. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

/* struct rseq_cs of linux/rseq.h, whose header older systems lack. */
struct switch_section {
	uint32_t version, flags;
	uint64_t start_ip, post_commit_offset, abort_ip;
} __attribute__((aligned(32)));

/* Sleeps, for the caller to see whether that was noticed. */
static void switch_sleep(void)
{
	struct timespec pause = { .tv_nsec = 100000 };

	nanosleep(&pause, NULL);
}

static long switch_count(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) ? 0 : usage.ru_nvcsw;
}

/* How a detector did: the sleeps that were switches, and those that it saw. */
struct switch_trial {
	int happened, seen;
};

static bool switch_passed(const struct switch_trial *trial)
{
	return trial->happened == SWITCH_SLEEPS && trial->seen == trial->happened;
}

/* In a child, since a kernel that dislikes the section sends SIGSEGV. */
static void switch_rseq_child(struct switch_trial *trial)
{
	static const uint32_t signature = ARCH_RSEQ_SIGNATURE;
	/* Empty, so never entered; the kernel still looks for the signature before abort_ip. */
	struct switch_section section = {
		.start_ip = (uintptr_t)&signature,
		.abort_ip = (uintptr_t)(&signature + 1),
	};
	uint64_t *pointer = (uint64_t *)(void *)(arch_thread_pointer() + __rseq_offset + 8);
	bool cleared;
	long before;
	int i;

	/* A sleep may be over before it began, when a hypervisor takes the CPU at that moment. */
	for (i = 0; i < SWITCH_TRIES && trial->happened < SWITCH_SLEEPS; i++) {
		before = switch_count();
		__atomic_store_n(pointer, (uintptr_t)&section, __ATOMIC_RELAXED);
		barrier();
		switch_sleep();
		cleared = __atomic_load_n(pointer, __ATOMIC_RELAXED) == 0;
		if (switch_count() == before)
			continue;
		trial->happened++;
		trial->seen += cleared;
	}
	__atomic_store_n(pointer, 0, __ATOMIC_RELAXED);
}

/* Registers an area, in a child: what the C library was told. Returns 0 or an errno. */
static int switch_register(void)
{
	static char area[32] __attribute__((aligned(32)));
	int status = 0;
	pid_t child = fork();

	if (!child)
		_exit(syscall(SYS_rseq, area, sizeof(area), 0, ARCH_RSEQ_SIGNATURE) ? errno : 0);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

/* Why the C library has not registered rseq. */
static struct outcome switch_unregistered(const struct caps_context *context)
{
	int err = switch_register();
	struct outcome why;

	if (!err)
		return outcome_no("GLIBC_TUNABLES=glibc.pthread.rseq=1",
			"rseq is not registered (glibc.pthread.rseq=0)");
	why = advice_call(context, err, "rseq");
	return outcome_no(why.remedy, "rseq is not registered: %.140s", why.because);
}

/* Whether rseq detects switches, and what was found. */
static struct outcome switch_try_rseq(const struct caps_context *context)
{
	struct switch_trial trial = { .happened = 0 };
	int status = 0;
	pid_t child;

	if (!&__rseq_size || !arch_thread_pointer())
		return outcome_no("", "this C library has no rseq (glibc before 2.35)");
	if (!__rseq_size)
		return switch_unregistered(context);
	child = fork();
	if (!child) {
		switch_rseq_child(&trial);
		_exit(trial.happened << 4 | trial.seen);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return outcome_no("", "rseq: no child to try it in (%s)", advice_errno_name(errno));
	if (!WIFEXITED(status))
		return outcome_no("", "rseq: the kernel refuses the section (signal %d)",
			WTERMSIG(status));
	trial.happened = WEXITSTATUS(status) >> 4;
	trial.seen = WEXITSTATUS(status) & 15;
	if (switch_passed(&trial))
		return outcome_yes("rseq, proven (%d switches, %d seen)", trial.happened,
			trial.seen);
	return outcome_no("", "rseq, not proven (%d switches, %d seen)", trial.happened,
		trial.seen);
}

/* The same for the page of a dummy event; a refusal of the kernel is in *err. */
static bool switch_try_page(char *why, size_t size, int *err)
{
	const struct perf_event_mmap_page *page;
	struct perf_event_attr attr;
	struct switch_trial trial = { .happened = 0 };
	uint32_t lock;
	long before;
	int fd, i;

	perf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	fd = perf_open(&attr, 0, -1, -1, 0);
	*err = fd < 0 ? -fd : 0;
	if (fd < 0) {
		snprintf(why, size, "no perf event (%s)", advice_errno_name(*err));
		return false;
	}
	*err = -perf_page_map(fd, &page);
	close(fd);
	if (*err) {
		snprintf(why, size, "no page of a perf event (%s)", advice_errno_name(*err));
		return false;
	}
	for (i = 0; i < SWITCH_TRIES && trial.happened < SWITCH_SLEEPS; i++) {
		before = switch_count();
		lock = perf_page_lock(page);
		switch_sleep();
		if (switch_count() == before)
			continue;
		trial.happened++;
		trial.seen += perf_page_lock(page) != lock;
	}
	perf_page_unmap(page);
	snprintf(why, size, "perf page, %s (%d switches, %d seen)",
		switch_passed(&trial) ? "proven" : "not proven", trial.happened, trial.seen);
	return switch_passed(&trial);
}

struct outcome switch_probe(struct caps_context *context)
{
	struct outcome rseq = switch_try_rseq(context), advice;
	char page[96];
	int err;

	if (rseq.available == CAPS_YES)
		return rseq;
	if (switch_try_page(page, sizeof(page), &err))
		return outcome_partly(rseq.remedy, "%s; a switch costs more than with rseq: %.150s",
			page, rseq.because);
	if (!err || err == ENOMEM || err == EMFILE)
		return outcome_no("sparkctl run --cpu-clock", "%.150s; %s", rseq.because, page);
	advice = advice_perf(context, err, false);
	return outcome_no(advice.remedy[0] ? advice.remedy : "sparkctl run --cpu-clock",
		"%.110s; %.140s", rseq.because, advice.because);
}
