/* SPDX-License-Identifier: MIT */
/* cli/cmd/group: what a file says, and where in it each mistake is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd/group.h"
#include "suite.h"

static struct group group;
static FILE *said;

static void setup(void)
{
	said = tmpfile();
	ck_assert_ptr_nonnull(said);
	dup2(fileno(said), STDERR_FILENO);
}

static void teardown(void)
{
	group_free(&group);
	fclose(said);
}

START_TEST(test_parse)
{
	static const char text[] =
		"# a comment\n"
		"\tmeaning  Words of it. \r\n"
		"\n"
		"events a, {b,c}:u ,cpu/event=1,umask=2/k\n"
		"events 'x,y'\n"
		"metric m [%] = 100 * a / b\n"
		"metric n = a\n"
		"or\n"
		"events d\n"
		"metric m = d";

	ck_assert_int_eq(group_parse(&group, "some/folder/NAME.group", text, strlen(text)), 0);
	ck_assert_str_eq(group.name, "NAME");
	ck_assert_str_eq(group.meaning, "Words of it.");
	ck_assert_uint_eq(group.nways, 2);
	ck_assert_uint_eq(group.ways[0].nevents, 4);
	ck_assert_str_eq(group.ways[0].events[0], "a");
	ck_assert_str_eq(group.ways[0].events[1], "{b,c}:u");
	ck_assert_str_eq(group.ways[0].events[2], "cpu/event=1,umask=2/k");
	ck_assert_str_eq(group.ways[0].events[3], "'x,y'");
	ck_assert_uint_eq(group.ways[0].nmetrics, 2);
	ck_assert_str_eq(group.ways[0].metrics[1].text, "n = a");
	ck_assert_uint_eq(group.ways[0].metrics[1].line, 7);
	ck_assert_str_eq(group.ways[1].events[0], "d");
}
END_TEST

static const struct { const char *text, *why; } mistakes[] = {
	{ "", "1: a line 'meaning' is missing" },
	{ "meaning x\nevents a\nmetric m = (\n", "3: 'm = (': column 6: it ends where a number, a name or ( is expected" },
	{ "meaning x\nmeaning y\n", "2: a group has one meaning" },
	{ "meaning\n", "1: 'meaning' has nothing behind it" },
	{ "meaning x\nevents a,\n", "2: an event is missing beside a comma" },
	{ "meaning x\nevents , a\n", "2: an event is missing beside a comma" },
	{ "meaning x\nmetric m = 1\n", "3: a line 'events' is missing before it" },
	{ "meaning x\nevents a\nor\nmetric m = 1\n", "3: a line 'metric' is missing before it" },
	{ "meaning x\nevents a\nmetric m = 1\nor else\n", "4: 'else' stands behind 'or', which has a line of its own" },
	{ "meaning x\nevent a\n", "2: 'event' begins no line of a group: these are meaning, events, metric and or" },
	{ "meaning x\nevents a\nmetric m = a\nor\n", "5: a line 'events' is missing before it" },
};

START_TEST(test_mistakes)
{
	char want[300], line[4096];

	ck_assert_int_eq(group_parse(&group, "f.group", mistakes[_i].text, strlen(mistakes[_i].text)), -1);
	rewind(said);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), said));
	ck_assert_int_eq(fgetc(said), EOF);
	snprintf(want, sizeof(want), "sparkctl: f.group:%s\n", mistakes[_i].why);
	ck_assert_str_eq(line, want);
}
END_TEST

START_TEST(test_hostile)
{
	char *many = malloc(GROUP_FILE_MAX), *at = many;

	ck_assert_int_eq(group_parse(&group, "f", "meaning a\0b\n", 12), -1);
	group_free(&group);
	at += sprintf(at, "meaning x\nevents ");
	while (at < many + GROUP_FILE_MAX - 10)
		at += sprintf(at, "a,");
	ck_assert_int_eq(group_parse(&group, "f", many, strlen(many)), -1);
	group_free(&group);
	at = many + sprintf(many, "meaning x\n");
	while (at < many + GROUP_FILE_MAX - 40)
		at += sprintf(at, "events a\nmetric m = a\nor\n");
	ck_assert_int_eq(group_parse(&group, "f", many, strlen(many)), -1);
	free(many);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("group");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, test_parse);
	tcase_add_loop_test(tests, test_mistakes, 0, ARRAY_SIZE(mistakes));
	tcase_add_test(tests, test_hostile);
	return suite_run("group", tests);
}
