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

/* Whether rseq detects switches; writes what was found. */
static bool switch_try_rseq(char *why, size_t size)
{
	struct switch_trial trial = { .happened = 0 };
	int status = 0;
	pid_t child;

	if (!&__rseq_size || !arch_thread_pointer()) {
		snprintf(why, size, "this C library has no rseq (glibc before 2.35)");
		return false;
	}
	if (!__rseq_size) {
		snprintf(why, size, "rseq is not registered (kernel, or glibc.pthread.rseq=0)");
		return false;
	}
	child = fork();
	if (!child) {
		switch_rseq_child(&trial);
		_exit(trial.happened << 4 | trial.seen);
	}
	if (child < 0 || waitpid(child, &status, 0) != child) {
		snprintf(why, size, "rseq: no child to try it in (%s)", advice_errno_name(errno));
		return false;
	}
	if (!WIFEXITED(status)) {
		snprintf(why, size, "rseq: the kernel refuses the section (signal %d)",
			WTERMSIG(status));
		return false;
	}
	trial.happened = WEXITSTATUS(status) >> 4;
	trial.seen = WEXITSTATUS(status) & 15;
	snprintf(why, size, "rseq, %s (%d switches, %d seen)",
		switch_passed(&trial) ? "proven" : "not proven", trial.happened, trial.seen);
	return switch_passed(&trial);
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
	char rseq[96], page[96];
	struct outcome advice;
	int err;

	if (switch_try_rseq(rseq, sizeof(rseq)))
		return outcome_yes("%s", rseq);
	if (switch_try_page(page, sizeof(page), &err))
		return outcome_partly("", "%s; a switch costs more than with rseq: %s", page, rseq);
	if (!err || err == ENOMEM || err == EMFILE)
		return outcome_no("sparkctl run --cpu-clock", "%s; %s", rseq, page);
	advice = advice_perf(context, err, false);
	return outcome_no(advice.remedy[0] ? advice.remedy : "sparkctl run --cpu-clock",
		"%s; %.140s", rseq, advice.because);
}
