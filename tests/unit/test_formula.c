/* SPDX-License-Identifier: MIT */
/* cli/analyze/formula: values against arithmetic by hand, states and reasons, and where each mistake is. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/formula.h"
#include "common/base.h"
#include "suite.h"

static struct formula formula;
static struct formula_error mistake;
static char note[FORMULA_NOTE_MAX];

static void teardown(void)
{
	formula_free(&formula);
}

static void parse(const char *text)
{
	formula_free(&formula);
	ck_assert_msg(formula_parse(&formula, text, &mistake) == 0, "'%s' is refused, column %zu: %s", text,
		      mistake.column, mistake.why);
}

/* The value where a, b, c ... are 2, 3, 5, 7, 11. */
static const struct { const char *expression; double value; } values[] = {
	{ "1", 1 }, { " 42\t", 42 }, { ".5", 0.5 }, { "5.", 5 }, { "1.5e3", 1500 }, { "1E-2", 0.01 }, { "2e+1", 20 },
	{ "a", 2 }, { "-a", -2 }, { "--a", 2 }, { "- - -a", -2 }, { "a + b", 5 }, { "a+b", 5 }, { "a - b", -1 },
	{ "a -b", -1 }, { "2-1", 1 }, { "2-a", 0 }, { "(a)-b", -1 }, { "a - -b", 5 }, { "a * b + c", 11 },
	{ "a + b * c", 17 }, { "(a + b) * c", 25 }, { "a - b - c", -6 }, { "a - (b - c)", 4 }, { "8 / a / a", 2 },
	{ "8 / (a / a)", 8 }, { "a / 4 * c", 2.5 }, { "-a * b", -6 }, { "a * -b", -6 }, { "-(a + b)", -5 },
	{ "((((a))))", 2 }, { "a * a * a", 8 }, { "100 * b / c", 60 }, { "b/c*100", 60 },
};

START_TEST(test_values)
{
	struct formula_input inputs[FORMULA_INPUTS_MAX];
	char text[200];
	struct cell cell;

	snprintf(text, sizeof(text), "x = %s", values[_i].expression);
	parse(text);
	for (size_t i = 0; i < formula.ninputs; i++) {
		static const double primes[] = { 2, 3, 5, 7, 11 };

		inputs[i] = (struct formula_input){ cell_counted(primes[formula.inputs[i][0] - 'a']), FORMULA_ALL_SIDES };
	}
	cell = formula_value(&formula, inputs, note);
	ck_assert_int_eq(cell.state, CELL_COUNTED);
	ck_assert_double_eq_tol(cell.value, values[_i].value, 1e-12);
	ck_assert_ptr_null(cell.note);
}
END_TEST

/* Names as they are taken apart, joined by blanks, each once. */
static const struct { const char *text, *name, *unit, *inputs; } names[] = {
	{ "x=y", "x", "", "y" }, { "  x  =  y  ", "x", "", "y" },
	{ "l1 = L1-dcache-load-misses / L1-dcache-loads", "l1", "", "L1-dcache-load-misses L1-dcache-loads" },
	{ "a-b.c:d_e = cycles:u - cycles:k", "a-b.c:d_e", "", "cycles:u cycles:k" },
	{ "x = page-faults -task-clock", "x", "", "page-faults task-clock" },
	{ "x = page-faults- task-clock", "x", "", "page-faults task-clock" },
	{ "x = a-1", "x", "", "a-1" }, { "x = wall.p99 + sched:sched_switch", "x", "", "wall.p99 sched:sched_switch" },
	{ "x = `cpu/event=0x3c,umask=1/u` + `a b`", "x", "", "cpu/event=0x3c,umask=1/u a b" },
	{ "x = a + b + a + `b`", "x", "", "a b" }, { "x [1/s] = a", "x", "1/s", "a" }, { "x[%]=a", "x", "%", "a" },
	{ "x = \xc3\xa4", NULL, NULL, NULL }, { "x = `\xc3\xa4`", "x", "", "\xc3\xa4" }, { "x = 3", "x", "", "" },
};

START_TEST(test_names)
{
	char joined[200] = "";

	if (!names[_i].name) {
		ck_assert_int_eq(formula_parse(&formula, names[_i].text, &mistake), -1);
		return;
	}
	parse(names[_i].text);
	for (size_t i = 0; i < formula.ninputs; i++)
		snprintf(joined + strlen(joined), sizeof(joined) - strlen(joined), "%s%s", i ? " " : "", formula.inputs[i]);
	ck_assert_str_eq(formula.name, names[_i].name);
	ck_assert_str_eq(formula.unit, names[_i].unit);
	ck_assert_str_eq(joined, names[_i].inputs);
}
END_TEST

static const struct { const char *text; size_t column; const char *why; } mistakes[] = {
	{ "", 1, "it ends where the name of the new metric is expected" },
	{ "x", 2, "it ends where = behind the name is expected" },
	{ "1x = 2", 1, "the name of the new metric is expected, not '1'" },
	{ "x y = 2", 3, "= behind the name is expected, not 'y'" },
	{ "x =", 4, "it ends where a number, a name or ( is expected" },
	{ "x = ", 4, "it ends where a number, a name or ( is expected" },
	{ "x = a +", 8, "it ends where a number, a name or ( is expected" },
	{ "x = a + * b", 9, "a number, a name or ( is expected, not '*'" },
	{ "x = (a + b", 5, "the parenthesis is not closed" },
	{ "x = a + b)", 10, "an operator is expected, not ')'" },
	{ "x = (a b)", 8, "an operator or ) is expected, not 'b'" },
	{ "x = a b", 7, "an operator is expected, not 'b'" },
	{ "x = ()", 6, "a number, a name or ( is expected, not ')'" },
	{ "x = 2cycles", 6, "an operator is expected behind the number, not 'c'" },
	{ "x = 0x10", 6, "an operator is expected behind the number, not 'x'" },
	{ "x = 1,5", 6, "an operator is expected, not ','" },
	{ "x = 1e999", 5, "the number is too large" },
	{ "x = +a", 5, "a number, a name or ( is expected, not '+'" },
	{ "x = `a", 5, "the backquote has no second one" },
	{ "x = ``", 5, "there is no name between the backquotes" },
	{ "x = a/event=1/", 12, "an operator is expected, not '='" },
	{ "x [] = 1", 4, "a unit has 1 to 16 bytes" },
	{ "x [s = 1", 3, "the bracket of the unit is not closed" },
	{ "x = `\xc3\xa4` \xc3\xa4", 9, "an operator is expected; other characters belong between backquotes" },
	{ "x = a\n", 6, "an operator is expected, not '\n'" },
};

START_TEST(test_mistakes)
{
	ck_assert_int_eq(formula_parse(&formula, mistakes[_i].text, &mistake), -1);
	ck_assert_str_eq(mistake.why, mistakes[_i].why);
	ck_assert_uint_eq(mistake.column, mistakes[_i].column);
}
END_TEST

/* "x = " and a piece n times, between others. */
static int parse_many(const char *before, const char *piece, size_t n, const char *after)
{
	char *text = malloc(8 + strlen(before) + n * strlen(piece) + strlen(after)), *at = text;
	int ret;

	at += sprintf(at, "x = %s", before);
	while (n--)
		at += sprintf(at, "%s", piece);
	strcpy(at, after);
	formula_free(&formula);
	ret = formula_parse(&formula, text, &mistake);
	free(text);
	return ret;
}

START_TEST(test_limits)
{
	char text[400] = "x = a0";

	ck_assert_int_eq(parse_many("", "-", FORMULA_DEPTH_MAX - 1, "1"), 0);
	ck_assert_int_eq(parse_many("", "-", FORMULA_DEPTH_MAX, "1"), -1);
	ck_assert_str_eq(mistake.why, "it is nested deeper than 64");
	ck_assert_int_eq(parse_many("", "(", 500, "1"), -1);
	ck_assert_str_eq(mistake.why, "it is nested deeper than 64");
	ck_assert_int_eq(parse_many("1", "+1", 500, ""), 0);
	ck_assert_double_eq(formula_value(&formula, NULL, note).value, 501);
	ck_assert_int_eq(parse_many("1", "+1", 100000, ""), -1);
	ck_assert_str_eq(mistake.why, "it is longer than 1024 bytes");
	for (int i = 1; i < FORMULA_INPUTS_MAX; i++)
		sprintf(text + strlen(text), " + a%d", i);
	parse(text);
	strcat(text, " + more");
	formula_free(&formula);
	ck_assert_int_eq(formula_parse(&formula, text, &mistake), -1);
	ck_assert_str_eq(mistake.why, "it has more than 32 names");
}
END_TEST

#define NONE FORMULA_NO_SIDE
#define USER FORMULA_USER_SIDE
#define ALL FORMULA_ALL_SIDES
/* What becomes of the states of a and b. */
static const struct {
	const char *text;
	struct formula_input a, b;
	enum cell_state state;
	const char *note;
} states[] = {
	{ "x = a / b", { { 1, CELL_SCALED, "shared" }, ALL }, { { 2, CELL_COUNTED, NULL }, ALL }, CELL_SCALED, "shared" },
	{ "x = a / b", { { 1, CELL_SCALED, "shared" }, ALL }, { { 2, CELL_ESTIMATE, "split" }, ALL }, CELL_ESTIMATE, "split" },
	{ "x = a / b", { { 0, CELL_UNAVAILABLE, "no PMU" }, ALL }, { { 2, CELL_ESTIMATE, NULL }, ALL },
	  CELL_UNAVAILABLE, "needs a: no PMU" },
	{ "x = a / b", { { 0, CELL_UNAVAILABLE, "no PMU" }, ALL }, { { 0, CELL_UNAVAILABLE, "no PMU" }, ALL },
	  CELL_UNAVAILABLE, "needs a, b: no PMU" },
	{ "x = b / a", { { 0, CELL_LOST, NULL }, ALL }, { { 0, CELL_UNAVAILABLE, "no PMU" }, ALL },
	  CELL_UNAVAILABLE, "needs b: no PMU" },
	{ "x = a", { { 0, CELL_LOST, NULL }, ALL }, { { 0, CELL_COUNTED, NULL }, ALL }, CELL_LOST, "needs a: lost" },
	{ "x = a", { { 0, CELL_NOT_COUNTED, "never ran" }, ALL }, { { 0, CELL_COUNTED, NULL }, ALL },
	  CELL_NOT_COUNTED, "needs a: never ran" },
	{ "x = a", { { 0, CELL_NOT_COUNTED, NULL }, ALL }, { { 0, CELL_COUNTED, NULL }, ALL }, CELL_NOT_COUNTED, NULL },
	{ "x = a / b", { { 1, CELL_COUNTED, NULL }, ALL }, { { 0, CELL_COUNTED, NULL }, ALL },
	  CELL_NOT_COUNTED, "division by zero: b is 0" },
	{ "x = 1 / (a - b)", { { 3, CELL_COUNTED, NULL }, ALL }, { { 3, CELL_COUNTED, NULL }, ALL },
	  CELL_NOT_COUNTED, "division by zero: the divisor is 0" },
	{ "x = a * 1e200 * b", { { 1e200, CELL_COUNTED, NULL }, ALL }, { { 1e200, CELL_COUNTED, NULL }, ALL },
	  CELL_UNAVAILABLE, "not a finite number" },
	{ "x = a / b", { { 1, CELL_COUNTED, CELL_NOTE_USER }, USER }, { { 2, CELL_COUNTED, CELL_NOTE_USER }, USER },
	  CELL_COUNTED, CELL_NOTE_USER },
	{ "x = a / b", { { 1, CELL_COUNTED, NULL }, USER }, { { 2, CELL_COUNTED, NULL }, NONE }, CELL_COUNTED,
	  CELL_NOTE_USER },
	{ "x = a / b", { { 1, CELL_COUNTED, CELL_NOTE_USER }, USER }, { { 2, CELL_COUNTED, NULL }, ALL },
	  CELL_UNAVAILABLE, "a is of user mode only and b is not: they cannot be put together" },
	{ "x = 2 * a", { { 1, CELL_COUNTED, CELL_NOTE_USER }, USER }, { { 2, CELL_COUNTED, NULL }, ALL },
	  CELL_COUNTED, CELL_NOTE_USER },
};

START_TEST(test_states)
{
	struct formula_input inputs[2];
	struct cell cell;

	parse(states[_i].text);
	for (size_t i = 0; i < formula.ninputs; i++)
		inputs[i] = formula.inputs[i][0] == 'a' ? states[_i].a : states[_i].b;
	cell = formula_value(&formula, inputs, note);
	ck_assert_int_eq(cell.state, states[_i].state);
	if (states[_i].note)
		ck_assert_str_eq(cell.note, states[_i].note);
	else
		ck_assert_ptr_null(cell.note);
}
END_TEST

START_TEST(test_long_reason)
{
	struct formula_input inputs[3];
	char text[900], why[2000];
	struct cell cell;

	memset(why, 'w', sizeof(why) - 1);
	why[sizeof(why) - 1] = '\0';
	sprintf(text, "x = `%0300d` + `%0299d`", 0, 0);
	parse(text);
	for (size_t i = 0; i < formula.ninputs; i++)
		inputs[i] = (struct formula_input){ cell_absent(CELL_UNAVAILABLE, why), FORMULA_ALL_SIDES };
	cell = formula_value(&formula, inputs, note);
	ck_assert_uint_eq(strlen(cell.note), FORMULA_NOTE_MAX - 1);
}
END_TEST

/* Where it is there: strtod() would end at the point. */
START_TEST(test_locale)
{
	setlocale(LC_ALL, "de_DE.UTF-8");
	parse("x = 1.5 + 1e-1");
	ck_assert_double_eq_tol(formula_value(&formula, NULL, note).value, 1.6, 1e-12);
	setlocale(LC_ALL, "C");
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("formula");

	tcase_add_checked_fixture(tests, NULL, teardown);
	tcase_add_loop_test(tests, test_values, 0, ARRAY_SIZE(values));
	tcase_add_loop_test(tests, test_names, 0, ARRAY_SIZE(names));
	tcase_add_loop_test(tests, test_mistakes, 0, ARRAY_SIZE(mistakes));
	tcase_add_test(tests, test_limits);
	tcase_add_loop_test(tests, test_states, 0, ARRAY_SIZE(states));
	tcase_add_test(tests, test_long_reason);
	tcase_add_test(tests, test_locale);
	return suite_run("formula", tests);
}
