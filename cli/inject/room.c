/* SPDX-License-Identifier: MIT */
/*
 * See room.h. glibc keeps a record for each thread (struct pthread, nptl/descr.h). Its list of robust mutexes is in it,
 * where the kernel knows it; behind that come, wherever a version has them, the stack's lowest address, its size and that
 * of its guard.
 */
#define _GNU_SOURCE
#include "cli/inject/room.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "cli/inject/arch.h"
#include "cli/inject/safe.h"
#include "cli/inject/tracee.h"

#define RECORD_BYTES 4096u           /* of the record, at most, that are looked through */
#define PIECE 512u
#define ABOVE_MOST (64u << 10)       /* of a stack, from the list on: the record's rest, and on some machines variables */

enum room_stack room_stack(const struct live_stack *s)
{
	/* A coroutine's first function is called by none of the C library, or by the last one there is. */
	if (!s->sure || s->n < 2 || !safe_is_system(s->frames[s->n - 2].path))
		return ROOM_OTHER;
	return safe_is_system(s->frames[s->n - 1].path) ? ROOM_THREAD : ROOM_FIRST;
}

/*
 * The record lies in the stack's memory, at its upper end. Other words may look like that, too: where two do, nothing is
 * known.
 */
u64 room_lowest(const u64 *words, size_t n, u64 head, u64 sp)
{
	u64 lowest = 0;

	for (size_t i = 0; i + 2 < n; i++) {
		u64 block = words[i], size = words[i + 1], guard = words[i + 2];

		if (!block || block > sp || sp >= head || head - block >= size || size - (head - block) > ABOVE_MOST ||
		    guard >= size)
			continue;
		if (lowest)
			return 0;
		lowest = block + guard;
	}
	return lowest;
}

/* Memory behind the record may not be there. */
static size_t record_read(pid_t pid, u64 head, u64 *words)
{
	u8 *to = (u8 *)words;
	size_t got = 0, n;

	do {
		n = tracee_read(pid, head + got, to + got, PIECE);
		got += n;
	} while (n == PIECE && got < RECORD_BYTES);
	return got / sizeof(*words);
}

static u64 thread_lowest(const struct room *r)
{
	u64 words[RECORD_BYTES / sizeof(u64)];
	void *head = NULL;
	size_t size;

	if (syscall(SYS_get_robust_list, r->tid, &head, &size) || !head)
		return 0;
	return room_lowest(words, record_read(r->pid, (uintptr_t)head, words), (uintptr_t)head, r->sp);
}

/* Guards are not always mappings of their own. */
static bool accessible(const struct room *r)
{
	u8 bytes[ARCH_FRAME + 4096];
	size_t size = (size_t)(r->sp - r->from);

	return r->from < r->sp && size <= sizeof(bytes) && tracee_read(r->pid, r->from, bytes, size) == size;
}

const char *room_tell(const struct room *r, const struct live_stack *stack)
{
	enum room_stack kind = room_stack(stack);
	u64 lowest = 0;

	if (kind == ROOM_FIRST && r->sp >= r->start && r->sp < r->end)
		lowest = r->start;
	else if (kind == ROOM_THREAD)
		lowest = thread_lowest(r);
	if (!lowest)
		return "its threads are on stacks whose bounds nobody knows, as coroutines are";
	return r->from >= lowest && accessible(r) ? NULL : ROOM_NONE;
}
