/* SPDX-License-Identifier: MIT */
/*
 * The life of a measured thread: a unit of private memory (unit.c) and a slot of the segment at its
 * first marker, given back by the thread's destructors.
 *
 * A thread that ends leaves its slot with the unit, and the next thread of the process goes on
 * accumulating there (or, per thread, the slot goes to sparkctl, which empties and frees it).
 * Threads that end without destructors (_exit, raw clone) are reaped by sparkctl alone.
 */
#define _GNU_SOURCE
#include "agent.h"
#include "trace.h"
#include "watch.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "banned.h"

#define SLOT_BYTES (3 * WIRE_PAGE)
#define SLOT_LANE 1024u            /* offset of the first lane in its slot's memory */
#define RESYNC_TRIES 3
#define RESYNC_NS 5000             /* a reading that took longer was interrupted */
#define STOLEN_NS 50000            /* off-CPU time without a switch that is worth a proof */

_Static_assert(sizeof(struct wire_slot) <= SLOT_LANE, "slot");
_Static_assert(SLOT_LANE + sizeof(struct wire_lane) <= SLOT_BYTES, "slot");

struct thread thread_none;
__thread struct thread *thread_self __attribute__((tls_model("initial-exec"))) = &thread_none;
static __thread u32 thread_flags __attribute__((tls_model("initial-exec")));

enum { THREAD_CLAIMING = 1, THREAD_LATE = 2 };

static pthread_key_t key;
static bool key_made;

static u32 thread_id(void)
{
	if (!agent_sealed())
		return (u32)syscall_raw(SYS_gettid, 0, 0, 0, 0, 0, 0);
	return agent.tid_offset ? *(u32 *)((char *)pthread_self() + agent.tid_offset) : 0;
}

/* THREAD. A slot that sparkctl has emptied, or a new one; 0: none. */
static u32 slot_take(void)
{
	u64 head = load_acquire(&agent.header->free_slots);
	struct wire_slot *s;
	u32 ref;

	while ((u32)head) {
		if (!segment_reach((u32)head))
			break;
		s = segment_ptr((u32)head);
		if (compare_exchange(&agent.header->free_slots, &head, ((head >> 32) + 1) << 32 | load_relaxed(&s->next_free)))
			return (u32)head;
	}
	ref = segment_alloc(SLOT_BYTES);
	if (!ref)
		return 0;
	s = segment_ptr(ref);
	s->lanes[0] = ref + SLOT_LANE / WIRE_UNIT;
	s->pid = life->pid;
	s->next = load_relaxed(&agent.header->slots);
	while (!compare_exchange(&agent.header->slots, &s->next, ref))
		;
	return ref;
}

static void slot_put(u32 ref)
{
	struct wire_slot *s = segment_ptr(ref);
	u64 head = load_acquire(&agent.header->free_slots);

	do {
		store_relaxed(&s->next_free, (u32)head);
	} while (!compare_exchange(&agent.header->free_slots, &head, ((head >> 32) + 1) << 32 | ref));
}

static int thread_open_slot(struct thread *t)
{
	int ret;

	if (agent.cells) {
		t->lane.cells = segment_private(LANE_CELLS, PRIVATE_WIPED);
		if (!t->lane.cells)
			return -ENOMEM;
		t->lane.cells_bytes = (u32)LANE_CELLS;
		t->lane.special |= LANE_SOURCES;
	}
	t->slot_ref = slot_take();
	if (!t->slot_ref)
		return -ENOMEM;
	t->slot = segment_ptr(t->slot_ref);
	ret = lane_init(&t->lane, t->slot->lanes[0], t->hash);
	if (ret)
		slot_put(t->slot_ref);
	/* The lane answers markers only when its thread is complete. */
	return ret;
}

static void thread_begin(struct thread *t)
{
	struct wire_slot *s = t->slot;

	s->pid = life->pid;
	s->tid = thread_id();
	s->threads++;
	s->end = 0;
	if (!agent_sealed())
		syscall_raw(SYS_prctl, PR_GET_NAME, (long)s->comm, 0, 0, 0, 0);
	t->rounds = 0;
	t->off = 0;
	s->off = 0;
	detect_open(t);
	counters_open(t);
	s->detector = t->detector;
	agent_usage(SOURCE_THREAD, agent_thread_sources(), &s->begin_usage);
	t->sync_ticks = agent_ticks();
	t->sync_cpu_ns = s->begin_usage.cpu_ns;
	t->force_ticks = (u64)agent_ns_to_ticks(NSEC_PER_MSEC);
	t->base_moves = UINT64_MAX;
	s->start = t->sync_ticks;
	s->sync_ticks = t->sync_ticks;
	s->sync_cpu_ns = t->sync_cpu_ns;
	watch_open(t);
	trace_open(&t->lane, s->tid, WIRE_TRACE_ENTRIES);
	if (thread_flags & THREAD_LATE)
		t->lane.special |= LANE_LATE;
	else
		t->lane.special &= ~(u32)LANE_LATE;
	store_release(&s->state, (u32)WIRE_SLOT_LIVE);
	fetch_add(&agent.header->claims, 1);
	lane_open(&t->lane);
}

/* A unit that was taken gets a slot, if it has none. False: none can be had, or the session has ended meanwhile. */
static bool thread_hold(struct thread *t)
{
	store_relaxed(&t->lane.gate, (u64)GATE_HELD);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (load_acquire(&life->state) != PROCESS_LIVE)
		return false;
	/* Given back by a thread that ended with the session before. */
	if (t->slot && t->lane.session != agent.session) {
		unit_clear(t);
		t->slot = NULL;
		store_relaxed(&t->lane.gate, (u64)GATE_HELD);
	}
	return t->slot || !thread_open_slot(t);
}

struct thread *thread_claim(void)
{
	struct thread *t;
	int saved = errno;

	if (thread_flags & THREAD_CLAIMING)
		return NULL;
	thread_flags |= THREAD_CLAIMING;
	barrier();
	t = unit_take(UNIT_LIVE);
	if (t && !thread_hold(t)) {
		unit_clear(t);
		t->slot = NULL;
		unit_give(t, UNIT_FREE);
		t = NULL;
	}
	if (t) {
		thread_begin(t);
		if (key_made && !(thread_flags & THREAD_LATE))
			pthread_setspecific(key, t);
		barrier();
		thread_self = t;
	}
	barrier();
	thread_flags &= ~(u32)THREAD_CLAIMING;
	if (t && !load_relaxed(&agent.calibrated))
		calibrate(t);
	errno = saved;
	return t;
}

/* What is missing at either edge, or in the sum, stays missing. */
static void usage_add(struct wire_usage *sum, const struct wire_usage *a, const struct wire_usage *b)
{
	if (!a->valid || !b->valid)
		return;
	sum->valid = 1;
	sum->cpu_ns += b->cpu_ns - a->cpu_ns;
	for (u32 i = 0; i < WIRE_CELLS; i++)
		source_charge(&sum->cell[i], a->cell[i], b->cell[i]);
}

static void thread_unit_clear(struct thread *t)
{
	for (u32 i = 0; i < ARRAY_SIZE(t->upper); i++)
		if (t->upper[i]) {
			struct thread *unit = (struct thread *)((char *)t->upper[i] - offsetof(struct thread, lane));

			unit_clear(unit);
			unit_give(unit, UNIT_FREE);
		}
	unit_clear(t);
	memset(t->upper, 0, sizeof(t->upper));
	t->slot = NULL;
}

void thread_forget(struct thread *t)
{
	thread_self = &thread_none;
	barrier();
	detect_close(t);
	counters_close(t);
	thread_unit_clear(t);
	unit_give(t, UNIT_FREE);
}

void thread_release(struct thread *t)
{
	struct wire_slot *s = t->slot;
	int saved = errno;

	thread_flags |= THREAD_LATE;
	store_relaxed(&t->lane.gate, (u64)GATE_HELD);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (t->lane.session != agent.session) {
		thread_forget(t);
		errno = saved;
		return;
	}
	thread_self = &thread_none;
	barrier();
	if (t->lane.special & LANE_WATCH)
		watch_log(t, &t->lane);
	bracket_abandon(t);
	store_relaxed(&t->lane.gate, (u64)GATE_HELD);
	/* The gate was open in between. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (t->lane.session != agent.session) {
		thread_forget(t);
		errno = saved;
		return;
	}
	/* No look at the thread in /proc unless asked for: it would take longer to end. */
	agent_usage(SOURCE_THREAD, agent_thread_sources() | (agent.sources & 1u << SOURCE_sched), &s->end_usage);
	if (s->end_usage.valid)
		sched_thread_ended(s->tid, s->end_usage.cell + source_first_cell(SOURCE_ALL, SOURCE_sched));
	store_relaxed(&s->end, agent_ticks());
	detect_close(t);
	counters_close(t);
	if (agent.flags & WIRE_PER_THREAD) {
		marks_thread_ended(s);
		thread_unit_clear(t);
		store_release(&s->state, (u32)WIRE_SLOT_DEAD);
		unit_give(t, UNIT_FREE);
	} else {
		s->done_wall += s->end - s->start;
		usage_add(&s->done_usage, &s->begin_usage, &s->end_usage);
		store_release(&s->state, (u32)WIRE_SLOT_IDLE);
		unit_give(t, UNIT_IDLE);
	}
	errno = saved;
}

/*
 * The program's own destructors may use markers in any round (pthread_key_create(3)): stay for one,
 * and as long as a region is open. Not until the last: a thread whose first marker came in a later
 * round does not see so many.
 */
static void thread_destructor(void *arg)
{
	struct thread *t = arg;

	/* No slot: a unit that fork wiped, and no marker since. */
	if (t != thread_self || !t->slot)
		return;
	t->rounds++;
	if ((t->rounds == 1 || (t->lane.w->depth && t->rounds < PTHREAD_DESTRUCTOR_ITERATIONS)) &&
	    pthread_setspecific(key, t) == 0)
		return;
	thread_release(t);
}

int thread_start(void)
{
	u32 tid = (u32)syscall_raw(SYS_gettid, 0, 0, 0, 0, 0, 0);

	key_made = key_made || pthread_key_create(&key, thread_destructor) == 0;
	/* Behind the C library's header, whose pointers' halves may look like one; glibc: 720 on x86-64, 208 on arm64. */
	for (u32 at = 192; at < 1024; at += 8)
		if (*(u32 *)((char *)pthread_self() + at) == tid) {
			agent.tid_offset = at;
			break;
		}
	return unit_start();
}

/* MARKER. All open brackets of the thread were off the CPU for so long. */
static void frames_switched(struct thread *t, s64 off)
{
	for (u32 level = 0; level < WIRE_LANES; level++) {
		struct lane *l = level ? t->upper[level - 1] : &t->lane;

		for (u32 i = 0; l && l->w && i < l->w->depth; i++)
			l->w->frames[i].off += off;
	}
}

u64 thread_resync(struct thread *t)
{
	u64 limit = (u64)agent_ns_to_ticks(RESYNC_NS), before, after, cpu;
	struct wire_slot *s = t->slot;
	int saved = errno;
	s64 off;

	s->switches++;
	t->watch_switched = true;
	agent_rest_if_released();
	if (unlikely(agent_sealed())) {
		detect_rearm(t);
		fetch_add(&life->wire->sealed_cpu, 1);
		return agent_ticks();
	}
	for (u32 i = 0; i < RESYNC_TRIES; i++) {
		detect_rearm(t);
		before = agent_ticks();
		cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		after = agent_ticks();
		if (after - before <= limit)
			break;
	}
	off = (s64)(before + (after - before) / 2 - t->sync_ticks) - agent_ns_to_ticks((s64)(cpu - t->sync_cpu_ns));
	t->off += off;
	frames_switched(t, off);
	t->sync_ticks = before + (after - before) / 2;
	t->sync_cpu_ns = cpu;
	s->resyncs++;
	s->off = t->off;
	s->sync_ticks = t->sync_ticks;
	s->sync_cpu_ns = cpu;
	errno = saved;
	return before;
}

/*
 * Without a switch seen since the last audit, off-CPU time is either stolen by a hypervisor or the
 * detector's miss: the thread's own count of switches tells.
 */
void thread_audit(struct thread *t)
{
	u64 moves = t->slot->switches, csw;
	s64 off = t->off;
	int saved = errno;
	struct rusage r;
	bool moved;

	if (agent_sealed() || getrusage(RUSAGE_THREAD, &r)) {
		errno = saved;
		return;
	}
	csw = (u64)r.ru_nvcsw + (u64)r.ru_nivcsw;
	/* Looked at after the kernel's figure and before the rearming: what that counts must show here. */
	moved = detect_moved(t);
	thread_resync(t);
	t->slot->switches = moves + moved;
	if (!moved && t->base_moves == moves && csw != t->base_csw && t->off - off > agent_ns_to_ticks(STOLEN_NS) &&
	    t->detector != WIRE_DETECTOR_NONE)
		t->slot->missed++;
	/* And the figure to compare with is read after the rearming. */
	if (getrusage(RUSAGE_THREAD, &r))
		return;
	t->base_moves = t->slot->switches;
	t->base_csw = (u64)r.ru_nvcsw + (u64)r.ru_nivcsw;
}

void thread_blind(void)
{
	if (thread_self->slot && thread_self->lane.session == agent.session)
		thread_self->slot->end = agent_ticks();
	thread_self = &thread_none;
}

void thread_settle(void)
{
	struct thread *t = thread_self;

	if (!t->slot || t->lane.session != agent.session || agent_sealed())
		return;
	thread_audit(t);
	agent_usage(SOURCE_THREAD, agent_thread_sources(), &t->slot->end_usage);
}

/* MARKER. Whether the interrupted marker's frame is gone: a handler left it by siglongjmp(3). */
static bool marker_abandoned(u64 gate, u64 sp)
{
	stack_t ss;

	if (sp < gate)
		return false;
	if (agent_sealed())
		return false; /* cannot ask: a handler on an alternate stack must not meet a half-done marker */
	return syscall_raw(SYS_sigaltstack, 0, (long)&ss, 0, 0, 0, 0) == 0 && !(ss.ss_flags & SS_ONSTACK);
}

static struct lane *upper_open(struct thread *t, u32 level)
{
	struct thread *unit;
	u32 *ref = &t->slot->lanes[level];

	unit = unit_take(UNIT_LANE);
	if (!unit)
		return NULL;
	if (!*ref)
		*ref = segment_alloc(SLOT_BYTES);
	if (!*ref || lane_init(&unit->lane, *ref, unit->hash)) {
		unit_clear(unit);
		unit_give(unit, UNIT_FREE);
		return NULL;
	}
	unit->lane.special |= LANE_UPPER | (t->lane.special & LANE_WATCH);
	trace_open(&unit->lane, t->slot->tid, WIRE_TRACE_UPPER);
	if (agent.cells) {
		unit->lane.cells = segment_private(LANE_CELLS, PRIVATE_WIPED);
		unit->lane.cells_bytes = (u32)LANE_CELLS;
		unit->lane.special |= unit->lane.cells ? LANE_SOURCES : 0;
	}
	lane_open(&unit->lane);
	t->upper[level - 1] = &unit->lane;
	return &unit->lane;
}

struct lane *thread_upper_lane(struct thread *t, u64 sp)
{
	struct lane *below = &t->lane;

	for (u32 level = 1; level <= WIRE_LANES; level++) {
		struct lane *l;

		if (marker_abandoned(below->gate, sp)) {
			/* It may have been left between the depth and what the fast path knows of it. */
			lane_sync(below);
			lane_open(below);
			return below;
		}
		if (level == WIRE_LANES)
			return NULL;
		l = t->upper[level - 1];
		if (!l)
			l = upper_open(t, level);
		if (!l)
			return NULL;
		if (l->w->depth == 0)
			l->first_parent = below->w->depth ? below->w->frames[below->w->depth - 1].node : below->w->root;
		if (l->gate <= GATE_MOST)
			return l;
		below = l;
	}
	return NULL;
}
