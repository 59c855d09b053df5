/* SPDX-License-Identifier: MIT */
/*
 * The marker path: brackets of one lane, accumulated in place into the nodes of their region paths.
 *
 * The fast path costs two time stamps and what hides behind them. Some CPUs let a time stamp wait
 * for the loads before it, so what decides is the length of the chains of loads between two of
 * them: the lane keeps the names to compare and the places to write by heart, a region that is
 * begun again finds its frame as it left it, and the histogram's bucket is found in one bracket and
 * counted in the next. Whatever is not all usual leaves by a jump (bracket.c), so that the usual
 * way needs no saved registers.
 *
 * Order, for sparkctl reading after a kill at any instruction: begin writes the frame, then depth.
 * end counts the pending duration, writes the new one, then the node, calls last, then depth.
 * barrier() suffices: the reader is another process, but reads only after the writer's death or
 * tolerates a step (struct wire_pending).
 */
#define _GNU_SOURCE
#include "agent.h"
#include "bracket.h"
#include "trace.h"
#include "watch.h"

#include "common/hist.h"

#include "banned.h"

#define always_inline inline __attribute__((always_inline))

/* Near the marker's frame; without making the compiler keep a frame pointer. */
static always_inline u64 stack_pointer(void)
{
	u64 sp;

#if defined(__x86_64__)
	__asm__ volatile("mov %%rsp, %0" : "=r"(sp));
#elif defined(__aarch64__)
	__asm__ volatile("mov %0, sp" : "=r"(sp));
#else
	sp = (u64)(uintptr_t)__builtin_frame_address(0);
#endif
	return sp;
}

/* MARKER. The thread and an idle lane of it, marked busy. */
static struct lane *lane_enter(struct thread **thread, u64 sp)
{
	struct thread *t = thread_self;
	struct lane *l;

	if (t->lane.gate == GATE_NONE) {
		if (!agent_live())
			return NULL;
		t = thread_claim();
		if (!t) {
			agent_lose(WIRE_LOSS_SLOTS);
			return NULL;
		}
	}
	l = &t->lane;
	if (l->gate > GATE_MOST) {
		l = thread_upper_lane(t, sp);
		if (!l) {
			agent_lose(WIRE_LOSS_LANES);
			return NULL;
		}
	}
	l->gate = sp;
	barrier();
	*thread = t;
	return l;
}

struct lane *region_enter(struct thread **t)
{
	return lane_enter(t, stack_pointer());
}

void region_leave(struct lane *l)
{
	/* Only a thread's own lane is ever late. */
	bool release = l->special & LANE_LATE && l->w->depth == 0;

	lane_open(l);
	if (release)
		thread_release((struct thread *)((char *)l - offsetof(struct thread, lane)));
}

/* MARKER. The region of the frame above the top is begun again. */
static always_inline void begin_account(struct lane *l, struct wire_frame *f, u32 region, u64 now)
{
	f->start = now;
	barrier();
	l->w->depth++;
	l->top = f;
	l->top_node++;
	l->top_region = region;
	l->next_region = f[1].region;
	barrier();
}

/* MARKER. Where the duration is to be counted; NULL: not in reach, or not there yet. */
static always_inline u64 *bucket_of(struct wire_node *n, u64 wall)
{
	/* hist_index() without its branch: durations vary. */
	u32 octave = 59 - (u32)__builtin_clzll(wall | (WIRE_HIST_SUB - 1));
	u32 sub = (u32)(wall >> (octave - (octave != 0))) & (WIRE_HIST_SUB - 1);
	const struct wire_hist *h = (struct wire_hist *)((char *)n + (s64)n->near * WIRE_UNIT);
	s64 near;

	if (unlikely(!n->near))
		return NULL;
	near = h->near[octave];
	return near ? (u64 *)((char *)h + near * WIRE_UNIT) + sub : NULL;
}

/* MARKER. The top frame ends, which was never off the CPU. */
static always_inline void end_account(struct lane *l, struct wire_frame *f, struct wire_node *n, u64 wall, u64 *bucket,
				      u32 region)
{
	struct wire_pending *p = &l->w->pending;

	++*l->bucket;
	l->bucket = bucket;
	p->wall = wall;
	p->node_wall = n->wall + wall;
	p->node = f->node;
	p->calls = n->calls + 1;
	barrier();
	n->wall += wall;
	if (unlikely(wall < n->min))
		n->min = wall;
	if (unlikely(wall > n->max))
		n->max = wall;
	barrier();
	n->calls++;
	barrier();
	l->w->depth--;
	l->top = f - 1;
	l->top_node--;
	l->top_region = f[-1].region;
	l->next_region = region;
	barrier();
}

/* MARKER. Sources are read, samples are taken or markers are traced: nothing else makes the lane slow. */
static always_inline bool lane_measures(const struct lane *l)
{
	return l->gate == GATE_SLOW && !(l->special & ~(u32)(LANE_SOURCES | LANE_WATCH | LANE_TRACE));
}

/* MARKER. As the fast path, with readings of sources, a look for samples and a trace. False: it is not all usual. */
static always_inline bool begin_counted(struct thread *t, u32 region, u64 sp)
{
	struct lane *l = &t->lane;
	struct wire_frame *f;

	if (!lane_measures(l) || l->next_region != region)
		return false;
	l->gate = sp;
	barrier();
	/* Looked at again behind the gate: a handler may have begun and ended another. */
	if (l->next_region != region || detect_moved(t) || (l->special & LANE_WATCH && watch_moved(t))) {
		l->gate = GATE_SLOW;
		return false;
	}
	l->early = 0;
	if (l->special & LANE_SOURCES)
		source_read_all(lane_cells(l, l->w->depth));
	f = l->top + 1;
	f->sp = sp;
	f->off = 0;
	begin_account(l, f, region, agent_ticks());
	if (unlikely(detect_moved(t))) {
		thread_resync(t);
		f->off = 0;
		f->start = agent_ticks();
	}
	trace_look(l, WIRE_TRACE_BEGIN, f->node, f->start);
	l->gate = GATE_SLOW;
	return true;
}

/*
 * MARKER. The same. *now: 0, or when the region has ended; left for the slow way, which would else
 * never make a bucket that is missing here.
 */
static always_inline bool end_counted(struct thread *t, u32 region, u64 sp, u64 *now)
{
	struct lane *l = &t->lane;
	struct wire_frame *f;
	struct wire_node *n;
	u64 wall, *bucket;

	if (*now || !lane_measures(l) || l->top_region != region)
		return false;
	l->gate = sp;
	barrier();
	*now = agent_ticks();
	f = l->top;
	n = *l->top_node;
	wall = *now - f->start;
	bucket = bucket_of(n, wall);
	if (unlikely(l->top_region != region || !bucket || detect_moved(t) || wall >= t->force_ticks || f->off ||
		     (l->special & LANE_WATCH && watch_moved(t)))) {
		l->gate = GATE_SLOW;
		return false;
	}
	if (l->special & LANE_SOURCES) {
		if (l->early != sp)
			source_read_all(lane_cells(l, WIRE_DEPTH));
		source_charge_all(node_cells(n), lane_cells(l, l->w->depth - 1), lane_cells(l, WIRE_DEPTH));
	}
	l->early = 0;
	end_account(l, f, n, wall, bucket, region);
	trace_look(l, WIRE_TRACE_END, f->node, *now);
	l->gate = GATE_SLOW;
	return true;
}

/* MARKER, THREAD. The way for a marker that is not all usual. */
static __attribute__((noinline)) void begin_slow(u32 region, u64 sp)
{
	struct thread *t;
	struct lane *l;

	if (begin_counted(thread_self, region, sp))
		return;
	l = lane_enter(&t, sp);
	if (!l)
		return;
	bracket_begin(t, l, region, sp);
	region_leave(l);
}

static __attribute__((noinline)) void end_slow(u32 region, u64 sp, u64 now)
{
	struct thread *t;
	struct lane *l;

	if (end_counted(thread_self, region, sp, &now))
		return;
	l = lane_enter(&t, sp);
	if (!l)
		return;
	bracket_end(t, l, region, sp, now);
	region_leave(l);
}

/* MARKER. Nothing unusual, but another region than the one begun here last. The gate is shut. */
static __attribute__((noinline)) void begin_other(struct thread *t, u32 region, u64 sp)
{
	struct lane *l = &t->lane;

	if (unlikely(l->w->depth >= WIRE_DEPTH)) {
		l->gate = GATE_FAST;
		begin_slow(region, sp);
		return;
	}
	bracket_push(t, l, lane_child(l, l->w->depth ? l->top->node : l->w->root, region), sp);
	barrier();
	l->gate = GATE_FAST;
}

static always_inline void begin_fast(u32 region, u64 sp)
{
	struct thread *t = thread_self;
	struct lane *l = &t->lane;
	struct wire_frame *f;
	u64 now;

	if (unlikely(l->gate != GATE_FAST)) {
		begin_slow(region, sp);
		return;
	}
	/* Shut before looking: a handler may begin and end another region here. */
	l->gate = sp;
	barrier();
	if (unlikely(l->next_region != region)) {
		begin_other(t, region, sp);
		return;
	}
	f = l->top + 1;
	f->sp = sp;
	f->off = 0;
	now = cpu_ticks();
	if (unlikely(detect_moved(t))) {
		l->gate = GATE_FAST;
		begin_slow(region, sp);
		return;
	}
	begin_account(l, f, region, now);
	l->gate = GATE_FAST;
}

static always_inline void end_fast(u32 region, u64 sp)
{
	struct thread *t = thread_self;
	struct lane *l = &t->lane;
	struct wire_frame *f;
	struct wire_node *n;
	u64 now, wall, *bucket;

	if (unlikely(l->gate != GATE_FAST)) {
		end_slow(region, sp, 0);
		return;
	}
	l->gate = sp;
	barrier();
	if (unlikely(l->top_region != region)) {
		l->gate = GATE_FAST;
		end_slow(region, sp, 0);
		return;
	}
	now = cpu_ticks();
	f = l->top;
	n = *l->top_node;
	wall = now - f->start;
	bucket = bucket_of(n, wall);
	if (unlikely(!bucket || detect_moved(t) || wall >= t->force_ticks || f->off)) {
		/* With this time stamp, or a bucket that is missing for it would never be made. */
		l->gate = GATE_FAST;
		end_slow(region, sp, now);
		return;
	}
	end_account(l, f, n, wall, bucket, region);
	l->gate = GATE_FAST;
}

/*
 * MARKER. Before the work that an end has with a name that it does not know by heart: the region's
 * counts are to be without it.
 */
static void sources_early(u64 sp)
{
	struct lane *l = &thread_self->lane;

	if (l->gate != GATE_SLOW || !(l->special & LANE_SOURCES))
		return;
	/* A handler that comes now shall read to another place. */
	l->gate = sp;
	barrier();
	source_read_all(lane_cells(l, WIRE_DEPTH));
	l->early = sp;
	lane_open(l);
}

/* The handle's id: 0, or HANDLE_VALID | ref.  The ref stays valid as long as the process image. */
#define HANDLE_VALID (1ULL << 32)

static __attribute__((noinline)) u32 handle_name(struct spark_region *r)
{
	u32 region;

	if (!agent_takes(r->name))
		return 0;
	region = name_intern(r->name);
	store_relaxed(&r->id, HANDLE_VALID | region);
	return region;
}

static __attribute__((noinline)) void handle_begin(struct spark_region *r, u64 sp)
{
	u32 region = handle_name(r);

	if (region)
		begin_slow(region, sp);
}

static __attribute__((noinline)) void handle_end(struct spark_region *r, u64 sp)
{
	u32 region;

	sources_early(sp);
	region = handle_name(r);
	if (region)
		end_slow(region, sp, 0);
}

void region_begin(struct spark_region *r)
{
	u64 id = load_relaxed(&r->id);

	if (unlikely(!id))
		handle_begin(r, stack_pointer());
	else
		begin_fast((u32)id, stack_pointer());
}

void region_end(struct spark_region *r)
{
	u64 id = load_relaxed(&r->id);

	if (unlikely(!id))
		handle_end(r, stack_pointer());
	else
		end_fast((u32)id, stack_pointer());
}

/* SAFE. Names may be looked up: the process is live. */
static always_inline bool names_ready(const char *name)
{
	return likely(name && thread_self->lane.gate != GATE_NONE) || agent_takes(name);
}

void region_site_begin(unsigned long *site, const char *name)
{
	if (names_ready(name))
		begin_fast(name_site(site, name), stack_pointer());
}

void region_site_end(unsigned long *site, const char *name)
{
	if (!names_ready(name))
		return;
	if (unlikely(!load_relaxed(site)))
		sources_early(stack_pointer());
	end_fast(name_site(site, name), stack_pointer());
}

void region_name_begin(const char *name)
{
	if (names_ready(name))
		begin_fast(name_intern(name), stack_pointer());
}

void region_name_end(const char *name)
{
	if (!names_ready(name))
		return;
	if (unlikely(thread_self->lane.gate == GATE_SLOW))
		sources_early(stack_pointer());
	end_fast(name_intern(name), stack_pointer());
}
