/* SPDX-License-Identifier: MIT */
/* Sound segments, and what breaks them; see seeds.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/source_table.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"
#include "tests/unit/sample.h"

enum { SEED_TINY, SEED_FULL, SEED_WIDE, SEED_AGENT, SEEDS };

static struct seed seeds[SEEDS];

/* ---- sound segments ---------------------------------------------------------------------------------- */

static void seed_take(u32 which, struct sample *sample)
{
	size_t size = sample->seg.header->used;
	u8 *bytes = malloc(size);

	if (!bytes)
		abort();
	memcpy(bytes, sample->seg.base, size);
	seed_init(&seeds[which], bytes, size);
	segment_fini(&sample->seg);
}

/* A call, and a function whose file has no path, so that nobody looks for it. */
static void seed_origins(struct sample *sample)
{
	static const char *const names[] = { "alpha", "\1" "11af:00ff:" };

	for (u32 i = 0; i < ARRAY_SIZE(names); i++) {
		u32 ref = segment_alloc(&sample->seg, sizeof(struct wire_origin));

		*(struct wire_origin *)segment_at(&sample->seg, ref) = (struct wire_origin){
			.next = sample->seg.header->origins, .name = segment_name(&sample->seg, names[i]),
			.library = segment_name(&sample->seg, "/lib/libz.so.1"), .kind = i + WIRE_ORIGIN_CALL,
			.caller = i ? 0 : segment_name(&sample->seg, "/bin/x"), .slots = 1,
		};
		sample->seg.header->origins = ref;
	}
	sample_region(sample, 0, names[1], 2, 100, 0);
}

/* What markers have added up at an edge: a region, and one in it. */
static u32 seed_marks(struct segment *seg, u64 calls, u64 ticks, u32 next)
{
	struct wire_marks marks = { .n = 2, .pid = SAMPLE_PID, .ticks = ticks };
	u32 size = offsetof(struct wire_marks, mark) + 2 * sizeof(struct wire_mark);
	u32 ref = segment_alloc(seg, sizeof(struct wire_snapshot) + size);
	struct wire_snapshot *snapshot = segment_at(seg, ref);

	marks.mark[0] = (struct wire_mark){ .name = segment_name(seg, "outer"), .open = 1, .calls = calls, .ticks = calls * 1000 };
	marks.mark[1] = (struct wire_mark){ .name = segment_name(seg, "inner"), .parent = 1, .calls = calls, .ticks = calls * 400 };
	*snapshot = (struct wire_snapshot){ .next = next, .file = WIRE_MARKS_FILE, .size = size };
	memcpy(snapshot->bytes, &marks, size);
	return ref;
}

static void seed_tiny(void)
{
	struct sample sample = { .slot = 0 };
	struct wire_window *window;
	u32 outer;

	sample_segment(&sample, 0, 0);
	outer = sample_region(&sample, 0, "outer", 2, 1000, 10);
	sample_region(&sample, outer, "inner", 1, 500, 0);
	segment_open(&sample.seg, sample.slot, outer, 99);
	window = segment_window(&sample.seg, SAMPLE_PID, "w", 5, 10);
	window->snapshots[0] = seed_marks(&sample.seg, 3, 5, 0);
	window->snapshots[1] = seed_marks(&sample.seg, 7, 10, 0);
	sample.seg.header->ended = seed_marks(&sample.seg, 1, 8, seed_marks(&sample.seg, 2, 7, 0));
	sample.seg.header->claims = 1;
	seed_take(SEED_TINY, &sample);
}

/* With everything in it: sources, a lane of handlers, two threads, a torn call, a cut name. */
static void seed_full(void)
{
	struct sample sample = { .slot = 0 };
	struct wire_slot *slot;
	struct wire_name *name;
	u32 other, node;

	sample_segment(&sample, 1u << SOURCE_rusage, source_cells(1u << SOURCE_rusage));
	for (u32 i = 0; i < 4; i++)
		sample_region(&sample, 0, i & 1 ? "alpha" : "beta", 3, 1000u << i, 10);
	sample_extras(&sample);
	seed_origins(&sample);
	slot = segment_at(&sample.seg, sample.slot);
	slot->begin_usage.valid = slot->end_usage.valid = 1;
	segment_lane(&sample.seg, sample.slot, 1);
	segment_process(&sample.seg, SAMPLE_PID + 1)->sealed_cpu = 1;
	other = segment_slot(&sample.seg, SAMPLE_PID + 1, 99);
	node = segment_region(&sample.seg, other, 0, "abc");
	name = segment_at(&sample.seg, wire_node_name(segment_at(&sample.seg, node)));
	name->full_length = 2000;
	for (u32 i = 0; i < 5; i++)
		node = segment_region(&sample.seg, other, node, "b");
	segment_call(&sample.seg, node, 12345, 3);
	segment_diagnosis(&sample.seg, other, WIRE_DIAG_THREAD_END, "b", 1);
	segment_open(&sample.seg, other, node, 99);
	segment_lane_of(&sample.seg, other, 0)->pending = (struct wire_pending){ .wall = 7, .calls = 2, .node = node };
	seed_take(SEED_FULL, &sample);
}

/* With more rows, names and values than there is room for at first. */
static void seed_wide(void)
{
	struct sample sample = { .slot = 0 };
	char name[16];
	u32 node = 0;

	sample_segment(&sample, 0, 0);
	for (u32 i = 0; i < 140; i++) {
		snprintf(name, sizeof(name), "wide %u", i);
		node = segment_region(&sample.seg, sample.slot, i % 4 ? node : 0, name);
		((struct wire_node *)segment_at(&sample.seg, node))->calls = i % 3;
		if (i % 3 == 0)
			segment_metric(&sample.seg, sample.slot, node, name, 1, 2, 2, 2, 2);
	}
	seed_take(SEED_WIDE, &sample);
}

void segments_open(char **argv)
{
	size_t size;
	u8 *bytes = seed_from_agent(argv, &size);

	if (!bytes || size > SEGMENTS_ROOM)
		abort();
	seed_init(&seeds[SEED_AGENT], bytes, size);
	seed_tiny();
	seed_full();
	seed_wide();
}

/* ---- changes ----------------------------------------------------------------------------------------- */

static struct seed *seed_of(const u8 *bytes, size_t size)
{
	const struct wire_header *header = (const void *)bytes;

	return &seeds[size < sizeof(*header) ? 0 : header->arena % SEEDS];
}

size_t segments_make(u8 *bytes)
{
	u64 which = fuzz_once_in(32) ? SEED_AGENT : fuzz_once_in(64) ? SEED_WIDE : fuzz_once_in(4) ? SEED_FULL : SEED_TINY;
	struct wire_header *header = (void *)bytes;

	memcpy(bytes, seeds[which].bytes, seeds[which].size);
	header->arena = which;
	header->free_slots = fuzz_random();
	return seeds[which].size;
}

/* A record of the type, or RECORD_TYPES: of any; the header where there is none. */
static const struct record *record_any(const struct seed *seed, u32 type)
{
	u32 from = (u32)fuzz_below(seed->nrecords);

	for (u32 i = 0; i < seed->nrecords; i++) {
		const struct record *record = &seed->records[(from + i) % seed->nrecords];

		if (type == RECORD_TYPES || record->type == type)
			return record;
	}
	return &seed->records[0];
}

static u32 ref_any(const struct seed *seed, u32 type)
{
	switch (fuzz_below(8)) {
	case 0: /* the last places that are inside, and the first that are not */
		return (u32)(seed->size / WIRE_UNIT + fuzz_below(4) - 2);
	case 1:
		return (u32)fuzz_odd();
	case 2:
		return record_any(seed, RECORD_TYPES)->ref;
	case 3:
		return (u32)fuzz_below(seed->size / WIRE_UNIT);
	default:
		return record_any(seed, type)->ref;
	}
}

static u64 place_value(const struct seed *seed, const struct seed_place *place, u64 now)
{
	static const u32 targets[RECORD_TYPES] = {
		[RECORD_HEADER] = RECORD_SLOT, [RECORD_SLOT] = RECORD_LANE, [RECORD_LANE] = RECORD_NODE,
		[RECORD_NODE] = RECORD_HIST, [RECORD_HIST] = RECORD_CHUNK, [RECORD_NAME] = RECORD_NAME,
		[RECORD_WINDOW] = RECORD_NAME, [RECORD_PROCESS] = RECORD_PROCESS,
	};
	static const u8 kinds[] = { WIRE_NODE_REGION, WIRE_NODE_METRIC, WIRE_NODE_METRIC + 1, WIRE_NODE_DIAGNOSIS,
				    WIRE_NODE_DIAGNOSIS + WIRE_DIAG_THREAD_END, WIRE_NODE_DIAGNOSIS + WIRE_DIAG_MAX, 0xff };

	switch (place->kind) {
	case PLACE_LINK:
		return ref_any(seed, place->record);
	case PLACE_REF:
		return ref_any(seed, targets[place->record]);
	case PLACE_REGION:
		return fuzz_below(2) ? (now & WIRE_NODE_NAME_MASK) | (u64)kinds[fuzz_below(ARRAY_SIZE(kinds))] << WIRE_NODE_KIND_SHIFT
				     : (now & ~(u64)WIRE_NODE_NAME_MASK) | ref_any(seed, RECORD_NAME);
	case PLACE_SMALL:
		return fuzz_below(2) ? fuzz_below(20) : fuzz_odd();
	default:
		return fuzz_below(4) ? fuzz_odd() : now + fuzz_below(3) - 1;
	}
}

static void place_change(const struct seed *seed, u8 *bytes, size_t size)
{
	const struct seed_place *place = &seed->places[fuzz_below(seed->nplaces)];
	u64 word = 0;

	if ((size_t)place->offset + place->size > size)
		return;
	/* Without magic, version or cells nothing is read: seldom. */
	if (place->offset < sizeof(struct wire_header) && fuzz_below(4))
		return;
	if (place->kind == PLACE_BYTES) {
		fuzz_mutate_text(bytes + place->offset, place->size, place->size);
		return;
	}
	memcpy(&word, bytes + place->offset, MIN(place->size, sizeof(word)));
	word = place_value(seed, place, word);
	memcpy(bytes + place->offset, &word, MIN(place->size, sizeof(word)));
}

/* The thread died in the middle of a marker, more or less. */
static void lane_tear(const struct seed *seed, u8 *bytes, size_t size)
{
	const struct record *at = record_any(seed, RECORD_LANE), *of = record_any(seed, RECORD_NODE);
	struct wire_lane *lane = (void *)(bytes + (size_t)at->ref * WIRE_UNIT);
	const struct wire_node *node = (const void *)(bytes + (size_t)of->ref * WIRE_UNIT);

	if (at->type != RECORD_LANE || of->type != RECORD_NODE || (size_t)at->ref * WIRE_UNIT + sizeof(*lane) > size ||
	    (size_t)of->ref * WIRE_UNIT + sizeof(*node) > size)
		return;
	lane->pending = (struct wire_pending){ .wall = fuzz_odd(), .node_wall = fuzz_odd(),
					       .calls = node->calls + fuzz_below(3), .node = of->ref };
	lane->depth = (u32)(fuzz_below(2) ? fuzz_below(4) : WIRE_DEPTH - 1 + fuzz_below(4));
}

/* One record over another, of its type or not. */
static void record_copy(const struct seed *seed, u8 *bytes, size_t size)
{
	const struct record *from = record_any(seed, RECORD_TYPES);
	const struct record *to = record_any(seed, fuzz_below(4) ? from->type : RECORD_TYPES);
	size_t n = MIN(from->size, to->size), target = (size_t)to->ref * WIRE_UNIT, source = (size_t)from->ref * WIRE_UNIT;

	if (to->type != RECORD_HEADER && target + n <= size && source + n <= size)
		memmove(bytes + target, bytes + source, n);
}

static void word_change(u8 *bytes, size_t size)
{
	size_t at = WIRE_PAGE + (fuzz_below(size > WIRE_PAGE ? size - WIRE_PAGE : 0) & ~3ULL);
	u32 word = (u32)fuzz_odd();

	if (at + sizeof(word) <= size)
		memcpy(bytes + at, &word, sizeof(word));
}

/* The end: anywhere, or just before or behind the end of a record. */
static size_t segment_cut(const struct seed *seed, size_t size)
{
	const struct record *record = record_any(seed, RECORD_TYPES);
	size_t at = (size_t)record->ref * WIRE_UNIT + record->size + fuzz_below(3) * 8 - 8;

	if (fuzz_below(2))
		at = fuzz_below(size + 1);
	return MIN(at, size);
}

size_t segments_mutate(u8 *bytes, size_t size)
{
	const struct seed *seed = seed_of(bytes, size);
	u64 n = 1 + fuzz_below(fuzz_once_in(8) ? 40 : 4);

	while (n--)
		switch (fuzz_below(16)) {
		case 0:
			word_change(bytes, size);
			break;
		case 1:
			record_copy(seed, bytes, size);
			break;
		case 2:
			lane_tear(seed, bytes, size);
			break;
		default:
			place_change(seed, bytes, size);
		}
	return fuzz_once_in(6) ? segment_cut(seed, size) : size;
}
