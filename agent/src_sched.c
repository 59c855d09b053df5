/* SPDX-License-Identifier: MIT */
/*
 * Source sched: /proc/thread-self/schedstat at both ends of a bracket, about 1.6 us each.
 *
 * The kernel has no such file for a whole process: its figures are the sum over its threads. Those
 * that ended are in it as they were at their release, if they used markers; how much CPU time is
 * missing from the sum tells whether others ended, too. A thread whose files in /proc were looked
 * at takes longer to end, 0.4 ms and up to 4 ms where measured: no thread but the first is, unless
 * the source is asked for.
 */
#define _GNU_SOURCE
#include "agent.h"
#include "proc.h"
#include "source.h"

#include "common/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "banned.h"

#define THREADS_MOST 1024          /* to be read at an edge: 2 ms */
#define NAME_ROOM 32               /* "<tid>/schedstat" */

/* As getdents64(2) gives them. */
struct directory_entry {
	u64 inode;
	s64 offset;
	u16 length;
	u8 type;
	char name[];
};

static int sched_open(void)
{
	return 0;
}

static void schedstat_read(int directory, const char *path, u64 *cells)
{
	char text[PROC_SCHEDSTAT_ROOM];
	long n = proc_read(directory, path, text, sizeof(text));

	if (n < 0)
		proc_fill_absent(cells, SCHED_CELLS, proc_absent((int)-n));
	else
		proc_parse_schedstat(text, (size_t)n, cells);
}

/*
 * The kernel brings the calling thread's runtime up to now for the CPU clock; in the file it may be
 * a tick behind.
 */
static void sched_read(u64 *cells)
{
	clock_ns(CLOCK_THREAD_CPUTIME_ID);
	schedstat_read(AT_FDCWD, "/proc/thread-self/schedstat", cells);
}

/* What the thread has given to the sum already: it may be released more than once. */
static __thread u64 given[SCHED_CELLS] __attribute__((tls_model("initial-exec")));
static __thread u32 given_pid __attribute__((tls_model("initial-exec"))); /* a forked child has given nothing */

void sched_thread_ended(u32 tid, const u64 *cells)
{
	struct process_ended *e = &life->ended;

	for (u32 i = 0; i < SCHED_CELLS; i++)
		if (wire_absent(cells[i]))
			return;
	if (given_pid != life->pid)
		memset(given, 0, sizeof(given));
	given_pid = life->pid;
	store_relaxed(&e->tids[fetch_add(&e->next, 1) % ARRAY_SIZE(e->tids)], tid);
	for (u32 i = 0; i < SCHED_CELLS; i++) {
		fetch_add(&e->cells[i], cells[i] - MIN(cells[i], given[i]));
		given[i] = cells[i];
	}
}

/* It is released already, and on its way out. */
static bool thread_has_ended(u32 tid)
{
	for (u32 i = 0; i < ARRAY_SIZE(life->ended.tids); i++)
		if (load_relaxed(&life->ended.tids[i]) == tid)
			return true;
	return false;
}

/* Adds the thread that an entry of /proc/self/task stands for. One that is gone by now is missing. */
static void sched_add(int directory, const char *entry, u64 *sums)
{
	static const char suffix[] = "/schedstat";
	size_t length = strlen(entry);
	char path[NAME_ROOM];
	u64 cells[SCHED_CELLS];
	u32 tid = 0;

	for (const char *at = entry; *at >= '0' && *at <= '9'; at++)
		tid = tid * 10 + (u32)(*at - '0');
	if (!tid || thread_has_ended(tid) || length + sizeof(suffix) > sizeof(path))
		return;
	memcpy(path, entry, length);
	memcpy(path + length, suffix, sizeof(suffix));
	schedstat_read(directory, path, cells);
	for (u32 i = 0; i < SCHED_CELLS && !wire_absent(cells[SCHED_RUNTIME]); i++)
		sums[i] += cells[i];
}

/* 0, or the -errno of what failed. */
static long sched_walk(u64 *sums)
{
	char entries[1024] __attribute__((aligned(8)));
	long flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC, n = 1;
	long fd = syscall_raw(SYS_openat, AT_FDCWD, (long)"/proc/self/task", flags, 0, 0, 0);
	u32 threads = 0;

	if (fd < 0)
		return fd;
	while (n > 0 && threads <= THREADS_MOST) {
		n = syscall_raw(SYS_getdents64, fd, (long)entries, sizeof(entries), 0, 0, 0);
		for (long at = 0; at < n; threads++) {
			const struct directory_entry *e = (const void *)(entries + at);

			sched_add((int)fd, e->name, sums);
			at += e->length;
		}
	}
	syscall_raw(SYS_close, fd, 0, 0, 0, 0, 0);
	return threads > THREADS_MOST ? -E2BIG : n;
}

static void sched_usage(enum source_scope scope, struct wire_usage *usage, u64 *cells)
{
	u64 sums[SCHED_CELLS], cpu;
	long ret;

	if (scope == SOURCE_THREAD) {
		sched_read(cells);
		return;
	}
	/* Before the files: what runs on meanwhile makes their sum greater, never less. */
	cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	schedstat_read(AT_FDCWD, "/proc/self/schedstat", cells);
	/* Nothing is missing: no other thread has ever run. */
	if (wire_absent(cells[SCHED_RUNTIME]) || cells[SCHED_RUNTIME] >= cpu)
		return;
	/* The clock has all threads, the ended ones, too. */
	cells[SCHED_RUNTIME] = cpu;
	if (!(agent.sources & 1u << SOURCE_sched)) {
		proc_fill_absent(cells + SCHED_RUNWAIT, SCHED_CELLS - SCHED_RUNWAIT, WIRE_ABSENT_THREADS);
		return;
	}
	memcpy(sums, life->ended.cells, sizeof(sums));
	ret = sched_walk(sums);
	if (ret) {
		proc_fill_absent(cells + SCHED_RUNWAIT, SCHED_CELLS - SCHED_RUNWAIT,
				 ret == -E2BIG ? WIRE_ABSENT_MANY : proc_absent((int)-ret));
		return;
	}
	usage->unseen_ns = cpu > sums[SCHED_RUNTIME] ? cpu - sums[SCHED_RUNTIME] : 0;
	cells[SCHED_RUNWAIT] = sums[SCHED_RUNWAIT];
	cells[SCHED_TIMESLICES] = sums[SCHED_TIMESLICES];
}

static void sched_close(void)
{
}

const struct source source_sched = { sched_open, sched_read, sched_close, sched_usage };
