/* SPDX-License-Identifier: MIT */
/* cli/store: what is written is read back, all of it; histograms packed and unpacked; nonsense refused. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/store/internal.h"
#include "profiled.h"
#include "sample.h"
#include "suite.h"
#include "surroundings.h"

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

/* Samples, in each format; the times and all other lists. */
START_TEST(test_samples)
{
	static const char *const formats[] = { "json", "table" };
	struct recording *recording;
	struct samples samples;
	char *before, *after;
	size_t i;

	profiled_samples(&samples);
	sample.processes[0].pid = 1001;
	sample.facts.samples = &samples;
	sample_regions(&sample);
	sample_report(&sample);
	write_sample();
	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		before = sample_print(&sample, formats[i]);
		after = read_and_print(formats[i]);
		ck_assert_str_eq(before, after);
		free(before);
		free(after);
	}
	recording = recording_read(path);
	ck_assert_uint_eq(recording->samples.nevents, samples.nevents);
	for (i = 0; i < samples.nevents; i++)
		ck_assert(!memcmp(&recording->samples.events[i], &samples.events[i], sizeof(samples.events[i])));
	ck_assert_uint_eq(recording->samples.nrows, samples.nrows);
	for (i = 0; i < samples.nrows; i++)
		ck_assert(!memcmp(&recording->samples.rows[i], &samples.rows[i], sizeof(samples.rows[i])));
	ck_assert_uint_eq(recording->samples.nmissed, samples.nmissed);
	for (i = 0; i < samples.nmissed; i++) {
		ck_assert_uint_eq(recording->samples.missed[i].process, samples.missed[i].process);
		ck_assert_uint_eq(recording->samples.missed[i].region, samples.missed[i].region);
		ck_assert_uint_eq(recording->samples.missed[i].flags, samples.missed[i].flags);
		ck_assert_uint_eq(recording->samples.missed[i].lost, samples.missed[i].lost);
		ck_assert_uint_eq(recording->samples.missed[i].throttled, samples.missed[i].throttled);
	}
	ck_assert_uint_eq(recording->samples.nframes, samples.nframes);
	for (i = 0; i < samples.nframes; i++) {
		ck_assert_uint_eq(recording->samples.frames[i].address, samples.frames[i].address);
		ck_assert_uint_eq(recording->samples.frames[i].unresolved, samples.frames[i].unresolved);
	}
	ck_assert_str_eq(recording->samples.objects[0].note, "replaced during the run");
	ck_assert_uint_eq(recording->samples.stack_bytes, 8192);
	recording_free(recording);
	samples_fini(&samples);
}
END_TEST

/* Intervals off the CPU, with causes, and the lives of threads; samples there are none. */
START_TEST(test_off)
{
	struct samples_row row = { .process = 1, .pid = 1, .tid = 2, .region = SAMPLES_NONE, .chain = SAMPLES_NONE,
				   .count = 3, .weight = 1ULL << 40 };
	struct samples_thread thread = { 1, 1, 2, 100, 60, 5, 7, 8, 9, true, SAMPLES_DELAY_LEAST, 1ULL << 42 };
	struct samples_wake wake = { .process = 1, .tid = 2, .region = SAMPLES_NONE, .waker_process = 1, .waker_pid = 1,
				     .waker_tid = 3, .chain = SAMPLES_NONE, .count = 6, .ns = 1ULL << 41 };
	struct recording *recording;
	struct samples samples;

	samples_init(&samples);
	samples.off = true;
	samples.off_lost = 4;
	samples.off_note = strdup("a note");
	for (u32 kind = 0; kind < SAMPLES_OFF_KINDS; kind++) {
		row.flags = kind << SAMPLES_OFF_SHIFT | SAMPLES_OFF_RECORDED | SAMPLES_TRUNCATED | SAMPLES_BAD_CFI << 8;
		samples_off(&samples, &row);
	}
	row.flags = SAMPLES_OFF_IO << SAMPLES_OFF_SHIFT | SAMPLES_OFF_SHARED | SAMPLES_UNATTRIBUTED;
	samples_off(&samples, &row);
	samples_thread(&samples, &thread);
	thread.woken_known = false;
	thread.woken_ns = 0;
	thread.disk_known = SAMPLES_DELAY_UNKNOWN;
	samples_thread(&samples, &thread);
	samples.off_waker = strdup("sched_waking");
	samples.off_unwoken = 12;
	samples.off_no_delay = strdup("for some");
	wake.name = samples_string(&samples, "producer", 8);
	for (wake.by = 0; wake.by < SAMPLES_WAKER_KINDS; wake.by++)
		samples_wake(&samples, &wake);
	sample.facts.samples = &samples;
	write_sample();
	recording = recording_read(path);
	ck_assert_ptr_nonnull(recording);
	ck_assert_str_eq(recording->samples.off_waker, "sched_waking");
	ck_assert_ptr_null(recording->samples.off_no_waker);
	ck_assert_uint_eq(recording->samples.off_unwoken, 12);
	ck_assert_uint_eq(recording->samples.nwakes, SAMPLES_WAKER_KINDS);
	for (u32 i = 0; i < SAMPLES_WAKER_KINDS; i++) {
		ck_assert_uint_eq(recording->samples.wakes[i].by, i);
		ck_assert_uint_eq(recording->samples.wakes[i].waker_tid, 3);
		ck_assert_uint_eq(recording->samples.wakes[i].ns, 1ULL << 41);
		ck_assert_str_eq(recording->samples.strings[recording->samples.wakes[i].name].bytes, "producer");
	}
	ck_assert(recording->samples.off && !samples_taken(&recording->samples));
	ck_assert_uint_eq(recording->samples.off_lost, 4);
	ck_assert_str_eq(recording->samples.off_note, "a note");
	ck_assert_uint_eq(recording->samples.noff_rows, samples.noff_rows);
	for (u32 i = 0; i < samples.noff_rows; i++)
		ck_assert(!memcmp(&recording->samples.off_rows[i], &samples.off_rows[i], sizeof(samples.off_rows[i])));
	ck_assert_uint_eq(recording->samples.nthreads, 2);
	ck_assert_uint_eq(recording->samples.threads[0].woken_ns, 9);
	ck_assert(recording->samples.threads[0].woken_known && !recording->samples.threads[1].woken_known);
	ck_assert_uint_eq(recording->samples.threads[1].preempted, 8);
	ck_assert_uint_eq(recording->samples.threads[0].disk_known, SAMPLES_DELAY_LEAST);
	ck_assert_uint_eq(recording->samples.threads[0].disk_ns, 1ULL << 42);
	ck_assert_uint_eq(recording->samples.threads[1].disk_known, SAMPLES_DELAY_UNKNOWN);
	ck_assert_str_eq(recording->samples.off_no_delay, "for some");
	recording_free(recording);
	samples_fini(&samples);
}
END_TEST

static int view_row(void *context, int n, char **texts, char **names)
{
	char *text = context;

	(void)names;
	for (int i = 0; i < n; i++)
		sprintf(text + strlen(text), "%s%s", texts[i] ? texts[i] : "-", i + 1 < n ? " " : "\n");
	return 0;
}

/* What people may ask of the file. */
START_TEST(test_view)
{
	static const char sql[] = "SELECT path, object, function, file, line, count FROM sampled WHERE path LIKE 'load%'"
		" OR function LIKE 'sqlite3B%' OR path IS NULL AND count = 1 ORDER BY count";
	struct samples samples;
	char text[500] = "";
	sqlite3 *db;

	profiled_samples(&samples);
	sample.facts.samples = &samples;
	write_sample();
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, sql, view_row, text, NULL), SQLITE_OK);
	ck_assert_str_eq(text, "- sqlbench main /src/x.c 1 1\n"
			 "- sqlbench main /src/x.c 1 1\n"
			 "load;insert /usr/lib/libsparkagent.so - - - 2\n"
			 "query /lib/libsqlite3.so.0 sqlite3BtreeMovetoUnpacked /src/x.c 5731 22\n"
			 "load;insert [kernel] - - - 30\n");
	sqlite3_close(db);
	samples_fini(&samples);
}
END_TEST

/* Without samples there are none of their tables, and a file of the version before is read as well. */
START_TEST(test_no_samples)
{
	struct recording *recording;
	char text[500] = "";
	sqlite3 *db;

	write_sample();
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, "SELECT name FROM sqlite_schema WHERE name LIKE 'sampl%'", view_row, text, NULL),
			 SQLITE_OK);
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(sqlite3_exec(db, "PRAGMA user_version = 2", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	recording = recording_read(path);
	ck_assert_ptr_nonnull(recording);
	ck_assert_ptr_null(recording->facts.samples);
	recording_free(recording);
}
END_TEST

/* A million of 4,000 rows on 16 CPUs: at most 6 bytes each, and quick. */
START_TEST(test_million)
{
	struct samples_row row = { .process = 1, .pid = 1, .tid = 1, .region = SAMPLES_NONE };
	struct recording *recording;
	struct samples samples;
	u64 time = 0, begin, end;
	struct stat st;
	u32 i, object;

	samples_init(&samples);
	object = samples_object(&samples, "a.out", NULL, SAMPLES_FILE);
	for (i = 0; i < 1000000; i++) {
		time += 62500 + i * 2654435761u % 1000;
		row.chain = samples_chain(&samples, SAMPLES_NONE, samples_frame(&samples, object, i * 7919u % 4000));
		if (samples_add(&samples, &row, 1001001, time, i % 16) != 0)
			ck_abort_msg("out of memory");
	}
	sample.facts.samples = &samples;
	begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	write_sample();
	end = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_le(st.st_size, 6000000);
	/* Many times what it takes, for sanitizers. */
	ck_assert_uint_lt(end - begin, 3 * NSEC_PER_SEC);
	recording = recording_read(path);
	ck_assert_ptr_nonnull(recording);
	ck_assert_uint_eq(recording->samples.nevents, 1000000);
	ck_assert_uint_eq(recording->samples.events[999999].time_ns, time);
	recording_free(recording);
	samples_fini(&samples);
}
END_TEST

START_TEST(test_events_nonsense)
{
	static const u8 cut[] = { 2, 1 }, no_row[] = { 2, 3, 0 }, no_cpu[] = { 2, 1, 0xff, 0xff, 0xff, 0xff, 0x7f },
		unknown_cpu[] = { 2, 0 };
	static const struct samples_event events[] = { { 5, 0, 0 }, { 3, 0, 1 }, { ~0ULL, 0, ~0u }, { 0, 0, 7 }, { 2, 0, 7 } };
	struct samples_row row = { .chain = SAMPLES_NONE, .region = SAMPLES_NONE };
	struct samples samples;
	size_t size, i;
	u8 *bytes;

	samples_init(&samples);
	samples_row(&samples, &row);
	ck_assert_int_eq(store_unpack_events(&samples, cut, sizeof(cut)), -EINVAL);
	ck_assert_int_eq(store_unpack_events(&samples, no_row, sizeof(no_row)), -EINVAL);
	ck_assert_int_eq(store_unpack_events(&samples, no_cpu, sizeof(no_cpu)), -EINVAL);
	ck_assert_int_eq(store_unpack_events(&samples, unknown_cpu, sizeof(unknown_cpu)), -EINVAL);
	ck_assert_uint_eq(samples.nevents, 0);
	for (i = 0; i < ARRAY_SIZE(events); i++)
		samples_event(&samples, events[i].row, events[i].time_ns, events[i].cpu);
	bytes = store_pack_events(&samples, 0, ARRAY_SIZE(events), &size);
	ck_assert_int_eq(store_unpack_events(&samples, bytes, size), 0);
	ck_assert_uint_eq(samples.nevents, 2 * ARRAY_SIZE(events));
	for (i = 0; i < ARRAY_SIZE(events); i++)
		ck_assert(!memcmp(&samples.events[ARRAY_SIZE(events) + i], &events[i], sizeof(events[i])));
	free(bytes);
	samples_fini(&samples);
}
END_TEST

/* Each statement makes a file that is read no more. */
static const struct { const char *sql, *why; } damages[] = {
	{ "UPDATE sample SET chain = 1000 WHERE id = 0", "a sample makes no sense" },
	{ "UPDATE sample SET path = 99 WHERE id = 1", "a sample makes no sense" },
	{ "UPDATE sample SET process = 7", "a sample makes no sense" },
	{ "UPDATE sample SET unattributed = 1", "a sample makes no sense" },
	{ "UPDATE sample SET id = 4000 WHERE id = 3", "a sample makes no sense" },
	{ "UPDATE chain SET parent = id WHERE id = 2", "a chain makes no sense" },
	{ "UPDATE chain SET parent = 5 WHERE id = 2", "a chain makes no sense" },
	{ "UPDATE chain SET frame = -1", "a chain makes no sense" },
	{ "UPDATE chain SET frame = NULL", "a chain makes no sense" },
	{ "UPDATE frame SET object = 77", "a frame makes no sense" },
	{ "UPDATE frame SET unresolved = 'x'", "a frame makes no sense" },
	{ "UPDATE frame SET address = 1", "a frame makes no sense" },
	{ "UPDATE code_object SET kind = NULL", "an object of code makes no sense" },
	{ "UPDATE code_object SET path = NULL", "an object of code makes no sense" },
	{ "UPDATE code_name SET text = 'same'", "a name of code makes no sense" },
	{ "UPDATE line SET function = 1000", "a line makes no sense" },
	{ "UPDATE line SET place = 1", "a line makes no sense" },
	{ "UPDATE line SET frame = NULL", "a line makes no sense" },
	{ "UPDATE sampled_path SET parent = 2", "a region of samples makes no sense" },
	{ "UPDATE sampled_path SET name = NULL", "a region of samples makes no sense" },
	{ "UPDATE sample_events SET events = x'028001'", "a time of samples makes no sense" },
	{ "DELETE FROM sample WHERE id = 7", "a time of samples makes no sense" },
	{ "DROP TABLE sample", "it has no table sample" },
	{ "DROP TABLE storage_device", "it has no table storage_device" },
	{ "UPDATE storage_device SET path = 3", "a device makes no sense" },
	{ "UPDATE storage_device SET depth = 7", "a device makes no sense" },
	{ "UPDATE storage_path SET path = NULL", "a path of storage makes no sense" },
	{ "UPDATE cache SET regime = 'hot'", "the state of the page cache makes no sense" },
	{ "INSERT INTO cache SELECT * FROM cache", "the state of the page cache makes no sense" },
	{ "UPDATE cache_file SET regime = NULL", "a file of the page cache makes no sense" },
	{ "DROP TABLE cache_file", "it has no table cache_file" },
};

START_TEST(test_damaged)
{
	struct samples samples;
	char message[300] = "", wanted[200];
	sqlite3 *db;
	int saved = dup(STDERR_FILENO), fd[2];

	profiled_samples(&samples);
	sample.facts.samples = &samples;
	surround(&sample.facts);
	write_sample();
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, damages[_i].sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	ck_assert_int_eq(pipe(fd), 0);
	dup2(fd[1], STDERR_FILENO);
	ck_assert_ptr_null(recording_read(path));
	dup2(saved, STDERR_FILENO);
	ck_assert_int_gt(read(fd[0], message, sizeof(message) - 1), 0);
	snprintf(wanted, sizeof(wanted), "sparkctl: %s is damaged: %s\n", path, damages[_i].why);
	ck_assert_str_eq(message, wanted);
	close(saved);
	close(fd[0]);
	close(fd[1]);
	samples_fini(&samples);
}
END_TEST

/* A report with a bit of everything, in each format. */
START_TEST(test_round_trip)
{
	static const char *const formats[] = { "json", "table", "csv" };
	char *before, *after;
	size_t i;

	sample_regions(&sample);
	sample_extras(&sample);
	surround(&sample.facts);
	sample.options.metrics = "wall*,calls,queue*";
	sample.options.sort_by = "calls";
	sample.facts.start_waits = 2;
	sample.facts.start_longest_ns = 512 * NSEC_PER_MSEC;
	sample.facts.start_unheard = 1;
	sample_report(&sample);
	write_sample();
	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		before = sample_print(&sample, formats[i]);
		after = read_and_print(formats[i]);
		ck_assert_str_eq(before, after);
		if (!i)
			ck_assert(strstr(after, "at most 512 ms") && strstr(after, "and went on unmeasured"));
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
	name = store_expand("a%%b.%r", NULL);
	ck_assert_str_eq(name, "a%b.12");
	free(name);
	name = store_expand("a.%n%%n", "B.3");
	ck_assert_str_eq(name, "a.B.3%n");
	free(name);
	ck_assert_ptr_null(store_expand("a.%n", NULL));
	ck_assert(store_names_run("a%%%n") && !store_names_run("a%%n%"));
	name = store_expand("ends with %", NULL);
	ck_assert_str_eq(name, "ends with %");
	free(name);
	ck_assert_ptr_null(store_expand("%q", NULL));
	setenv("PMIX_RANK", "../up", 1);
	ck_assert_ptr_null(store_expand("%r", NULL));
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("store");

	tcase_set_timeout(tests, 60); /* a million samples, sanitized, on a busy machine */
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, test_round_trip);
	tcase_add_test(tests, test_samples);
	tcase_add_test(tests, test_off);
	tcase_add_test(tests, test_view);
	tcase_add_test(tests, test_no_samples);
	tcase_add_test(tests, test_million);
	tcase_add_test(tests, test_events_nonsense);
	tcase_add_loop_test(tests, test_damaged, 0, ARRAY_SIZE(damages));
	tcase_add_test(tests, test_empty);
	tcase_add_test(tests, test_profile);
	tcase_add_test(tests, test_pack);
	tcase_add_test(tests, test_unpack_nonsense);
	tcase_add_test(tests, test_expand);
	return suite_run("store", tests);
}
