/* SPDX-License-Identifier: MIT */
/* Regions of functions that were compiled with -finstrument-functions; see instrumented.c. */
#ifndef SPARK_AGENT_INSTRUMENTED_H
#define SPARK_AGENT_INSTRUMENTED_H

#include <string.h>

#include "agent.h"

#define FUNCTIONS_SMALL 1024u

enum instrumented_state { INSTRUMENTED_UNKNOWN = 0, INSTRUMENTED_ON, INSTRUMENTED_OFF };

struct instrumented {
	u32 state;                 /* enum instrumented_state; inherited by fork */
	u32 quick;                 /* it is on, and how deep a function is does not matter */
	u32 depth;                 /* functions within so many regions have none of their own */
	const struct wire_functions *chosen; /* in the segment; NULL: all functions */
};

/*
 * word: four bytes of its code << 32 | where they lie behind its address << 24 | ref of its name. Other
 * bytes there: it is another function, of an object that was loaded where the first one was.
 */
struct function {
	u64 address;
	u64 word;                  /* 0: not there yet */
};

#define FUNCTION_NAME_MASK 0xffffffu

extern struct instrumented instrumented;
extern struct function functions_small[FUNCTIONS_SMALL];

/* CTOR. From the segment; live: this process is measured. */
void instrumented_start(bool live);
/* CTOR, of a later session, while none is on: names that were found are of the segment before. */
void instrumented_forget(void);
/* hooks.c, CTOR, of a later session: calls of the C library's hooks lead to ours. */
void hooks_set(void);
/* SAFE. They are given back. */
void hooks_clear(void);
/* SAFE. Whether functions of this process have regions. */
bool instrumented_ready(void);
/* SAFE. The ref of a function's name, entered if new; 0: it has no region. call: of the hook, where it returns to. */
u32 instrumented_enter(u64 function, const void *call);
/* SAFE. The same without entering one. */
u32 instrumented_known(u64 function);
/* MARKER. Whether a function that begins, or ends, is deeper than asked for. sp: exactly that of its frame. */
bool instrumented_begins_deep(struct thread *t, u64 function, u64 caller, u64 sp);
bool instrumented_ends_deep(struct thread *t, u64 function, u64 caller, u64 sp);

static inline u32 function_hash(u64 function)
{
	return (u32)(function * 0x9e3779b97f4a7c15ULL >> 32);
}

static inline bool function_is(u64 function, u64 word)
{
	u32 bytes;

	memcpy(&bytes, (const char *)(uintptr_t)function + (u8)(word >> 24), sizeof(bytes));
	return bytes == (u32)(word >> 32);
}

/* SAFE. The function's word, if that lies where its hash says, and nothing else is to be looked at; else 0. */
static inline u64 function_quick(u64 function)
{
	const struct function *f = &functions_small[function_hash(function) % FUNCTIONS_SMALL];

	return likely(load_relaxed(&instrumented.quick) && load_relaxed(&f->address) == function) ? load_relaxed(&f->word) : 0;
}

#endif
