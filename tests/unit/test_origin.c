/* SPDX-License-Identifier: MIT */
/* Where regions come from, from the segment to the outputs, and through a recording. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/store/internal.h"
#include "sample.h"
#include "suite.h"

static struct sample sample;

static void setup(void)
{
	sample_init(&sample, PROFILE_BY_THREAD);
}

static void teardown(void)
{
	sample_fini(&sample);
}

static u32 name_or_none(const char *text)
{
	return text ? segment_name(&sample.seg, text) : 0;
}

static void origin(u32 kind, const char *name, const char *library, const char *caller)
{
	u32 ref = segment_alloc(&sample.seg, sizeof(struct wire_origin));
	struct wire_origin *o = segment_at(&sample.seg, ref);

	*o = (struct wire_origin){ .next = sample.seg.header->origins, .name = name_or_none(name), .kind = kind,
				   .library = name_or_none(library), .caller = name_or_none(caller), .slots = 2 };
	sample.seg.header->origins = ref;
}

static void add_origins(void)
{
	struct wire_view view = segment_view(&sample.seg);

	ck_assert_int_eq(profile_add_origins(&sample.profile, &view), 0);
}

static void make(void)
{
	sample_region(&sample, 0, "deflate", 3, 1000, 0);
	sample_region(&sample, 0, "parse", 2, 1000, 0);
	sample_region(&sample, 0, "both", 2, 1000, 0);
	sample_region(&sample, 0, "plain", 1, 1000, 0);
	origin(WIRE_ORIGIN_CALL, "deflate", "/lib/libz.so.1", "/usr/bin/sqlbench");
	origin(WIRE_ORIGIN_CALL, "deflate", "/lib/libz.so.1", "/lib/libpng.so");
	origin(WIRE_ORIGIN_INSTRUMENTED, "parse", "/usr/bin/sqlbench", NULL);
	origin(WIRE_ORIGIN_CALL, "both", "/lib/b.so", "/usr/bin/sqlbench");
	origin(WIRE_ORIGIN_INSTRUMENTED, "both", "/lib/a.so", NULL);
	add_origins();
}

/* The line of a region, by jq's way: its name, kind, library, callers. */
static char *json_lines(const char *text)
{
	json_t *root = json_loads(text, 0, NULL), *row, *caller;
	size_t i, k;
	char *out = NULL;
	size_t size;
	FILE *file = open_memstream(&out, &size);

	ck_assert_ptr_nonnull(root);
	json_array_foreach(json_object_get(root, "regions"), i, row) {
		const char *library = json_string_value(json_object_get(row, "library"));

		if (!json_array_size(json_object_get(row, "path"))) {
			ck_assert_ptr_null(json_object_get(row, "kind"));
			continue;
		}
		fprintf(file, "%s %s %s", json_string_value(json_array_get(json_object_get(row, "path"), 0)),
			json_string_value(json_object_get(row, "kind")), library ? library : "-");
		json_array_foreach(json_object_get(row, "callers"), k, caller)
			fprintf(file, " %s", json_string_value(caller));
		fputc('\n', file);
	}
	fclose(file);
	json_decref(root);
	return out;
}

START_TEST(test_json)
{
	char *text, *lines;

	make();
	sample_report(&sample);
	text = sample_print(&sample, "json");
	lines = json_lines(text);
	ck_assert_str_eq(lines, "deflate call /lib/libz.so.1 /lib/libpng.so /usr/bin/sqlbench\n"
			 "parse instrumented /usr/bin/sqlbench\n"
			 "both call+instrumented /lib/a.so:/lib/b.so /usr/bin/sqlbench\n"
			 "plain marker -\n");
	free(lines);
	free(text);
}
END_TEST

/* A library stands beside its function, the program's own file does not. */
START_TEST(test_table_and_csv)
{
	char *text;

	make();
	sample_report(&sample);
	text = sample_print(&sample, "table");
	ck_assert_ptr_nonnull(strstr(text, " deflate [libz.so.1] "));
	ck_assert_ptr_nonnull(strstr(text, " parse "));
	ck_assert_ptr_null(strstr(text, " parse ["));
	ck_assert_ptr_nonnull(strstr(text, " plain "));
	ck_assert_ptr_null(strstr(text, " plain ["));
	free(text);
	text = sample_print(&sample, "csv");
	ck_assert_ptr_nonnull(strstr(text, ",open,origin,library,callers,"));
	ck_assert_ptr_nonnull(strstr(text, "\"deflate\",3,0,call,/lib/libz.so.1,\"/lib/libpng.so:/usr/bin/sqlbench\","));
	ck_assert_ptr_nonnull(strstr(text, "\"plain\",1,0,marker,,\"\","));
	free(text);
}
END_TEST

START_TEST(test_recording)
{
	static const char *const formats[] = { "json", "table", "csv" };
	struct store_options options = { .group = PROFILE_BY_PROCESS };
	struct sample again = { .output = sample.output };
	struct provenance provenance = { .version = "1" };
	struct recording *recording;
	struct store_file file;
	char path[] = "test_origin.XXXXXX", *before, *after;

	sample.facts.provenance = &provenance;
	make();
	sample_report(&sample);
	close(mkstemp(path));
	ck_assert_int_eq(store_open(&file, path), 0);
	ck_assert_int_eq(store_write(&file, &sample.profile, &sample.facts, &options), 0);
	store_close(&file);
	recording = recording_read(path);
	unlink(path);
	ck_assert_ptr_nonnull(recording);
	recording->provenance.recorded = false;
	again.report = report_build(&recording->profile, &recording->facts, &sample.options);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		before = sample_print(&sample, formats[i]);
		after = sample_print(&again, formats[i]);
		ck_assert_str_eq(before, after);
		free(before);
		free(after);
	}
	report_free(again.report);
	recording_free(recording);
}
END_TEST

/* Segments of many processes have the same origins: each is kept once. */
START_TEST(test_merge)
{
	struct profile to;

	make();
	for (u32 i = 0; i < 1000; i++)
		add_origins();
	ck_assert_uint_lt(sample.profile.norigins, 64);
	profile_init(&to, PROFILE_BY_REGION);
	for (u32 i = 0; i < 100; i++)
		ck_assert_int_eq(profile_merge(&to, &sample.profile), 0);
	ck_assert_uint_ge(to.norigins, 5);
	ck_assert_uint_lt(to.norigins, 64);
	ck_assert_uint_eq(to.losses[PROFILE_LOSS_ORIGINS], 0);
	profile_fini(&to);
}
END_TEST

/* What a hostile program may write: no name, an unknown kind, a ring. */
START_TEST(test_nonsense)
{
	struct wire_origin *o;

	origin(WIRE_ORIGIN_CALL, NULL, "/lib/libz.so.1", NULL);
	origin(7, "kind", NULL, NULL);
	origin(WIRE_ORIGIN_CALL, "good", NULL, NULL);
	o = segment_at(&sample.seg, sample.seg.header->origins);
	o->library = 0x7fffffff;
	add_origins();
	ck_assert_uint_eq(sample.profile.norigins, 1);
	ck_assert_uint_eq(sample.profile.losses[PROFILE_LOSS_DAMAGED], 2);
	o->next = sample.seg.header->origins;
	add_origins();
	ck_assert_uint_eq(sample.profile.losses[PROFILE_LOSS_DAMAGED], 3);
}
END_TEST

START_TEST(test_most)
{
	struct profile_origin many = { .kind = WIRE_ORIGIN_CALL, .library = PROFILE_NONE, .caller = PROFILE_NONE };
	struct profile from = { .norigins = 1, .origins = &many, .nnames = 1 };
	struct profile_name names[1];
	char text[32];

	for (u32 i = 0; i < PROFILE_ORIGINS_MAX + 10; i++) {
		names[0] = (struct profile_name){ .bytes = text, .len = (u32)snprintf(text, sizeof(text), "f%u", i) };
		from.names = names;
		ck_assert_int_eq(profile_merge(&sample.profile, &from), 0);
	}
	ck_assert_uint_eq(sample.profile.norigins, PROFILE_ORIGINS_MAX);
	ck_assert_uint_eq(sample.profile.losses[PROFILE_LOSS_ORIGINS], 10);
}
END_TEST

static const char *renamed(void *context, const char *name)
{
	++*(u32 *)context;
	return name[0] == 1 ? "parse" : NULL;
}

/* A function and a marker of one name are one region, wherever they came from. */
START_TEST(test_rename)
{
	static const char *const one[] = { "parse" }, *const two[] = { "parse", "parse" };
	u32 asked = 0, node;

	sample.profile.group = PROFILE_BY_PROCESS;
	node = sample_region(&sample, 0, "\1" "10::/x", 3, 1000, 0);
	sample_region(&sample, node, "\1" "20::/x", 4, 1000, 0);
	sample_region(&sample, 0, "parse", 2, 1000, 0);
	origin(WIRE_ORIGIN_INSTRUMENTED, "\1" "10::/x", "/x", NULL);
	origin(WIRE_ORIGIN_INSTRUMENTED, "\1" "20::/x", "/x", NULL);
	origin(WIRE_ORIGIN_CALL, "\1" "30::/x", "/x", NULL);
	add_origins();
	sample_report(&sample);
	report_free(sample.report);
	ck_assert_int_eq(profile_rename(&sample.profile, renamed, &asked), 0);
	ck_assert_uint_eq(asked, 2);
	node = profile_find_row(&sample.profile, 1, 0, one, 1);
	ck_assert_uint_ne(node, PROFILE_NONE);
	ck_assert_uint_eq(sample.profile.rows[node].calls, 5);
	node = profile_find_row(&sample.profile, 1, 0, two, 2);
	ck_assert_uint_ne(node, PROFILE_NONE);
	ck_assert_uint_eq(sample.profile.rows[node].calls, 4);
	sample.report = report_build(&sample.profile, &sample.facts, &sample.options);
	ck_assert_ptr_nonnull(sample.report);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("origin");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, test_json);
	tcase_add_test(tests, test_table_and_csv);
	tcase_add_test(tests, test_recording);
	tcase_add_test(tests, test_merge);
	tcase_add_test(tests, test_nonsense);
	tcase_add_test(tests, test_most);
	tcase_add_test(tests, test_rename);
	return suite_run("origin", tests);
}
