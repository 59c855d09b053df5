/* SPDX-License-Identifier: MIT */
/* How many threads there were when, and the time of all of them between two times; see window.h. */
#include "cli/analyze/window.h"

#include <stdlib.h>
#include <string.h>

#define CHANGES_MOST (1u << 20)

void thread_history_free(struct thread_history *h)
{
	free(h->list);
	*h = (struct thread_history){ .list = NULL };
}

static bool history_grow(struct thread_history *h)
{
	u32 room = h->room ? 2 * h->room : 4;
	struct thread_change *list = room <= CHANGES_MOST ? realloc(h->list, room * sizeof(*list)) : NULL;

	if (!list) {
		h->incomplete = true;
		return false;
	}
	h->list = list;
	h->room = room;
	return true;
}

void thread_history_add(struct thread_history *h, u64 ns, bool began)
{
	u32 at = h->n;

	if (h->incomplete || (h->n == h->room && !history_grow(h)))
		return;
	while (at && h->list[at - 1].ns > ns)
		at--;
	memmove(&h->list[at + 1], &h->list[at], (h->n - at) * sizeof(*h->list));
	h->list[at] = at ? h->list[at - 1] : (struct thread_change){ .ns = 0 };
	h->list[at].ns = ns;
	for (h->n++; at < h->n; at++) {
		/* An end without its begin: some record was lost. */
		if (!began && !h->list[at].n)
			h->incomplete = true;
		h->list[at].n += began ? 1 : h->list[at].n ? (u64)-1 : 0;
		h->list[at].starts += began ? ns : -ns;
	}
}

/* Of all that ever were, until then; modulo 2^64. */
static u64 history_until(const struct thread_history *h, u64 ns)
{
	u32 low = 0, high = h->n;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (h->list[mid].ns <= ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? h->list[low - 1].n * ns - h->list[low - 1].starts : 0;
}

struct cell thread_history_between(const struct thread_history *h, u64 from_ns, u64 to_ns)
{
	if (h->incomplete)
		return cell_absent(CELL_UNAVAILABLE, "the kernel's records of its threads are incomplete");
	return cell_counted((double)(s64)(history_until(h, to_ns) - history_until(h, from_ns)));
}
