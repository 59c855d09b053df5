/* SPDX-License-Identifier: MIT */
/*
 * See tracing.h. Signal handlers that interrupted a marker have lanes, and so rings, of their own.
 * The marker that they interrupted may have taken its time stamp before them and record it after
 * them. So their records wait until the thread's own lane has a later one, and then all are put in
 * the order of time.
 */
#define _GNU_SOURCE
#include "cli/session/tracing.h"

#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/session/internal.h"
#include "cli/session/nodes.h"
#include "cli/session/portion.h"

#define IDLE_NS (10 * NSEC_PER_MSEC)
#define BUSY_NS NSEC_PER_MSEC
#define BUSY_RECORDS (WIRE_TRACE_ENTRIES / 8)
#define MARGIN 64                  /* records that may be in the making, in whatever order their words are seen */

struct tracing_slot {
	u32 ref;
	u32 lane;                    /* ref of the thread's own */
	u64 count[WIRE_LANES];       /* records that were taken, by lane */
	u32 process, tid, thread;    /* of the newest */
};

/* What is kept of a segment. */
struct traced {
	struct tracing_slot *slots;
	u32 nslots;
	u32 newest;                  /* ref of the newest slot that is known */
	u32 owner[WIRE_CHUNKS];      /* of the ring in each: slot's ref; a stranger could give one to all its slots */
	struct ref_map nodes;        /* region + 1 */
};

/* What is new in one lane. */
struct stream {
	struct wire_trace *records;
	u64 n, at;
	u64 lost;                    /* before them */
	u64 count;                   /* of the lane, where the first one stands */
};

static u64 record_ticks(const struct wire_trace *r)
{
	return r->ticks & ((1ULL << WIRE_TRACE_SHIFT) - 1);
}

static u32 lane_entries(u32 level)
{
	return level ? WIRE_TRACE_UPPER : WIRE_TRACE_ENTRIES;
}

/* The ring of a thread's own lane is a chunk, and no other's. */
static bool ring_owned(struct traced *t, u32 ring, u32 slot)
{
	u32 *owner = &t->owner[place(ring) / WIRE_CHUNK % WIRE_CHUNKS];

	if (!ring || place(ring) % WIRE_CHUNK || (*owner && *owner != slot))
		return false;
	*owner = slot;
	return true;
}

static bool ring_copy_out(const struct segment *g, u32 ring, u32 entries, struct stream *s)
{
	for (u64 i = 0; i < s->n;) {
		u64 at = (s->count + i) % entries, n = MIN(s->n - i, entries - at);

		if (!peek(g, place(ring) + at * sizeof(*s->records), s->records + i, n * sizeof(*s->records)))
			return false;
		i += n;
	}
	return true;
}

static void stream_skip(struct stream *s, u64 n)
{
	s->lost += n;
	s->count += n;
	s->n -= n;
}

/* The records of a lane from `taken` on. False: it has no ring. */
static bool stream_read(const struct segment *g, u32 lane, u32 slot, u32 level, u64 taken, struct stream *s)
{
	const u32 entries = lane_entries(level);
	struct wire_lane w;
	u64 before, after, making;

	s->n = s->at = s->lost = 0;
	s->count = taken;
	if (!peek(g, place(lane), &w, offsetof(struct wire_lane, base)) || !w.trace ||
	    (!level && !ring_owned(g->traced, w.trace, slot)))
		return false;
	if (w.trace_count <= taken)
		return true;
	s->n = w.trace_count - taken;
	if (s->n > entries)
		stream_skip(s, s->n - entries);
	before = s->count;
	if (!ring_copy_out(g, w.trace, entries, s) ||
	    !peek(g, place(lane) + offsetof(struct wire_lane, trace_count), &after, sizeof(after))) {
		s->n = 0;
		return true;
	}
	/* Overwritten while they were read, or about to be. */
	making = after == w.trace_count ? 1 : MARGIN;
	if (after + making > before + entries) {
		stream_skip(s, MIN(after + making - before - entries, s->n));
		s->records += s->count - before;
	}
	return true;
}

static u32 record_thread(struct trace *trace, struct tracing_slot *slot, const struct wire_slot *w,
			 const struct process *p, u32 tid)
{
	u32 thread;

	if (slot->tid == tid && slot->process == p->facts.id)
		return slot->thread;
	thread = trace_thread(trace, p->facts.id, p->facts.pid, tid);
	if (thread == TRACE_NONE)
		return thread;
	if (w->tid == tid)
		memcpy(trace->threads[thread].name, w->comm, sizeof(w->comm));
	slot->process = p->facts.id;
	slot->tid = tid;
	slot->thread = thread;
	return thread;
}

static void record_take(struct session *s, struct segment *g, u32 thread, const struct wire_trace *r)
{
	struct trace *trace = &s->tracing->trace;
	static const enum trace_kind kinds[] = {
		[WIRE_TRACE_BEGIN] = TRACE_BEGIN,
		[WIRE_TRACE_END] = TRACE_END,
		[WIRE_TRACE_UNENDED] = TRACE_UNENDED,
		[WIRE_TRACE_OVERLAP] = TRACE_LATE_END,
	};
	u32 region;

	bool known = node_region(g, &g->traced->nodes, &trace->regions, r->node, &region) && region != SAMPLES_NONE;

	if (s->portion && known && !portion_has(s, clock_map_ns(&s->clock, record_ticks(r)), &trace->regions, region))
		return;
	if (known)
		trace_add(trace, thread, kinds[r->ticks >> WIRE_TRACE_SHIFT], region, record_ticks(r));
	else
		trace_lose(trace, thread, 1);
}

/* The one whose next record is the earliest; NULL: all are at their end. */
static struct stream *stream_next(struct stream *streams)
{
	struct stream *next = NULL;

	for (u32 i = 0; i < WIRE_LANES; i++) {
		struct stream *s = &streams[i];

		if (s->at < s->n && (!next || record_ticks(s->records + s->at) < record_ticks(next->records + next->at)))
			next = s;
	}
	return next;
}

static void streams_take(struct session *s, struct segment *g, struct tracing_slot *slot, const struct wire_slot *w,
			 const struct process *p, struct stream *streams)
{
	struct trace *trace = &s->tracing->trace;
	struct stream *next;

	for (u32 i = 0; i < WIRE_LANES; i++) {
		u32 thread = streams[i].lost ? record_thread(trace, slot, w, p, streams[i].n ? streams[i].records->tid : w->tid)
					     : TRACE_NONE;

		if (thread != TRACE_NONE)
			trace_lose(trace, thread, streams[i].lost);
	}
	while ((next = stream_next(streams))) {
		const struct wire_trace *r = next->records + next->at++;
		u32 thread = record_thread(trace, slot, w, p, r->tid);

		if (thread != TRACE_NONE)
			record_take(s, g, thread, r);
		else
			trace->missing++;
	}
	for (u32 i = 0; i < WIRE_LANES; i++)
		slot->count[i] = streams[i].count + streams[i].n;
}

/* Returns how many records were new in the thread's own lane. */
static u64 slot_read(struct session *s, struct segment *g, struct tracing_slot *slot, bool all)
{
	struct tracing *t = s->tracing;
	struct stream streams[WIRE_LANES] = { { .records = t->records } };
	const struct process *p;
	struct wire_slot w;
	u64 limit;

	if (!slot->lane && !peek(g, place(slot->ref) + offsetof(struct wire_slot, lanes), &slot->lane, sizeof(slot->lane)))
		return 0;
	if (!stream_read(g, slot->lane, slot->ref, 0, slot->count[0], &streams[0]) ||
	    (!streams[0].n && !streams[0].lost && !all) || !peek(g, place(slot->ref), &w, sizeof(w)))
		return 0;
	p = segment_process(g, w.pid);
	if (!p)
		return 0;
	all = all || !p->alive || w.state != WIRE_SLOT_LIVE;
	limit = all ? UINT64_MAX : streams[0].n ? record_ticks(streams[0].records + streams[0].n - 1) : 0;
	for (u32 i = 1; i < WIRE_LANES; i++) {
		struct stream *upper = &streams[i];

		upper->records = t->records + WIRE_TRACE_ENTRIES + (i - 1) * WIRE_TRACE_UPPER;
		if (w.lanes[i])
			stream_read(g, w.lanes[i], slot->ref, i, slot->count[i], upper);
		else
			upper->count = slot->count[i];
		while (upper->n && record_ticks(upper->records + upper->n - 1) > limit)
			upper->n--;
	}
	streams_take(s, g, slot, &w, p, streams);
	return streams[0].n + streams[0].lost;
}

static bool slot_add(struct segment *g, u32 ref)
{
	struct traced *t = g->traced;
	struct tracing_slot *list = realloc(t->slots, (t->nslots + 1) * sizeof(*list));

	if (!list)
		return false;
	t->slots = list;
	list[t->nslots++] = (struct tracing_slot){ .ref = ref };
	return true;
}

static u64 segment_read(struct session *s, struct segment *g, bool all)
{
	u64 most = 0;

	if (!g->traced)
		g->traced = calloc(1, sizeof(*g->traced));
	if (g->closed || !g->header || !g->traced)
		return 0;
	harvest_discover(s, g);
	slots_find(g, &g->traced->newest, slot_add);
	for (u32 i = 0; i < g->traced->nslots; i++)
		most = MAX(most, slot_read(s, g, &g->traced->slots[i], all));
	return most;
}

void tracing_read(struct session *s, struct segment *g, bool all)
{
	if (s->tracing)
		segment_read(s, g, all);
}

void tracing_drain(struct session *s, u64 now)
{
	u64 most = 0;

	if (!s->tracing || now < s->tracing->next_ns)
		return;
	for (struct segment *g = s->segments; g; g = g->next)
		most = MAX(most, segment_read(s, g, false));
	s->tracing->next_ns = session_now() + (most > BUSY_RECORDS ? BUSY_NS : IDLE_NS);
}

void tracing_forget(struct session *s, struct segment *g)
{
	if (!s->tracing || !g->traced)
		return;
	ref_map_fini(&g->traced->nodes);
	g->traced->nodes = (struct ref_map){ .entries = NULL };
}

void tracing_drop(struct segment *g)
{
	if (!g->traced)
		return;
	free(g->traced->slots);
	ref_map_fini(&g->traced->nodes);
	free(g->traced);
	g->traced = NULL;
}

static u64 process_end_ticks(const struct session *s, const struct process *p)
{
	return p->alive ? session_ticks(s) : clock_map_ticks(&s->clock, s->start_ns + p->facts.end_ns);
}

void tracing_windows(struct session *s, const struct segment *g, const struct wire_view *view)
{
	struct wire_walk walk = wire_walk_windows(view);
	const struct wire_window *w;

	while (s->tracing && (w = wire_next_window(view, &walk))) {
		struct trace *trace = &s->tracing->trace;
		const struct process *p = segment_process(g, w->pid);
		const char *name;
		size_t length;
		u64 end;

		if (!p || !wire_view_name(view, w->name, &name, &length) || !w->state)
			continue;
		end = w->state == WIRE_WINDOW_ENDED ? w->end : process_end_ticks(s, p);
		if (!portion_meets(s, clock_map_ns(&s->clock, w->start), clock_map_ns(&s->clock, end)))
			continue;
		trace_add_window(trace, &(struct trace_window){
			.process = p->facts.id,
			.pid = p->facts.pid,
			.name = samples_string(&trace->regions, name, length),
			.open = w->state != WIRE_WINDOW_ENDED,
			.start = w->start,
			.end = end,
		});
	}
}

void tracing_pause(struct session *s, u64 ticks)
{
	for (u32 i = 0; s->tracing && i < s->tracing->trace.nthreads; i++)
		trace_pause(&s->tracing->trace, i, ticks);
}

void tracing_end(struct session *s)
{
	struct trace *trace = s->tracing ? &s->tracing->trace : NULL;

	if (!trace)
		return;
	for (u32 i = 0; i < trace->nthreads; i++)
		trace_close(trace, i, process_end_ticks(s, s->processes.list[trace->threads[i].process - 1]));
	trace->start_ns = s->start_ns;
}

int tracing_open(struct session *s)
{
	struct tracing *t = calloc(1, sizeof(*t));

	if (t)
		t->records = malloc((WIRE_TRACE_ENTRIES + (WIRE_LANES - 1) * WIRE_TRACE_UPPER) * sizeof(*t->records));
	s->tracing = t;
	if (!t || !t->records)
		return error("out of memory");
	return trace_init(&t->trace);
}

void tracing_free(struct session *s)
{
	if (!s->tracing)
		return;
	trace_fini(&s->tracing->trace);
	free(s->tracing->records);
	free(s->tracing);
	s->tracing = NULL;
}
