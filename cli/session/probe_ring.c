/* SPDX-License-Identifier: MIT */
/* See probe_ring.h. */
#define _GNU_SOURCE
#include "cli/session/probe_ring.h"

#include <stdlib.h>
#include <string.h>

#define RECORD_MOST 4096u
#define TRAILER 24u                /* tid, time and id */

static u64 word_at(const u8 *bytes, size_t at)
{
	u64 v;

	memcpy(&v, bytes + at, sizeof(v));
	return v;
}

static void ids_at(const u8 *bytes, size_t at, u32 *first, u32 *second)
{
	memcpy(first, bytes + at, sizeof(*first));
	memcpy(second, bytes + at + sizeof(*first), sizeof(*second));
}

/* What follows a sample's ids: the registers, if there are any. */
static bool sample_parse(const u8 *bytes, size_t size, struct probe_record *r)
{
	if (size < 8 + TRAILER + 8)
		return false;
	ids_at(bytes, 8, &r->pid, &r->tid);
	r->time_ns = word_at(bytes, 16);
	r->id = word_at(bytes, 24);
	r->abi = word_at(bytes, 32);
	if (r->abi && size < 8 + TRAILER + 16)
		return false;
	r->sp = r->abi ? word_at(bytes, 40) : 0;
	return true;
}

/* pid, ppid, tid, ptid and a time of their own. */
static bool task_parse(const u8 *bytes, size_t size, struct probe_record *r)
{
	if (size < 8 + 24 + TRAILER)
		return false;
	ids_at(bytes, 8, &r->pid, &r->parent_pid);
	ids_at(bytes, 16, &r->tid, &r->parent_tid);
	return true;
}

bool probe_record_parse(const u8 *bytes, struct probe_record *r)
{
	const struct perf_event_header *h = (const struct perf_event_header *)bytes;

	*r = (struct probe_record){ .type = h->type };
	if (h->type == PERF_RECORD_SAMPLE)
		return sample_parse(bytes, h->size, r);
	if (h->size < 8 + TRAILER)
		return false;
	ids_at(bytes, h->size - TRAILER, &r->pid, &r->tid);
	r->time_ns = word_at(bytes, h->size - 16);
	switch (h->type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return task_parse(bytes, h->size, r);
	case PERF_RECORD_COMM:
		return h->misc & PERF_RECORD_MISC_COMM_EXEC;
	case PERF_RECORD_LOST:
		r->lost = h->size < 8 + 16 + TRAILER ? 0 : word_at(bytes, 16);
		return r->lost;
	default:
		return false;
	}
}

/* A ring, as far as it is read. */
struct reader {
	const struct ring *ring;
	struct ring_walk walk;
	bool ready;                  /* record is the next one */
	struct probe_record record;
};

static void reader_next(struct reader *reader, u64 until_ns)
{
	struct perf_event_header h;

	for (reader->ready = false; !reader->ready && ring_peek(reader->ring, &reader->walk, &h);) {
		u8 bytes[RECORD_MOST] __attribute__((aligned(8)));

		if (h.size <= sizeof(bytes)) {
			ring_copy(reader->ring, reader->walk.at, bytes, h.size);
			reader->ready = probe_record_parse(bytes, &reader->record);
		}
		/* It waits in the ring. */
		if (reader->ready && reader->record.time_ns > until_ns) {
			reader->ready = false;
			return;
		}
		reader->walk.at += h.size;
	}
}

static struct reader *reader_oldest(struct reader *readers, u32 n)
{
	struct reader *oldest = NULL;

	for (u32 i = 0; i < n; i++)
		if (readers[i].ready && (!oldest || readers[i].record.time_ns < oldest->record.time_ns))
			oldest = &readers[i];
	return oldest;
}

void probe_rings_read(const struct ring *rings, u32 n, u64 until_ns,
		      void (*take)(void *context, const struct probe_record *record), void *context)
{
	struct reader *readers = calloc(n, sizeof(*readers)), *oldest;

	for (u32 i = 0; readers && i < n; i++) {
		readers[i] = (struct reader){ .ring = &rings[i], .walk = ring_walk(&rings[i]) };
		reader_next(&readers[i], until_ns);
	}
	while (readers && (oldest = reader_oldest(readers, n))) {
		take(context, &oldest->record);
		reader_next(oldest, until_ns);
	}
	for (u32 i = 0; readers && i < n; i++)
		ring_release(rings + i, &readers[i].walk);
	free(readers);
}
