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
#include "fast.h"
#include "instrumented.h"

#include "banned.h"

/* THREAD. Its first marker of the session; NULL: none can be counted. */
static __attribute__((noinline)) struct thread *thread_first(struct thread *t)
{
	/* This handler has interrupted a marker of a session before. */
	if (t->lane.gate > GATE_MOST || !agent_live())
		return NULL;
	if (t->lane.gate != GATE_NONE)
		thread_forget(t);
	t = thread_claim();
	if (!t)
		agent_lose(WIRE_LOSS_SLOTS);
	return t;
}

/* MARKER. The thread and an idle lane of it, marked busy. */
static struct lane *lane_enter(struct thread **thread, u64 sp)
{
	struct thread *t = thread_self;
	struct lane *l;

	if (unlikely(t->lane.gate == GATE_NONE || t->lane.session != agent.session)) {
		t = thread_first(t);
		if (!t)
			return NULL;
	}
	l = &t->lane;
	agent_rest_if_released();
	if (l->gate > GATE_MOST) {
		l = thread_upper_lane(t, sp);
		if (!l) {
			agent_lose(WIRE_LOSS_LANES);
			return NULL;
		}
	}
	l->gate = sp;
	barrier();
	/* Switched out before that, or giving back what the session before had changed. */
	if (unlikely(t->lane.session != load_relaxed(&agent.session))) {
		lane_open(l);
		return NULL;
	}
	*thread = t;
	return l;
}

struct lane *region_enter(struct thread **t)
{
	return lane_enter(t, stack_pointer());
}

struct lane *region_enter_at(struct thread **t, u64 sp)
{
	return lane_enter(t, sp);
}

void region_leave(struct lane *l)
{
	/* Only a thread's own lane is ever late. */
	bool release = l->special & LANE_LATE && l->w->depth == 0;

	lane_open(l);
	if (release)
		thread_release((struct thread *)((char *)l - offsetof(struct thread, lane)));
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

	if (unlikely(l->session != agent.session || l->w->depth >= WIRE_DEPTH)) {
		l->gate = GATE_FAST;
		begin_slow(region, sp);
		return;
	}
	bracket_push(t, l, lane_child(l, l->w->depth ? l->top->node : l->w->root, region), 0, sp);
	barrier();
	l->gate = GATE_FAST;
}

static always_inline void begin_fast(u32 region, u64 sp)
{
	struct thread *t = thread_self;
	struct lane *l = &t->lane;

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
	if (unlikely(!begin_now(t, l, region, sp))) {
		l->gate = GATE_FAST;
		begin_slow(region, sp);
		return;
	}
	l->gate = GATE_FAST;
}

static always_inline void end_fast(u32 region, u64 sp)
{
	struct thread *t = thread_self;
	struct lane *l = &t->lane;
	u64 now;

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
	if (unlikely(!end_now(t, l, region, &now))) {
		l->gate = GATE_FAST;
		end_slow(region, sp, now);
		return;
	}
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
	/* Its cells are as many as the session before had. */
	if (unlikely(l->session != load_relaxed(&agent.session))) {
		lane_open(l);
		return;
	}
	source_read_all(lane_cells(l, WIRE_DEPTH));
	l->early = sp;
	lane_open(l);
}

/* The handle's id: 0, or the session's number in the high half, and a ref that is valid as long as that. */
static always_inline bool handle_known(u64 id)
{
	return likely(id >> 32 == agent.session);
}

static __attribute__((noinline)) u32 handle_name(struct spark_region *r)
{
	u64 session = load_acquire(&agent.session); /* a later one's would make the name one of its own */
	u32 region;

	if (!agent_takes(r->name))
		return 0;
	region = name_intern(r->name);
	store_relaxed(&r->id, session << 32 | region);
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

	if (!handle_known(id))
		handle_begin(r, stack_pointer());
	else
		begin_fast((u32)id, stack_pointer());
}

void region_end(struct spark_region *r)
{
	u64 id = load_relaxed(&r->id);

	if (!handle_known(id))
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

/* ---- the hooks of -finstrument-functions: instrumented.c */

/*
 * Functions may end that never began here: those on the stack of a forked child, or of what came
 * before the agent.
 */
static __attribute__((noinline)) void function_end_below(u32 region, u64 sp)
{
	struct thread *t;
	struct lane *l;

	if (thread_self->lane.gate == GATE_NONE)
		return;
	l = lane_enter(&t, sp);
	if (!l)
		return;
	if (bracket_is_open(l, region))
		bracket_end(t, l, region, sp, 0);
	region_leave(l);
}

static always_inline void function_end(u32 region, u64 sp)
{
	if (likely(thread_self->lane.top_region == region))
		end_fast(region, sp);
	else
		function_end_below(region, sp);
}

static __attribute__((noinline)) void function_begin_slow(u64 function, u64 caller, const void *call, u64 sp)
{
	u32 region = instrumented_ready() ? instrumented_enter(function, call) : 0;

	if (region && !(instrumented.depth && instrumented_begins_deep(thread_self, function, caller, sp)))
		begin_fast(region, sp);
}

static __attribute__((noinline)) void function_end_slow(u64 function, u64 caller, u64 sp)
{
	u32 region = load_relaxed(&instrumented.state) == INSTRUMENTED_ON ? instrumented_known(function) : 0;

	if (region && !(instrumented.depth && instrumented_ends_deep(thread_self, function, caller, sp)))
		function_end(region, sp);
}

__attribute__((visibility("default"))) void __cyg_profile_func_enter(void *function, void *caller)
{
	u64 at = (u64)(uintptr_t)function, word = function_quick(at), sp = (u64)(uintptr_t)__builtin_dwarf_cfa();

	if (likely(word && function_is(at, word))) {
		if ((u32)word & FUNCTION_NAME_MASK)
			begin_fast((u32)word & FUNCTION_NAME_MASK, sp);
	} else if (load_relaxed(&instrumented.state) != INSTRUMENTED_OFF) {
		function_begin_slow(at, (u64)(uintptr_t)caller, __builtin_return_address(0), sp);
	}
}

__attribute__((visibility("default"))) void __cyg_profile_func_exit(void *function, void *caller)
{
	u64 at = (u64)(uintptr_t)function, word = function_quick(at), sp = (u64)(uintptr_t)__builtin_dwarf_cfa();

	if (likely(word)) {
		if ((u32)word & FUNCTION_NAME_MASK)
			function_end((u32)word & FUNCTION_NAME_MASK, sp);
	} else if (load_relaxed(&instrumented.state) != INSTRUMENTED_OFF) {
		function_end_slow(at, (u64)(uintptr_t)caller, sp);
	}
}

/* The names above are the C library's where that came first. */
void hook_enter(void *function, void *caller) __attribute__((alias("__cyg_profile_func_enter")));
void hook_exit(void *function, void *caller) __attribute__((alias("__cyg_profile_func_exit")));
