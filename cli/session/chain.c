/* SPDX-License-Identifier: MIT */
/*
 * From addresses to frames. A return address lies behind its call: the frame has the address before
 * it, which belongs to the call's line and function even where the call is the last instruction.
 */
#define _GNU_SOURCE
#include "cli/session/chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/session/record.h"
#include "cli/session/sampling.h"
#include "cli/symbols/space.h"
#include "cli/symbols/unwind.h"

#define FRAMES_MOST 512u
#define KERNEL_DEPTH_MOST 127u     /* perf_event_max_stack, unless it was changed */
#define CHAINS_BUCKETS 256u

/* The unwinder of a process. */
struct chains_process {
	struct chains_process *next;
	u32 pid;
	struct unwind *unwind;
};

struct chains {
	struct chains_process *processes[CHAINS_BUCKETS];
	struct cfi **cfi;            /* by object, what unwinding knows of it */
	bool *looked;
	u32 ncfi;
	struct unwind_chain chain;   /* of the sample at hand */
	u64 user[FRAMES_MOST];       /* its addresses by frame pointers */
};

/* Innermost first. */
struct frames {
	struct sampling *sampling;
	u32 pid;
	u64 time_ns;
	u32 frame[FRAMES_MOST];
	u32 n;
};

static u32 object_of(struct sampling *p, struct object *object)
{
	static const u32 kinds[] = {
		[OBJECT_FILE] = SAMPLES_FILE, [OBJECT_KERNEL] = SAMPLES_KERNEL,
		[OBJECT_VDSO] = SAMPLES_VDSO, [OBJECT_JIT] = SAMPLES_JIT,
	};
	u32 number = object_number(object);

	if (number >= p->nobjects) {
		u32 room = MAX(number + 1, 2 * p->nobjects);
		u32 *list = realloc(p->objects, room * sizeof(*list));

		if (!list)
			return SAMPLES_NONE;
		memset(list + p->nobjects, 0, (room - p->nobjects) * sizeof(*list));
		p->objects = list;
		p->nobjects = room;
	}
	if (!p->objects[number]) {
		const char *path = object_path(object);
		char jit[32];
		u32 found;

		/* Addresses of different processes are different places there. */
		if (object_pid(object)) {
			snprintf(jit, sizeof(jit), "[jit %u]", object_pid(object));
			path = jit;
		}
		found = samples_object(&p->samples, path, object_build_id(object), kinds[object_kind(object)]);

		if (found == SAMPLES_NONE)
			return found;
		p->objects[number] = found + 1;
	}
	return p->objects[number] - 1;
}

static void frame_push(struct frames *f, bool kernel, u64 address)
{
	struct samples *samples = &f->sampling->samples;
	struct space_place place;
	u32 object;

	if (f->n == FRAMES_MOST)
		return;
	if (kernel)
		spaces_kernel(f->sampling->spaces, address, &place);
	else if (!spaces_find(f->sampling->spaces, f->pid, f->time_ns, address, &place))
		place = (struct space_place){ .address = address };
	object = place.object ? object_of(f->sampling, place.object) :
				samples_object(samples, "[unknown]", NULL, SAMPLES_UNKNOWN);
	if (object != SAMPLES_NONE)
		f->frame[f->n++] = samples_frame(samples, object, place.address);
}

/*
 * What the kernel recorded by frame pointers: its own frames are taken, and the program's as well unless
 * they are to be unwound; these are then left in chains->user. Returns how many of them there are.
 */
static u32 frames_recorded(struct frames *f, const struct record *r, bool unwound)
{
	bool kernel = false, first = true;
	u32 user = 0;

	for (u64 i = 0; i < r->sample.nchain; i++) {
		u64 ip = r->sample.chain[i];

		if (ip >= (u64)PERF_CONTEXT_MAX) {
			kernel = ip == (u64)PERF_CONTEXT_KERNEL;
			first = true;
			continue;
		}
		if (kernel || !unwound)
			frame_push(f, kernel, first ? ip : ip - 1);
		if (!kernel && user < FRAMES_MOST)
			f->sampling->chains->user[user++] = ip;
		first = false;
	}
	return user;
}

/* ---- unwinding */

static struct unwind *process_unwind(struct chains *c, u32 pid)
{
	struct chains_process **to = &c->processes[pid % CHAINS_BUCKETS], *p = *to;

	while (p && p->pid != pid)
		p = p->next;
	if (p)
		return p->unwind;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	p->unwind = unwind_new();
	p->next = *to;
	*to = p;
	return p->unwind;
}

static bool cfi_room(struct chains *c, u32 number)
{
	u32 room = MAX(number + 1, 2 * c->ncfi);
	struct cfi **cfi;
	bool *looked;

	if (number < c->ncfi)
		return true;
	cfi = realloc(c->cfi, room * sizeof(struct cfi *));
	c->cfi = cfi ? cfi : c->cfi;
	looked = realloc(c->looked, room * sizeof(*looked));
	c->looked = looked ? looked : c->looked;
	if (!cfi || !looked)
		return false;
	memset(c->looked + c->ncfi, 0, (room - c->ncfi) * sizeof(*looked));
	memset(c->cfi + c->ncfi, 0, (room - c->ncfi) * sizeof(struct cfi *));
	c->ncfi = room;
	return true;
}

static struct cfi *object_cfi(struct chains *c, struct object *object)
{
	u32 number = object_number(object);
	const u8 *image;
	size_t size;

	if (!cfi_room(c, number))
		return NULL;
	if (!c->looked[number]) {
		c->looked[number] = true;
		image = object_image(object, &size);
		c->cfi[number] = image ? cfi_new(image, size) : NULL;
	}
	return c->cfi[number];
}

bool chain_function(struct chains *c, struct object *object, u64 address, u64 *start)
{
	struct cfi *cfi = object_kind(object) == OBJECT_FILE ? object_cfi(c, object) : NULL;
	struct cfi_function function;

	if (!cfi || !cfi_function(cfi, address, &function))
		return false;
	*start = function.start;
	return true;
}

static bool unwind_find(void *context, u64 address, struct unwind_object *object)
{
	struct frames *f = context;
	struct space_place place;

	if (!spaces_find(f->sampling->spaces, f->pid, f->time_ns, address, &place))
		return false;
	*object = (struct unwind_object){ place.start, place.end, place.offset, place.object,
					  object_cfi(f->sampling->chains, place.object) };
	return true;
}

static const u32 truncations[] = {
	[UNWIND_COMPLETE] = 0,
	[UNWIND_SHORT] = SAMPLES_SHORT_COPY,
	[UNWIND_OTHER_STACK] = SAMPLES_OTHER_STACK,
	[UNWIND_NO_CFI] = SAMPLES_NO_CFI,
	[UNWIND_BAD_CFI] = SAMPLES_BAD_CFI,
	[UNWIND_UNMAPPED] = SAMPLES_NO_MAPPING,
	[UNWIND_REMOTE] = SAMPLES_NO_UNWINDER,
	[UNWIND_MOST] = SAMPLES_TOO_DEEP,
	[UNWIND_ABI] = SAMPLES_NO_REGISTERS,
};

static void frames_unwound(struct frames *f, const struct record *r, u32 recorded, u32 *flags)
{
	struct chains *c = f->sampling->chains;
	const struct unwind_source source = { f, unwind_find };
	const struct unwind_sample sample = {
		.abi = r->sample.abi,
		.regs = r->sample.regs,
		.stack = r->sample.stack,
		.size = r->sample.stack_size,
		.callchain = c->user,
		.ncallchain = recorded,
	};
	struct unwind *unwind = process_unwind(c, f->pid);

	if (!unwind)
		return;
	unwind_sample_chain(unwind, &source, &sample, &c->chain);
	for (u32 i = 0; i < c->chain.n; i++)
		frame_push(f, false, c->chain.frames[i].pc - c->chain.frames[i].call);
	if (c->chain.end != UNWIND_COMPLETE)
		*flags |= SAMPLES_TRUNCATED | truncations[c->chain.end] << SAMPLES_TRUNCATION_SHIFT;
}

u32 chain_take(struct sampling *p, const struct record *r, u32 *flags)
{
	bool unwound = p->stacks & PERF_SAMPLE_STACK_USER;
	struct frames f;
	u32 chain = SAMPLES_NONE, recorded;

	f.sampling = p;
	f.pid = r->pid;
	f.time_ns = r->time_ns;
	f.n = 0;
	if (!p->stacks) {
		frame_push(&f, *flags & SAMPLES_IN_KERNEL, r->sample.ip);
	} else {
		recorded = frames_recorded(&f, r, unwound);
		if (unwound && r->sample.abi)
			frames_unwound(&f, r, recorded, flags);
		else if (recorded >= KERNEL_DEPTH_MOST)
			*flags |= SAMPLES_TRUNCATED | SAMPLES_TOO_DEEP << SAMPLES_TRUNCATION_SHIFT;
	}
	while (f.n && (chain = samples_chain(&p->samples, chain, f.frame[--f.n])) != SAMPLES_NONE)
		;
	return chain;
}

u64 chains_registers(void)
{
	return unwind_available() ? unwind_regs_mask() : 0;
}

struct chains *chains_new(void)
{
	return calloc(1, sizeof(struct chains));
}

void chains_free(struct chains *c)
{
	for (u32 i = 0; c && i < CHAINS_BUCKETS; i++)
		while (c->processes[i]) {
			struct chains_process *p = c->processes[i];

			c->processes[i] = p->next;
			unwind_free(p->unwind);
			free(p);
		}
	for (u32 i = 0; c && i < c->ncfi; i++)
		cfi_free(c->cfi[i]);
	if (c) {
		free(c->cfi);
		free(c->looked);
	}
	free(c);
}

void chains_changed(struct chains *c, u32 pid, u64 start, u64 end)
{
	struct chains_process *p = c->processes[pid % CHAINS_BUCKETS];

	while (p && p->pid != pid)
		p = p->next;
	if (p && p->unwind)
		unwind_flush(p->unwind, start, end);
}

void chains_ended(struct chains *c, u32 pid)
{
	struct chains_process **to = &c->processes[pid % CHAINS_BUCKETS], *p;

	while (*to && (*to)->pid != pid)
		to = &(*to)->next;
	p = *to;
	if (!p)
		return;
	*to = p->next;
	unwind_free(p->unwind);
	free(p);
}
