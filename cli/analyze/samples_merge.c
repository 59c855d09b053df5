/* SPDX-License-Identifier: MIT */
/* Samples of one list added to another; see samples.h. */
#include "cli/analyze/samples.h"

#include <stdlib.h>
#include <string.h>

/* What numbers of the one list are in the other. */
struct samples_merge {
	struct samples *to;
	const struct samples *from;
	u32 *strings, *objects, *frames, *chains, *regions, *rows;
};

static u32 merged(const u32 *numbers, u32 i)
{
	return i == SAMPLES_NONE ? SAMPLES_NONE : numbers[i];
}

static int merge_text(char **to, const char *from)
{
	if (*to || !from)
		return 0;
	*to = strdup(from);
	return *to ? 0 : -1;
}

/* The rate of both: all samples by the CPU time of both. */
static double merge_rate(const struct samples *to, const struct samples *from)
{
	double seconds;

	if (!to->nevents || !from->nevents)
		return to->nevents ? to->effective : from->effective;
	if (!(to->effective > 0) || !(from->effective > 0))
		return 0;
	seconds = to->nevents / to->effective + from->nevents / from->effective;
	return ((double)to->nevents + from->nevents) / seconds;
}

static int merge_head(struct samples *to, const struct samples *from)
{
	if (!to->event) {
		to->clock = from->clock;
		to->frequency = from->frequency;
		to->stack_bytes = from->stack_bytes;
	}
	to->effective = merge_rate(to, from);
	to->lost += from->lost;
	to->throttled += from->throttled;
	return merge_text(&to->event, from->event) || merge_text(&to->stacks, from->stacks) ? -1 : 0;
}

static void merge_objects(struct samples_merge *merge)
{
	const struct samples *from = merge->from;
	u32 i;

	for (i = 0; i < from->nobjects && !merge->to->no_memory; i++) {
		const struct samples_object *object = &from->objects[i];
		u32 to = samples_object(merge->to, object->path, object->build_id, object->kind);

		merge->objects[i] = to;
		if (to != SAMPLES_NONE && merge_text(&merge->to->objects[to].note, object->note) != 0)
			merge->to->no_memory = true;
	}
}

/* The names of a frame, where the other list has none. */
static void merge_names(struct samples_merge *merge, u32 i)
{
	const struct samples_frame *frame = &merge->from->frames[i];
	struct samples_frame *known = &merge->to->frames[merge->frames[i]];
	u32 k, first = merge->to->nlines;

	if (known->nlines)
		return;
	if (known->unresolved == SAMPLES_NOT_ASKED)
		known->unresolved = frame->unresolved;
	for (k = 0; k < frame->nlines; k++) {
		struct samples_line line = merge->from->lines[frame->first_line + k];

		line.function = merged(merge->strings, line.function);
		line.file = merged(merge->strings, line.file);
		samples_name(merge->to, merge->frames[i], &line, 1);
	}
	known->first_line = first;
	known->nlines = merge->to->nlines - first;
}

static void merge_places(struct samples_merge *merge)
{
	const struct samples *from = merge->from;
	u32 i;

	for (i = 0; i < from->nstrings && !merge->to->no_memory; i++)
		merge->strings[i] = samples_string(merge->to, from->strings[i].bytes, from->strings[i].length);
	merge_objects(merge);
	for (i = 0; i < from->nframes && !merge->to->no_memory; i++) {
		merge->frames[i] = samples_frame(merge->to, merge->objects[from->frames[i].object], from->frames[i].address);
		if (merge->frames[i] != SAMPLES_NONE)
			merge_names(merge, i);
	}
	/* Those above stand in front of those below. */
	for (i = 0; i < from->nchains && !merge->to->no_memory; i++)
		merge->chains[i] = samples_chain(merge->to, merged(merge->chains, from->chains[i].parent),
						 merge->frames[from->chains[i].frame]);
	for (i = 0; i < from->nregions && !merge->to->no_memory; i++) {
		const struct samples_string *name = &from->strings[from->regions[i].name];

		merge->regions[i] = samples_region(merge->to, merged(merge->regions, from->regions[i].parent),
						   name->bytes, name->length);
	}
}

static void merge_rows(struct samples_merge *merge)
{
	u32 i;

	for (i = 0; i < merge->from->nrows && !merge->to->no_memory; i++) {
		struct samples_row row = merge->from->rows[i];

		row.region = merged(merge->regions, row.region);
		row.chain = merged(merge->chains, row.chain);
		merge->rows[i] = samples_row(merge->to, &row);
	}
	for (i = 0; i < merge->from->nmissed && !merge->to->no_memory; i++) {
		struct samples_missed missed = merge->from->missed[i];

		missed.region = merged(merge->regions, missed.region);
		samples_miss(merge->to, &missed);
	}
}

static void merge_off(struct samples_merge *merge)
{
	const struct samples *from = merge->from;
	struct samples *to = merge->to;
	u32 i;

	to->off |= from->off;
	to->off_polled |= from->off_polled;
	to->off_lost += from->off_lost;
	to->off_unwoken += from->off_unwoken;
	to->off_shared += from->off_shared;
	for (i = 0; i < from->noff_rows && !to->no_memory; i++) {
		struct samples_row row = from->off_rows[i];

		row.region = merged(merge->regions, row.region);
		row.chain = merged(merge->chains, row.chain);
		samples_off(to, &row);
	}
	for (i = 0; i < from->nthreads && !to->no_memory; i++)
		samples_thread(to, &from->threads[i]);
	for (i = 0; i < from->nwakes && !to->no_memory; i++) {
		struct samples_wake wake = from->wakes[i];

		wake.region = merged(merge->regions, wake.region);
		wake.chain = merged(merge->chains, wake.chain);
		wake.name = merged(merge->strings, wake.name);
		samples_wake(to, &wake);
	}
}

static void merge_events(struct samples_merge *merge)
{
	u32 i;

	for (i = 0; i < merge->from->nevents && !merge->to->no_memory; i++) {
		const struct samples_event *event = &merge->from->events[i];

		samples_event(merge->to, merge->rows[event->row], event->time_ns, event->cpu);
	}
	samples_sort(merge->to);
}

int samples_merge(struct samples *to, const struct samples *from)
{
	size_t n = (size_t)from->nstrings + from->nobjects + from->nframes + from->nchains + from->nregions + from->nrows;
	u32 *numbers = calloc(n + 1, sizeof(*numbers));
	struct samples_merge merge = { .to = to, .from = from, .strings = numbers };

	if (!numbers || merge_head(to, from) != 0) {
		free(numbers);
		to->no_memory = true;
		return -1;
	}
	merge.objects = merge.strings + from->nstrings;
	merge.frames = merge.objects + from->nobjects;
	merge.chains = merge.frames + from->nframes;
	merge.regions = merge.chains + from->nchains;
	merge.rows = merge.regions + from->nregions;
	merge_places(&merge);
	merge_rows(&merge);
	merge_off(&merge);
	merge_events(&merge);
	free(numbers);
	return to->no_memory ? -1 : 0;
}

bool samples_rename_regions(struct samples *samples, const char *(*rename)(void *context, const char *name), void *context)
{
	bool any = false;

	for (u32 i = 0; i < samples->nregions; i++) {
		struct samples_string *string = &samples->strings[samples->regions[i].name];
		const char *text = rename(context, string->bytes);
		char *bytes = text ? strdup(text) : NULL;

		if (!bytes)
			continue;
		free(string->bytes);
		string->bytes = bytes;
		string->length = (u32)strlen(bytes);
		any = true;
	}
	return any;
}
