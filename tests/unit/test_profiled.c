/* SPDX-License-Identifier: MIT */
/* cli/cmd/profiled: which function a word names, of those that samples were taken in. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd/profiled.h"
#include "suite.h"

static struct samples samples;
static struct recording recording;

#define FILL "area::box<int>::fill(int, char const*)"
#define BOOL "bool area::less<a<b> >::operator()(int) const"

static void setup(void)
{
	static const char *const names[] = {
		"insert", "insert_all", FILL, "area::box<char>::empty()", "other::empty()", BOOL, "print(char const*, ...)",
		"(anonymous namespace)::hidden(int)", "libx.so.5+0x15ae0", "void sort<int*>(int*, int*)",
	};
	u32 object;

	samples_init(&samples);
	object = samples_object(&samples, "a.out", NULL, SAMPLES_FILE);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct samples_line line = { .file = SAMPLES_NONE };

		line.function = samples_string(&samples, names[i], strlen(names[i]));
		samples_name(&samples, samples_frame(&samples, object, i), &line, 1);
	}
	recording.facts.samples = &samples;
}

static void teardown(void)
{
	samples_fini(&samples);
}

/* Word, and the name that it means; NULL: what is said instead. */
static const struct { const char *word, *name, *said; } words[] = {
	{ "insert", "insert", NULL }, { FILL, FILL, NULL },
	{ "area::box<…>::fill(…)", FILL, NULL }, { "area::box<int>::f...(int, char const*)", FILL, NULL },
	{ "area::box::fill", FILL, NULL }, { "fill", FILL, NULL }, { "operator()", BOOL, NULL },
	{ "bool area::less::operator()", BOOL, NULL }, { "print", "print(char const*, ...)", NULL },
	{ "hidden", "(anonymous namespace)::hidden(int)", NULL }, { "libx…+0x15ae0", "libx.so.5+0x15ae0", NULL },
	{ "void sort", "void sort<int*>(int*, int*)", NULL }, { "sort", "void sort<int*>(int*, int*)", NULL },
	{ "empty", NULL, "x.spark has samples in 2 functions 'empty': 'area::box<char>::empty()', 'other::empty()'" },
	{ "nser", NULL, "x.spark has no samples in a function 'nser'; near it: 'insert', 'insert_all'" },
	{ "…", NULL, "x.spark has samples in 10 functions '…': 'insert', 'insert_all', '" FILL "', ..." },
	{ "", NULL, "x.spark has no samples in a function ''; see" }, { "zzz", NULL, "function 'zzz'; see sparkctl report" },
};

START_TEST(test_words)
{
	const char *word = words[_i].word;
	int fds[2], kept = dup(2), ret;
	char said[1024] = "";

	ck_assert_int_eq(pipe(fds), 0);
	dup2(fds[1], 2);
	ret = profiled_check(&recording, "x.spark", &word);
	dup2(kept, 2);
	close(fds[1]);
	ck_assert_int_ge(read(fds[0], said, sizeof(said) - 1), 0);
	close(fds[0]);
	close(kept);
	ck_assert_int_eq(ret, words[_i].name ? 0 : -1);
	if (words[_i].name)
		ck_assert_str_eq(word, words[_i].name);
	else
		ck_assert_msg(strstr(said, words[_i].said), "%s", said);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("profiled");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, test_words, 0, ARRAY_SIZE(words));
	return suite_run("profiled", tests);
}
