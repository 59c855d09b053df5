/* SPDX-License-Identifier: MIT */
/*
 * From rings to samples; see sampling.h. Records of several CPUs are put in the order of time; the
 * newest wait for the next turn, since others may have elders that are being written.
 */
#define _GNU_SOURCE
#include "cli/session/sampling.h"

#include <stdlib.h>
#include <string.h>

#include "cli/session/chain.h"
#include "cli/session/internal.h"
#include "cli/session/offcpu.h"
#include "cli/session/portion.h"
#include "cli/session/record.h"
#include "cli/symbols/space.h"

#define SETTLE_NS NSEC_PER_MSEC

/* Where the time stands: behind ip and tid in a sample, before the CPU at the end of all others (record.h). */
static u64 record_time(const struct ring *r, u64 at, const struct perf_event_header *h)
{
	u64 offset = h->type == PERF_RECORD_SAMPLE ? 24 : h->size - 16u, ns = 0;

	if (h->size >= offset + 8 && h->size >= 24)
		ring_copy(r, at + offset, &ns, sizeof(ns));
	return ns;
}

u32 sampling_rings(const struct sampling *p)
{
	return p->nrings + p->nstacks + p->nwakes + p->nwakers;
}

static struct sampling_record *batch_add(struct sampling *p)
{
	if (p->nbatch == p->batch_room) {
		size_t room = p->batch_room ? 2 * p->batch_room : 256;
		struct sampling_record *list = realloc(p->batch, room * sizeof(*list));

		if (!list)
			return NULL;
		p->batch = list;
		p->batch_room = room;
	}
	return &p->batch[p->nbatch++];
}

/* A record that wraps, in one piece. */
static bool wrapped_add(struct sampling *p, const struct ring *r, u64 at, size_t size)
{
	if (p->used + size > p->room) {
		size_t room = MAX(2 * p->room, ALIGN_UP(p->used + size, (size_t)65536));
		u8 *bytes = realloc(p->bytes, room);

		if (!bytes)
			return false;
		p->bytes = bytes;
		p->room = room;
	}
	ring_copy(r, at, p->bytes + p->used, size);
	p->used += ALIGN_UP(size, (size_t)8);
	return true;
}

static void ring_take(struct sampling *p, u32 ring, u64 until_ns)
{
	const struct ring *r = &p->rings[ring];
	struct ring_walk *walk = &p->walks[ring];
	struct perf_event_header h;
	size_t lost = SIZE_MAX;

	*walk = ring_walk(r);
	for (; ring_peek(r, walk, &h); walk->at += h.size) {
		u64 ns = record_time(r, walk->at, &h);
		struct sampling_record *record;

		if (ns > until_ns)
			break;
		record = batch_add(p);
		if (!record) {
			p->samples.lost++;
			continue;
		}
		*record = (struct sampling_record){ ns, walk->at, ring, ring_bytes(r, walk->at, h.size), p->used };
		if (!record->bytes && !wrapped_add(p, r, walk->at, h.size)) {
			p->samples.lost++;
			p->nbatch--;
			continue;
		}
		/* What tells of losses was written with the record behind it, whose time had been taken already. */
		if (lost != SIZE_MAX)
			p->batch[lost].time_ns = MIN(p->batch[lost].time_ns, ns);
		lost = h.type == PERF_RECORD_LOST ? p->nbatch - 1 : SIZE_MAX;
	}
}

static int record_order(const void *a, const void *b)
{
	const struct sampling_record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	/* Of one CPU, as they were written. */
	return x->position < y->position ? -1 : x->position > y->position;
}

static void map_take(struct sampling *p, const struct record *r)
{
	bool identified = p->attr.build_id && r->map.build_id_size;
	const struct space_map map = {
		.pid = r->pid,
		.time_ns = r->time_ns,
		.start = r->map.start,
		.length = r->map.length,
		.offset = r->map.offset,
		.protection = r->map.prot,
		.name = r->map.name,
		.build_id = identified ? r->map.build_id : NULL,
		.build_id_size = identified ? r->map.build_id_size : 0,
		.major = identified ? 0 : r->map.major,
		.minor = identified ? 0 : r->map.minor,
		.inode = identified ? 0 : r->map.inode,
	};

	spaces_map(p->spaces, &map);
	chains_changed(p->chains, r->pid, map.start, map.start + map.length);
}

/* What was lost before this record: of its region, if the sample before was as well. NULL: no further sample came. */
static void edge_close(struct sampling *p, u32 ring, const struct samples_missed *next)
{
	struct sampling_edge *edge = &p->edges[ring];
	struct samples_missed missed = { .region = SAMPLES_NONE, .flags = SAMPLES_UNATTRIBUTED };

	if (edge->lost) {
		if (next && edge->any && edge->last.process == next->process && edge->last.region == next->region &&
		    edge->last.flags == next->flags)
			missed = *next;
		missed.lost = edge->lost;
		samples_miss(&p->samples, &missed);
	}
	edge->lost = 0;
	edge->any = next;
	if (next)
		edge->last = *next;
}

/* Whose a record is, by process and region. */
static struct samples_missed record_region(struct session *s, const struct sampling_record *at, const struct record *r,
					   u64 ns)
{
	struct process *process = process_find_at(&s->processes, r->pid, ns);
	const struct attribute_sample where = {
		.segment = process ? process->segment : NULL,
		.tid = r->tid,
		.cpu = s->sampling->rings[at->ring].cpu,
		.position = at->position,
		.ticks = clock_map_ticks(&s->clock, r->time_ns),
	};
	/* The kernel's record of its birth was lost: the command's, as good as any. */
	struct samples_missed whose = { .process = process ? process->facts.id : 1 };
	bool unknown;

	whose.region = attribute_region(s, &where, &unknown);
	if (unknown || !process)
		whose.flags = SAMPLES_UNATTRIBUTED;
	return whose;
}

/* What is counted begins once the agent is everywhere. */
static bool counted(const struct session *s, u64 time_ns)
{
	return !s->attached || (!s->loading && time_ns >= s->start_ns + s->loading_ns);
}

/* Of losses nobody knows whether they were inside of a region. */
static bool loss_counted(const struct session *s, u64 time_ns)
{
	return counted(s, time_ns) && (portion_has(s, time_ns, NULL, SAMPLES_NONE) || (s->portion && s->portion->inside.n));
}

static void sample_take(struct session *s, const struct sampling_record *at, const struct record *r)
{
	struct sampling *p = s->sampling;
	u64 ns = r->time_ns > s->start_ns ? r->time_ns - s->start_ns : 0;
	const struct samples_missed whose = record_region(s, at, r, ns);
	struct samples_row row = {
		.process = whose.process,
		.pid = r->pid,
		.tid = r->tid,
		.region = whose.region,
		.flags = whose.flags,
	};

	edge_close(p, at->ring, &whose);
	if (!counted(s, r->time_ns))
		return;
	if (!portion_has(s, r->time_ns, &p->samples, whose.region))
		return;
	if ((r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		row.flags |= SAMPLES_IN_KERNEL;
	row.chain = chain_take(p, r, &row.flags);
	samples_add(&p->samples, &row, r->sample.period, ns, r->cpu);
}

static void throttle_take(struct session *s, const struct sampling_record *at, const struct record *r)
{
	struct samples_missed whose = record_region(s, at, r, r->time_ns > s->start_ns ? r->time_ns - s->start_ns : 0);

	whose.throttled = 1;
	samples_miss(&s->sampling->samples, &whose);
}

/* What it tells of threads off the CPU. */
static void record_off(struct session *s, const struct sampling_record *at, const struct record *r)
{
	/* What came before the start, or after the end, of what was attached to. */
	if (s->attached && (r->time_ns < s->start_ns || (s->end_ns && r->time_ns > s->end_ns)))
		return;
	if (at->ring >= s->sampling->nrings + s->sampling->nstacks)
		offcpu_wake(s, at, r);
	else if (r->type == PERF_RECORD_SWITCH)
		offcpu_switch(s, at, r);
	else if (at->ring >= s->sampling->nrings && r->type == PERF_RECORD_SAMPLE)
		offcpu_stack(s, r);
	else if (at->ring >= s->sampling->nrings)
		return;
	else if (r->type == PERF_RECORD_FORK)
		offcpu_fork(s, r);
	else if (r->type == PERF_RECORD_EXIT)
		offcpu_exit(s, r);
	else if (r->type == PERF_RECORD_COMM && r->misc & PERF_RECORD_MISC_COMM_EXEC)
		offcpu_exec(s, r);
	else if (r->type == PERF_RECORD_LOST || r->type == PERF_RECORD_LOST_SAMPLES)
		offcpu_lost(s, at, r);
	if (r->type == PERF_RECORD_COMM)
		offcpu_comm(s, r);
}

static u64 ring_stacks(const struct sampling *p, u32 ring)
{
	u32 wakes = p->nrings + p->nstacks;

	if (ring < wakes)
		return ring < p->nrings ? p->stacks : p->stacks_type;
	return ring < wakes + p->nwakes ? (u64)PERF_SAMPLE_RAW : p->wakers_type;
}

static void record_take(struct session *s, const struct sampling_record *at)
{
	struct sampling *p = s->sampling;
	bool stack = at->ring >= p->nrings;
	struct record r;

	if (!record_parse(at->bytes ? at->bytes : p->bytes + at->at, ring_stacks(p, at->ring),
			  (u32)__builtin_popcountll(p->regs), &r))
		return;
	if (p->off)
		record_off(s, at, &r);
	if (stack)
		return;
	switch (r.type) {
	case PERF_RECORD_SAMPLE:
		sample_take(s, at, &r);
		break;
	case PERF_RECORD_MMAP2:
		map_take(p, &r);
		break;
	case PERF_RECORD_FORK:
		if (r.pid != r.task.parent_pid) {
			spaces_fork(p->spaces, r.pid, r.task.parent_pid, r.time_ns);
			chains_changed(p->chains, r.pid, 0, UINT64_MAX);
		}
		break;
	case PERF_RECORD_EXIT:
		/* The leader is mostly the last thread; what others still need is made again. */
		if (r.pid == r.tid) {
			spaces_exit(p->spaces, r.pid, r.time_ns);
			chains_ended(p->chains, r.pid);
		}
		break;
	case PERF_RECORD_COMM:
		if (r.misc & PERF_RECORD_MISC_COMM_EXEC) {
			spaces_exec(p->spaces, r.pid, r.time_ns);
			chains_changed(p->chains, r.pid, 0, UINT64_MAX);
		}
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		if (loss_counted(s, r.time_ns)) {
			p->samples.lost += r.lost;
			p->edges[at->ring].lost += r.lost;
		}
		break;
	case PERF_RECORD_THROTTLE:
		if (loss_counted(s, r.time_ns)) {
			p->samples.throttled++;
			throttle_take(s, at, &r);
		}
		break;
	default:
		break;
	}
}

static void batch_take(struct session *s, u64 until_ns)
{
	struct sampling *p = s->sampling;

	/* What is logged from here on is of later samples. */
	for (struct segment *g = s->segments; g; g = g->next)
		if (!g->closed && g->header) {
			harvest_discover(s, g);
			attribute_read(s, g);
		}
	qsort(p->batch, p->nbatch, sizeof(*p->batch), record_order);
	for (size_t i = 0; i < p->nbatch; i++)
		record_take(s, &p->batch[i]);
	for (u32 i = 0; i < sampling_rings(p); i++)
		ring_release(&p->rings[i], &p->walks[i]);
	/* Clocks are mapped, and later samples may come out of order, by less than that. */
	p->attribute.handled_ticks = clock_map_ticks(&s->clock, until_ns - MIN(until_ns, 10 * NSEC_PER_MSEC));
}

void sampling_drain(struct session *s, bool last)
{
	struct sampling *p = s->sampling;
	u64 until_ns = last ? session_now() : session_now() - SETTLE_NS;

	if (!p || !p->nrings)
		return;
	p->attribute.turn++;
	/* Forks first: whose a sample is. */
	track_drain(s, last);
	p->used = p->nbatch = 0;
	for (u32 i = 0; i < sampling_rings(p); i++)
		ring_take(p, i, until_ns);
	if (p->nbatch)
		batch_take(s, until_ns);
	for (u32 i = 0; last && i < p->nrings; i++)
		edge_close(p, i, NULL);
}

void sampling_free(struct session *s)
{
	struct sampling *p = s->sampling;

	if (!p)
		return;
	attribute_free(s);
	/* The kernel takes 40 ms to close a tracepoint. */
	if (offcpu_traces(p))
		descriptors_leave();
	feed_close(&p->feed);
	for (u32 i = sampling_rings(p); i--;)
		ring_close(&p->rings[i]);
	offcpu_free(p->off);
	descriptors_left();
	chains_free(p->chains);
	spaces_free(p->spaces);
	samples_fini(&p->samples);
	free(p->rings);
	free(p->walks);
	free(p->edges);
	free(p->objects);
	free(p->batch);
	free(p->bytes);
	free(p);
	s->sampling = NULL;
}
