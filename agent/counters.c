/* SPDX-License-Identifier: MIT */
/*
 * The perf events of the plan, opened by each thread for itself.
 *
 * A group that sparkctl could read by its user page is read so, and its descriptors are closed at
 * once: the mapped pages keep the events. Any other group keeps one descriptor, its leader's, far
 * above those that the program uses; before each read(2) it is asked for its id, since the program
 * may have closed it and have a file of its own there. Pages and descriptors of a thread are not
 * those of a forked child, which opens its own.
 */
#define _GNU_SOURCE
#include "agent.h"

#include "common/perf.h"
#include "common/perf_user.h"
#include "common/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "banned.h"

#define DESCRIPTOR_FIRST 900u      /* of ours, where the limit is not lower: programs look at small numbers */
#define DESCRIPTOR_SOFT 16384u     /* greatest soft limit above which we go: the kernel's table grows with the number */

union event_attr {
	struct perf_event_attr attr;
	u8 bytes[sizeof(((struct wire_event *)0)->attr)];
};

struct counter {
	const struct perf_event_mmap_page *page;
	u64 id;
	s32 fd;                    /* of an event that could not be mapped; else -1 */
	u32 absent;                /* 0, or 1 + enum wire_absent_reason */
};

struct counter_group {
	s32 fd;                    /* the leader's, to be read from; -1: by the pages */
	u16 first, count;          /* of its events in the plan */
	u32 open;                  /* how many of them count */
	u32 absent;                /* as in struct counter, of all */
};

struct counters {
	struct counter_group group[WIRE_GROUPS];
	struct counter event[WIRE_EVENTS];
};

/* The calling thread's; a forked child finds it wiped. */
static __thread struct counters *counters_self __attribute__((tls_model("initial-exec")));

/*
 * Whose the counters of a thread are, in a process that was entered while it ran: there whoever ends the session closes
 * those of all threads, which may never have a marker again. OPEN: whoever takes them first.
 */
enum { COUNTING_NONE = 0, COUNTING_OPEN, COUNTING_OWN, COUNTING_RESTING };
static __thread u32 *counting_self __attribute__((tls_model("initial-exec")));

static bool counting_take(u32 *counting, u32 as)
{
	u32 open = COUNTING_OPEN;

	return compare_exchange(counting, &open, as);
}

int counters_plan(u32 ref)
{
	const struct wire_plan *plan = ref ? segment_ptr(ref) : NULL;
	u32 group = 0;

	agent.plan = NULL;
	if (!plan)
		return 0;
	if (!plan->events || plan->events > WIRE_EVENTS || !plan->groups || plan->groups > WIRE_GROUPS ||
	    plan->size > WIRE_CHUNK / 2)
		return -EPROTO;
	for (u32 i = 0; i < plan->events; i++) {
		const struct wire_event *e = &plan->event[i];

		if (e->group != group && (!i || e->group != ++group))
			return -EPROTO;
		if (e->path >= plan->size)
			return -EPROTO;
	}
	if (group + 1 != plan->groups)
		return -EPROTO;
	agent.plan = plan;
	return 0;
}

/* It may have been passed over meanwhile by whoever ends the session. */
static void counting_give(struct thread *t)
{
	store_release(&t->counting, (u32)COUNTING_OPEN);
	if (!agent.joined)
		return;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (unlikely(load_relaxed(&life->state) != PROCESS_LIVE))
		counters_rest(t);
}

static u32 absent_for(long error)
{
	switch (error) {
	case EACCES:
	case EPERM:
	case ENOSYS:
		return 1 + WIRE_ABSENT_EVENT_DENIED;
	case EMFILE:
	case ENFILE:
	case ENOMEM:
		return 1 + WIRE_ABSENT_EVENT_LIMIT;
	case ENOSPC:
	case EBUSY:
		return 1 + WIRE_ABSENT_NO_COUNTER;
	default:
		return 1 + WIRE_ABSENT_EVENT_REFUSED;
	}
}

/* The number of a descriptor does not tell whose it is: a perf event tells its id, another file none. */
static bool is_event(s32 fd, u64 id)
{
	u64 now = 0;

	return fd >= 0 && syscall_raw(SYS_ioctl, fd, (long)PERF_EVENT_IOC_ID, (long)&now, 0, 0, 0) == 0 && now == id;
}

static void descriptor_close(s32 *fd)
{
	if (*fd >= 0)
		syscall_raw(SYS_close, *fd, 0, 0, 0, 0, 0);
	*fd = -1;
}

/*
 * To where the program does not look: above its soft limit, so that it has as many as before, if the
 * hard one allows that; else high up. -1: no room, and it is closed.
 */
static s32 descriptor_move(s32 fd)
{
	struct rlimit limit = { DESCRIPTOR_FIRST * 2, DESCRIPTOR_FIRST * 2 }, higher;
	long to = -1;

	syscall_raw(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit, 0, 0);
	higher = (struct rlimit){ limit.rlim_max, limit.rlim_max };
	if (limit.rlim_cur < limit.rlim_max && limit.rlim_cur <= DESCRIPTOR_SOFT) {
		syscall_raw(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)&higher, 0, 0, 0);
		to = syscall_raw(SYS_fcntl, fd, F_DUPFD_CLOEXEC, (long)limit.rlim_cur, 0, 0, 0);
		syscall_raw(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)&limit, 0, 0, 0);
	}
	/* Another thread that does the same may have lowered the limit in between. */
	if (to < 0)
		to = syscall_raw(SYS_fcntl, fd, F_DUPFD_CLOEXEC,
				 (long)MIN((u64)DESCRIPTOR_FIRST, (u64)limit.rlim_cur / 4 * 3), 0, 0, 0);
	descriptor_close(&fd);
	return to < 0 ? -1 : (s32)to;
}

/* -errno, or the event's descriptor. */
static s32 event_open(u32 i, s32 leader)
{
	const struct wire_event *e = &agent.plan->event[i];
	union event_attr a;

	memcpy(a.bytes, e->attr, sizeof(a.bytes));
	if (e->path)
		a.attr.config1 = (u64)(uintptr_t)agent.plan + e->path;
	a.attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
			     PERF_FORMAT_TOTAL_TIME_RUNNING;
	a.attr.disabled = leader < 0;
	return (s32)syscall_raw(SYS_perf_event_open, (long)&a, 0, -1, leader, PERF_FLAG_FD_CLOEXEC, 0);
}

static void counter_open(struct counter *c, u32 i, s32 leader)
{
	c->page = NULL;
	c->absent = 0;
	c->fd = event_open(i, leader);
	if (c->fd < 0) {
		c->absent = absent_for(-c->fd);
		c->fd = -1;
		return;
	}
	syscall_raw(SYS_ioctl, c->fd, (long)PERF_EVENT_IOC_ID, (long)&c->id, 0, 0, 0);
	/* Without a page an event lives as long as its descriptor. */
	if (perf_page_map(c->fd, &c->page))
		c->page = NULL;
}

/* All of the group can be read by their pages. */
static bool group_by_page(const struct counters *all, const struct counter_group *g)
{
	for (u32 i = g->first; i < (u32)g->first + g->count; i++) {
		const struct counter *c = &all->event[i];

		if (!c->absent && (!(agent.plan->event[i].flags & WIRE_EVENT_USER) || !c->page || !perf_user_possible(c->page)))
			return false;
	}
	return true;
}

static void group_open(struct counters *all, struct counter_group *g)
{
	struct counter *first = &all->event[g->first];
	bool by_page;

	g->open = 0;
	g->absent = 0;
	for (u32 i = 0; i < g->count; i++) {
		counter_open(first + i, g->first + i, i ? first->fd : -1);
		g->open += !first[i].absent;
		if (first->absent) {
			g->absent = first->absent;
			return;
		}
	}
	syscall_raw(SYS_ioctl, first->fd, (long)PERF_EVENT_IOC_ENABLE, 0, 0, 0, 0);
	by_page = group_by_page(all, g);
	g->fd = -1;
	if (by_page) {
		descriptor_close(&first->fd);
	} else {
		g->fd = descriptor_move(first->fd);
		first->fd = -1;
		g->absent = g->fd < 0 ? 1 + WIRE_ABSENT_EVENT_LIMIT : 0;
	}
	for (u32 i = 1; i < g->count; i++)
		if (first[i].page)
			descriptor_close(&first[i].fd);
		else if (first[i].fd >= 0)
			first[i].fd = descriptor_move(first[i].fd);
}

void counters_open(struct thread *t)
{
	struct counters *all = t->counters;
	u32 first = 0;

	counters_self = NULL;
	if (!agent.plan || load_acquire(&t->counting) != COUNTING_NONE)
		return;
	if (!all)
		all = segment_private(sizeof(*all), PRIVATE_WIPED);
	if (!all || agent_sealed())
		return;
	memset(all, 0, sizeof(*all));
	for (u32 g = 0; g < agent.plan->groups; g++) {
		all->group[g].first = (u16)first;
		while (first < agent.plan->events && agent.plan->event[first].group == g)
			first++;
		all->group[g].count = (u16)(first - all->group[g].first);
		group_open(all, &all->group[g]);
	}
	t->counters = all;
	counting_self = &t->counting;
	counters_self = all;
	counting_give(t);
}

static void counters_end(struct counters *all)
{
	for (u32 g = 0; g < WIRE_GROUPS; g++) {
		struct counter_group *group = &all->group[g];

		if (group->count && group->fd >= 0 && is_event(group->fd, all->event[group->first].id))
			descriptor_close(&group->fd);
		for (u32 i = group->first; i < (u32)group->first + group->count; i++) {
			struct counter *c = &all->event[i];

			if (c->page)
				perf_page_unmap(c->page);
			if (!c->absent && c->fd >= 0 && is_event(c->fd, c->id))
				descriptor_close(&c->fd);
		}
	}
	memset(all, 0, sizeof(*all));
}

void counters_close(struct thread *t)
{
	counters_self = NULL;
	if (!t->counters || agent_sealed() || !counting_take(&t->counting, COUNTING_OWN))
		return;
	counters_end(t->counters);
	store_release(&t->counting, (u32)COUNTING_NONE);
}

void counters_rest(struct thread *t)
{
	/* Only then does whoever reads them own them meanwhile; otherwise each thread closes its own. */
	if (!agent.joined || !counting_take(&t->counting, COUNTING_RESTING))
		return;
	counters_end(t->counters);
	store_release(&t->counting, (u32)COUNTING_NONE);
}

void counters_drop(struct thread *t)
{
	/* Another thread is closing them: what is left serves the next one that has this unit. */
	if (load_acquire(&t->counting) == COUNTING_RESTING)
		return;
	if (t->counters)
		segment_private_drop(t->counters, sizeof(*t->counters));
	t->counters = NULL;
}

static void group_read_pages(const struct counters *all, const struct counter_group *g, u64 *counts, u64 *times)
{
	const struct counter *first = &all->event[g->first], *end = first + g->count;
	struct perf_user_times now;

	for (const struct counter *c = first; c != end; c++, counts++)
		if (unlikely(c->absent))
			*counts = WIRE_ABSENT(c->absent - 1);
		else if (unlikely(!perf_user_read(c->page, counts)))
			*counts = WIRE_ABSENT(WIRE_ABSENT_EVENT_REFUSED);
	if (perf_user_read_times(first->page, agent.plan->flags & WIRE_PLAN_SHARED, &now)) {
		times[0] = now.enabled;
		times[1] = now.running;
	} else {
		proc_fill_absent(times, 2, WIRE_ABSENT_EVENT_REFUSED);
	}
}

/* What read(2) gives of the group, checked. The reason, plus 1, why there is nothing; 0: there is. */
static u32 group_read_call(const struct counters *all, const struct counter_group *g, u64 *counts, u64 *times)
{
	struct {
		u64 n, enabled, running;
		struct {
			u64 count, id;
		} value[WIRE_EVENTS];
	} all_of;
	u32 place = 0;
	long n;

	if (agent_sealed())
		return 1 + WIRE_ABSENT_SEALED;
	if (!is_event(g->fd, all->event[g->first].id))
		return 1 + WIRE_ABSENT_TAKEN;
	n = syscall_raw(SYS_read, g->fd, (long)&all_of, (long)(24 + 16 * g->open), 0, 0, 0);
	/* A pinned group that lost its counters reads as the end of a file. */
	if (n <= 0)
		return n ? absent_for(-n) : 1 + WIRE_ABSENT_NO_COUNTER;
	if (n < 24 || all_of.n != g->open || (u64)n != 24 + all_of.n * 16)
		return 1 + WIRE_ABSENT_TAKEN;
	for (u32 i = 0; i < g->count; i++) {
		const struct counter *c = &all->event[g->first + i];

		if (c->absent) {
			counts[i] = WIRE_ABSENT(c->absent - 1);
			continue;
		}
		if (all_of.value[place].id != c->id)
			return 1 + WIRE_ABSENT_TAKEN;
		counts[i] = all_of.value[place++].count;
	}
	times[0] = all_of.enabled;
	times[1] = all_of.running;
	return 0;
}

/* What can be read of them now; they are the caller's, or cannot be taken away. */
static void counters_read_all(const struct counters *all, u64 *cells)
{
	u32 n = agent.plan->events;

	if (!all) {
		proc_fill_absent(cells, agent.cells - agent.plan_cell,
				 agent_sealed() ? WIRE_ABSENT_SEALED : WIRE_ABSENT_EVENT_LIMIT);
		return;
	}
	for (u32 k = 0; k < agent.plan->groups; k++) {
		const struct counter_group *g = &all->group[k];
		u64 *counts = cells + g->first, *times = cells + n + 2 * k;
		u32 absent = g->absent;

		if (!absent && g->fd < 0)
			group_read_pages(all, g, counts, times);
		else if (!absent)
			absent = group_read_call(all, g, counts, times);
		if (absent) {
			proc_fill_absent(counts, g->count, (enum wire_absent_reason)(absent - 1));
			proc_fill_absent(times, 2, (enum wire_absent_reason)(absent - 1));
		}
	}
}

void counters_read(u64 *cells)
{
	bool taken;

	if (likely(!agent.joined) || !counters_self) {
		counters_read_all(counters_self, cells);
		return;
	}
	taken = counting_take(counting_self, COUNTING_OWN);
	/* This handler has interrupted another reading of the thread. */
	if (!taken && load_relaxed(counting_self) != COUNTING_OWN) {
		counters_read_all(NULL, cells);
		return;
	}
	counters_read_all(counters_self, cells);
	if (taken)
		counting_give((struct thread *)((char *)counting_self - offsetof(struct thread, counting)));
}
