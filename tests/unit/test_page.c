/* SPDX-License-Identifier: MIT */
/* cli/output/page*, html.c: texts of strangers, packed columns, and the data of a page. */
#include <stdlib.h>
#include <string.h>

#include "cli/output/formats.h"
#include "cli/output/page.h"
#include "cli/output/page_fold.h"
#include "suite.h"

static char *text;
static size_t size;

static void teardown(void)
{
	free(text);
	text = NULL;
}

/* ---- texts and columns ----------------------------------------------------------------------------------- */

START_TEST(test_text)
{
	static const char hostile[] = "</script><!--\"\\\n\x1b[31m\xff&'\xe2\x80\xae\xc3\xa9";
	struct page page = { .file = open_memstream(&text, &size) };

	samples_init(&page.strings);
	page_text(&page, hostile, sizeof(hostile) - 1);
	fputc(' ', page.file);
	page_text(&page, "a\0b", 3);
	fputc(' ', page.file);
	page_word(&page, NULL);
	fclose(page.file);
	ck_assert_str_eq(text, "\"\\u003c/script>\\u003c!--\\\"\\\\\\\\\\\\n\\\\x1B[31m\\\\xFF&'\\\\xE2\\\\x80\\\\xAE\xc3\xa9\" "
			 "\"a\\\\x00b\" null");
	ck_assert(!page.strings.no_memory);
	samples_fini(&page.strings);
}
END_TEST

START_TEST(test_number)
{
	struct page page = { .file = open_memstream(&text, &size) };

	samples_init(&page.strings);
	page_number(&page, "a");
	page_number(&page, NULL);
	page_number(&page, "b");
	page_number(&page, "a");
	fclose(page.file);
	ck_assert_str_eq(text, "0-110");
	samples_fini(&page.strings);
}
END_TEST

START_TEST(test_pack)
{
	struct page_pack pack;
	FILE *file = open_memstream(&text, &size);

	page_pack_begin(&pack, file, "a");
	page_pack_add(&pack, 0);
	page_pack_add(&pack, 127);
	page_pack_add(&pack, 128);
	page_pack_end(&pack);
	page_pack_begin(&pack, file, "b");
	page_pack_signed(&pack, -1);
	page_pack_signed(&pack, 1);
	page_pack_signed(&pack, -64);
	page_pack_signed(&pack, INT64_MIN);
	page_pack_end(&pack);
	page_pack_begin(&pack, file, "c");
	page_pack_end(&pack);
	fclose(file);
	/* 00 7f 80, 01 00 00; 01 02 7f, ff ff ff, ff ff ff, ff ff ff, 01 00 00 */
	ck_assert_str_eq(text, ",\n\"a\":\"AH+AAQAA\",\n\"b\":\"AQJ/////////////AQAA\",\n\"c\":\"\"");
}
END_TEST

/* ---- a page ---------------------------------------------------------------------------------------------- */

static void add(struct samples *samples, u32 tid, u32 region, u32 flags, u64 period, const char *const *functions)
{
	struct samples_row row = { .process = 1, .pid = 10, .tid = tid, .region = region, .chain = SAMPLES_NONE, .flags = flags };
	u32 object = samples_object(samples, "/bin/prog", NULL, SAMPLES_FILE), i;

	for (i = 0; functions[i]; i++) {
		struct samples_line line = { .function = samples_string(samples, functions[i], strlen(functions[i])),
					     .file = samples_string(samples, "prog.c", 6), .line = 7 };
		u32 frame = samples_frame(samples, object, 0x100 * tid + (u64)functions[i][0]);

		samples_name(samples, frame, &line, 1);
		row.chain = samples_chain(samples, row.chain, frame);
	}
	ck_assert_int_eq(samples_add(samples, &row, period, 1000, 0), 0);
}

static void fill(struct samples *samples)
{
	u32 outer = samples_region(samples, SAMPLES_NONE, "outer", 5), inner = samples_region(samples, outer, "<i>", 3);
	static const char *const work[] = { "main", "work", NULL }, *const only[] = { "main", NULL };

	samples->event = strdup("task-clock");
	samples->clock = true;
	add(samples, 10, inner, 0, 1000, work);
	add(samples, 11, outer, 0, 1000, only);
	add(samples, 10, inner, 0, 1004, work);
	add(samples, 10, SAMPLES_NONE, SAMPLES_UNATTRIBUTED, 1000, only);
}

static void write_page(const struct samples *samples)
{
	static const char *const argv[] = { "./prog", "</script>", NULL };
	struct process_facts process = { .id = 1, .pid = 10, .command = "./prog" };
	struct clock_map clock = { .identity = true };
	struct session_facts facts = { .argv = argv, .duration_ns = 5000, .clock_map = &clock, .processes = &process, .nprocesses = 1,
				       .samples = samples };
	struct report_options options = { .metrics = NULL };
	struct profile profile;
	struct report *report;
	FILE *file = open_memstream(&text, &size);

	profile_init(&profile, PROFILE_BY_PROCESS);
	ck_assert_uint_ne(profile_root(&profile, 1, 10, 0), PROFILE_NONE);
	report = report_build(&profile, &facts, &options);
	ck_assert_ptr_nonnull(report);
	ck_assert_int_eq(html_write(file, report, NULL), 0);
	fclose(file);
	report_free(report);
	profile_fini(&profile);
}

START_TEST(test_page)
{
	struct samples samples;
	const char *data;

	samples_init(&samples);
	fill(&samples);
	write_page(&samples);
	ck_assert_int_eq(strncmp(text, "<!doctype html>\n", 16), 0);
	ck_assert_ptr_nonnull(strstr(text, "\n</html>\n"));
	ck_assert_ptr_null(strstr(text, "\n@style@\n"));
	ck_assert_ptr_null(strstr(text, "\n@script@\n"));
	ck_assert_ptr_null(strstr(text, "\n@data@\n"));
	data = strstr(text, "\n{\"schema\":\"spark-page/1\"");
	ck_assert_ptr_nonnull(data);
	ck_assert_ptr_nonnull(strstr(data, "[\"command\",\"./prog '\\u003c/script>'\"]"));
	/* Threads begin where they change; regions 0 none, 1 not known, 2 outer, 3 inner: differences. */
	data = strstr(data, "{\"kind\":\"cpu\",\"event\":\"task-clock\",\"clock\":true");
	ck_assert_ptr_nonnull(data);
	ck_assert_ptr_nonnull(strstr(data, "\"objects\":[[0,\"/bin/prog\"]]"));
	ck_assert_ptr_nonnull(strstr(data, "\"regions\":[[-1,\"outer\"],[0,\"\\u003ci>\"]]"));
	ck_assert_ptr_nonnull(strstr(data, "\"nodes\":2,\n\"parent\":\"AAEA\",\n\"name\":\"AAEA\",\n\"rows\":3,\"period\":1001,\n"
				     "\"thread\":\"AAAB\",\n\"region\":\"AgQB\",\n\"node\":\"AAIB\",\n"
				     "\"count\":\"AQIB\",\n\"weight\":\"AQQB\""));
	samples_fini(&samples);
}
END_TEST

START_TEST(test_empty)
{
	write_page(NULL);
	ck_assert_ptr_nonnull(strstr(text, ",\n\"samples\":[],\n\"strings\":["));
}
END_TEST

/* ---- what is too small to draw --------------------------------------------------------------------------- */

static u32 no_root(struct export_tree *tree, const struct samples_row *row)
{
	(void)tree;
	(void)row;
	return SAMPLES_NONE;
}

/* main calls ten functions, of which each calls one more; the later, the heavier. */
static void fill_wide(struct samples *samples)
{
	char names[10][2][3];

	for (u32 i = 0; i < 10; i++) {
		const char *const path[] = { "main", names[i][0], names[i][1], NULL };

		snprintf(names[i][0], 3, "%c", 'A' + (char)i);
		snprintf(names[i][1], 3, "%c", 'a' + (char)i);
		add(samples, 10, SAMPLES_NONE, 0, 1000 * (i + 1), path);
	}
}

static u64 drawn_weight(const struct export_tree *tree, const struct page_fold *fold, const char *name)
{
	const struct samples *samples = tree->exporter->samples;
	u64 weight = 0;

	for (u32 i = 0; i < samples->nrows; i++) {
		u32 node = fold->shown[tree->rows[i]];

		ck_assert_uint_lt(fold->number[node], fold->ndrawn);
		if (!strcmp(export_tree_name(tree, node)->bytes, name))
			weight += samples->rows[i].weight;
	}
	return weight;
}

START_TEST(test_fold)
{
	struct samples samples;
	const struct export_options options = { .group = PROFILE_BY_REGION, .no_regions = true };
	const struct exporter exporter = { .samples = &samples, .options = &options };
	struct page_fold fold = { .ndrawn = 0 };
	struct export_tree tree;
	u64 *total;

	samples_init(&samples);
	fill_wide(&samples);
	ck_assert_int_eq(export_tree_build(&tree, &exporter, no_root), 0);
	total = page_fold_totals(&tree);
	ck_assert_uint_eq(total[0], 55000);
	/* All have room. */
	ck_assert_int_eq(page_fold(&fold, &tree, total, 21, 21), 0);
	ck_assert_uint_eq(fold.ndrawn, 21);
	ck_assert_uint_eq(drawn_weight(&tree, &fold, PAGE_TOO_SMALL), 0);
	/* main, and three functions with what they call; seven are one more. */
	ck_assert_int_eq(page_fold(&fold, &tree, total, 21, 14), 0);
	ck_assert_uint_eq(fold.ndrawn, 8);
	ck_assert_uint_eq(drawn_weight(&tree, &fold, PAGE_TOO_SMALL), 28000);
	ck_assert_uint_eq(drawn_weight(&tree, &fold, "h"), 8000);
	ck_assert_uint_eq(drawn_weight(&tree, &fold, "j"), 10000);
	/* Nothing but one that stands for all. */
	ck_assert_int_eq(page_fold(&fold, &tree, total, 21, 1), 0);
	ck_assert_uint_eq(fold.ndrawn, 1);
	ck_assert_uint_eq(drawn_weight(&tree, &fold, PAGE_TOO_SMALL), 55000);
	free(total);
	page_fold_free(&fold);
	export_tree_free(&tree);
	samples_fini(&samples);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("page");

	tcase_add_checked_fixture(tests, NULL, teardown);
	tcase_add_test(tests, test_text);
	tcase_add_test(tests, test_number);
	tcase_add_test(tests, test_pack);
	tcase_add_test(tests, test_page);
	tcase_add_test(tests, test_empty);
	tcase_add_test(tests, test_fold);
	return suite_run("page", tests);
}
