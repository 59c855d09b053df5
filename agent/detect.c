/* SPDX-License-Identifier: MIT */
/*
 * Seeing, without a system call, that the thread was switched out.
 *
 * rseq: the address of a critical section that no code ever enters lies in the thread's rseq area;
 * whenever the kernel switches the thread out and back in, it finds the instruction pointer outside
 * of that section and clears the word (kernel/rseq.c, rseq_ip_fixup; rseq(2)). Kernels differ in
 * when they look, and the C library may be told not to register rseq, so the constructor proves it
 * before anything relies on it.
 *
 * Page: the lock word of the user page of a per-thread software event steps each time the event is
 * scheduled in (perf_event_open(2), "lock").
 */
#define _GNU_SOURCE
#include "agent.h"

#include "common/perf.h"

#include <errno.h>
#include <linux/rseq.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "banned.h"

#define PROOFS 3

/* glibc 2.35 and later; weak, so that the agent loads with older ones and without rseq. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

/* The signature that glibc registers (sysdeps/unix/sysv/linux/ARCH/bits/rseq.h); the kernel wants it before abort_ip. */
#if defined(__aarch64__)
#define SIGNATURE 0xd428bc00u
#else
#define SIGNATURE 0x53053053u
#endif

/* Data standing for code that is never run: a section of one byte, and the place to go on when it is aborted. */
static const u32 section[2] = { SIGNATURE, SIGNATURE };
static const struct rseq_cs never_entered = {
	.start_ip = (uintptr_t)&section[0], .post_commit_offset = 1, .abort_ip = (uintptr_t)&section[1]
};
static const u32 unmoving = 1;
static const u32 always_moved = 2;

static struct rseq *rseq_area(void)
{
	if (!&__rseq_size || !__rseq_size)
		return NULL;
	return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

u32 detect_cpu(void)
{
	const struct rseq *area = rseq_area();
	u32 cpu = area ? load_relaxed(&area->cpu_id) : WIRE_CPUS;

	/* Negative: not registered (rseq(2), RSEQ_CPU_ID_UNINITIALIZED). */
	return MIN(cpu, WIRE_CPUS);
}

static u64 rseq_word(void)
{
	return (u64)(uintptr_t)&never_entered;
}

static u64 voluntary_switches(void)
{
	struct rusage r;

	return getrusage(RUSAGE_THREAD, &r) == 0 ? (u64)r.ru_nvcsw : 0;
}

static u64 switches_before;

void detect_arm(void)
{
	struct rseq *area = rseq_area();

	switches_before = voluntary_switches();
	if (area)
		store_relaxed((u64 *)&area->rseq_cs, rseq_word());
}

/* The blocking call that detect_arm() preceded proves it if it did block; else short sleeps do. */
static bool rseq_proven(void)
{
	struct rseq *area = rseq_area();

	if (!area)
		return false;
	for (u32 i = 0; i < PROOFS; i++) {
		struct timespec nap = { 0, 1 };

		if (voluntary_switches() > switches_before)
			return load_relaxed((u64 *)&area->rseq_cs) == 0;
		detect_arm();
		nanosleep(&nap, NULL);
	}
	return false;
}

static const void *page_open(void)
{
	const struct perf_event_mmap_page *page = NULL;
	struct perf_event_attr attr;
	int fd, saved = errno;

	perf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	fd = perf_open(&attr, 0, -1, -1, 0);
	if (fd >= 0) {
		if (perf_page_map(fd, &page))
			page = NULL;
		close(fd);
	}
	errno = saved;
	return page;
}

static bool page_proven(void)
{
	const struct perf_event_mmap_page *page = page_open();
	struct timespec nap = { 0, 1 };
	u32 before;
	bool moved;

	if (!page)
		return false;
	before = perf_page_lock(page);
	nanosleep(&nap, NULL);
	moved = perf_page_lock(page) != before;
	perf_page_unmap(page);
	return moved;
}

enum wire_detector detect_prove(void)
{
	if (rseq_proven())
		return WIRE_DETECTOR_RSEQ;
	if (page_proven())
		return WIRE_DETECTOR_PAGE;
	return agent.flags & WIRE_CPU_CLOCK ? WIRE_DETECTOR_CLOCK : WIRE_DETECTOR_NONE;
}

/* THREAD. The best that is left where the proven one cannot be had for this thread. */
static void detect_fall_back(struct thread *t)
{
	bool clock = agent.flags & WIRE_CPU_CLOCK;

	t->detector = clock ? WIRE_DETECTOR_CLOCK : WIRE_DETECTOR_NONE;
	t->detector_word = clock ? &always_moved : &unmoving;
	t->detector_seen = unmoving;
}

void detect_open(struct thread *t)
{
	t->detector = agent.detector;
	t->page = NULL;
	if (t->detector == WIRE_DETECTOR_RSEQ) {
		/* Little-endian: the low half of the word. */
		t->detector_word = (const volatile u32 *)&rseq_area()->rseq_cs;
		t->detector_seen = (u32)rseq_word();
	} else if (t->detector == WIRE_DETECTOR_PAGE && !agent_sealed() && (t->page = page_open())) {
		t->detector_word = &((const struct perf_event_mmap_page *)t->page)->lock;
	} else {
		detect_fall_back(t);
	}
	detect_rearm(t);
}

void detect_close(struct thread *t)
{
	if (t->page && !agent_sealed())
		perf_page_unmap(t->page);
	t->page = NULL;
	t->detector_word = &unmoving;
	t->detector_seen = unmoving;
}

void detect_rearm(struct thread *t)
{
	if (t->detector == WIRE_DETECTOR_RSEQ)
		store_relaxed((u64 *)&rseq_area()->rseq_cs, rseq_word());
	else if (t->detector == WIRE_DETECTOR_PAGE)
		t->detector_seen = *t->detector_word;
}
