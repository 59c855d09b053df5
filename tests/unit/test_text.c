/* SPDX-License-Identifier: MIT */
/* cli/text and cli/term: nothing from outside steers a terminal, and columns are counted right. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "cli/term.h"
#include "cli/text.h"
#include "common/base.h"

static const struct { const char *raw, *escaped; } escapes[] = {
	{ "", "" }, { "plain", "plain" }, { "a\nb\tc\\d", "a\\nb\\tc\\\\d" },
	{ "\033[31m", "\\x1B[31m" }, { "\x7f\x01", "\\x7F\\x01" },
	{ "gr\xc3\xbc\xc3\x9f", "grüß" },
	{ "\xc2\x9b", "\\xC2\\x9B" }, { "\xff\xfe", "\\xFF\\xFE" }, { "\xc0\xaf", "\\xC0\\xAF" },
	{ "\xed\xa0\x80", "\\xED\\xA0\\x80" }, { "\xf4\x90\x80\x80", "\\xF4\\x90\\x80\\x80" },
	{ "a\xe2\x82", "a\\xE2\\x82" }, { "\xe2\x80\xae!", "\\xE2\\x80\\xAE!" },
	{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" }, { "\xe2\x28\xa1", "\\xE2(\\xA1" },
};

START_TEST(test_escape)
{
	const char *raw = escapes[_i].raw, *want = escapes[_i].escaped;
	char out[64];
	size_t size, len;

	ck_assert_uint_eq(text_escape(out, sizeof(out), raw, strlen(raw)), strlen(want));
	ck_assert_str_eq(out, want);
	/* A cut leaves a whole number of characters and escapes. */
	for (size = 1; size <= strlen(want); size++) {
		text_escape(out, size, raw, strlen(raw));
		len = strlen(out);
		ck_assert_uint_lt(len, size);
		ck_assert(!strncmp(out, want, len));
		ck_assert(want[len] == '\\' || ((unsigned char)want[len] & 0xc0) != 0x80);
	}
}
END_TEST

START_TEST(test_escape_every_byte)
{
	char raw[2] = "", out[16];
	int byte;

	for (byte = 1; byte < 256; byte++) {
		raw[0] = (char)byte;
		text_escape(out, sizeof(out), raw, 1);
		if (byte >= 0x20 && byte < 0x7f && byte != '\\')
			ck_assert_str_eq(out, raw);
		else
			ck_assert_int_eq(out[0], '\\');
	}
	ck_assert_uint_eq(text_escape(out, sizeof(out), "\0", 1), 4);
	ck_assert_str_eq(out, "\\x00");
}
END_TEST

START_TEST(test_width)
{
	ck_assert_uint_eq(text_width(""), 0);
	ck_assert_uint_eq(text_width("abc"), 3);
	ck_assert_uint_eq(text_width("grüß"), 4);
	ck_assert_uint_eq(text_width("e\xcc\x81"), 1);
	ck_assert_uint_eq(text_width("\xe6\x97\xa5\xe6\x9c\xac"), 4);
	ck_assert_uint_eq(text_width("\xff"), 1);
}
END_TEST

static const struct { const char *text; size_t columns; const char *fit; } fits[] = {
	{ "abc", 3, "abc" }, { "abcd", 3, "ab…" }, { "abcd", 1, "…" }, { "abcd", 0, "" },
	{ "äöüß", 4, "äöüß" }, { "äöüß", 3, "äö…" }, { "", 5, "" },
	/* A wide character that does not fit leaves its column empty. */
	{ "\xe6\x97\xa5\xe6\x9c\xac", 3, "\xe6\x97\xa5…" },
	{ "\xe6\x97\xa5\xe6\x9c\xac", 2, "…" },
};

START_TEST(test_fit)
{
	char out[64];
	size_t used = text_fit(out, sizeof(out), fits[_i].text, fits[_i].columns);

	ck_assert_str_eq(out, fits[_i].fit);
	ck_assert_uint_eq(used, text_width(out));
	ck_assert_uint_le(used, fits[_i].columns);
}
END_TEST

START_TEST(test_wrap)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	fputs("> ", file);
	text_wrap(file, "one two three unbreakable four", 2, 10);
	text_wrap(file, "all on one line", 2, 0);
	fclose(file);
	ck_assert_str_eq(text, "> one two\n  three\n  unbreakable\n  four\nall on one line\n");
	free(text);
}
END_TEST

START_TEST(test_distance)
{
	ck_assert_uint_eq(text_distance("run", "run"), 0);
	ck_assert_uint_eq(text_distance("run", "rnu"), 2);
	ck_assert_uint_eq(text_distance("", "abc"), 3);
	ck_assert_uint_eq(text_distance("doctor", "docter"), 1);
}
END_TEST

START_TEST(test_term)
{
	FILE *file = tmpfile();

	ck_assert_ptr_nonnull(file);
	setenv("COLUMNS", "40", 1);
	ck_assert_uint_eq(term_width(fileno(file)), 40);
	setenv("COLUMNS", "3", 1);
	ck_assert_uint_eq(term_width(fileno(file)), 20);
	setenv("COLUMNS", "-1", 1);
	ck_assert_uint_eq(term_width(fileno(file)), 0);
	unsetenv("COLUMNS");
	ck_assert_uint_eq(term_width(fileno(file)), 0);
	ck_assert(!color_wanted(file, COLOR_AUTO));
	ck_assert(color_wanted(file, COLOR_ALWAYS));
	ck_assert_str_eq(term_style(false, STYLE_BAD), "");
	fclose(file);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("text");
	TCase *tests = tcase_create("text");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tests, test_escape, 0, ARRAY_SIZE(escapes));
	tcase_add_test(tests, test_escape_every_byte);
	tcase_add_test(tests, test_width);
	tcase_add_loop_test(tests, test_fit, 0, ARRAY_SIZE(fits));
	tcase_add_test(tests, test_wrap);
	tcase_add_test(tests, test_distance);
	tcase_add_test(tests, test_term);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
