/* SPDX-License-Identifier: MIT */
/* Where a region's threads waited: by the call of the system and the function of the program that it was made from. */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/report_build.h"

/* Its functions stand between the program's and the system: "read", "pthread_mutex_lock". */
static bool object_of_system(const struct samples_object *object)
{
	static const char *const begins[] = {
		"libc.", "libc-", "libpthread", "ld-", "ld.", "libsparkagent.", "libspark-markers.",
	};
	const char *slash = strrchr(object->path, '/'), *name = slash ? slash + 1 : object->path;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(begins); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return object->kind != SAMPLES_FILE && object->kind != SAMPLES_JIT;
}

static const char *cause_string(const struct samples *samples, u32 string)
{
	return string == SAMPLES_NONE ? NULL : samples->strings[string].bytes;
}

struct report_cause report_cause_of(const struct samples *samples, u32 chain)
{
	struct report_cause cause = { .call = NULL };
	bool ours = false;

	for (; chain != SAMPLES_NONE && !ours; chain = samples->chains[chain].parent) {
		const struct samples_frame *frame = &samples->frames[samples->chains[chain].frame];
		const struct samples_object *object = &samples->objects[frame->object];
		const struct samples_line *line = frame->nlines ? &samples->lines[frame->first_line] : NULL;

		if (!strcmp(object->path, "[blocked]")) {
			cause.call = line ? cause_string(samples, line->function) : NULL;
			continue;
		}
		ours = !object_of_system(object);
		if (!line || line->function == SAMPLES_NONE || (cause.function && !ours) || object->kind == SAMPLES_KERNEL)
			continue;
		cause.function = cause_string(samples, line->function);
		cause.file = cause_string(samples, line->file);
		cause.line = line->line;
	}
	return cause;
}

/* Where nobody looked the call is not known, but it is the one that was seen there. */
static bool cause_same(const struct report_cause *a, const struct report_cause *b)
{
	return a->kind == b->kind && a->function == b->function && (a->call == b->call || !a->call || !b->call);
}

static int cause_order(const void *a, const void *b)
{
	const struct report_cause *x = a, *y = b;

	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

static int cause_add(struct report_split *split, const struct report_cause *cause)
{
	struct report_cause *grown;
	size_t i;

	for (i = 0; i < split->ncauses; i++)
		if (cause_same(&split->causes[i], cause)) {
			split->causes[i].ns += cause->ns;
			split->causes[i].call = split->causes[i].call ? split->causes[i].call : cause->call;
			return 0;
		}
	grown = report_grow(split->causes, split->ncauses, sizeof(*grown));
	if (!grown)
		return -1;
	split->causes = grown;
	grown[split->ncauses++] = *cause;
	return 0;
}

/* The function that most samples were taken in. */
static int hot_find(struct report *report, const struct report_row *row)
{
	struct stacks_scope scope = { .whole = row->root, .inner = true, .region = row->root ? 0 : row->split->region + 1,
				      .process = row->process };
	const struct samples *samples = report->facts->samples;
	struct stacks_entry *entries;
	size_t n;

	if (!report->stacks || report->options.profile.off || (!row->root && row->split->region == SAMPLES_NONE))
		return 0;
	if (stacks_flat(report->stacks, &scope, &entries, &n) != 0)
		return -1;
	if (n && entries[0].self.count && entries[0].function != STACKS_INSTRUMENTATION) {
		const struct stacks_function *function = stacks_function(report->stacks, entries[0].function);

		row->split->hot = stacks_string(report->stacks, function->name);
		row->split->hot_file = stacks_string(report->stacks, entries[0].place.file);
		row->split->hot_line = entries[0].place.line;
		if (entries[0].nlines)
			row->split->hot_into = stacks_string(report->stacks, samples->lines[entries[0].first_line].function);
	}
	free(entries);
	return 0;
}

int report_add_causes(struct report *report, const struct report_row *row)
{
	const struct samples *samples = report->facts->samples;
	struct report_split *split = row->split;
	u32 i;

	split->causes = calloc(1, sizeof(*split->causes));
	if (!split->causes)
		return -1;
	/* Nobody waited there: samples do not know the region, which is not all regions. */
	if (!row->root && split->region == SAMPLES_NONE)
		return 0;
	for (i = 0; i < samples->noff_rows; i++) {
		const struct samples_row *off = &samples->off_rows[i];
		u32 kind = samples_off_kind(off->flags);
		struct report_cause cause;

		if (kind < SAMPLES_OFF_DISK || (row->process && row->process != off->process) ||
		    (row->tid && row->tid != off->tid) || !report_region_within(samples, off->region, split->region))
			continue;
		cause = report_cause_of(samples, off->chain);
		cause.kind = kind == SAMPLES_OFF_UNSEEN ? REPORT_OTHER : REPORT_DISK + kind - SAMPLES_OFF_DISK;
		cause.ns = split->scale * (double)off->weight;
		if (cause_add(split, &cause) != 0)
			return -1;
	}
	if (split->ncauses)
		qsort(split->causes, split->ncauses, sizeof(*split->causes), cause_order);
	return hot_find(report, row);
}
