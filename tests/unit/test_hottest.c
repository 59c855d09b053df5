/* SPDX-License-Identifier: MIT */
/* cli/analyze/hottest: what changed between two looks, by name, without inner regions. */
#include <string.h>

#include "cli/analyze/hottest.h"
#include "cli/analyze/profile_build.h"
#include "suite.h"

static struct profile profile;
static struct hottest hottest;
static struct hottest_region out[8];

static void setup(void)
{
	profile_init(&profile, PROFILE_BY_THREAD);
}

static void teardown(void)
{
	profile_fini(&profile);
	hottest_fini(&hottest);
}

/* The wall of a path of one or two names of a thread. */
static void wall(u32 tid, const char *outer, const char *inner, u64 ticks)
{
	u32 row = profile_root(&profile, 1, 100, tid);

	row = profile_child(&profile, row, profile_intern(&profile, outer, strlen(outer)));
	if (inner)
		row = profile_child(&profile, row, profile_intern(&profile, inner, strlen(inner)));
	profile.rows[row].wall = ticks;
}

static void check(size_t i, const char *name, double ticks)
{
	ck_assert_str_eq(out[i].name, name);
	ck_assert_double_eq(out[i].ticks, ticks);
}

START_TEST(test_differences)
{
	wall(1, "a", NULL, 100);
	wall(1, "a", "b", 70);
	wall(2, "b", NULL, 5);
	ck_assert_uint_eq(hottest_update(&hottest, &profile, out, 8), 2);
	check(0, "b", 75);
	check(1, "a", 30);
	/* Nothing new, then one of them alone, then a name that was not there. */
	ck_assert_uint_eq(hottest_update(&hottest, &profile, out, 8), 0);
	wall(1, "a", NULL, 110);
	ck_assert_uint_eq(hottest_update(&hottest, &profile, out, 8), 1);
	check(0, "a", 10);
	wall(1, "c", NULL, 3);
	wall(2, "b", NULL, 6);
	ck_assert_uint_eq(hottest_update(&hottest, &profile, out, 8), 2);
	check(0, "c", 3);
	check(1, "b", 1);
}
END_TEST

/* Another profile of the same run numbers the names otherwise. */
START_TEST(test_numbers)
{
	wall(1, "a", NULL, 10);
	wall(1, "b", NULL, 20);
	hottest_update(&hottest, &profile, out, 8);
	profile_fini(&profile);
	setup();
	wall(1, "b", NULL, 21);
	wall(1, "a", NULL, 17);
	ck_assert_uint_eq(hottest_update(&hottest, &profile, out, 8), 2);
	check(0, "a", 7);
	check(1, "b", 1);
}
END_TEST

START_TEST(test_most)
{
	static const char *const names[] = { "a", "b", "c", "d", "e" };
	static const u64 ticks[] = { 3, 9, 1, 7, 5 };
	u32 i;

	for (i = 0; i < 5; i++)
		wall(1, names[i], NULL, ticks[i]);
	ck_assert_uint_eq(hottest_update(&hottest, &profile, out, 3), 3);
	check(0, "b", 9);
	check(1, "d", 7);
	check(2, "e", 5);
	ck_assert_uint_eq(hottest_update(&hottest, &profile, out, 0), 0);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("hottest");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, test_differences);
	tcase_add_test(tests, test_numbers);
	tcase_add_test(tests, test_most);
	return suite_run("hottest", tests);
}
