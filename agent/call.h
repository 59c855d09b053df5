/* SPDX-License-Identifier: MIT */
/*
 * Calls between objects as regions: the slot of a caller's global offset table leads to a stub
 * (call_thunk.S), which begins the region, calls the function with copies of its arguments on the
 * stack, and ends the region.
 *
 * The hooks are called with the caller's arguments, or the function's values, still in vector
 * registers: call.c is compiled to use none, and where more is to be done the thunk saves them all
 * first.
 */
#ifndef SPARK_AGENT_CALL_H
#define SPARK_AGENT_CALL_H

/* call_thunk.S has these too. */
#define CALL_STUBS 4096
#define CALL_STUB_BYTES 16
#define CALL_TAIL 0xffffffff       /* for bytes: go on to the function as if nothing had been in between */
#if defined(__x86_64__)
#define CALL_RETURN 8              /* from the thunk's frame to the caller's return address */
#define CALL_ARGUMENTS 16          /* from the thunk's frame to the arguments on the stack */
#define CALL_RESULT (-8)           /* to the saved first argument, later the saved result */
#define CALL_SECOND (-16)
#define CALL_VECTORS 2816          /* of an XSAVE area */
#elif defined(__aarch64__)
#define CALL_RETURN 8
#define CALL_ARGUMENTS 96
#define CALL_RESULT 16
#define CALL_SECOND 24
#define CALL_VECTORS 512
#else
#error "no calling convention for this architecture"
#endif

#ifndef __ASSEMBLER__

#include "agent.h"

#include "common/wire_calls.h"

enum call_kind {
	CALL_NONE,
	CALL_REGION,
	CALL_LOADS,                /* dlopen and its like: objects may come and go */
	CALL_FINDS,                /* dlsym and its like */
};

/* What a stub stands for. Written before a slot leads to the stub; never taken back. */
struct call {
	void *target;
	u32 region;                /* with WIRE_FRAME_CALL; 0: no region, or not any more */
	u32 bytes;                 /* of arguments on the stack that are handed on, a multiple of 16 */
};

/* How the thunk goes on: target NULL: by the slow hook. */
struct call_way {
	void *target;
	u64 bytes;
};

extern struct call calls[CALL_STUBS];
extern u8 call_kinds[CALL_STUBS];
extern const char call_stubs[];    /* CALL_STUBS of CALL_STUB_BYTES */
extern const struct wire_calls *call_rules; /* in the segment; NULL: no calls are bracketed */
/* 1: XSAVE, 0: FXSAVE; x86-64 alone. */
extern u8 call_saves_extended;

/* ---- call.c: MARKER, SAFE; no vector registers. sp: the thunk's frame pointer. */

struct call_way call_begin(u64 index, u64 sp);
/* 0: done. Else the time at which the function returned, for the slow hook. */
u64 call_end(u64 index, u64 sp);
/* Arguments on the stack that can be read, of those that are asked for. */
u64 call_arguments(const struct call *c, u64 sp);
/* Whether that can be told: without system calls it cannot, if they may reach into another page. */
bool call_arguments_known(const struct call *c, u64 sp);

/* ---- call_slow.c: THREAD, SAFE */

struct call_way call_begin_slow(u64 index, u64 sp);
void call_end_slow(u64 index, u64 sp, u64 now);
/* What the unwinder calls for each thunk that an exception, or a thread's end, passes (the C++ ABI's personality). */
int call_unwound(int version, int actions, u64 class, void *exception, void *context);

/* ---- patch.c */

/* CTOR. Patches the slots of all objects by the rules at that ref of the segment. */
void patch_start(u32 ref);
/* Whether dlopen(3) with that mode may be called from here, for all that is known: its answer is then its caller's. */
bool patch_loads_here(int mode);
/* Before and after a function of the loader, in the context of its caller. */
void patch_look(void);
/* What dlsym(3) found for a caller at that address, or a stub for it. */
void *patch_found(const char *name, void *target, u64 from);
/* SAFE. Gives the slots their functions back, once in a session; the stubs go on to serve who has their addresses. */
void patch_release(void);

#endif
#endif
