/* SPDX-License-Identifier: MIT */
/*
 * Whether there is room below a held thread's stack pointer that is nobody else's. Coroutines have small stacks amid other
 * data, and nothing tells where those end: only the stack that the C library has begun a thread on has known bounds.
 */
#ifndef CLI_INJECT_ROOM_H
#define CLI_INJECT_ROOM_H

#include <sys/types.h>

#include "cli/symbols/live.h"

#define ROOM_NONE "its threads have no room on their stacks"

struct room {
	pid_t pid, tid;
	u64 sp, from;                /* [from, sp) is to be written over */
	u64 start, end;              /* of the mapping that is the stack of the process's first thread */
};

/* NULL: it may be. Else why not, as the end of a sentence. */
const char *room_tell(const struct room *room, const struct live_stack *stack);

/* Which stack the outermost functions tell of. */
enum room_stack {
	ROOM_OTHER,                  /* none that the C library has begun, as of coroutines */
	ROOM_FIRST,                  /* main() is on it */
	ROOM_THREAD,                 /* by pthread_create(3) */
};
enum room_stack room_stack(const struct live_stack *stack);

/*
 * The lowest address of a thread's stack by the words of the C library's record of the thread, in which head lies; 0: they
 * have no stack with that stack pointer.
 */
u64 room_lowest(const u64 *words, size_t n, u64 head, u64 sp);

#endif
