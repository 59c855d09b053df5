/* SPDX-License-Identifier: MIT */
/*
 * Hostile segments: decoded, summed, reported in both formats, without a crash and in bounded time.
 *
 * With libFuzzer (-DFUZZ_LIBFUZZER -fsanitize=fuzzer,address,undefined) the input is the segment.  Without, main()
 * mutates a sound one at random: fuzz_wire [ROUNDS [SEED]]; one round can be repeated by ROUNDS 1 and its seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/source_table.h"
#include "tests/unit/sample.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void fuzz_print(const struct report *report, const char *format, size_t width)
{
	const struct output_options options = { .width = width, .utf8 = width != 0 };
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file || output_write(output_find(format), file, report, &options) != 0)
		abort();
	fclose(file);
	free(text);
}

static void fuzz_group(const u8 *base, size_t size, enum profile_group group)
{
	struct wire_view view = { .base = base, .size = size };
	struct wire_walk walk = wire_walk_slots(&view);
	struct sample sample = { .options.regions = group == PROFILE_BY_THREAD ? "a*,*;b" : NULL };
	u32 slots = 0;

	sample_facts(&sample);
	profile_init(&sample.profile, group);
	while (wire_next_slot(&view, &walk) && slots++ < 1000)
		profile_add_slot(&sample.profile, &(struct profile_slot){ .view = &view, .ref = walk.ref,
				 .process = 1, .pid = SAMPLE_PID, .live = true, .now = 1ULL << 40 });
	profile_add_windows(&sample.profile, &view, 0, 1, SAMPLE_PID, 1ULL << 40);
	profile_add_losses(&sample.profile, &view);
	sample.report = report_build(&sample.profile, &sample.facts, &sample.options);
	if (!sample.report)
		abort();
	fuzz_print(sample.report, "json", 0);
	fuzz_print(sample.report, "table", 0);
	fuzz_print(sample.report, "table", 40);
	report_free(sample.report);
	profile_fini(&sample.profile);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	/* A copy of just the size: a byte read beyond it is seen. */
	u8 *copy = malloc(size + 1);
	u32 group;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	for (group = PROFILE_BY_PROCESS; group <= PROFILE_BY_REGION; group++)
		fuzz_group(copy, size, group);
	free(copy);
	return 0;
}

#ifndef FUZZ_LIBFUZZER

static u64 fuzz_state;

static u64 fuzz_random(void)
{
	fuzz_state ^= fuzz_state << 13;
	fuzz_state ^= fuzz_state >> 7;
	fuzz_state ^= fuzz_state << 17;
	return fuzz_state;
}

/* A segment with everything in it, sources and a lane of handlers too. */
static void fuzz_seed(struct sample *sample)
{
	struct wire_slot *slot;
	u32 other, node, i;

	memset(sample, 0, sizeof(*sample));
	sample_segment(sample, SOURCE_ALL, source_cells(SOURCE_ALL));
	for (i = 0; i < 8; i++)
		sample_region(sample, 0, i & 1 ? "alpha" : "beta", 3, 1000u << i, 10);
	sample_extras(sample);
	slot = segment_at(&sample->seg, sample->slot);
	segment_lane(&sample->seg, sample->slot, 1);
	other = segment_slot(&sample->seg, SAMPLE_PID, 99);
	node = segment_region(&sample->seg, other, 0, "abc");
	for (i = 0; i < 5; i++)
		node = segment_region(&sample->seg, other, node, "b");
	segment_call(&sample->seg, node, 12345, 3);
	segment_open(&sample->seg, other, node, 99);
	segment_lane_of(&sample->seg, other, 0)->pending =
		(struct wire_pending){ .wall = 7, .calls = 2, .node = node };
	slot->next = other;
}

/* A word that is likely to do harm: a ref inside, an end of the range, or noise. */
static u32 fuzz_word(u64 used)
{
	static const u32 odd[] = { 0, 1, 2, 63, 64, 255, 256, 1024, 1025, 65536, 0x7fffffff, 0x80000000,
				   0xfffffffe, 0xffffffff, 0x01000000, 0x10000000, 0x1a000000 };

	switch (fuzz_random() % 3) {
	case 0:
		return (u32)(fuzz_random() % (used / WIRE_UNIT + 2));
	case 1:
		return odd[fuzz_random() % ARRAY_SIZE(odd)];
	default:
		return (u32)fuzz_random();
	}
}

static void fuzz_mutate(u8 *base, u64 used)
{
	u64 n = 1 + fuzz_random() % 40, at;
	u32 word;

	while (n--) {
		/* The header's words are few: hit them now and then, but leave magic and version mostly. */
		at = fuzz_random() % 16 ? WIRE_PAGE + fuzz_random() % (used - WIRE_PAGE)
					: 16 + fuzz_random() % (sizeof(struct wire_header) - 16);
		at &= ~3ULL;
		word = fuzz_word(used);
		memcpy(base + at, &word, sizeof(word));
	}
}

int main(int argc, char **argv)
{
	u64 rounds = argc > 1 ? strtoull(argv[1], NULL, 0) : 200, i;
	u64 seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1, used, size;
	struct sample sample;
	u8 *work;

	fuzz_seed(&sample);
	used = sample.seg.header->used;
	work = malloc(used);
	if (!work)
		return 99;
	for (i = 0; i < rounds; i++) {
		fuzz_state = (seed + i) * 0x9e3779b97f4a7c15ULL + 1;
		memcpy(work, sample.seg.base, used);
		fuzz_mutate(work, used);
		size = fuzz_random() % 4 ? used : fuzz_random() % used;
		LLVMFuzzerTestOneInput(work, size);
	}
	free(work);
	segment_fini(&sample.seg);
	printf("1..1\nok 1 - %llu rounds from seed %llu\n", (unsigned long long)rounds,
	       (unsigned long long)seed);
	return 0;
}

#endif
