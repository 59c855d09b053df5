/* SPDX-License-Identifier: MIT */
/* Rings of perf records; see ring.h. The kernel writes data_head, the reader data_tail. */
#define _GNU_SOURCE
#include "cli/session/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/perf.h"

void ring_attr(struct perf_event_attr *attr, u64 type, size_t pages)
{
	attr->read_format = 0;
	attr->sample_type = type;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC_RAW;
	attr->watermark = 1;
	attr->wakeup_watermark = (u32)(pages * (size_t)sysconf(_SC_PAGESIZE) / 4);
}

int ring_open(struct ring *r, struct perf_event_attr *attr, pid_t pid, u32 cpu, size_t pages, bool *mapping)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	*mapping = false;
	*r = (struct ring){ .fd = perf_open(attr, pid, (int)cpu, -1, 0), .cpu = cpu, .size = (pages + 1) * page };
	if (r->fd < 0)
		return r->fd;
	r->page = mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (r->page == MAP_FAILED) {
		int err = -errno;

		r->page = NULL;
		*mapping = true;
		ring_close(r);
		return err;
	}
	return 0;
}

void ring_close(struct ring *r)
{
	if (r->page)
		munmap(r->page, r->size);
	if (r->fd >= 0)
		close(r->fd);
	r->page = NULL;
	r->fd = -1;
}

struct ring_walk ring_walk(const struct ring *r)
{
	return (struct ring_walk){ r->page->data_tail, __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE) };
}

void ring_copy(const struct ring *r, u64 at, void *to, size_t size)
{
	const u8 *data = (const u8 *)r->page + r->page->data_offset;
	size_t ring = (size_t)r->page->data_size, from = at & (ring - 1), first = MIN(size, ring - from);

	memcpy(to, data + from, first);
	memcpy((u8 *)to + first, data, size - first);
}

const u8 *ring_bytes(const struct ring *r, u64 at, size_t size)
{
	size_t ring = (size_t)r->page->data_size, from = at & (ring - 1);

	return size <= ring - from ? (const u8 *)r->page + r->page->data_offset + from : NULL;
}

bool ring_peek(const struct ring *r, struct ring_walk *w, struct perf_event_header *h)
{
	if (w->head - w->at < sizeof(*h) || w->head - w->at > r->page->data_size) {
		w->at = w->head;
		return false;
	}
	ring_copy(r, w->at, h, sizeof(*h));
	if (h->size >= sizeof(*h) && h->size <= w->head - w->at)
		return true;
	w->at = w->head;
	return false;
}

void ring_release(const struct ring *r, const struct ring_walk *w)
{
	__atomic_store_n(&r->page->data_tail, w->at, __ATOMIC_RELEASE);
}
