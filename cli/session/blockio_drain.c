/* SPDX-License-Identifier: MIT */
/* From records of requests to their latencies: those of all CPUs in the order of time; see blockio.h. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "cli/session/blockio.h"
#include "cli/session/internal.h"
#include "cli/session/record.h"

#define SETTLE_NS NSEC_PER_MSEC    /* records whose time was taken before are written by then */
#define RECORD_MOST 4096u
#define RECORD_ROOM 1024u          /* where less is free in a ring a record may have been lost */

static bool word_take(const u8 *raw, u32 size, u32 at, void *to, u32 bytes)
{
	if (at > size || bytes > size - at)
		return false;
	memcpy(to, raw + at, bytes);
	return true;
}

enum blockio_event blockio_parse(const struct blockio *b, const u8 *raw, u32 size, struct block_end *end)
{
	const struct blockio_format *f = b->format;
	u32 event = 0, dev;
	u16 id;

	/* The field common_type is the first of all. */
	if (!raw || !word_take(raw, size, 0, &id, sizeof(id)))
		return BLOCKIO_EVENTS;
	while (event < BLOCKIO_EVENTS && f[event].id != id)
		event++;
	if (event == BLOCKIO_EVENTS)
		return BLOCKIO_EVENTS;
	f += event;
	if (!word_take(raw, size, f->dev, &dev, sizeof(dev)) || !word_take(raw, size, f->sector, &end->sector, sizeof(end->sector)) ||
	    !word_take(raw, size, f->sectors, &end->sectors, sizeof(end->sectors)) ||
	    f->rwbs > size || f->rwbs_size > size - f->rwbs)
		return BLOCKIO_EVENTS;
	end->error = 0;
	if (f->error && !word_take(raw, size, f->error, &end->error, sizeof(end->error)))
		return BLOCKIO_EVENTS;
	/* As the kernel keeps it (linux/kdev_t.h). */
	end->major = dev >> 20;
	end->minor = dev & 0xfffff;
	end->direction = block_letters((const char *)raw + f->rwbs, f->rwbs_size);
	/* It has no place; the kernel writes 0 at the one end and -1 at the other. */
	if (end->direction == BLOCK_FLUSH)
		end->sector = 0;
	return end->direction < BLOCK_DIRECTIONS ? (enum blockio_event)event : BLOCKIO_EVENTS;
}

/* A ring, as far as it is read. */
struct reader {
	const struct ring *ring;
	u64 *last_ns;
	struct ring_walk walk;
	bool ready;                  /* a record is there, of that time */
	bool full;                   /* behind the last one some may be missing */
	u64 time_ns;
	struct record record;
	u8 bytes[RECORD_MOST] __attribute__((aligned(8)));
};

static void reader_next(struct reader *r, u64 until_ns)
{
	struct perf_event_header h;

	for (r->ready = false; !r->ready && ring_peek(r->ring, &r->walk, &h);) {
		if (h.size <= sizeof(r->bytes)) {
			ring_copy(r->ring, r->walk.at, r->bytes, h.size);
			r->ready = record_parse(r->bytes, PERF_SAMPLE_RAW, 0, &r->record);
		}
		/* It waits in the ring. */
		if (r->ready && r->record.time_ns > until_ns) {
			r->ready = r->full = false;
			return;
		}
		r->walk.at += h.size;
	}
	if (r->ready) {
		/* What was lost was lost behind the record before. */
		r->time_ns = r->record.type == PERF_RECORD_LOST ? *r->last_ns : r->record.time_ns;
		*r->last_ns = r->record.time_ns;
		return;
	}
	r->ready = r->full;
	r->full = false;
	r->time_ns = *r->last_ns;
	r->record = (struct record){ .type = PERF_RECORD_LOST };
}

static struct reader *reader_oldest(struct reader *readers, u32 n)
{
	struct reader *oldest = NULL;

	for (u32 i = 0; i < n; i++)
		if (readers[i].ready && (!oldest || readers[i].time_ns < oldest->time_ns))
			oldest = &readers[i];
	return oldest;
}

static void record_take(struct blockio *b, const struct record *r)
{
	struct block_end end;

	if (r->type == PERF_RECORD_LOST) {
		b->block.lost += r->lost;
		block_lose(b->pairs);
	}
	if (r->type != PERF_RECORD_SAMPLE)
		return;
	end.time_ns = r->time_ns;
	switch (blockio_parse(b, r->sample.raw, r->sample.raw_size, &end)) {
	case BLOCKIO_ISSUE:
		block_issue(b->pairs, &end);
		break;
	case BLOCKIO_COMPLETE:
		block_complete(b->pairs, &end);
		break;
	case BLOCKIO_REQUEUE:
		block_requeue(b->pairs, &end);
		break;
	default:
		break;
	}
}

void blockio_drain(struct session *s, bool last)
{
	struct blockio *b = s->blockio;
	u64 until_ns = last ? session_now() : session_now() - SETTLE_NS;
	struct reader *readers, *oldest;

	if (!b || !b->nrings || b->ended)
		return;
	readers = calloc(b->nrings, sizeof(*readers));
	for (u32 i = 0; readers && i < b->nrings; i++) {
		struct reader *r = &readers[i];

		r->ring = &b->rings[i];
		r->last_ns = &b->last_ns[i];
		r->walk = ring_walk(r->ring);
		r->full = r->ring->page->data_size - (r->walk.head - r->walk.at) < RECORD_ROOM;
		reader_next(r, until_ns);
	}
	while (readers && (oldest = reader_oldest(readers, b->nrings))) {
		record_take(b, &oldest->record);
		reader_next(oldest, until_ns);
	}
	for (u32 i = 0; readers && i < b->nrings; i++)
		ring_release(&b->rings[i], &readers[i].walk);
	free(readers);
}
