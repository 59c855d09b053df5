/* SPDX-License-Identifier: MIT */
/* Names as they were written, and names made to cost. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/symbols/demangle.h"
#include "common/base.h"
#include "tests/unit/suite.h"

static char buffer[DEMANGLE_MOST];

static const struct {
	const char *mangled, *plain;
} names[] = {
	{ "main", "main" },
	{ "_start", "_start" },
	{ "_Z3foov", "foo()" },
	{ "_ZN4area3boxIiE4fillEi", "area::box<int>::fill(int)" },
	{ "_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back(int const&)" },
	{ "_ZN1AC2Ev.cold", "A::A() [clone .cold]" },
	{ "_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()(int) const" },
	/* Rust: legacy, and v0. */
	{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
	{ "_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Write$GT$9write_str17h0123456789abcdefE",
	  "<alloc::string::String as core::fmt::Write>::write_str" },
	{ "_RNvC6_123foo3bar", "123foo::bar" },
	{ "_RNCNvCs1234_7mycrate4mains_0", "mycrate::main::{closure#1}" },
	/* Damaged. */
	{ "_Z", "_Z" },
	{ "_R", "_R" },
	{ "_ZN4area3boxIiE4fillE", "area::box<int>::fill" },
	{ "_ZN99999999999999999999x", "_ZN99999999999999999999x" },
	{ "", "" },
};

START_TEST(known)
{
	if (!demangle_available())
		ck_assert_str_eq(demangle("_Z3foov", buffer, sizeof(buffer)), "_Z3foov");
	else
		ck_assert_str_eq(demangle(names[_i].mangled, buffer, sizeof(buffer)), names[_i].plain);
}
END_TEST

/* Each level doubles what the name stands for. */
START_TEST(grows)
{
	char name[DEMANGLE_MOST] = "_Z1fI1A", *at = name + strlen(name);
	u64 began = clock_ns(CLOCK_MONOTONIC);

	for (int i = 0; i < 30; i++)
		at += sprintf(at, "St4pairIS%s_S%s_E", i ?
			(char[]){ "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i - 1], 0 } : "",
			i ? (char[]){ "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i - 1], 0 } : "");
	strcpy(at, "Evv");
	for (int i = 0; i < 100; i++)
		demangle(name, buffer, sizeof(buffer));
	ck_assert_uint_lt(clock_ns(CLOCK_MONOTONIC) - began, 2 * NSEC_PER_SEC);
	ck_assert_uint_lt(strlen(demangle(name, buffer, 64)), DEMANGLE_MOST);
}
END_TEST

START_TEST(long_and_deep)
{
	char *name = malloc(100001);

	/* Pointers to pointers, without end. */
	memset(name, 'P', 100000);
	memcpy(name, "_Z1f", 4);
	name[100000] = '\0';
	ck_assert_ptr_eq(demangle(name, buffer, sizeof(buffer)), name);
	name[4000] = '\0';
	ck_assert_ptr_eq(demangle(name, buffer, sizeof(buffer)), name);
	strcpy(name, "_Z3foov");
	ck_assert_ptr_eq(demangle(name, buffer, 3), name);
	free(name);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("demangle");

	tcase_add_loop_test(tests, known, 0, ARRAY_SIZE(names));
	tcase_add_test(tests, grows);
	tcase_add_test(tests, long_and_deep);
	return suite_run("demangle", tests);
}
