/* SPDX-License-Identifier: MIT */
/* cli/session: which threads that begin while others are opened have inherited events, and switches of threads. */
#include <string.h>

#include "cli/session/count_internal.h"
#include "suite.h"

static struct count_place places[] = {
	{ .task = 10, .cpu = -1, .from_ns = 100, .until_ns = 110 },
	{ .task = 11, .cpu = -1, .from_ns = 110, .until_ns = 120 },
};
static struct count_left left[] = { { 12, false }, { 13, true } };
static const struct count count = {
	.place = places, .nplaces = ARRAY_SIZE(places), .left = left, .nleft = ARRAY_SIZE(left),
};

static const struct count_birth births[] = {
	{ 20, 10, 99 },    /* before its parent's events */
	{ 21, 10, 105 },   /* while they were opened */
	{ 22, 10, 111 },   /* behind them */
	{ 23, 22, 115 },   /* its parent has them, and no place */
	{ 24, 20, 200 },   /* its parent has none yet */
	{ 25, 21, 200 },
	{ 26, 12, 200 },   /* its parent is left out */
	{ 27, 13, 200 },   /* or not known */
	{ 28, 99, 200 },   /* nobody watched its parent */
	{ 29, 10, 90 },    /* a number that came again */
	{ 29, 11, 130 },
	{ 30, 31, 50 },    /* made by each other: numbers came again */
	{ 31, 30, 40 },
};

static const struct {
	pid_t tid;
	bool known;
	enum count_late want;
} judged[] = {
	{ 20, true, COUNT_WITHOUT },
	{ 21, true, COUNT_UNKNOWN },
	{ 22, true, COUNT_ARMED },
	{ 23, true, COUNT_ARMED },
	{ 24, true, COUNT_WITHOUT },
	{ 25, true, COUNT_UNKNOWN },
	{ 26, true, COUNT_WITHOUT },
	{ 27, true, COUNT_UNKNOWN },
	{ 28, true, COUNT_WITHOUT },
	{ 28, false, COUNT_UNKNOWN },
	{ 29, true, COUNT_ARMED },
	{ 30, true, COUNT_UNKNOWN },
	{ 40, true, COUNT_WITHOUT },    /* made by somebody who was not watched yet */
	{ 40, false, COUNT_UNKNOWN },
	{ 22, false, COUNT_ARMED },
};

START_TEST(test_judge)
{
	const struct count_births all = { births, ARRAY_SIZE(births), judged[_i].known };

	ck_assert_int_eq(count_judge(&count, &all, judged[_i].tid), judged[_i].want);
}
END_TEST

/* Nothing is told of births: of nobody is it known. */
START_TEST(test_judge_nothing)
{
	const struct count_births none = { NULL, 0, false };

	ck_assert_int_eq(count_judge(&count, &none, 22), COUNT_UNKNOWN);
}
END_TEST

START_TEST(test_left)
{
	char text[COUNT_IDS];
	struct count_left many[40];
	const struct count full = { .left = many, .nleft = ARRAY_SIZE(many) };

	ck_assert_uint_eq(count_tell_left(&count, false, text, sizeof(text)), 1);
	ck_assert_str_eq(text, " 12");
	ck_assert_uint_eq(count_tell_left(&count, true, text, sizeof(text)), 1);
	ck_assert_str_eq(text, " 13");
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (struct count_left){ (pid_t)(1000000 + i), true };
	ck_assert_uint_eq(count_tell_left(&full, true, text, sizeof(text)), ARRAY_SIZE(many));
	ck_assert_str_eq(text + strlen(text) - 4, " ...");
	ck_assert_ptr_null(strstr(text, "1000039"));
}
END_TEST

START_TEST(test_switches)
{
	static const char status[] = "Name:\tvoluntary_ctxt_switches: 7\nState:\tS\n"
				     "voluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n";
	u64 own, other;

	ck_assert(thread_uses_parse(status, &own, &other));
	ck_assert_uint_eq(own, 150);
	ck_assert_uint_eq(other, 545);
	ck_assert(!thread_uses_parse("Name:\tx\nvoluntary_ctxt_switches:\t150\n", &own, &other));
	ck_assert(!thread_uses_parse("", &own, &other));
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("attach");

	tcase_add_loop_test(tests, test_judge, 0, ARRAY_SIZE(judged));
	tcase_add_test(tests, test_judge_nothing);
	tcase_add_test(tests, test_left);
	tcase_add_test(tests, test_switches);
	return suite_run("attach", tests);
}
