/* SPDX-License-Identifier: MIT */
/* common/call: which functions a pattern means, and which are never bracketed. */
#include <check.h>
#include <string.h>

#include "common/wire_calls.h"
#include "suite.h"

static const struct { const char *pattern, *text; bool matches; } patterns[] = {
	{ "", "", true }, { "", "a", false }, { "a", "", false }, { "*", "", true }, { "*", "read", true },
	{ "read", "read", true }, { "read", "pread", false }, { "read", "readv", false },
	{ "read*", "read", true }, { "read*", "readv", true }, { "*read", "pread", true }, { "*read*", "pread64", true },
	{ "?read", "pread", true }, { "?read", "read", false }, { "r?ad", "road", true },
	{ "*deflate*", "deflateInit2_", true }, { "*a*b*c", "xxaxxbxxbxc", true }, { "*a*b*c", "xxaxxbxxbx", false },
	{ "a**b", "ab", true }, { "*?", "", false }, { "**", "", true }, { "a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaac", false },
};

START_TEST(test_pattern)
{
	ck_assert_msg(call_pattern_matches(patterns[_i].pattern, patterns[_i].text) == patterns[_i].matches, "%s on %s",
		      patterns[_i].pattern, patterns[_i].text);
}
END_TEST

static const struct { const char *pattern, *path; bool matches; } libraries[] = {
	{ "libz", "/usr/lib/libz.so.1.2.13", true }, { "libz.so", "/usr/lib/libz.so.1.2.13", true },
	{ "libz.so.1", "/usr/lib/libz.so.1.2.13", true }, { "libz.so.1.2.13", "/usr/lib/libz.so.1.2.13", true },
	{ "libz.so.2", "/usr/lib/libz.so.1.2.13", false }, { "libz*", "/usr/lib/libzstd.so.1", true },
	{ "libz", "/usr/lib/libzstd.so.1", false }, { "libz", "/libz/other.so", false }, { "*", "/usr/bin/xz", true },
	{ "xz", "/usr/bin/xz", true }, { "xz", "xz", true }, { "libstdc++", "/usr/lib/libstdc++.so.6", true },
	{ "_json.cpython-311-x86_64-linux-gnu", "/x/_json.cpython-311-x86_64-linux-gnu.so", true },
};

START_TEST(test_library)
{
	ck_assert_msg(call_library_matches(libraries[_i].pattern, libraries[_i].path) == libraries[_i].matches, "%s on %s",
		      libraries[_i].pattern, libraries[_i].path);
}
END_TEST

START_TEST(test_refusal)
{
	ck_assert_str_eq(call_refusal("setjmp"), "it returns twice");
	ck_assert_str_eq(call_refusal("dlsym"), "it looks at who calls it");
	ck_assert_ptr_null(call_refusal("read"));
	ck_assert_ptr_null(call_refusal(""));
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("call");

	tcase_add_loop_test(tests, test_pattern, 0, ARRAY_SIZE(patterns));
	tcase_add_loop_test(tests, test_library, 0, ARRAY_SIZE(libraries));
	tcase_add_test(tests, test_refusal);
	return suite_run("call", tests);
}
