/* SPDX-License-Identifier: MIT */
/* Who ended waits: a list without duplicates beside those of samples.c, which does not grow without bound. */
#include <stdlib.h>

#include "cli/analyze/samples.h"

static u64 wake_mix(u64 hash, u64 more)
{
	hash = (hash ^ more) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

static u64 wake_hash(const struct samples_wake *wake)
{
	u64 hash = wake_mix((u64)wake->process << 32 | wake->tid, wake->region);

	hash = wake_mix(hash, (u64)wake->waker_pid << 32 | wake->waker_tid);
	hash = wake_mix(hash, (u64)wake->waker_process << 32 | wake->by);
	return wake_mix(hash, (u64)wake->name << 32 | wake->chain);
}

static bool wake_same(const struct samples_wake *x, const struct samples_wake *y)
{
	return x->process == y->process && x->tid == y->tid && x->region == y->region && x->by == y->by &&
	       x->waker_process == y->waker_process && x->waker_pid == y->waker_pid && x->waker_tid == y->waker_tid &&
	       x->name == y->name && x->chain == y->chain;
}

/* The slot of one that is like it, or the empty one for it. */
static u32 *wake_slot(const struct samples *samples, const struct samples_index *index, const struct samples_wake *wake)
{
	u32 i = (u32)wake_hash(wake) & (index->size - 1);

	while (index->slots[i] && !wake_same(&samples->wakes[index->slots[i] - 1], wake))
		i = (i + 1) & (index->size - 1);
	return &index->slots[i];
}

/* Room for one more, in an index that is half full at most. */
static bool wakes_room(struct samples *samples)
{
	struct samples_index grown = { .size = samples->wake_index.size ? 2 * samples->wake_index.size : 256 };
	struct samples_wake *wakes;

	if (samples->nwakes == samples->wakes_room) {
		wakes = realloc(samples->wakes, (2 * (size_t)samples->wakes_room + 64) * sizeof(*wakes));
		if (!wakes)
			return false;
		samples->wakes = wakes;
		samples->wakes_room = 2 * samples->wakes_room + 64;
	}
	if (samples->nwakes < samples->wake_index.size / 2)
		return true;
	grown.slots = calloc(grown.size, sizeof(*grown.slots));
	for (u32 i = 0; grown.slots && i < samples->nwakes; i++)
		*wake_slot(samples, &grown, &samples->wakes[i]) = i + 1;
	if (!grown.slots)
		return false;
	free(samples->wake_index.slots);
	samples->wake_index = grown;
	return true;
}

int samples_wake(struct samples *samples, const struct samples_wake *wake)
{
	struct samples_wake key = *wake;
	u32 *slot;

	if (!wakes_room(samples)) {
		samples->no_memory = true;
		return -1;
	}
	slot = wake_slot(samples, &samples->wake_index, &key);
	/* Beyond that there is one for each thread and region that waited. */
	if (!*slot && samples->nwakes >= SAMPLES_WAKES_MOST) {
		key = (struct samples_wake){ .process = wake->process, .tid = wake->tid, .region = wake->region,
					     .by = SAMPLES_WAKER_OTHERS, .name = SAMPLES_NONE, .chain = SAMPLES_NONE,
					     .count = wake->count, .ns = wake->ns };
		slot = wake_slot(samples, &samples->wake_index, &key);
	}
	if (*slot) {
		samples->wakes[*slot - 1].count += key.count;
		samples->wakes[*slot - 1].ns += key.ns;
		return 0;
	}
	samples->wakes[samples->nwakes++] = key;
	*slot = samples->nwakes;
	return 0;
}

static int number_order(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

/* By whose wait and by whom, and then where that one was; not known is last. */
static int share_order(const void *a, const void *b)
{
	const struct samples_wake *x = a, *y = b;
	int order = number_order((u64)x->process << 32 | x->tid, (u64)y->process << 32 | y->tid);

	order = order ? order : number_order((u64)x->region << 32 | x->by, (u64)y->region << 32 | y->by);
	order = order ? order : number_order(x->waker_process, y->waker_process);
	order = order ? order : number_order(x->waker_pid, y->waker_pid);
	order = order ? order : number_order((u64)x->waker_tid << 32 | x->name, (u64)y->waker_tid << 32 | y->name);
	return order ? order : number_order(x->chain, y->chain);
}

/* n that are alike but for the place, of which the last has none; what does not come out even is the last one's. */
static u64 share_among(struct samples_wake *list, u32 n)
{
	struct samples_wake *rest = &list[n - 1];
	u64 count = rest->count, ns = rest->ns, known = 0;

	for (u32 i = 0; i + 1 < n; i++)
		known += list[i].count;
	if (!known)
		return 0;
	for (u32 i = 0; i + 1 < n; i++) {
		double part = (double)list[i].count / (double)known;
		u64 more = MIN((u64)(part * (double)count), rest->count), more_ns = MIN((u64)(part * (double)ns), rest->ns);

		list[i].count += more;
		list[i].ns += more_ns;
		rest->count -= more;
		rest->ns -= more_ns;
	}
	list[0].count += rest->count;
	list[0].ns += rest->ns;
	rest->count = rest->ns = 0;
	return count;
}

void samples_wakes_share(struct samples *samples)
{
	struct samples_wake *list = samples->wakes;
	u32 n = samples->nwakes;

	if (!n)
		return;
	samples->wakes = NULL;
	samples->nwakes = samples->wakes_room = samples->wake_index.size = 0;
	free(samples->wake_index.slots);
	samples->wake_index.slots = NULL;
	qsort(list, n, sizeof(*list), share_order);
	for (u32 i = 0, first = 0; i < n; i++) {
		struct samples_wake like = list[i];

		like.chain = list[first].chain;
		if (share_order(&like, &list[first]))
			first = i;
		if (list[i].by == SAMPLES_WAKER_THREAD && list[i].chain == SAMPLES_NONE && i > first)
			samples->off_shared += share_among(&list[first], i - first + 1);
	}
	for (u32 i = 0; i < n; i++)
		if (list[i].count)
			samples_wake(samples, &list[i]);
	free(list);
}
