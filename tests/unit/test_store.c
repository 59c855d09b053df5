/* SPDX-License-Identifier: MIT */
/* cli/store: what is written is read back, all of it; histograms packed and unpacked; nonsense refused. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/store/internal.h"
#include "sample.h"
#include "suite.h"

static struct sample sample;
static struct provenance provenance;
static struct note_fact notes[] = { { 1700000000123456789ULL, "a \"note\"\n" } };
static struct object_fact objects[] = { { "/usr/bin/sqlbench", "00ff" }, { "/odd\xff", NULL } };
static char path[] = "test_store.XXXXXX";
static struct store_file file;

static void setup(void)
{
	sample_init(&sample, PROFILE_BY_THREAD);
	provenance = (struct provenance){ .version = "1.2.3", .started_ns = 1700000000000000000ULL,
		.environment = "0123456789abcdef", .notes = notes, .nnotes = ARRAY_SIZE(notes), .objects = objects,
		.nobjects = ARRAY_SIZE(objects) };
	sample.facts.provenance = &provenance;
	strcpy(path + strlen(path) - 6, "XXXXXX");
	close(mkstemp(path));
	ck_assert_int_eq(store_open(&file, path), 0);
}

static void teardown(void)
{
	store_close(&file);
	unlink(path);
	sample_fini(&sample);
}

/* The report of what was read, as a format prints it; to be freed. */
static char *read_and_print(const char *format)
{
	struct recording *recording = recording_read(path);
	struct sample again = { .output = sample.output };
	char *text;

	ck_assert_ptr_nonnull(recording);
	recording->provenance.recorded = false;
	again.report = report_build(&recording->profile, &recording->facts, &recording->options.report);
	text = sample_print(&again, format);
	report_free(again.report);
	recording_free(recording);
	return text;
}

static void write_sample(void)
{
	struct store_options options = { .report = sample.options, .group = PROFILE_BY_REGION };

	ck_assert_int_eq(store_write(&file, &sample.profile, &sample.facts, &options), 0);
}

/* A report with a bit of everything, in each format. */
START_TEST(test_round_trip)
{
	static const char *const formats[] = { "json", "table", "csv" };
	char *before, *after;
	size_t i;

	sample_regions(&sample);
	sample_extras(&sample);
	sample.options.metrics = "wall*,calls,queue*";
	sample.options.sort_by = "calls";
	sample_report(&sample);
	write_sample();
	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		before = sample_print(&sample, formats[i]);
		after = read_and_print(formats[i]);
		ck_assert_str_eq(before, after);
		free(before);
		free(after);
	}
}
END_TEST

START_TEST(test_empty)
{
	char *before, *after;

	sample_report(&sample);
	write_sample();
	before = sample_print(&sample, "json");
	after = read_and_print("json");
	ck_assert_str_eq(before, after);
	free(before);
	free(after);
}
END_TEST

/* What the report does not show, and another grouping needs. */
START_TEST(test_profile)
{
	struct recording *recording;
	const struct profile_row *was, *is;
	u32 i, k;

	sample_regions(&sample);
	sample_extras(&sample);
	sample_report(&sample);
	write_sample();
	recording = recording_read(path);
	ck_assert_ptr_nonnull(recording);
	ck_assert_int_eq(recording->options.group, PROFILE_BY_REGION);
	ck_assert_uint_eq(recording->profile.nrows, sample.profile.nrows);
	ck_assert_uint_eq(recording->profile.nthreads, sample.profile.nthreads);
	for (i = 0; i < sample.profile.nrows; i++) {
		was = &sample.profile.rows[i];
		is = &recording->profile.rows[i];
		ck_assert_uint_eq(is->tid, was->tid);
		ck_assert_uint_eq(is->calls, was->calls);
		ck_assert_uint_eq(is->raw_wall, was->raw_wall);
		ck_assert_uint_eq(is->wall, was->wall);
		ck_assert_uint_eq(is->min, was->min);
		ck_assert_uint_eq(is->max, was->max);
		ck_assert_uint_eq(is->unsure, was->unsure);
		for (k = 0; k < HIST_BUCKETS; k++)
			ck_assert(!was->hist.octave[k / WIRE_HIST_SUB] || was->hist.octave[k / WIRE_HIST_SUB][k % WIRE_HIST_SUB] ==
				  (is->hist.octave[k / WIRE_HIST_SUB] ? is->hist.octave[k / WIRE_HIST_SUB][k % WIRE_HIST_SUB] : 0));
	}
	recording_free(recording);
}
END_TEST

static void hist_free(struct hist *hist)
{
	u32 i;

	for (i = 0; i < WIRE_HIST_OCTAVES; i++)
		free(hist->octave[i]);
	memset(hist, 0, sizeof(*hist));
}

START_TEST(test_pack)
{
	static const u64 counts[] = { 1, 127, 128, 1ULL << 40, ~0ULL };
	struct hist hist = { { NULL } }, again = { { NULL } };
	size_t size, i;
	u8 *bytes;

	bytes = store_pack_hist(&hist, &size);
	ck_assert_uint_eq(size, 0);
	free(bytes);
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		u32 bucket = (u32)i * (HIST_BUCKETS - 1) / (ARRAY_SIZE(counts) - 1);

		hist.octave[bucket / WIRE_HIST_SUB] = calloc(WIRE_HIST_SUB, sizeof(u64));
		hist.octave[bucket / WIRE_HIST_SUB][bucket % WIRE_HIST_SUB] = counts[i];
	}
	bytes = store_pack_hist(&hist, &size);
	ck_assert_int_eq(store_unpack_hist(&again, bytes, size), 0);
	for (i = 0; i < HIST_BUCKETS; i++)
		if (hist.octave[i / WIRE_HIST_SUB])
			ck_assert_uint_eq(again.octave[i / WIRE_HIST_SUB] ? again.octave[i / WIRE_HIST_SUB][i % WIRE_HIST_SUB] : 0,
					  hist.octave[i / WIRE_HIST_SUB][i % WIRE_HIST_SUB]);
	/* Cut anywhere within a number it makes no sense. */
	ck_assert_int_eq(store_unpack_hist(&again, bytes, size - 1), -EINVAL);
	free(bytes);
	hist_free(&hist);
	hist_free(&again);
}
END_TEST

START_TEST(test_unpack_nonsense)
{
	static const u8 beyond[] = { 0xff, 0x0f, 1, 1, 1 }, endless[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
		0x80, 0x80, 1 }, no_count[] = { 5 };
	struct hist hist = { { NULL } };

	ck_assert_int_eq(store_unpack_hist(&hist, beyond, sizeof(beyond)), -EINVAL);
	ck_assert_int_eq(store_unpack_hist(&hist, endless, sizeof(endless)), -EINVAL);
	ck_assert_int_eq(store_unpack_hist(&hist, no_count, sizeof(no_count)), -EINVAL);
	hist_free(&hist);
}
END_TEST

START_TEST(test_expand)
{
	char *name;

	setenv("PMIX_RANK", "12", 1);
	name = store_expand("a%%b.%r");
	ck_assert_str_eq(name, "a%b.12");
	free(name);
	name = store_expand("ends with %");
	ck_assert_str_eq(name, "ends with %");
	free(name);
	ck_assert_ptr_null(store_expand("%q"));
	setenv("PMIX_RANK", "../up", 1);
	ck_assert_ptr_null(store_expand("%r"));
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("store");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, test_round_trip);
	tcase_add_test(tests, test_empty);
	tcase_add_test(tests, test_profile);
	tcase_add_test(tests, test_pack);
	tcase_add_test(tests, test_unpack_nonsense);
	tcase_add_test(tests, test_expand);
	return suite_run("store", tests);
}
