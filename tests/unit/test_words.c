/* SPDX-License-Identifier: MIT */
/* cli/cmd/words and rounds_matrix: words of command lines, and values of parameters. */
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/rounds.h"
#include "cli/cmd/words.h"
#include "cli/log.h"
#include "suite.h"

/* Words with | between; NULL: refused. */
static const struct { const char *text, *words; } lines[] = {
	{ "a", "a" }, { "  a \t b\n", "a|b" }, { "a 'b c' d", "a|b c|d" }, { "\"a b\"c", "a bc" }, { "a''b", "ab" },
	{ "''", "" }, { "a '' b", "a||b" }, { "a\\ b", "a b" }, { "a\\\\b", "a\\b" }, { "'a\\b'", "a\\b" },
	{ "\"a\\\"b\\$c\\d\"", "a\"b$c\\d" }, { "\"it's\"", "it's" }, { "$HOME *;|", "$HOME|*;|" }, { "a\\", "a\\" },
	{ "a 'b", NULL }, { "\"a", NULL }, { "\"a\\\"", NULL }, { "", NULL }, { "  ", NULL },
};

START_TEST(test_split)
{
	char said[200] = "", joined[200] = "", **words;

	log_capture(said, sizeof(said));
	words = words_split("--vs", lines[_i].text);
	log_capture(NULL, 0);
	if (!lines[_i].words) {
		ck_assert_ptr_null(words);
		ck_assert_ptr_nonnull(strstr(said, "--vs: "));
		return;
	}
	ck_assert_ptr_nonnull(words);
	for (size_t i = 0; words[i]; i++) {
		strcat(joined, i ? "|" : "");
		strcat(joined, words[i]);
	}
	ck_assert_str_eq(joined, lines[_i].words);
	words_free(words);
}
END_TEST

/* Whatever the words are, a shell would get them back, and so do we. */
START_TEST(test_join)
{
	static const char *const texts[] = { "a b", "", "it's", "\\", "\"", "x=y", "$a", "\n", NULL };
	char *const *words = (char *const *)texts;
	char *text = words_join(words, true), **again = words_split("", text);
	size_t i;

	for (i = 0; words[i]; i++)
		ck_assert_str_eq(again[i], words[i]);
	ck_assert_ptr_null(again[i]);
	words_free(again);
	free(text);
	text = words_join(words, false);
	ck_assert_str_eq(text, "a b  it's \\ \" x=y $a \n");
	free(text);
	again = words_copy(words);
	ck_assert_str_eq(again[2], "it's");
	words_free(again);
}
END_TEST

static const struct { const char *text, *to; } replaced[] = {
	{ "{n}", "12" }, { "a{n}b{n}", "a12b12" }, { "{m}{n", "{m}{n" }, { "{{n}}", "{12}" }, { "", "" }, { "{nn}", "{nn}" },
};

START_TEST(test_replace)
{
	char *text = words_replace(replaced[_i].text, "n", "12");

	ck_assert_str_eq(text, replaced[_i].to);
	free(text);
}
END_TEST

static const struct { const char *words[4], *values; } scans[] = {
	{ { "n", "1", "3", "" }, "1 2 3" }, { { "n", "1", "1", "" }, "1" }, { { "n", "1", "4", "2" }, "1 3" },
	{ { "n", "0", "0.3", "0.1" }, "0.0 0.1 0.2 0.3" }, { { "n", "-1", "1", "0.50" }, "-1.00 -0.50 0.00 0.50 1.00" },
	{ { "n", "10", "12", "1" }, "10 11 12" }, { { "n", "2", "1", "" }, NULL }, { { "n", "1", "2", "0" }, NULL },
	{ { "n", "1", "2", "-1" }, NULL }, { { "n", "a", "2", "" }, NULL }, { { "n", "1", "1e3", "" }, NULL },
	{ { "n", "1", "2x", "" }, NULL }, { { "n", "0", "1", "0.0001" }, NULL }, { { "n", "1.2.3", "2", "" }, NULL },
	{ { "n", "-", "2", "" }, NULL }, { { "", "1", "2", "" }, NULL },
};

START_TEST(test_scan)
{
	struct opt_list list = { .n = 0 }, scan = { .item = (char **)scans[_i].words, .n = 4 };
	char said[200], values[200] = "";
	struct matrix m;
	int err;

	log_capture(said, sizeof(said));
	err = matrix_make(&m, &list, &scan);
	log_capture(NULL, 0);
	ck_assert_int_eq(err, scans[_i].values ? 0 : -1);
	for (size_t i = 0; !err && i < m.combinations; i++) {
		strcat(values, i ? " " : "");
		strcat(values, matrix_value(&m, i, 0));
	}
	if (!err)
		ck_assert_str_eq(values, scans[_i].values);
	matrix_free(&m);
}
END_TEST

START_TEST(test_combinations)
{
	const char *lists[] = { "a", "x,y", "b", "" }, *numbers[] = { "c", "1", "3", "" };
	struct opt_list list = { .item = (char **)lists, .n = 4 }, scan = { .item = (char **)numbers, .n = 4 };
	struct matrix m;

	ck_assert_int_eq(matrix_make(&m, &list, &scan), 0);
	ck_assert_uint_eq(m.combinations, 6);
	ck_assert_str_eq(matrix_value(&m, 0, 0), "x");
	ck_assert_str_eq(matrix_value(&m, 5, 0), "y");
	ck_assert_str_eq(matrix_value(&m, 2, 1), "");
	ck_assert_str_eq(matrix_value(&m, 4, 2), "2");
	matrix_free(&m);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("words");

	tcase_add_loop_test(tests, test_split, 0, sizeof(lines) / sizeof(lines[0]));
	tcase_add_test(tests, test_join);
	tcase_add_loop_test(tests, test_replace, 0, sizeof(replaced) / sizeof(replaced[0]));
	tcase_add_loop_test(tests, test_scan, 0, sizeof(scans) / sizeof(scans[0]));
	tcase_add_test(tests, test_combinations);
	return suite_run("words", tests);
}
