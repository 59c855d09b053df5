/* SPDX-License-Identifier: MIT */
/* See record.h. */
#define _GNU_SOURCE
#include "cli/session/record.h"

#include <string.h>

/* Bytes that are left. */
struct cursor {
	const u8 *at;
	size_t left;
	bool cut;
};

static const void *take(struct cursor *c, u64 size)
{
	const u8 *at = c->at;

	if (size > c->left) {
		c->cut = true;
		c->left = 0;
		return NULL;
	}
	c->at += size;
	c->left -= size;
	return at;
}

static u64 take_u64(struct cursor *c)
{
	const void *at = take(c, 8);
	u64 v = 0;

	if (at)
		memcpy(&v, at, 8);
	return v;
}

static u32 take_u32(struct cursor *c)
{
	const void *at = take(c, 4);
	u32 v = 0;

	if (at)
		memcpy(&v, at, 4);
	return v;
}

static void stacks_parse(struct cursor *c, u64 stacks, u32 nregs, struct record *r)
{
	if (stacks & PERF_SAMPLE_CALLCHAIN) {
		r->sample.nchain = take_u64(c);
		r->sample.chain = take(c, r->sample.nchain > c->left / 8 ? UINT64_MAX : r->sample.nchain * 8);
	}
	if (stacks & PERF_SAMPLE_RAW) {
		r->sample.raw_size = take_u32(c);
		r->sample.raw = take(c, r->sample.raw_size);
	}
	if (stacks & PERF_SAMPLE_REGS_USER) {
		r->sample.abi = take_u64(c);
		r->sample.regs = r->sample.abi ? take(c, nregs * 8ull) : NULL;
	}
	if (stacks & PERF_SAMPLE_STACK_USER) {
		u64 size = take_u64(c);

		r->sample.stack = size ? take(c, size) : NULL;
		/* As many as could be read: the rest of the space holds nothing. */
		r->sample.stack_size = size ? take_u64(c) : 0;
		if (r->sample.stack_size > size)
			c->cut = true;
	}
}

/* What follows a record that is no sample. */
static void id_parse(struct cursor *c, struct record *r)
{
	r->pid = take_u32(c);
	r->tid = take_u32(c);
	r->time_ns = take_u64(c);
	r->cpu = take_u32(c);
	take_u32(c);
}

static void sample_parse(struct cursor *c, u64 stacks, u32 nregs, struct record *r)
{
	r->sample.ip = take_u64(c);
	r->pid = take_u32(c);
	r->tid = take_u32(c);
	r->time_ns = take_u64(c);
	r->cpu = take_u32(c);
	take_u32(c);
	r->sample.period = take_u64(c);
	stacks_parse(c, stacks, nregs, r);
}

/* A name ends before what follows it, filled up with zeros. */
static const char *name_parse(struct cursor *c)
{
	const char *name;

	if (c->left < 24) {
		c->cut = true;
		return "";
	}
	name = (const char *)c->at;
	if (!memchr(name, 0, c->left - 24))
		c->cut = true;
	take(c, c->left - 24);
	return c->cut ? "" : name;
}

static void map_parse(struct cursor *c, struct record *r)
{
	const u8 *identity;

	take_u64(c); /* the process, as in the trailer */
	r->map.start = take_u64(c);
	r->map.length = take_u64(c);
	r->map.offset = take_u64(c);
	identity = take(c, 24);
	r->map.prot = take_u32(c);
	take_u32(c);
	if (identity && r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		r->map.build_id_size = MIN((u32)identity[0], (u32)sizeof(r->map.build_id));
		memcpy(r->map.build_id, identity + 4, r->map.build_id_size);
	}
	if (identity) {
		memcpy(&r->map.major, identity, 4);
		memcpy(&r->map.minor, identity + 4, 4);
		memcpy(&r->map.inode, identity + 8, 8);
	}
	r->map.name = name_parse(c);
}

static void task_parse(struct cursor *c, struct record *r)
{
	u32 pid = take_u32(c), tid;

	r->task.parent_pid = take_u32(c);
	tid = take_u32(c);
	r->task.parent_tid = take_u32(c);
	take_u64(c);
	id_parse(c, r);
	/* The trailer of a fork names who forked. */
	r->pid = pid;
	r->tid = tid;
}

bool record_parse(const u8 *bytes, u64 stacks, u32 nregs, struct record *r)
{
	const struct perf_event_header *h = (const struct perf_event_header *)bytes;
	struct cursor c = { bytes + sizeof(*h), h->size - sizeof(*h), false };

	*r = (struct record){ .type = h->type, .misc = h->misc };
	switch (h->type) {
	case PERF_RECORD_SAMPLE:
		sample_parse(&c, stacks, nregs, r);
		break;
	case PERF_RECORD_MMAP2:
		map_parse(&c, r);
		id_parse(&c, r);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		task_parse(&c, r);
		break;
	case PERF_RECORD_COMM:
		take_u64(&c);
		r->comm.name = name_parse(&c);
		id_parse(&c, r);
		break;
	case PERF_RECORD_LOST:
		take_u64(&c);
		/* fall through */
	case PERF_RECORD_LOST_SAMPLES:
		r->lost = take_u64(&c);
		id_parse(&c, r);
		break;
	case PERF_RECORD_SWITCH:
		id_parse(&c, r);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		take(&c, 24);
		id_parse(&c, r);
		break;
	default:
		return false;
	}
	return !c.cut;
}
