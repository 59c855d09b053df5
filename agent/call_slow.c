/* SPDX-License-Identifier: MIT */
/*
 * The other half of a bracketed call: whatever the fast half leaves to it, the loader's functions,
 * and what an unwinder does to open calls. The thunk has saved the vector registers.
 */
#define _GNU_SOURCE
#include "agent.h"
#include "bracket.h"
#include "call.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "banned.h"

#define ANY_OBJECT ((void *)0)     /* RTLD_DEFAULT */
#define NEXT_OBJECT ((void *)-1)   /* RTLD_NEXT */

static u64 *saved(u64 sp, s64 place)
{
	return (u64 *)(uintptr_t)(sp + (u64)place);
}

/* What lies on an alternate stack says nothing of the calls below the signal handler. */
static bool on_thread_stack(void)
{
	stack_t ss;

	return !agent_sealed() && syscall_raw(SYS_sigaltstack, 0, (long)&ss, 0, 0, 0, 0) == 0 && !(ss.ss_flags & SS_ONSTACK);
}

static void slow_begin(u32 region, u64 sp)
{
	struct thread *t;
	struct lane *l = region_enter_at(&t, sp);

	if (!l) {
		/* A forked child that is not measured: it need not pay. */
		if (load_acquire(&life->state) == PROCESS_DORMANT)
			patch_release();
		return;
	}
	if (l->top_region & WIRE_FRAME_CALL && l->top->sp <= sp && on_thread_stack())
		bracket_heal(l, sp);
	bracket_begin(t, l, region, sp);
	region_leave(l);
}

/*
 * The loader's answer depends on who calls (RTLD_NEXT, and names that are sought along RPATH), so
 * that these are passed on as they came, and looked at before. Called from here, when nothing
 * depends on it, dlopen(3) can be looked at when it is done.
 */
static bool loads_by_path(const char *path)
{
	bool slash = false;

	for (; path && *path; path++) {
		if (*path == '$')
			return false;
		slash |= *path == '/';
	}
	return slash;
}

static bool returns_here(enum call_kind kind, u64 sp)
{
	void *handle;

	if (kind == CALL_LOADS)
		return patch_loads_here((int)*saved(sp, CALL_SECOND)) && loads_by_path((const char *)(uintptr_t)*saved(sp, CALL_RESULT));
	handle = (void *)(uintptr_t)*saved(sp, CALL_RESULT);
	return call_rules->flags & WIRE_CALLS_DLSYM && handle != ANY_OBJECT && handle != NEXT_OBJECT;
}

struct call_way call_begin_slow(u64 index, u64 sp)
{
	const struct call *c = &calls[index];
	u32 region = load_relaxed(&c->region);
	enum call_kind kind = call_kinds[index];
	int error = errno;

	if (unlikely(load_relaxed(&call_rules->released))) {
		agent_rest();
		patch_release();
		region = 0;
	}
	if (kind != CALL_REGION) {
		bool here = returns_here(kind, sp);

		patch_look();
		errno = error;
		return (struct call_way){ c->target, here ? 0 : CALL_TAIL };
	}
	/* No region then, rather than a read behind the stack's end. */
	if (!call_arguments_known(c, sp))
		return (struct call_way){ c->target, CALL_TAIL };
	if (region)
		slow_begin(region, sp);
	errno = error;
	return (struct call_way){ c->target, call_arguments(c, sp) };
}

static void slow_end(u32 region, u64 sp, u64 now)
{
	struct thread *t;
	struct lane *l = region_enter_at(&t, sp);

	if (!l)
		return;
	bracket_end(t, l, region, sp, now);
	region_leave(l);
}

void call_end_slow(u64 index, u64 sp, u64 now)
{
	u32 region = load_relaxed(&calls[index].region);
	enum call_kind kind = call_kinds[index];
	u64 *result = saved(sp, CALL_RESULT);
	int error = errno;

	if (kind == CALL_REGION && region)
		slow_end(region, sp, now > 1 ? now : 0);
	else if (kind == CALL_LOADS && *result)
		patch_look();
	else if (kind == CALL_FINDS && *result)
		*result = (u64)(uintptr_t)patch_found((const char *)(uintptr_t)*saved(sp, CALL_SECOND),
						      (void *)(uintptr_t)*result, *saved(sp, CALL_RETURN));
	errno = error;
}

/* Of the unwinder, where the program has one: no library of its own for it. */
u64 _Unwind_GetCFA(void *context) __attribute__((weak));

#define UNWIND_CLEANUP 2           /* _UA_CLEANUP_PHASE; C++ ABI for Itanium, "1.5 Unwind library interface" */
#define UNWIND_CONTINUE 8          /* _URC_CONTINUE_UNWIND */

int call_unwound(int version, int actions, u64 class, void *exception, void *context)
{
	u64 inner = _Unwind_GetCFA ? _Unwind_GetCFA(context) : 0;
	int error = errno;
	struct thread *t;
	struct lane *l;

	(void)version;
	(void)class;
	(void)exception;
	if (!(actions & UNWIND_CLEANUP))
		return UNWIND_CONTINUE;
	l = region_enter(&t);
	if (l) {
		/* The stack pointer in the frame that is unwound is known, or else the innermost call is meant. */
		for (u32 i = l->w->depth; i-- > 0;) {
			struct wire_frame f = l->w->frames[i];

			if (f.region & WIRE_FRAME_CALL && f.sp >= inner) {
				bracket_end(t, l, f.region & ~(u32)WIRE_FRAME_ORPHAN, f.sp, 0);
				break;
			}
		}
		region_leave(l);
	}
	errno = error;
	return UNWIND_CONTINUE;
}
