/* SPDX-License-Identifier: MIT */
/*
 * Hostile segments: sound ones, broken where it may hurt, decoded, summed, reported and printed.
 * What is done with a segment depends on its bytes alone.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"
#include "tests/unit/sample.h"

#define NOW (1ULL << 40)

static struct sample facts;

static void facts_open(char **argv)
{
	segments_open(argv);
	sample_facts(&facts);
	/* Of a report's constant parts a little is enough. */
	facts.facts.ntotals = 2;
	facts.facts.ncapabilities = 1;
}

/* ---- memory that is short ------------------------------------------------------------------------------ */

/* The linker sends the calls here (--wrap). How many allocations still succeed; 0: all. */
static u32 allocations_left;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool allocation_fails(void)
{
	return allocations_left && --allocations_left == 0 && ++allocations_left;
}

void *__wrap_malloc(size_t size)
{
	return allocation_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return allocation_fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return allocation_fails() ? NULL : __real_realloc(old, size);
}

/* ---- reading ----------------------------------------------------------------------------------------- */

static void report_print(const struct report *report, const char *format, const struct output_options *options)
{
	FILE *file = fuzz_sink();

	fuzz_check(output_write(output_find(format), file, report, options) == 0, "the output could be written");
	fflush(file);
}

static void json_is_sound(void)
{
	size_t len;
	const char *text = fuzz_sink_text(&len);
	json_error_t why;
	json_t *json;

	if (!text)
		return;
	json = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
	if (!json)
		fprintf(stderr, "%s at byte %d of %zu\n", why.text, why.position, len);
	fuzz_check(json != NULL, "the report is JSON");
	json_decref(json);
}

/* Both ends of what is said to be inside. */
static void touch(const void *bytes, size_t size)
{
	static volatile u8 sum;

	if (bytes)
		sum = (u8)(sum + ((const u8 *)bytes)[0] + ((const u8 *)bytes)[size - 1]);
}

/* Each record at places near the end, and behind it. */
static void end_touch(const struct wire_view *view)
{
	u32 last = (u32)(view->size / WIRE_UNIT) + 2;
	const char *bytes;
	size_t len;

	for (u32 ref = last > 140 ? last - 140 : 0; ref < last; ref++) {
		touch(wire_view_process(view, ref), sizeof(struct wire_process));
		touch(wire_view_slot(view, ref), sizeof(struct wire_slot));
		touch(wire_view_window(view, ref), sizeof(struct wire_window));
		touch(wire_view_page(view, ref), WIRE_PAGE);
		touch(wire_view_hist(view, ref), sizeof(struct wire_hist));
		touch(wire_view_node(view, ref, WIRE_CELLS), sizeof(struct wire_node) + WIRE_CELLS * sizeof(u64));
		if (wire_view_name(view, ref, &bytes, &len) && len)
			touch(bytes, len);
	}
}

static void profile_read(struct profile *profile, struct wire_view *view)
{
	struct wire_walk walk = wire_walk_slots(view);
	const struct wire_slot *slot;

	while ((slot = wire_next_slot(view, &walk)))
		profile_add_slot(profile, &(struct profile_slot){ .view = view, .ref = walk.ref, .process = 1 + slot->pid % 2,
				 .pid = SAMPLE_PID + slot->pid % 2, .live = slot->state == WIRE_SLOT_LIVE, .now = NOW });
	/* A ref that no list has. */
	profile_add_slot(profile, &(struct profile_slot){ .view = view, .ref = walk.next, .process = 1, .pid = SAMPLE_PID,
			 .now = NOW });
	profile_add_windows(profile, view, 0, 1, SAMPLE_PID, NOW);
	profile_add_windows(profile, view, SAMPLE_PID, 1, SAMPLE_PID, NOW);
	profile_add_losses(profile, view);
	profile_add_origins(profile, view);
}

/* As a recording has it: by thread, with a limit, and merged for the report. */
static void profile_read_merged(struct profile *profile, struct wire_view *view, u64 how)
{
	static const char *const path[] = { "a", "b" };
	struct profile threads;

	profile_init(&threads, PROFILE_BY_THREAD);
	threads.threads_most = how & 1;
	profile_read(&threads, view);
	profile_merge(profile, &threads);
	profile_find_row(&threads, 1, how & 2 ? SAMPLE_PID : 0, path, ARRAY_SIZE(path));
	profile_fini(&threads);
}

/* As sparkctl does it: a window from outside is added, and a process that is alone is compared with another's. */
static void profile_go_on(struct profile *profile, u64 how)
{
	const struct profile_window outside = { .process = 1, .pid = SAMPLE_PID, .calls = 2, .wall = NOW };

	if (how & 1)
		profile_add_window(profile, &outside, "w", 1);
	else
		profile_group_alone(profile);
}

static void segment_run(const u8 *bytes, size_t size)
{
	const struct wire_header *header = (const void *)bytes;
	u64 how = size < sizeof(*header) ? size : header->free_slots;
	struct report_options options = { .regions = how & 0x700 ? NULL : "a*,*;b",
					  .metrics = how & 0x70 ? "calls,wall,cpu" : NULL };
	struct wire_view view = { .base = bytes, .size = size };
	struct profile profile;
	struct report *report;

	profile_init(&profile, (enum profile_group)(how % 3));
	allocations_left = how >> 48 & 15 ? 0 : 2 + (how >> 52 & 127);
	if (how >> 44 & 3)
		profile_read(&profile, &view);
	else
		profile_read_merged(&profile, &view, how >> 28);
	if (!(how >> 20 & 3))
		profile_go_on(&profile, how >> 22);
	report = report_build(&profile, &facts.facts, &options);
	fuzz_check(report || allocations_left, "there is a report");
	allocations_left = 0;
	if (!report)
		goto out;
	if (how >> 36 & 3)
		goto out;
	report_print(report, "json", &(struct output_options){ .width = 0 });
	if (how >> 32 & 15)
		goto out;
	json_is_sound();
	end_touch(&view);
	report_print(report, "table", &(struct output_options){ .width = how >> 40 & 1 ? 0 : 40, .utf8 = how >> 41 & 1 });
out:
	report_free(report);
	profile_fini(&profile);
}

const struct fuzz fuzz_target = {
	.name = "segment",
	.room = SEGMENTS_ROOM,
	.rounds = 5000,
	.open = facts_open,
	.make = segments_make,
	.mutate = segments_mutate,
	.run = segment_run,
};
