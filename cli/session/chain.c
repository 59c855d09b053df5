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

#define FRAMES_MOST 512u
#define KERNEL_DEPTH_MOST 127u     /* perf_event_max_stack, unless it was changed */

struct chains {
	u32 unused;
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

/* What the kernel took by frame pointers, side by side with its own. */
static void frames_recorded(struct frames *f, const struct record *r, u32 *flags)
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
		frame_push(f, kernel, first ? ip : ip - 1);
		first = false;
		user += !kernel;
	}
	if (user >= KERNEL_DEPTH_MOST)
		*flags |= SAMPLES_TRUNCATED;
}

u32 chain_take(struct sampling *p, const struct record *r, u32 *flags)
{
	struct frames f;
	u32 chain = SAMPLES_NONE;

	f.sampling = p;
	f.pid = r->pid;
	f.time_ns = r->time_ns;
	f.n = 0;
	if (r->sample.nchain)
		frames_recorded(&f, r, flags);
	else
		frame_push(&f, *flags & SAMPLES_IN_KERNEL, r->sample.ip);
	while (f.n && (chain = samples_chain(&p->samples, chain, f.frame[--f.n])) != SAMPLES_NONE)
		;
	return chain;
}

struct chains *chains_new(void)
{
	return calloc(1, sizeof(struct chains));
}

void chains_free(struct chains *chains)
{
	free(chains);
}

void chains_changed(struct chains *chains, u32 pid)
{
	(void)chains;
	(void)pid;
}
