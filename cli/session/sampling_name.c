/* SPDX-License-Identifier: MIT */
/* Names for the frames of all samples, once for each distinct place, when the run is over. */
#define _GNU_SOURCE
#include "cli/session/sampling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/session/chain.h"
#include "cli/session/functions.h"
#include "cli/session/internal.h"
#include "cli/session/offcpu.h"
#include "cli/symbols/resolve.h"
#include "cli/symbols/space.h"

/* An address and the frame that it is of. */
struct naming_place {
	u64 address;
	u32 frame;
};

/* All that lies in one object. */
struct naming_object {
	struct naming_place *places;
	u64 *addresses;
	u32 n, room;
};

struct naming {
	struct samples *samples;
	struct chains *chains;
	struct resolve_request *requests;
	struct naming_object **objects; /* of each request */
	size_t nrequests;
};

static const u32 reasons[] = {
	[RESOLVE_NAMED] = SAMPLES_RESOLVED,
	[RESOLVE_STRIPPED] = SAMPLES_STRIPPED,
	[RESOLVE_DELETED] = SAMPLES_DELETED,
	[RESOLVE_UNREADABLE] = SAMPLES_UNREADABLE,
	[RESOLVE_NO_MAP] = SAMPLES_NO_MAP,
	[RESOLVE_HIDDEN] = SAMPLES_HIDDEN,
	[RESOLVE_OUT_OF_TIME] = SAMPLES_NOT_ASKED,
};

static int place_order(const void *a, const void *b)
{
	const struct naming_place *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static u32 string_of(struct samples *samples, const char *text)
{
	return text ? samples_string(samples, text, strlen(text)) : SAMPLES_NONE;
}

/*
 * A function that no symbol tells of is known by where it begins, "libx.so+0x8a10", so that its samples
 * are not taken together with all others of the file; it counts as one without a name.
 */
static void name_by_place(struct naming *naming, struct object *object, u32 frame, u64 address)
{
	const char *path = object_path(object), *slash = strrchr(path, '/');
	struct samples_line line = { .file = SAMPLES_NONE };
	char *text;
	u64 start;

	if (!chain_function(naming->chains, object, address, &start) ||
	    asprintf(&text, "%s+%#llx", slash ? slash + 1 : path, (unsigned long long)start) < 0)
		return;
	line.function = string_of(naming->samples, text);
	samples_name(naming->samples, frame, &line, 1);
	free(text);
}

static void found(void *data, const struct resolve_request *request, size_t address, enum resolve_reason reason,
		  const struct resolve_line *lines, size_t n)
{
	struct naming *naming = data;
	const struct naming_object *o = naming->objects[request - naming->requests];
	struct samples *samples = naming->samples;
	struct samples_line named[64];
	u32 frame = o->places[address].frame, count = (u32)MIN(n, ARRAY_SIZE(named));

	/* Of too many the outer ones are kept: the last is the function itself. */
	for (u32 i = 0; i < count; i++) {
		const struct resolve_line *l = &lines[n - count + i];

		named[i] = (struct samples_line){ string_of(samples, l->function), string_of(samples, l->file), l->line };
	}
	if (count)
		samples_name(samples, frame, named, count);
	else if (reason == RESOLVE_STRIPPED)
		name_by_place(naming, request->object, frame, request->addresses[address]);
	samples->frames[frame].unresolved = reasons[reason];
}

/* Frames by the object that they lie in. NULL: no memory. */
static struct naming_object *frames_gather(const struct samples *samples)
{
	struct naming_object *all = calloc(samples->nobjects + 1, sizeof(*all));

	for (u32 i = 0; all && i < samples->nframes; i++)
		all[samples->frames[i].object].n++;
	for (u32 i = 0; all && i < samples->nobjects; i++) {
		all[i].places = calloc(all[i].n + 1, sizeof(*all[i].places));
		all[i].addresses = calloc(all[i].n + 1, sizeof(*all[i].addresses));
		all[i].room = all[i].places && all[i].addresses ? all[i].n : 0;
		all[i].n = 0;
	}
	for (u32 i = 0; all && i < samples->nframes; i++) {
		struct naming_object *o = &all[samples->frames[i].object];

		if (o->n < o->room)
			o->places[o->n++] = (struct naming_place){ samples->frames[i].address, i };
	}
	for (u32 i = 0; all && i < samples->nobjects; i++) {
		qsort(all[i].places, all[i].n, sizeof(*all[i].places), place_order);
		for (u32 k = 0; k < all[i].n; k++)
			all[i].addresses[k] = all[i].places[k].address;
	}
	return all;
}

static void requests_make(struct sampling *p, struct naming *naming, struct naming_object *all)
{
	struct object *object;

	for (size_t i = 0; (object = spaces_object(p->spaces, i)); i++) {
		u32 number = object_number(object), of = number < p->nobjects ? p->objects[number] : 0;
		struct naming_object *o = of ? &all[of - 1] : NULL;

		if (!o || !o->n)
			continue;
		naming->objects[naming->nrequests] = o;
		naming->requests[naming->nrequests++] = (struct resolve_request){ object, o->addresses, o->n };
	}
}

/* What is to be said of an object, now that all is known. */
static void objects_note(struct sampling *p)
{
	struct object *object;

	for (size_t i = 0; (object = spaces_object(p->spaces, i)); i++) {
		u32 number = object_number(object), of = number < p->nobjects ? p->objects[number] : 0;

		if (of && object_note(object) && !p->samples.objects[of - 1].note)
			p->samples.objects[of - 1].note = strdup(object_note(object));
	}
}

/* Regions may be the same under their new names: so all is added up once more. */
static void regions_name(struct session *s, struct samples *samples)
{
	struct samples named;

	if (!functions_name_regions(s, samples))
		return;
	samples_init(&named);
	if (samples_merge(&named, samples)) {
		warning("names of instrumented functions are missing in the samples: out of memory");
		samples_fini(&named);
		return;
	}
	named.note = samples->note;
	samples->note = NULL;
	named.off_note = samples->off_note;
	named.off_stacks = samples->off_stacks;
	named.off_waker = samples->off_waker;
	named.off_no_waker = samples->off_no_waker;
	named.off_no_delay = samples->off_no_delay;
	samples->off_note = samples->off_stacks = samples->off_waker = samples->off_no_waker = samples->off_no_delay = NULL;
	samples_fini(samples);
	*samples = named;
}

void sampling_name(struct session *s)
{
	struct sampling *p = s->sampling;
	struct resolve_options options = { .no_debug = false };
	struct naming naming = { .samples = p ? &p->samples : NULL, .chains = p ? p->chains : NULL };
	struct naming_object *all;

	if (!p)
		return;
	if (p->off)
		offcpu_end(s);
	options.debuginfod = s->options->sampling && s->options->sampling->debuginfod;
	options.raw_names = s->options->raw_names;
	samples_sort(&p->samples);
	spaces_refresh(p->spaces);
	for (u32 i = 0; i < p->samples.nframes; i++)
		if (!p->samples.frames[i].nlines)
			p->samples.frames[i].unresolved = SAMPLES_UNMAPPED;
	all = frames_gather(&p->samples);
	naming.requests = calloc(p->samples.nobjects + 1, sizeof(*naming.requests));
	naming.objects = calloc(p->samples.nobjects + 1, sizeof(struct naming_object *));
	if (all && naming.requests && naming.objects) {
		requests_make(p, &naming, all);
		if (resolve_objects(naming.requests, naming.nrequests, &options, found, &naming))
			warning("names of functions are missing: out of memory");
		objects_note(p);
	} else {
		warning("names of functions are missing: out of memory");
	}
	for (u32 i = 0; all && i < p->samples.nobjects; i++) {
		free(all[i].places);
		free(all[i].addresses);
	}
	free(all);
	free(naming.requests);
	free(naming.objects);
	regions_name(s, &p->samples);
}

void sampling_name_copy(struct session *s, struct sampling_named *named)
{
	struct samples copy;

	*named = (struct sampling_named){ .copied = false };
	if (!s->sampling)
		return;
	samples_init(&copy);
	if (samples_merge(&copy, &s->sampling->samples)) {
		samples_fini(&copy);
		return;
	}
	named->copied = true;
	named->samples = s->sampling->samples;
	s->sampling->samples = copy;
	if (named->samples.note)
		s->sampling->samples.note = strdup(named->samples.note);
	sampling_name(s);
}

void sampling_name_end(struct session *s, struct sampling_named *named)
{
	if (!named->copied)
		return;
	samples_fini(&s->sampling->samples);
	s->sampling->samples = named->samples;
}
