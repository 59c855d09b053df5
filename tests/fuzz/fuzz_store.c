/* SPDX-License-Identifier: MIT */
/*
 * Recordings that somebody else made, or that were damaged: bytes of a sound one are changed behind
 * the header. Reading ends with a message or with a report that can be printed, never otherwise.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/store/internal.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/devices.h"
#include "tests/unit/profiled.h"
#include "tests/unit/sample.h"
#include "tests/unit/surroundings.h"

#define ROOM (1u << 18)

static u8 sound[ROOM];
static size_t sound_size;
static int file_fd;
static const char path[] = "fuzz-store.spark"; /* SQLite follows links: /proc/self/fd would lead nowhere */

/* Waits of all causes and ends of some, of two threads. */
static void off_make(struct samples *samples)
{
	struct samples_thread thread = { .process = 1, .pid = 1, .tid = 1, .life_ns = 9000, .running_ns = 1000, .blocked = 8,
					 .preempted = 1, .disk_known = SAMPLES_DELAY_WHOLE, .disk_ns = 500 };
	struct samples_row row = { .process = 1, .pid = 1, .tid = 1, .region = SAMPLES_NONE, .chain = 0, .count = 1, .weight = 1000 };
	struct samples_wake wake = { .process = 1, .tid = 1, .region = SAMPLES_NONE, .name = samples_string(samples, "waker", 5),
				     .chain = 0, .count = 1, .ns = 1000 };

	samples->off = true;
	samples->off_waker = strdup("sched_waking");
	for (u32 kind = 0; kind < SAMPLES_OFF_KINDS; kind++) {
		row.flags = kind << SAMPLES_OFF_SHIFT | (kind % 2 ? SAMPLES_OFF_SHARED : SAMPLES_OFF_RECORDED);
		samples_off(samples, &row);
	}
	for (wake.by = 0; wake.by < SAMPLES_WAKER_KINDS; wake.by++)
		samples_wake(samples, &wake);
	samples_thread(samples, &thread);
	thread.tid = 2;
	thread.disk_known = SAMPLES_DELAY_LEAST;
	samples_thread(samples, &thread);
}

static void store_make_sound(void)
{
	static struct note_fact notes[] = { { 1, "note" } };
	static struct object_fact objects[] = { { "/bin/x", "00" } };
	struct provenance provenance = { .version = "1", .environment = "0", .notes = notes, .nnotes = 1,
					 .objects = objects, .nobjects = 1 };
	char place[] = "fuzz-store.XXXXXX";
	struct store_options options = { .group = PROFILE_BY_PROCESS };
	struct store_file file;
	struct samples samples;
	struct sample sample;
	struct block block;
	FILE *f;

	sample_init(&sample, PROFILE_BY_THREAD);
	profiled_samples(&samples);
	off_make(&samples);
	sample.facts.samples = &samples;
	sample.facts.provenance = &provenance;
	fuzz_check(devices_make(&sample.facts, &block), "there is memory for devices");
	surround(&sample.facts);
	sample_regions(&sample);
	sample_extras(&sample);
	sample_report(&sample);
	close(mkstemp(place));
	if (store_open(&file, place) || store_write(&file, &sample.profile, &sample.facts, &options))
		abort();
	f = fopen(place, "r");
	sound_size = f ? fread(sound, 1, sizeof(sound), f) : 0;
	if (!sound_size || sound_size == sizeof(sound))
		abort();
	fclose(f);
	unlink(place);
	store_close(&file);
	sample_fini(&sample);
	samples_fini(&samples);
	block_fini(&block);
}

static struct recording *read_input(const u8 *input, size_t size)
{
	if (ftruncate(file_fd, 0) || pwrite(file_fd, input, size, 0) != (ssize_t)size)
		abort();
	return recording_read(path);
}

static void fuzz_store_open(char **argv)
{
	struct recording *recording;

	(void)argv;
	store_make_sound();
	file_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	recording = read_input(sound, sound_size);
	fuzz_check(recording, "what was written can be read");
	fuzz_check(recording->facts.block && recording->facts.block->ntraced == 1 && recording->samples.nwakes == SAMPLES_WAKER_KINDS,
		   "all tables are in it");
	recording_free(recording);
}

static size_t fuzz_store_make(u8 *input)
{
	memcpy(input, sound, sound_size);
	return sound_size;
}

/* What is put in or taken out moves all pages, and little is read then: seldom. */
static size_t fuzz_store_mutate(u8 *input, size_t size)
{
	u64 changes = 1 + fuzz_below(16), at;

	if (fuzz_once_in(16))
		return fuzz_mutate_bytes(input, size, ROOM);
	while (changes-- && size > STORE_HEADER_SIZE) {
		at = STORE_HEADER_SIZE + fuzz_below(size - STORE_HEADER_SIZE);
		/* Most of a page is empty: changes belong to where something is. */
		while (at + 1 < size && !input[at])
			at++;
		input[at] = fuzz_once_in(2) ? (u8)fuzz_random() : (u8)(input[at] + (fuzz_once_in(2) ? 1 : -1));
	}
	return size;
}

static void fuzz_store_run(const u8 *input, size_t size)
{
	struct output_options options = { .utf8 = true, .width = 100 };
	struct recording *recording;
	struct report *report;

	recording = read_input(input, size);
	if (!recording)
		return;
	recording->options.report.profile = (struct report_profile){
		.detail = fuzz_once_in(2), .by_region = fuzz_once_in(2), .inner = true, .call_tree = true, .lines = "main" };
	report = report_build(&recording->profile, &recording->facts, &recording->options.report);
	fuzz_check(report, "a recording that could be read makes a report");
	output_write(output_find(fuzz_once_in(4) ? "html" : fuzz_once_in(2) ? "json" : "table"), fuzz_sink(), report, &options);
	report_free(report);
	recording_free(recording);
}

const struct fuzz fuzz_target = {
	.name = "store",
	.room = ROOM,
	.rounds = 500,
	.open = fuzz_store_open,
	.make = fuzz_store_make,
	.mutate = fuzz_store_mutate,
	.run = fuzz_store_run,
};
