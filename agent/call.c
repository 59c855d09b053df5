/* SPDX-License-Identifier: MIT */
/*
 * The fast half of a bracketed call. As region.c's, but a region that is not the one begun here
 * last is looked up at once: who brackets calls brackets many functions.
 */
#define _GNU_SOURCE
#include "agent.h"
#include "call.h"
#include "fast.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "banned.h"

struct call calls[CALL_STUBS];
u8 call_kinds[CALL_STUBS];
const struct wire_calls *call_rules;

/*
 * The arguments' end may lie on a page that is not there: the stack's outermost frame. The kernel
 * reads the new signal mask before it looks at what to do with it (rt_sigprocmask in
 * kernel/signal.c), so that EFAULT tells, and nothing changes.
 */
static __attribute__((noinline)) u64 arguments_checked(const struct call *c, u64 from)
{
	struct thread *t = thread_self;
	u64 page = ALIGN_UP(from, (u64)WIRE_PAGE);

	if (t->stack_page == page)
		return c->bytes;
	if (syscall_raw(SYS_rt_sigprocmask, -1, (long)page, 0, sizeof(u64), 0, 0) == -EFAULT)
		return (page - from) / 16 * 16;
	if (t != &thread_none)
		t->stack_page = page;
	return c->bytes;
}

u64 call_arguments(const struct call *c, u64 sp)
{
	u64 from = sp + CALL_ARGUMENTS;

	if (likely(from % WIRE_PAGE + c->bytes <= WIRE_PAGE))
		return c->bytes;
	return arguments_checked(c, from);
}

bool call_arguments_known(const struct call *c, u64 sp)
{
	u64 from = sp + CALL_ARGUMENTS;

	return likely(from % WIRE_PAGE + c->bytes <= WIRE_PAGE) || !agent_sealed() ||
	       thread_self->stack_page == ALIGN_UP(from, (u64)WIRE_PAGE);
}

/* A call that is still open was begun by a function that has returned, or on another stack. */
static always_inline bool jumped_over(const struct lane *l, u64 sp)
{
	return l->top_region & WIRE_FRAME_CALL && l->top->sp <= sp;
}

/* The frame above the top is to be of the region. False: there is no node for it yet, or no room. */
static always_inline bool frame_prepare(struct lane *l, u32 region)
{
	u32 d = l->w->depth, node;
	struct wire_frame *f;

	if (likely(l->next_region == region))
		return true;
	if (unlikely(l->session != agent.session || d >= WIRE_DEPTH))
		return false;
	node = lane_find(l, d ? l->top->node : l->w->root, region & WIRE_NODE_NAME_MASK);
	if (!node)
		return false;
	f = l->top + 1;
	f->node = node;
	f->region = region;
	l->np[d + 1] = segment_own_ptr(node);
	l->next_region = region;
	return true;
}

/* The same where sources, samples or a trace make the lane slow. */
static always_inline bool begin_call_counted(struct thread *t, struct lane *l, u32 region, u64 sp)
{
	/* Sources are read by functions of the C library, which may use vector registers. */
	if (!lane_measures(l) || l->special & LANE_SOURCES || jumped_over(l, sp))
		return false;
	if (l->next_region != region) {
		bool prepared;

		l->gate = sp;
		barrier();
		prepared = frame_prepare(l, region);
		l->gate = GATE_SLOW;
		if (!prepared)
			return false;
	}
	return begin_counted(t, region, sp);
}

static always_inline bool begin_call(u32 region, u64 sp)
{
	struct thread *t = thread_self;
	struct lane *l = &t->lane;
	bool begun;

	if (unlikely(l->gate != GATE_FAST))
		return begin_call_counted(t, l, region, sp);
	l->gate = sp;
	barrier();
	begun = likely(!jumped_over(l, sp) && frame_prepare(l, region)) && begin_now(t, l, region, sp);
	l->gate = GATE_FAST;
	return begun;
}

struct call_way call_begin(u64 index, u64 sp)
{
	const struct call *c = &calls[index];
	u32 region = load_relaxed(&c->region), bytes = c->bytes;
	bool within = (sp + CALL_ARGUMENTS) % WIRE_PAGE + bytes <= WIRE_PAGE;

	if (unlikely(!region || load_relaxed(&call_rules->released) || (!within && !call_arguments_known(c, sp)) ||
		     !begin_call(region, sp)))
		return (struct call_way){ NULL, 0 };
	return (struct call_way){ c->target, likely(within) ? bytes : arguments_checked(c, sp + CALL_ARGUMENTS) };
}

static always_inline u64 end_call(u32 region, u64 sp)
{
	struct thread *t = thread_self;
	struct lane *l = &t->lane;
	bool ended;
	u64 now;

	if (unlikely(l->gate != GATE_FAST)) {
		now = 0;
		if (l->gate == GATE_SLOW && !(l->special & LANE_SOURCES) && l->top->sp == sp && end_counted(t, region, sp, &now))
			return 0;
		return now ? now : 1;
	}
	l->gate = sp;
	barrier();
	if (unlikely(l->top_region != region || l->top->sp != sp)) {
		l->gate = GATE_FAST;
		return 1;
	}
	ended = end_now(t, l, region, &now);
	l->gate = GATE_FAST;
	return likely(ended) ? 0 : now;
}

u64 call_end(u64 index, u64 sp)
{
	u32 region = load_relaxed(&calls[index].region);

	return unlikely(!region) ? 1 : end_call(region, sp);
}
