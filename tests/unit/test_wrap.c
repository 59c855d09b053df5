/* SPDX-License-Identifier: MIT */
/* cli/cmd/wrap: what the entries of --wrap say, as the agent gets it; the sets; mistakes. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/wrap.h"
#include "cli/log.h"
#include "suite.h"

static struct wrap wrap;
static char said[512];

static void setup(void)
{
	said[0] = '\0';
	log_capture(said, sizeof(said));
}

static void teardown(void)
{
	log_capture(NULL, 0);
	wrap_free(&wrap);
}

static int parse(const char *list)
{
	ck_assert_int_eq(opt_list_add_whole(&wrap.lists, list), 0);
	return wrap_parse(&wrap);
}

/* "library:symbol", with "-" in front of exceptions, as they stand in the segment. */
static const char *encoded(void)
{
	static char text[4096];
	size_t used = 0;

	text[0] = '\0';
	ck_assert_int_eq(wrap_encode(&wrap), 0);
	for (u32 i = 0; i < wrap.calls->rules; i++) {
		const struct wire_call_rule *rule = &wrap.calls->rule[i];
		const char *texts = (const char *)wrap.calls;

		ck_assert(rule->symbol >= sizeof(*wrap.calls) + wrap.calls->rules * sizeof(*rule));
		ck_assert(rule->symbol < wrap.calls->size && rule->library < wrap.calls->size);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%s%s%s%s", used ? " " : "",
			rule->flags & WIRE_CALL_EXCEPT ? "-" : "", rule->library ? texts + rule->library : "",
			rule->library ? ":" : "", texts + rule->symbol, rule->words == WIRE_CALL_WORDS ? "" : "!");
	}
	ck_assert_int_eq(((const char *)wrap.calls)[wrap.calls->size - 1], '\0');
	return text;
}

static const struct { const char *list, *rules; } lists[] = {
	{ "read", "read" },
	{ "read,pwrite*", "read pwrite*" },
	{ "libz*:*flate*,-deflateBound,libc:read", "libz*:*flate* libc:read -deflateBound" },
	{ "-libc:malloc,@mpi", "MPI_* mpi_*_ -libc:malloc" },
	{ "malloc,-@mpi", "malloc -MPI_* -mpi_*_" },
	{ "_ZNSt6thread4joinEv,a.part.0,f$x", "_ZNSt6thread4joinEv a.part.0 f$x" },
	{ "libstdc++.so.6:_Zn*", "libstdc++.so.6:_Zn*" },
	{ "set*,-setjmp", "set* -setjmp" },
	{ "*", "*" },
};

START_TEST(test_rules)
{
	ck_assert_int_eq(parse(lists[_i].list), 0);
	ck_assert_str_eq(encoded(), lists[_i].rules);
	ck_assert_uint_eq(wrap.calls->flags, 0);
	ck_assert_uint_eq(wrap.calls->released, 0);
}
END_TEST

START_TEST(test_several)
{
	ck_assert_int_eq(opt_list_add_whole(&wrap.lists, "-b"), 0);
	wrap.dlsym = true;
	ck_assert_int_eq(parse("a,b"), 0);
	ck_assert_str_eq(encoded(), "a b -b");
	ck_assert_uint_eq(wrap.calls->flags, WIRE_CALLS_DLSYM);
}
END_TEST

START_TEST(test_nothing)
{
	ck_assert_int_eq(wrap_parse(&wrap), 0);
	ck_assert_int_eq(wrap_encode(&wrap), 0);
	ck_assert_ptr_null(wrap.calls);
}
END_TEST

static const struct { const char *list, *said; } mistakes[] = {
	{ "", "takes names, patterns and sets separated by commas; one is missing" },
	{ "a,", "takes names, patterns and sets separated by commas; one is missing" },
	{ ",a", "takes names, patterns and sets separated by commas; one is missing" },
	{ "-", "'-' is not a symbol" }, { "a b", "'a b' is not a symbol" }, { "f(int)", "'f(int)' is not a symbol" },
	{ "!a", "'!a' is not a symbol" }, { "libc:", "'libc:' is not a symbol" }, { "a:b:c", "'a:b:c' is not a symbol" },
	{ "libc:@io", "'libc:@io' is not a symbol" },
	{ ":a", "':a' needs the name of a library's file" }, { "/lib/libc.so.6:a", "needs the name of a library's file" },
	{ "@", "there is no set '@'" }, { "@oi", "there is no set '@oi'; did you mean @io?" },
	{ "@filesystem", "there is no set '@filesystem'; see sparkctl list sets" },
	{ "read@GLIBC_2.2.5", "has a version" },
	{ "setjmp", "setjmp can't be bracketed: it returns twice" },
	{ "libdl:dlopen", "dlopen can't be bracketed: it looks at who calls it" },
	{ "-read,-@io", "has exceptions alone" },
};

START_TEST(test_mistakes)
{
	ck_assert_int_eq(parse(mistakes[_i].list), -1);
	ck_assert_msg(strstr(said, mistakes[_i].said), "'%s': %s", mistakes[_i].list, said);
}
END_TEST

START_TEST(test_dlsym_alone)
{
	wrap.dlsym = true;
	ck_assert_int_eq(wrap_parse(&wrap), -1);
}
END_TEST

START_TEST(test_sets)
{
	size_t nsets, ncalls, i, k;
	const struct wrap_set *sets = wrap_sets(&nsets);
	const struct wrap_set_call *calls = wrap_set_calls(&ncalls);

	for (i = 0; i < nsets; i++) {
		for (k = 0; k < ncalls && strcmp(calls[k].set, sets[i].name) != 0; k++)
			continue;
		ck_assert_msg(k < ncalls, "%s has no functions", sets[i].name);
	}
	for (i = 0; i < ncalls; i++) {
		ck_assert_msg(!call_refusal(calls[i].symbol), "%s of %s is refused", calls[i].symbol, calls[i].set);
		for (k = 0; k < nsets && strcmp(calls[i].set, sets[k].name) != 0; k++)
			continue;
		ck_assert_msg(k < nsets, "%s is of no set", calls[i].symbol);
		for (k = 0; k < i; k++)
			ck_assert_msg(strcmp(calls[i].symbol, calls[k].symbol) != 0, "%s stands twice", calls[i].symbol);
	}
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("wrap");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, test_rules, 0, ARRAY_SIZE(lists));
	tcase_add_test(tests, test_several);
	tcase_add_test(tests, test_nothing);
	tcase_add_loop_test(tests, test_mistakes, 0, ARRAY_SIZE(mistakes));
	tcase_add_test(tests, test_dlsym_alone);
	tcase_add_test(tests, test_sets);
	return suite_run("wrap", tests);
}
